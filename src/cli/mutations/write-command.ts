/**
 * `portolan plan`, `apply`, `delete`, `restart`, `scale`, `edit`, `revert` and `rollback`. They show and execute a plan of a running
 * gateway.
 *
 *   objects, or a set of them -> mutation with dryRun -> diff -> Proceed? [y/N] -> the same mutation with the planId -> a line for each object
 *
 * Invariants: only the plan that was shown is carried out. Nothing is written without --yes or the answer y on a terminal. Nothing is written
 * if a part of the plan is impossible, unless --on-error is continue. A plan of a set that has errors is not carried out in any case.
 *
 * Standard output has the diff and the outcomes, or JSON. Standard error has the count, the question, warnings, errors and progress.
 */
import { PortolanError } from '../../base/errors.ts';
import { isColoured } from '../../base/output/is-coloured.ts';
import { type Output, type StyledText, standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import { GatewayClient, type RemoteConfig } from '../remote/gateway-client.ts';
import { isConfirmed } from './confirmation.ts';
import { type EditedText, editedText } from './edited-text.ts';
import { manifestFiles } from './manifest-files.ts';
import { namingFiles, ObjectWords } from './object-words.ts';
import { idOfObject } from './one-object.ts';
import { planDiff, planSummary } from './plan-text.ts';
import { documentsOf, type ObjectFlags, targetsOf } from './wanted-objects.ts';
import { refuseSetFlags, type SetFlags, setArguments } from './wanted-set.ts';
import { type CommandVerb, WriteGateway, type WriteItem, type WriteVerb, type Written } from './written-items.ts';

export type WriteCommand = 'plan' | CommandVerb;

/** The flags and arguments of the command line. */
export interface WriteFlags extends ObjectFlags, SetFlags {
  /** Object ids, or a kind and names. */
  readonly words: readonly string[];
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly replicas?: number;
  /** Of a revert: a time, or one relative to now. */
  readonly to?: string;
  /** Of a revert: a resourceVersion. */
  readonly toVersion?: string;
  /** Of a rollback. */
  readonly toRevision?: number;
  readonly fieldManager?: string;
  readonly onError?: 'stop' | 'continue' | 'revert';
  /** Milliseconds. */
  readonly wait?: number;
  readonly requestId?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly output: 'text' | 'json';
  readonly color: 'auto' | 'always' | 'never';
}

interface WriteStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: Pick<Output, 'isTerminal' | 'write' | 'writeStyled'>;
  readonly errors: Pick<Output, 'isTerminal' | 'write' | 'writeStyled' | 'rewrite'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The exit code. Of a plan: 0 if nothing would change, 1 if something would. Otherwise: 0 if all is done, 1 if not.
 * @throws PortolanError for what is neither: a wrong flag, a gateway that does not answer, a request that it refuses.
 */
export async function write(
  remote: RemoteConfig,
  command: WriteCommand,
  flags: WriteFlags,
  streams: WriteStreams = {
    input: process.stdin,
    output: standardOutput,
    errors: standardError,
    environment: process.env,
  },
): Promise<number> {
  const isPlan = command === 'plan' || flags.dryRun === true;
  const requireAsked = (): void => {
    if (!isPlan) requireAnswer(flags, streams);
  };
  // Before manifests are read from it.
  if (flags.filename?.includes('-') === true) requireAsked();
  const verb = verbOf(command, flags);
  const gateway = new WriteGateway(new GatewayClient(remote));
  const say = (line: string): void => void streams.errors.write(`portolan: ${oneLine(line)}\n`);
  const files = await manifestFiles(flags.filename ?? [], flags.recursive === true, streams.input);
  const names = files.map(({ name }) => name);
  let edit: EditedText | null = null;
  let isWritten = false;
  try {
    if (verb === 'edit') edit = await edited(gateway, flags, streams, requireAsked);
    if (edit !== null && edit.args === null) {
      edit.discard();
      isWritten = true;
      say('Nothing was edited.');
      return 0;
    }
    const args = edit?.args ?? (await argumentsOf(gateway, verb, flags, { documents: documentsOf(files, flags), say }));
    requireAsked();
    const report = new Report(flags, streams, names);
    const { fieldManager } = flags;
    const manager = fieldManager === undefined ? {} : { fieldManager };
    const plan = await report.during('Planning', (told) =>
      gateway.write(verb, args, { dryRun: true, ...manager }, told),
    );
    report.plan(plan, isPlan);
    if (isPlan) return plan.complete ? Number(plan.items.some(isChange)) : 2;
    // A plan of a set that has errors is not carried out.
    const isSet = flags.set !== undefined;
    if (!plan.complete && (isSet || flags.onError !== 'continue')) {
      const isRest = !isSet && plan.items.some(isChange);
      say(`Nothing was written.${isRest ? ' --on-error continue writes what is possible.' : ''}`);
      report.end(plan);
      return 1;
    }
    if (flags.yes !== true && plan.items.some(isChange) && !(await isConfirmed(streams))) {
      say('Nothing was written.');
      return 1;
    }
    const count = plan.items.length === 1 ? '1 object' : `${plan.items.length} objects`;
    const done = await report.during(`Writing ${count}`, (told) =>
      gateway.write(verb, args, { plan: plan.planId, ...manager, ...runOptions(flags) }, told).catch(mayBeDone),
    );
    report.done(done, plan, verb);
    if (done.complete) edit?.discard();
    isWritten = done.complete;
    return done.complete ? 0 : 1;
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    throw new PortolanError(error.code, namingFiles(error.message, names), { cause: error });
  } finally {
    if (edit !== null && !isWritten) say(`The edited text is in ${edit.file}.`);
  }
}

function verbOf(command: WriteCommand, flags: WriteFlags): WriteVerb {
  const verb = command === 'plan' ? 'apply' : command;
  if (flags.set !== undefined && verb === 'apply') return 'applySet';
  if (flags.set !== undefined && verb === 'delete') return 'deleteSet';
  refuseSetFlags(flags);
  return verb;
}

/** @param ready is called before the editor opens */
async function edited(
  gateway: WriteGateway,
  flags: WriteFlags,
  { environment }: WriteStreams,
  ready: () => void,
): Promise<EditedText> {
  const { words, fieldManager } = flags;
  const id = await idOfObject(gateway, words, flags, false);
  ready();
  return editedText({ gateway, id, options: fieldManager === undefined ? {} : { fieldManager }, environment });
}

/** @throws PortolanError CONFIGURATION if nobody could answer the question. */
function requireAnswer({ yes, filename }: WriteFlags, { input }: WriteStreams): void {
  if (yes === true) return;
  const isTaken = filename?.includes('-') === true;
  if (input.isTTY === true && !isTaken) return;
  const why = isTaken ? 'Standard input has the manifests' : 'Standard input is no terminal';
  throw new PortolanError(
    'CONFIGURATION',
    `${why}, so nobody can be asked: --yes carries the plan out without a question, and --dry-run only shows it.`,
  );
}

async function argumentsOf(
  gateway: WriteGateway,
  verb: WriteVerb,
  flags: WriteFlags,
  { documents, say }: { readonly documents: readonly object[]; readonly say: (line: string) => void },
): Promise<Readonly<Record<string, unknown>>> {
  const { words, filename, force, replicas, filter, selector } = flags;
  if (verb === 'revert') return { target: { id: await idOfObject(gateway, words, flags, true) }, to: stateOf(flags) };
  if (verb === 'rollback') {
    const target = { id: await idOfObject(gateway, words, flags, false) };
    return { target, ...(flags.toRevision === undefined ? {} : { revision: flags.toRevision }) };
  }
  if (verb === 'applySet' || verb === 'deleteSet') return setArguments(verb, flags, documents);
  const byFiles = filename !== undefined;
  if (byFiles && (words.length > 0 || filter !== undefined || selector !== undefined)) {
    throw new PortolanError('CONFIGURATION', '--filename names the objects: leave out ids, kinds and filters.');
  }
  if (verb === 'apply') {
    if (!byFiles)
      throw new PortolanError(
        'CONFIGURATION',
        'Name the manifests with --filename: a file, a folder, or - for standard input.',
      );
    return { docs: documents, force: force === true };
  }
  const targets = byFiles ? { docs: documents } : await targetsOf(gateway, words, flags, say);
  if (verb !== 'scale') return { targets };
  if (replicas !== undefined) return { targets, replicas };
  throw new PortolanError('CONFIGURATION', 'Say with --replicas how many there shall be.');
}

function stateOf({ to, toVersion }: WriteFlags): object {
  if ((to === undefined) === (toVersion === undefined)) {
    throw new PortolanError(
      'CONFIGURATION',
      'Say which state is meant: --to a time such as -10m, or --to-version one of `portolan history`.',
    );
  }
  return to === undefined ? { resourceVersion: toVersion } : { time: to };
}

function runOptions({ onError = 'stop', wait, requestId }: WriteFlags): object {
  return {
    onError: onError.toUpperCase(),
    ...(wait === undefined ? {} : { waitMs: wait }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function mayBeDone(error: unknown): never {
  if (!(error instanceof PortolanError) || error.code !== 'UPSTREAM_UNAVAILABLE') throw error;
  const message = `${error.message} Some of it may be written: run the command again, which plans what is left.`;
  throw new PortolanError(error.code, message, { cause: error });
}

function isChange({ result }: WriteItem): boolean {
  return result !== 'UNCHANGED' && result !== 'NONE';
}

/** Milliseconds between two lines of progress on a terminal. */
const tick = 500;
/** Fewer objects need no line of progress where there is no terminal. */
const many = 20;

const doneWords: Readonly<Record<WriteVerb, string>> = {
  apply: 'configured',
  applySet: 'configured',
  delete: 'deleted',
  deleteSet: 'configured',
  restart: 'restarted',
  scale: 'scaled',
  edit: 'edited',
  revert: 'reverted',
  rollback: 'rolled back',
};

/** Prints plans, progress and outcomes. */
class Report {
  readonly #flags: WriteFlags;
  readonly #streams: WriteStreams;
  readonly #files: readonly string[];
  #count = 0;

  constructor(flags: WriteFlags, streams: WriteStreams, files: readonly string[]) {
    this.#flags = flags;
    this.#streams = streams;
    this.#files = files;
  }

  /** Tells the number of objects on a terminal; elsewhere one line for many objects. */
  async during<T>(what: string, work: (told: (done: number, total: number) => void) => Promise<T>): Promise<T> {
    const { errors } = this.#streams;
    if (!errors.isTerminal) {
      if (this.#count >= many) errors.write(`portolan: ${what}.\n`);
      return work(() => {});
    }
    let now = '';
    let isShown = false;
    const timer = setInterval(() => {
      isShown = true;
      errors.rewrite(`${what}${now}`);
    }, tick);
    try {
      return await work((done, total) => {
        now = `, ${done} of ${total}`;
      });
    } finally {
      clearInterval(timer);
      if (isShown) errors.rewrite('');
    }
  }

  /** The diff, the warnings, the errors and the summary. */
  plan(plan: Written, isAll: boolean): void {
    this.#count = plan.items.length;
    const isJson = this.#flags.output === 'json';
    if (isJson && isAll) this.end(plan);
    else this.#diff(plan.items);
    this.#problems(plan.items, []);
    if (!isJson) this.#streams.output.write(`${planSummary(plan.items)}\n`);
  }

  /** A line for each object. @param plan whose warnings were told */
  done(done: Written, plan: Written, verb: WriteVerb): void {
    const { output, errors } = this.#streams;
    const words = new ObjectWords(done.items, this.#files);
    if (this.#flags.output === 'json') this.end(done);
    else {
      for (const { target, result } of done.items) {
        if (result === 'NONE') continue;
        const word = result === 'CHANGED' ? doneWords[verb] : result.toLowerCase();
        output.write(`${words.name(target)} ${word}\n`);
      }
    }
    this.#diff(done.items.filter(({ errors: found }) => found.some(({ code }) => code === 'PLAN_CHANGED')));
    this.#problems(
      done.items,
      plan.items.flatMap(({ warnings }) => warnings),
    );
    const unseen = done.items.filter((item) => isChange(item) && item.result !== 'REVERTED' && !item.seen).length;
    if (this.#flags.wait === undefined || unseen === 0) return;
    errors.write(`portolan: ${unseen} of ${done.items.length} are not in the gateway's tables yet.\n`);
  }

  /** The answer as JSON, if it is wanted. */
  end({ answer }: Written): void {
    if (this.#flags.output === 'json') this.#streams.output.write(`${JSON.stringify(answer, null, 2)}\n`);
  }

  /** On standard output, unless that has JSON. */
  #diff(items: readonly WriteItem[]): void {
    const { output, errors } = this.#streams;
    const to = this.#flags.output === 'json' ? errors : output;
    const parts = planDiff(items, new ObjectWords(items, this.#files));
    if (parts.length === 0) return;
    const coloured = isColoured(this.#flags.color, to.isTerminal, this.#streams.environment);
    to.writeStyled(coloured ? parts : parts.map(withoutStyle));
  }

  #problems(items: readonly WriteItem[], told: readonly string[]): void {
    const { errors } = this.#streams;
    const words = new ObjectWords(items, this.#files);
    const warnings = new Set(items.flatMap((item) => item.warnings).filter((warning) => !told.includes(warning)));
    for (const warning of warnings) errors.write(`Warning: ${oneLine(warning)}\n`);
    for (const { target, errors: found } of items) {
      for (const { code, message } of found) {
        errors.write(`${oneLine(`${words.name(target)}${words.source(target)}: ${code}: ${message}`)}\n`);
      }
    }
    const has = (wanted: string): boolean => items.some((item) => item.errors.some(({ code }) => code === wanted));
    if (has('FIELD_CONFLICT')) errors.write('portolan: --force takes fields from other managers.\n');
    if (this.#flags.set !== undefined && this.#flags.adopt !== true && has('ALREADY_EXISTS')) {
      errors.write('portolan: --adopt takes objects that belong to no set.\n');
    }
  }
}

function withoutStyle({ text }: StyledText): StyledText {
  return { text, style: null };
}
