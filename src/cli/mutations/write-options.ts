/** The options of the commands that write, for the command line. Who writes what is no configuration: it has no variable and no key. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { longestWait } from '../../writes/run/write-options.ts';
import type { HistoryFlags } from './history.ts';
import type { WriteCommand, WriteFlags } from './write-command.ts';

export const writeCommands: Readonly<Record<WriteCommand, string>> = {
  plan: 'show what manifests would change in the clusters of a running gateway',
  apply: 'apply manifests through a running gateway: server-side, after a plan',
  delete: 'delete objects through a running gateway, after a plan',
  restart: 'replace the Pods of workloads one after the other, as kubectl rollout restart does',
  scale: 'set the replicas of objects through a running gateway, after a plan',
  edit: 'edit an object in your editor; what others change meanwhile stays',
  revert: 'make an object what it was at a time or in a version, also a deleted one',
  rollback: 'bring back an earlier revision of a workload, as kubectl rollout undo does',
};

/** The commands on one object. */
const ofOneObject: readonly WriteCommand[] = ['edit', 'revert', 'rollback'];

export function addWriteOptions(command: Command, name: WriteCommand): Command {
  if (ofOneObject.includes(name)) return addObjectOptions(command, name);
  const takesManifests = name === 'plan' || name === 'apply';
  if (!takesManifests) {
    command
      .argument('[object...]', 'the ids of objects, a kind (Deployment, deploy) and names, or KIND/NAME')
      .option('--filter <json>', 'with a kind: the objects that match this filter of GraphQL')
      .option('-l, --selector <labels>', 'with a kind: the objects with these labels, such as app=web,tier in (a,b)');
  }
  const files = takesManifests ? 'the manifests' : 'the objects that these manifests name';
  command
    .option('-f, --filename <path>', `${files}: a file, a folder, or - for standard input; may be repeated`, collect)
    .option('-R, --recursive', 'look into the folders of a folder too')
    .option(
      '-n, --namespace <name>',
      takesManifests
        ? 'the namespace of objects that name none'
        : 'with a kind: the objects of this namespace; with manifests: where they name none',
    )
    .option('--cluster <name>', 'the cluster, where there are several');
  if (name === 'scale') command.option('--replicas <number>', 'how many there shall be', wholeNumber());
  if (takesManifests) {
    command
      .option('--force', 'take fields from other managers')
      .option('--set <name>', 'the manifests are the members of this set: members that no manifest names are deleted')
      .option('--adopt', 'with --set: take objects that exist and belong to no set')
      .option('--no-prune', 'with --set: keep members that no manifest names');
  }
  if (name === 'delete') command.option('--set <name>', 'a set with all its members');
  if (name !== 'plan') {
    command.addOption(
      new Option('--on-error <what>', 'after an object that cannot be written (default: stop)').choices([
        'stop',
        'continue',
        'revert',
      ]),
    );
  }
  return addRunOptions(command, name).addHelpText('after', takesManifests ? manifestHelp(name) : objectHelp(name));
}

function addObjectOptions(command: Command, name: WriteCommand): Command {
  command
    .argument('[object...]', 'the id of an object, a kind (Deployment, deploy) and a name, or KIND/NAME')
    .option('-n, --namespace <name>', 'the namespace of the object')
    .option('--cluster <name>', 'the cluster, where there are several');
  if (name === 'revert') {
    command
      .option('--to <time>', 'as it was then: a time such as 2026-01-31T08:15:00Z, or relative to now such as -10m')
      .option(
        '--to-version <resourceVersion>',
        'its state of this version; FROM of `portolan history` undoes a change',
      );
  }
  if (name === 'rollback') {
    command.option('--to-revision <number>', 'the revision (default: the one before the newest)', wholeNumber());
  }
  return addRunOptions(command, name).addHelpText('after', oneObjectHelp(name));
}

function addRunOptions(command: Command, name: WriteCommand): Command {
  command.option('--field-manager <name>', 'the manager of the fields that are written (default: portolan)');
  if (name !== 'plan') {
    command
      .option('-y, --yes', 'carry the plan out without a question')
      .option('--dry-run', 'only show the plan')
      .option(
        '--wait <milliseconds>',
        "wait until the gateway's tables show the writes (default: 2000)",
        wholeNumber(0, longestWait),
      )
      .option('--request-id <id>', 'makes a repeat of the command harmless, such as a UUID of version 7');
  }
  return command
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addOption(
      new Option('--color <when>', 'colours in the diff; NO_COLOR turns auto off')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    );
}

/** The options of `portolan history`. */
export function addHistoryOptions(command: Command): Command {
  return command
    .argument('[object...]', 'a kind (Deployment, deploy) and perhaps a name, or KIND/NAME')
    .option('--since <time>', 'a time such as 2026-01-31T08:15:00Z, or relative to now', '-1h')
    .option('-n, --namespace <name>', 'the changes in this namespace')
    .option('--cluster <name>', 'the changes in this cluster')
    .option('--limit <number>', 'changes that are shown', wholeNumber(1), 50)
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
  portolan history --since -10m
  portolan history Deployment web -n shop
  portolan revert Deployment web -n shop --to-version FROM`,
    );
}

/** The flags and arguments of `portolan history`. */
export function historyFlags(command: Command): HistoryFlags {
  return { ...command.opts<HistoryFlags>(), words: command.args };
}

/** The flags and arguments of a command line. */
export function writeFlags(command: Command): WriteFlags {
  return { ...command.opts<WriteFlags>(), words: command.args };
}

function manifestHelp(name: WriteCommand): string {
  return `
  portolan ${name} -f web.yaml -f config/ -R
  portolan ${name} -f - < web.yaml
  portolan ${name} -f shop/ --set shop -n default
${exitCodes(name)}`;
}

function objectHelp(name: WriteCommand): string {
  const more = name === 'scale' ? ' --replicas 3' : '';
  const ofSet = name === 'delete' ? '\n  portolan delete --set shop -n default' : '';
  return `
  portolan ${name} Deployment web -n shop${more}
  portolan ${name} Deployment -l app=web -n shop${more}
  portolan ${name} Deployment --filter '{"metadata": {"name": {"startsWith": "web-"}}}'${more}
  portolan ${name} -f web.yaml${more}${ofSet}
${exitCodes(name)}`;
}

function oneObjectHelp(name: WriteCommand): string {
  const more = name === 'revert' ? ' --to -10m' : '';
  return `
  portolan ${name} Deployment web -n shop${more}
${exitCodes(name)}`;
}

function exitCodes(name: WriteCommand): string {
  const plan = '0 if nothing would change, 1 if something would';
  return name === 'plan'
    ? `\nThe exit code is ${plan}, and 2 after an error.`
    : `\nThe exit code is 0 if all is done, 1 if not, and 2 after an error of the request. With --dry-run it is ${plan}.`;
}

function wholeNumber(least = 0, most = 999_999_999): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It is a whole number, ${least} to ${most}.`);
  };
}

/** The values of an option that may be repeated. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
