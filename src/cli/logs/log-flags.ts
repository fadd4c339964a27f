/** The options of `portolan logs` for the command line. They are no configuration, and have no variable and no key. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../mutations/write-options.ts';

export interface LogFlags {
  /** `deploy/web`, `pod/x`, a kind and names, or a kind. */
  readonly words: readonly string[];
  readonly where?: string;
  readonly selector?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly cluster?: string;
  readonly container?: readonly string[];
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly since?: string;
  readonly tail?: number;
  readonly grep?: string;
  readonly contains?: string;
  readonly ignoreCase?: boolean;
  readonly timestamps?: boolean;
  readonly prefix: boolean;
  readonly color: 'auto' | 'always' | 'never';
}

/** Adds the arguments and options of `portolan logs`. */
export function addLogOptions(command: Command): Command {
  return command
    .argument(
      '[target...]',
      'objects such as deploy/web and pod/web-1, or one kind and names; or a kind: its Pods, or the Pods that its objects own',
    )
    .option('--where <json>', 'with a kind: the objects that match this filter of GraphQL')
    .option('-l, --selector <labels>', 'with a kind: the objects with these labels')
    .option('-n, --namespace <name>', 'the namespace of the objects')
    .option('-A, --all-namespaces', 'with a kind: the objects of all namespaces')
    .option('--cluster <name>', 'the cluster of the objects')
    .option(
      '-c, --container <name>',
      'a container; may be repeated (default: all, init and ephemeral ones too)',
      collect,
    )
    .option('-f, --follow', 'go on with new lines, new Pods and restarted containers, until it is interrupted')
    .option('-p, --previous', 'the log before the last restart of each container')
    .option('--since <time>', 'lines since a duration such as 5m, or since a time in RFC 3339')
    .option('--tail <number>', 'lines from the end of each log', wholeNumber)
    .option('--grep <pattern>', 'only lines in which this RE2 pattern matches')
    .option('--contains <text>', 'only lines with this text')
    .option('-i, --ignore-case', 'for --grep and --contains')
    .option('--timestamps', 'the time of each line')
    .option('--no-prefix', 'lines without the names of their Pod and container')
    .addOption(
      new Option('--color <when>', 'a colour for each Pod; NO_COLOR turns auto off')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .addHelpText(
      'after',
      `
  portolan logs deploy/web -n shop --tail 20 -f
  portolan logs pod/web-1 job/report -n shop --grep 'error|panic'
  portolan logs Pod -A --where '{"labels": [{"key": "app", "eq": "web"}]}' --since 10m

The exit code is 0 if all logs were read, and 1 if not.`,
    );
}

/** The flags and arguments of the command line. */
export function logFlags(command: Command): LogFlags {
  return { ...command.opts<LogFlags>(), words: command.args };
}

function wholeNumber(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number, 0 to 9999999.');
}
