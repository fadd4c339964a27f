/**
 * The commands and their help. Flags come from the options table. Each command has its own file, which is loaded when the command
 * runs. Help and option errors therefore do not load the gateway.
 */
import { existsSync } from 'node:fs';
import { Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import { messageOf, PortolanError } from '../base/errors.ts';
import { standardError, standardOutput } from '../base/output/standard-streams.ts';
import { oneLine } from '../base/text/terminal-line.ts';
import { upperFirst } from '../base/text/upper-first.ts';
import { type ConfigFile, defaultFile, type LoadedConfig, readConfig } from '../config/load-config.ts';
import { type Config, flagOf, optionTable, variableOf } from '../config/options.ts';
import type { CommandName, OptionDefinition } from '../config/table/option-definition.ts';
import type { ClientConfigFlags } from './client-config.ts';
import type { DoctorFlags } from './doctor/doctor.ts';
import { addLogOptions, logFlags } from './logs/log-flags.ts';
import type { WriteCommand } from './mutations/write-command.ts';
import {
  addHistoryOptions,
  addWriteOptions,
  collect,
  historyFlags,
  writeCommands,
  writeFlags,
} from './mutations/write-options.ts';
import { version } from './parts/version.ts';
import type { QueryFlags } from './remote/query.ts';
import type { WatchFlags } from './remote/watch.ts';
import type { Question } from './rights/can.ts';

const examples = `
Examples:
  portolan demo                                a simulated cluster and a playground, nothing else needed
  portolan serve                               the current context of your kubeconfig
  portolan serve --context a --context b       two clusters behind one endpoint
  portolan serve --kinds pods,'*.example.com'  only these resources
  portolan schema --kinds Pod,Node             the SDL of a view
  portolan status --failing                    what a running gateway cannot ingest, and why
  portolan query '{ pods { totalCount } }'     the answer of a running gateway, as JSON
  portolan watch pods                          each change of Pods, as JSON lines
  portolan logs deploy/web -n shop -f          the logs of all its Pods, merged by time
  portolan plan -f web.yaml                    what a manifest would change, as a diff
  portolan apply -f web.yaml                   the same, and after a question it is done
  portolan scale Deployment web --replicas 3   also delete and restart
  portolan edit Deployment web -n shop         in your editor; changes of others stay
  portolan history --since -10m                what has changed; revert undoes it
  portolan json-schema Deployment              the JSON Schema of its manifests, for an editor
  portolan relations                           which fields lead from one kind to another
  portolan rbac --auth token                   the roles that the gateway's own account needs, for kubectl apply
  portolan can --as alice list pods -n shop    whether RBAC lets alice do it, and which binding does
  portolan doctor                              what is wrong with a cluster for Portolan, and which command mends it

Every option can also be an environment variable (PORTOLAN_PORT) or a key of the file that --config names (port: 4000).`;

/** Runs a command line and returns the exit code. Errors are printed on standard error, never thrown. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    // The kubectl plugin, src/kubectl-portolan.js.
    if (args[0] === 'kubectl') return await (await import('./remote/kubectl.ts')).throughKubectl(args.slice(1), run);
    return await runCommand(args);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : await failureOf(args);
    standardError.write(`portolan: ${oneLine(messageOf(error))}\n`);
    if (!(error instanceof PortolanError) && error instanceof Error) standardError.write(`${error.stack}\n`);
    return await failureOf(args);
  }
}

/** The exit code after an error. Of the commands that write, 1 has another meaning. */
async function failureOf(args: readonly string[]): Promise<number> {
  const [command = ''] = args[0] === 'kubectl' ? (await import('./remote/kubectl.ts')).ofCommand(args.slice(1)) : args;
  return Object.hasOwn(writeCommands, command) ? 2 : 1;
}

async function runCommand(args: readonly string[]): Promise<number> {
  const commands = new Commands();
  const add: Add = (...given) => commands.add(...given);
  addGatewayCommands(add);
  addRemoteCommands(add);
  addWriteCommands(add);
  addClusterCommands(add);
  commands.addPrinter(
    'crd',
    'print the CustomResourceDefinition of objects that declare abstract kinds, for kubectl apply',
    async () => {
      standardOutput.write((await import('../catalog/abstract/abstract-kind-crd.ts')).abstractKindCrdText());
      return 0;
    },
  );
  commands
    .addPrinter(
      'client-config',
      'print what an application needs: cache policies for its GraphQL client, or a config for generated types',
      async (given: ClientConfigFlags) => (await import('./client-config.ts')).clientConfig(given),
    )
    .option('--apollo', 'for Apollo Client')
    .option('--urql', "for urql's graphcache")
    .option('--types', 'with --apollo or --urql: the TypeScript declarations of the printed module')
    .option('--codegen', 'for graphql-code-generator');
  await commands.program.parseAsync([...args], { from: 'user' });
  return commands.exitCode;
}

type Add = Commands['add'];

/** The commands, and the exit code of the one that has run. */
class Commands {
  readonly program = new Command('portolan')
    .description(
      'A GraphQL gateway over Kubernetes resources: typed queries, joins and live changes for every kind, built-in or CRD.',
    )
    .version(version, '-v, --version', 'print the version')
    .exitOverride()
    .configureOutput(outputOf('portolan'))
    .addHelpText('after', examples);

  exitCode = 0;

  /** Adds a command with its options of the table. */
  add(
    name: CommandName,
    summary: string,
    action: (config: Config, command: Command, loaded: LoadedConfig) => Promise<number>,
  ): Command {
    const command = this.#subcommand(name, summary);
    const mayFind = name === 'serve';
    const found = mayFind ? ' (default: portolan.yaml in the working directory, if it is there)' : '';
    command.option('--config <path>', `configuration file${found}`);
    for (const option of Object.values(optionTable as Record<string, OptionDefinition>)) {
      if (option.commands.includes(name)) command.addOption(flagOption(option));
    }
    return command.action(async () => {
      const { config, ...flags } = command.opts<Record<string, unknown>>();
      const file = typeof config === 'string' ? { file: config } : {};
      const loaded = readConfig({ flags, environment: process.env, ...file, mayFind });
      if (loaded.file === null && !mayFind && existsSync(defaultFile)) standardError.write(notRead(name));
      try {
        this.exitCode = await action(loaded.config, command, loaded);
      } catch (error) {
        throw namingFile(error, loaded.file);
      }
    });
  }

  /** Adds a command without configuration. */
  addPrinter<T>(name: string, summary: string, action: (flags: T) => Promise<number>): Command {
    return this.#subcommand(name, summary).action(async (flags: T) => {
      this.exitCode = await action(flags);
    });
  }

  #subcommand(name: string, summary: string): Command {
    return this.program
      .command(name)
      .description(summary)
      .exitOverride()
      .configureOutput(outputOf(`portolan ${name}`));
  }
}

function addGatewayCommands(add: Add): void {
  add('demo', 'start a simulated cluster, the gateway and the playground', async (config) =>
    (await import('./demo.ts')).demo(config),
  );
  add('serve', 'serve the clusters of a kubeconfig, or the one this Pod runs in', async (_config, _command, loaded) =>
    (await import('./serve.ts')).serve(loaded),
  );
  add('schema', 'print the SDL of a cluster', async (config) => (await import('./schema.ts')).printSchema(config));
}

/** The commands that ask a running gateway. */
function addRemoteCommands(add: Add): void {
  add('status', 'print the state of ingest in a running gateway', async (config) =>
    (await import('./remote/status.ts')).status(config),
  );
  add('relations', 'print the relations between kinds in a running gateway', async (config) =>
    (await import('./remote/relations.ts')).relations(config),
  );
  add('json-schema', 'print the JSON Schema of the manifests of a kind, for editors', async (config, command) => {
    const [kind = ''] = command.args;
    const { cluster } = command.opts<{ cluster?: string }>();
    const { jsonSchema } = await import('./remote/json-schema.ts');
    return jsonSchema(config, { kind, ...(cluster === undefined ? {} : { cluster }) });
  })
    .argument('<kind>', 'Deployment, deployments or deployments.apps')
    .option('--cluster <name>', 'of this cluster, where clusters have different schemas');
  // The question is no configuration either.
  documentOptions(
    add('query', 'send a GraphQL document to a running gateway and print the answer as JSON', async (config, command) =>
      (await import('./remote/query.ts')).query(config, documentFlags<QueryFlags>(command)),
    ),
  );
  documentOptions(
    add(
      'watch',
      'run a subscription of a running gateway and print each message as a JSON line',
      async (config, command) =>
        (await import('./remote/until-signal.ts')).untilSignal(async (signal) =>
          (await import('./remote/watch.ts')).watch(config, documentFlags<WatchFlags>(command), signal),
        ),
    ),
  )
    .option('--since <cursor>', 'begin at the cursor of a message or of a list, without a snapshot')
    .option('--changes-only', 'begin without a snapshot: only what changes from now on')
    .addHelpText('after', watchHelp);
  addLogOptions(
    add('logs', 'print the logs of Pods through a running gateway, merged by time', async (config, command) =>
      (await import('./remote/until-signal.ts')).untilSignal(async (signal) =>
        (await import('./logs/logs.ts')).logs(config, logFlags(command), signal),
      ),
    ),
  );
}

function addWriteCommands(add: Add): void {
  for (const [name, summary] of Object.entries(writeCommands) as [WriteCommand, string][]) {
    addWriteOptions(
      add(name, summary, async (config, command) =>
        (await import('./mutations/write-command.ts')).write(config, name, writeFlags(command)),
      ),
      name,
    );
  }
  addHistoryOptions(
    add(
      'history',
      'print what has changed, by whom, and the versions to which it can be reverted',
      async (config, command) => (await import('./mutations/history.ts')).history(config, historyFlags(command)),
    ),
  );
}

/** The commands about a cluster and what it lets others do. */
function addClusterCommands(add: Add): void {
  add('rbac', "print the roles that the gateway's own account needs in a cluster, for kubectl apply", async (config) =>
    (await import('./rights/rbac.ts')).rbac(config),
  );
  // Who asks for what is no configuration: it has no variable and no key, and a group may have a comma in its name.
  add(
    'can',
    'say whether the roles of a cluster let a user do something, and which binding does',
    async (config, command) => (await import('./rights/can.ts')).can(config, questionOf(command)),
  )
    .argument('<verb>', 'get, list, watch, create, update, patch, delete, …')
    .argument('<resource>', 'pods, po, Deployment, deployments.apps/scale, or a path such as /metrics')
    .argument('[name]', 'the name of one object')
    .option(
      '--as <user>',
      'the user (default: the one of the kubeconfig); a service account is system:serviceaccount:NAMESPACE:NAME',
    )
    .option(
      '--as-group <group>',
      'a group of the user, repeated for several; those that Kubernetes adds are added',
      collect,
    )
    .option('--as-uid <uid>', 'the uid of the user')
    .option(
      '--as-user-extra <key=value>',
      'extra of the user, such as the scope of a token, repeated for several; the API server decides by it with --check',
      collect,
    )
    .option('-n, --namespace <namespace>', 'the namespace (default: all namespaces)')
    .option('--check', 'ask the API server too; exit code 2 if it decides otherwise');
  add(
    'doctor',
    'look at a cluster: what is wrong with it for Portolan, and which command mends it',
    async (config, command) => (await import('./doctor/doctor.ts')).doctor(config, command.opts<DoctorFlags>()),
  )
    .option('--address <host:port>', 'where the port of --aggregate is reached from here, to look at its certificate')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'));
  add('shadow', 'install or uninstall what sets of objects need in a cluster', async (config, command) => {
    const { print = false, yes = false } = command.opts<{ print?: boolean; yes?: boolean }>();
    const [action = ''] = command.args;
    return (await import('./sets/shadow.ts')).shadow(config, { action, print, yes });
  })
    .argument('<action>', 'install, or uninstall: the members of sets stay')
    .option('--print', 'with install: print the CustomResourceDefinition, for kubectl apply')
    .option('-y, --yes', 'uninstall without a question');
}

/** Earlier versions read the file in every command. */
function notRead(command: CommandName): string {
  return `portolan: ${command} does not read the ${defaultFile} of this folder; name it with --config ${defaultFile} if you trust it.\n`;
}

/** The error about a configuration, with the file that some of it comes from: messages name flags. */
function namingFile(error: unknown, file: ConfigFile | null): unknown {
  if (!(error instanceof PortolanError) || error.code !== 'CONFIGURATION' || file === null || file.keys.length === 0)
    return error;
  const message = `${error.message} ${file.path} gives ${file.keys.join(', ')}.`;
  return new PortolanError(error.code, message, { cause: error });
}

function documentOptions(command: Command): Command {
  return command
    .argument('[document]', 'the document (default: standard input)')
    .option('-f, --file <path>', 'the file of the document; - for standard input')
    .option('--variables <json>', 'the variables, as a JSON object')
    .option('--operation <name>', 'the operation to run, if the document has several');
}

function documentFlags<T extends QueryFlags>(command: Command): T {
  const [document] = command.args;
  return { ...command.opts<T>(), ...(document === undefined ? {} : { document }) };
}

const watchHelp = `
Instead of a document, a root of the type Subscription or a resource with its arguments:
  portolan watch pods
  portolan watch 'podChanges(filter: { namespaces: ["shop"] })'
  portolan watch 'pods { phase reset changes { type id object { metadata { name } status { phase } } } }'

After a lost connection, the document is sent again with the cursor of the last printed line, so that no change is lost and
none comes twice. The cursor is the argument since of the root:
  podChanges(since: $from)   the cursor becomes the value of the variable $from
  podChanges                 the argument and a variable $since are added, and the field cursor
A root without the argument since begins again. A phase GAP says that changes were lost; a new snapshot follows.

Standard output has one message in a line, standard error what concerns the connection. The exit code is 0 after SIGINT,
SIGTERM and the end of the reader, and 1 when the gateway refuses the document or the token.`;

function questionOf(command: Command): Question {
  const [verb = '', target = '', name = ''] = command.args;
  const {
    as,
    asGroup = [],
    asUid = '',
    asUserExtra = [],
    namespace = '',
    check = false,
  } = command.opts<QuestionFlags>();
  return { verb, target, name, namespace, as, groups: asGroup, uid: asUid, extra: asUserExtra, check };
}

interface QuestionFlags {
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly asUid?: string;
  readonly asUserExtra?: readonly string[];
  readonly namespace?: string;
  readonly check?: boolean;
}

function outputOf(command: string): OutputConfiguration {
  return {
    writeOut: (text) => void standardOutput.write(text),
    writeErr: (text) => void standardError.write(text),
    outputError: (text) => void standardError.write(`${oneLine(errorLine(text, command))}\n`),
  };
}

/**
 * An error of commander as one line that names the command's help.
 *
 *   error: unknown option '--knids'      ->  Unknown option --knids; did you mean --kinds? See portolan serve --help.
 *   (Did you mean --kinds?)
 */
function errorLine(text: string, command: string): string {
  const [problem = '', suggestion] = text.trim().split('\n');
  const plain = problem
    .replace(/^error: /, '')
    .replaceAll("'", '')
    .replace(/\.$/, '');
  const hint = suggestion === undefined ? '.' : `; did${suggestion.slice('(Did'.length, -1)}`;
  return `${upperFirst(plain)}${hint} See ${command} --help.`;
}

function flagOption(option: OptionDefinition): Option {
  const flags = option.value === undefined ? flagOf(option.key) : `${flagOf(option.key)} <${option.value}>`;
  const parsed = option.schema.safeParse(undefined).data;
  const plain = typeof parsed === 'string' || typeof parsed === 'number' ? String(parsed) : null;
  const shown = option.shown ?? plain;
  const fallback = shown === null ? '' : ` (default: ${shown})`;
  const made = new Option(flags, `${option.help}${fallback} [${variableOf(option.key)}]`);
  if (option.list !== true) return made;
  return made.argParser(collect);
}
