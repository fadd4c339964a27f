/**
 * One operation: its caller, its generation, its read lease, its loaders, its cost and its trace.
 *
 *   beginOperation -> read -> (lease opened) -> read … read -> end -> (lease ended)          operation-snapshot.ts
 *
 * A gateway with several cells has a store file for each. The operation has a part for each cell, and shares its cost, trace and notes
 * with them. An object has the part that found it, so the reads of what is related to it stay in its cell. A question about objects of
 * several cells asks each part and merges the results (`readCells`).
 */
import DataLoader from 'dataloader';
import type { Caller, Credentials } from '../access/caller.ts';
import { type Scopes, scopesOfCells } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { must } from '../base/must.ts';
import { noSpan, type Span } from '../base/tracing.ts';
import type { LiveStart } from '../live/list/live-request.ts';
import { anyKind } from '../query/plan/hop.ts';
import { type OverBudget, ScanBudget } from '../query/plan/scan-budget.ts';
import type { CellView, View } from '../query/sql/view.ts';
import type { Lease } from '../store/types/lease.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import { answerExtensions, type Lacks, type Missing } from './answers/answer-extensions.ts';
import { type MadeAnswerIn, madeInCells, OperationSnapshot } from './operation-snapshot.ts';
import type { OperationSource } from './operation-source.ts';
import { HoldingRight } from './parts/holding-right.ts';
import { OperationCost } from './parts/operation-cost.ts';
import { OperationNotes } from './parts/operation-notes.ts';
import { OperationTrace, type ResponsePath } from './parts/operation-trace.ts';
import type { ServedKinds } from './served-kinds.ts';
import { requireWrites } from './write-access.ts';

interface OperationBegin {
  readonly detached: boolean;
  readonly liveStart: LiveStart | null;
  /** Those of the request or the WebSocket; null without any. */
  readonly credentials: Credentials | null;
  readonly explain?: boolean;
  readonly span: Span;
  /** The parts that the first operation shares with its repeats. */
  readonly shared?: Map<string, unknown>;
  /** The number of objects that may each cost as much as an operation. */
  readonly objects?: number;
  readonly isLive?: boolean;
  readonly isSafe?: boolean;
}

/** The parts of an operation share these. Each part reads another cell. */
interface SharedParts {
  readonly cost: OperationCost;
  readonly scans: ScanBudget;
  readonly trace: OperationTrace;
  readonly notes: OperationNotes;
  readonly mayOpen: () => Promise<unknown>;
}

/** A question over several cells reads this in each of them. */
export interface CellRead<G extends ServedKinds = ServedKinds> extends CellView {
  /** The part of the operation that reads the cell. The objects that are found there are objects of this part. */
  readonly operation: Operation<G>;
}

const turns = new LoopQueue();

export class Operation<G extends ServedKinds = ServedKinds> {
  readonly source: OperationSource<G>;
  readonly generation: G;
  readonly signal: AbortSignal | undefined;
  /** The start of a subscription that moved from another generation; null when its arguments determine the start. */
  readonly liveStart: LiveStart | null;
  readonly cost: OperationCost;
  /** The budget that its counts and aggregates share. */
  readonly scans: ScanBudget;
  readonly trace: OperationTrace;
  /** That of the request. It also has the parts of the operation's repeats. */
  readonly span: Span;
  /** An event of a subscription. */
  readonly isDetached: boolean;
  /** A run of a live query, whose result other callers with the same scopes may get. */
  readonly isLive: boolean;
  /** Of an HTTP request with a safe method (RFC 9110, 9.2.1). It writes nothing. */
  readonly isSafe: boolean;
  /** They live as long as the request or the WebSocket, unlike the caller, whom several requests share. */
  readonly #credentials: Credentials | null;
  readonly #loaders = new Map<string, unknown>();
  readonly #shared: Map<string, unknown>;
  readonly #notes: OperationNotes;
  readonly #begin: OperationBegin;
  #cells: readonly Operation<G>[] | null = null;
  readonly #holding: HoldingRight;
  readonly #snapshot: OperationSnapshot;
  readonly #caller: Caller;
  readonly #now: number;

  constructor(
    source: OperationSource<G>,
    generation: G,
    caller: Caller,
    signal: AbortSignal | undefined,
    begin: OperationBegin,
    parts: SharedParts | null = null,
  ) {
    const {
      detached,
      liveStart,
      credentials,
      span,
      explain = false,
      shared = new Map(),
      objects = 1,
      isLive = false,
      isSafe = false,
    } = begin;
    this.#begin = { ...begin, shared };
    this.source = source;
    this.generation = generation;
    this.#caller = caller;
    this.#now = source.now();
    this.signal = signal;
    this.span = span;
    this.liveStart = liveStart;
    const { maxCost, maxReadBytes } = source.limits;
    this.cost = parts?.cost ?? new OperationCost({ maxCost: maxCost * objects, maxReadBytes });
    this.isDetached = detached;
    this.isLive = isLive;
    this.isSafe = isSafe;
    this.#credentials = credentials;
    this.#shared = shared;
    this.scans = parts?.scans ?? new ScanBudget(source.limits.scanRows);
    this.trace = parts?.trace ?? new OperationTrace(source.indexAdvisor, () => source.monotonic(), explain);
    this.#notes = parts?.notes ?? new OperationNotes();
    const own = { source, caller, signal, isDetached: detached, span, notes: this.#notes, mayOpen: parts?.mayOpen };
    this.#holding = new HoldingRight(source.holders, signal, caller.name);
    this.#snapshot = new OperationSnapshot({ ...own, cost: this.cost, trace: this.trace });
  }

  /** The parts that read one cell each. With one cell it is the operation itself. A question that all cells answer asks each of them. */
  get cells(): readonly Operation<G>[] {
    const { cells } = this.source;
    if (cells === undefined) return [this];
    const { cost, scans, trace } = this;
    const parts = { cost, scans, trace, notes: this.#notes, mayOpen: () => this.#holding.enter() };
    this.#cells ??= cells.map(
      (cell) => new Operation(cell, this.generation, this.#caller, this.signal, this.#begin, parts),
    );
    return this.#cells;
  }

  /** The part that reads the cell of this cluster. An unknown cluster is as one of the first cell: nothing is found there. */
  at(cluster: string): Operation<G> {
    if (this.source.cells === undefined) return this;
    return must(this.cells[this.source.cellOf?.(cluster) ?? 0], 'the cell of a cluster');
  }

  /**
   * The parts of the cells that have these clusters, at least one.
   * @param clusters null for all
   */
  cellsOf(clusters: readonly string[] | null): readonly Operation<G>[] {
    if (clusters === null || this.cells.length === 1) return this.cells;
    const some = new Set(clusters.map((cluster) => this.at(cluster)));
    return some.size === 0 ? this.cells.slice(0, 1) : this.cells.filter((cell) => some.has(cell));
  }

  /** The view of the cell that has the cluster. @param cells read by a question about the cluster */
  viewIn(cells: readonly CellRead<G>[], cluster: string): View {
    const own = this.at(cluster);
    const read = cells.find(({ operation }) => operation === own);
    return must(read, 'the cell of the cluster is read').view;
  }

  get caller(): Caller {
    this.#notes.isPersonal = true;
    return this.#caller;
  }

  /** Has the operation used its caller's rights or credentials? If not, another caller would have got the same. */
  get isPersonal(): boolean {
    return this.#notes.isPersonal;
  }

  /** Does the answer depend on the time? */
  get isTimed(): boolean {
    return this.#notes.isTimed;
  }

  /** Does the answer depend on more than the objects of `dependencies`? */
  get readsMore(): boolean {
    return this.#notes.readsMore;
  }

  /** The start, in milliseconds since the epoch. Relative times of filters refer to it: the answer is another one later. */
  get now(): number {
    this.#notes.isTimed = true;
    return this.#now;
  }

  /**
   * Notes that the answer depends on more than objects: on the progress of ingest, on decisions about rights, or on an API server. Every
   * field with such an answer calls it, because the dependencies do not include these.
   */
  noteMore(): void {
    this.#notes.readsMore = true;
  }

  /** Notes that the data contains the revision of the snapshot. */
  noteRevision(): void {
    this.#notes.showsRevision = true;
  }

  /**
   * Runs `work` for the field at `path` in the operation's snapshot. A detached operation uses a new snapshot for each call.
   * @throws PortolanError TIMEOUT after the end of the operation, and whatever else `work` throws.
   */
  async read<T>(work: (lease: Lease, view: View) => Promise<T>, path: ResponsePath = []): Promise<T> {
    if (this.source.cells !== undefined)
      throw new Error('invariant broken: a question over several cells asks each of them');
    return this.#snapshot.read(work, path);
  }

  /**
   * As `read`, in the snapshots of several cells. Each is of its own time.
   * @param clusters the clusters that the question is about; null for all
   */
  async readCells<T>(
    work: (cells: readonly CellRead<G>[]) => Promise<T>,
    path: ResponsePath = [],
    clusters: readonly string[] | null = null,
  ): Promise<T> {
    const parts = this.cellsOf(clusters);
    const found: CellRead<G>[] = [];
    const readAll = ([next, ...others]: readonly Operation<G>[]): Promise<T> => {
      if (next === undefined) return work(found);
      return next.read((lease, view) => {
        found.push({ operation: next, lease, view });
        return readAll(others);
      }, path);
    };
    try {
      if (parts.length > 1 && this.isDetached) await this.#holding.enter();
      else if (parts.length > 1) await Promise.all(parts.map((cell) => cell.#snapshot.opened()));
      return await readAll(parts);
    } finally {
      if (this.isDetached) this.#holding.leave();
    }
  }

  /**
   * An operation for one subscription event: same caller and generation, fresh loaders, a lease for each read. A subscription was admitted
   * by the cost of one object, and an event has this number of objects.
   */
  detached(objects = 1): Operation<G> {
    return this.#derive({ detached: true, objects });
  }

  /** An operation for events that several subscribers of the caller have in common. It has no credentials, no signal and no span. */
  withoutRequest(): Operation<G> {
    const { source, generation, caller } = this;
    const begin = { detached: true, liveStart: null, span: noSpan, credentials: null };
    return new Operation(source, generation, caller, undefined, begin);
  }

  /** The same operation in a new snapshot. */
  again(): Operation<G> {
    return this.#derive({ explain: this.trace.explains, shared: this.#shared, isLive: this.isLive });
  }

  /** A run of the same operation as a live query, on the current generation. @param span that of the run */
  live(span: Span): Operation<G> {
    return this.#derive({ span, isLive: true }, this.source.generation());
  }

  /** The same subscription on the current generation. It starts at `liveStart`, where it stopped on this one. */
  movedOn(liveStart: LiveStart): Operation<G> {
    return this.#derive({ liveStart }, this.source.generation());
  }

  /** Another operation of the same request. */
  #derive(begin: Partial<OperationBegin>, generation = this.generation): Operation<G> {
    const { source, caller, signal, span, isSafe } = this;
    const own = { detached: false, liveStart: null, span, isSafe, credentials: this.#credentials };
    return new Operation(source, generation, caller, signal, { ...own, ...begin });
  }

  /** The part with this name. Each operation makes it once. */
  loader<T>(name: string, make: () => T): T {
    return madeOnce(this.#loaders, name, make);
  }

  /**
   * The loader with this name: what the fields of an answer ask for one by one is read together.
   * @param read values in the order of the keys
   * @param keyOf a text that tells keys apart; not needed for numbers
   */
  batched<K, V>(
    name: string,
    read: (lease: Lease, view: View, keys: readonly K[]) => Promise<readonly V[]>,
    keyOf?: (key: K) => string,
  ): Pick<DataLoader<K, V, unknown>, 'load'> {
    return this.loader(name, () => {
      const options = keyOf === undefined ? {} : { cacheKeyFn: keyOf };
      return new DataLoader<K, V, unknown>((keys) => this.read((lease, view) => read(lease, view, keys)), options);
    });
  }

  /**
   * Does a piece of long work, in a turn of the event loop that is not long yet. Callers take turns. For an event of a subscription it is
   * done at once. An event whose execution is over at once is executed for all its subscribers together.
   */
  inTurn<T>(piece: () => T): T | Promise<Awaited<T>> {
    return this.isDetached ? piece() : turns.run(this.#caller.name, piece);
  }

  /** The part with this name, which reads nothing of a snapshot. The operation and its repeats make it once. */
  sharedByRepeats<T>(name: string, make: () => T): T {
    return madeOnce(this.#shared, name, make);
  }

  /**
   * A client of a cluster's API server that acts as the caller, with the credentials of the operation's own request.
   * @throws PortolanError FORBIDDEN if they may not be used in this cluster, or if the request has none.
   */
  async upstreamClient(cluster: string): Promise<CallerClient> {
    return this.source.upstream(cluster, this.#personalCredentials());
  }

  /** As `upstreamClient`, for the OpenAPI of a cluster. */
  async openApiClient(cluster: string): Promise<CallerClient> {
    return this.source.openApi.client(cluster, this.#personalCredentials());
  }

  /**
   * As `upstreamClient`, for requests that write.
   * @throws PortolanError FORBIDDEN for a read-only gateway, in subscriptions and live queries, and as `upstreamClient`.
   */
  async writeClient(cluster: string): Promise<CallerClient> {
    return requireWrites(this.source.writes, this).client(cluster, this.#personalCredentials());
  }

  /** The credentials of the request, for an answer that is the caller's own. @throws PortolanError FORBIDDEN without any. */
  #personalCredentials(): Credentials {
    this.#notes.isPersonal = true;
    this.noteMore();
    if (this.#credentials !== null) return this.#credentials;
    const text = 'The request has no credentials, so nothing is sent in the name of its caller.';
    throw new PortolanError('FORBIDDEN', text);
  }

  /** Notes resources that are missing from the answer. The answer lists them in `extensions.portolan.notReady`. */
  noteMissing(missing: readonly Missing[]): void {
    this.#notes.noteMissing(missing);
  }

  /** Tells the caller about something that is probably a mistake, in `extensions.portolan.warnings`. Each text once for a field. */
  warn(path: ResponsePath, message: string): void {
    this.#notes.warn(path, message);
  }

  /**
   * The answer of the field at `path`; null when it was over budget. The answer lists the field in
   * `extensions.portolan.notAfforded`.
   */
  withinBudget<T>(answer: T | OverBudget, path: readonly (string | number)[]): T | null {
    return this.#notes.withinBudget(answer, path);
  }

  /** The content of `extensions.portolan`. */
  extensions(): Record<string, unknown> {
    const explain = this.#explanation();
    return {
      ...answerExtensions(this.generation, this.cost, this.#revisions(), this.#lacks()),
      ...(explain === null ? {} : { explain }),
      ...this.#notes.extensions(),
    };
  }

  /** Of one cell, or by cell. Null when nothing was read. */
  #revisions(): number | readonly (number | null)[] | null {
    if (this.source.cells === undefined) return this.#snapshot.revision;
    const revisions = this.cells.map((cell) => cell.#snapshot.revision);
    return revisions.every((each) => each === null) ? null : revisions;
  }

  #lacks(): Lacks {
    const { dependencies, missing } = this.#notes;
    const readsAny = dependencies.has(anyKind);
    const isRead = (key: string): boolean => readsAny || this.generation.isSource(key, dependencies);
    const stale = this.cells.flatMap((cell) => cell.source.staleness.of(isRead, cell.scopes));
    return { missing, stale };
  }

  /** Null for a caller who does not see all objects: routes, statements and their rows would reveal hidden objects. */
  #explanation(): Readonly<Record<string, unknown>> | null {
    const explanation = this.trace.explanation();
    if (explanation === null) return explanation;
    const scopes = this.cells.flatMap((cell) => cell.scopes ?? []);
    const isWhole = ({ key }: { readonly key: string }): boolean =>
      (['list', 'get'] as const).every((access) => scopes.every((each) => each.of(key, access).rows === 'all'));
    if (this.generation.all.every(isWhole)) return explanation;
    this.warn([], 'The explanation is left out: only callers who may see all objects get one.');
    return null;
  }

  /**
   * Waits for the decisions of the API server on the caller's rights that its reads have requested. Null if there are none. True if the
   * caller may see more or less now: the operation must be repeated.
   */
  pendingRights(): Promise<boolean> | null {
    if (this.source.cells === undefined) {
      return this.scopes === null ? null : this.source.rights.pending(this.caller, this.scopes);
    }
    const pending = this.cells.flatMap((cell) => cell.pendingRights() ?? []);
    return pending.length === 0 ? null : Promise.all(pending).then((moved) => moved.includes(true));
  }

  /** The resourceKeys of the kinds that the reads so far depend on; `*` when they may find rows of any kind. */
  get dependencies(): ReadonlySet<string> {
    return this.#notes.dependencies;
  }

  /** Milliseconds since its lease was opened: without the wait for a reader. Zero before the first read. */
  get readingMs(): number {
    return Math.max(...this.cells.map((cell) => cell.#snapshot.readingMs));
  }

  /** The scopes of the reads; null before the first one. */
  get scopes(): Scopes | null {
    if (this.source.cells === undefined) return this.#snapshot.scopes;
    if (this.cells.every((cell) => cell.#snapshot.scopes === null)) return null;
    return scopesOfCells(this.cells.map((cell) => cell.#snapshot.scopes ?? cell.source.rights.now(this.#caller)));
  }

  /**
   * The state of the kinds that the answer depends on, in the operation's snapshot, and the scopes in which it was made. Null for an
   * answer that may change without them. Call it after the execution and before `end`.
   */
  async madeIn(): Promise<MadeAnswerIn | null> {
    if (this.source.cells === undefined) return this.#snapshot.madeIn();
    return madeInCells(
      this.cells.map((cell) => cell.#snapshot),
      this.scopes,
    );
  }

  /**
   * Ends the snapshot. The next read opens a new one, which has what was committed since. Nothing may read at the time of the call. It is
   * for mutations, whose fields are executed one after the other, and for work before an execution.
   */
  renewSnapshot(): void {
    this.#snapshot.renew();
    this.#loaders.clear();
    for (const cell of this.#cells ?? []) cell.renewSnapshot();
    this.#holding.leave();
  }

  /** Ends the lease. Idempotent. */
  end(): void {
    this.#snapshot.end();
    for (const cell of this.#cells ?? []) cell.end();
    this.#holding.leave();
  }
}

function madeOnce<T>(made: Map<string, unknown>, name: string, make: () => T): T {
  const known = made.get(name);
  if (known !== undefined) return known as T;
  const value = make();
  made.set(name, value);
  return value;
}

/**
 * Begins an operation on the current generation. The caller of this function must end it.
 * @param options `explain` adds an explanation to the answer; `credentials` and `span` are those of the request.
 * @throws PortolanError FORBIDDEN for an explanation that the gateway does not allow; CACHE_NOT_READY before the first
 * generation.
 */
export function beginOperation<G extends ServedKinds>(
  source: OperationSource<G>,
  caller: Caller,
  signal?: AbortSignal,
  {
    explain = false,
    credentials = null,
    span = noSpan,
    isSafe = false,
  }: Partial<Pick<OperationBegin, 'explain' | 'credentials' | 'span' | 'isSafe'>> = {},
): Operation<G> {
  if (explain && !source.diagnosis.explain) {
    throw new PortolanError('FORBIDDEN', 'This gateway explains no operations; start it with --explain.');
  }
  return new Operation(source, source.generation(), caller, signal, {
    detached: false,
    liveStart: null,
    credentials,
    explain,
    span,
    isSafe,
  });
}
