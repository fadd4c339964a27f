/**
 * One operation: its caller, its generation, its read lease, its loaders, its cost and its trace.
 *
 *   beginOperation -> read -> (lease opened) -> read … read -> end -> (lease ended)
 *
 * Owns the lease of a query. The first read opens it, and `end` ends it. So all data of the answer comes from one snapshot.
 *
 * The events of a subscription are `detached`: each read takes a short lease of its own. The end of an event's execution is not
 * signalled, and a lease held by a slow client would keep the WAL from being truncated.
 */
import DataLoader from 'dataloader';
import type { Caller, Credentials } from '../access/caller.ts';
import type { Scopes } from '../access/scope.ts';
import { codeOf, PortolanError } from '../base/errors.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { noSpan, type Span } from '../base/tracing.ts';
import type { LiveStart } from '../live/list/live-request.ts';
import { anyKind } from '../query/plan/hop.ts';
import { OverBudget, ScanBudget } from '../query/plan/scan-budget.ts';
import { kindState, stateStatement } from '../query/read/kind-state.ts';
import { readView, type View } from '../query/sql/view.ts';
import type { Lease, LeaseOptions } from '../store/types/lease.ts';
import type { Row } from '../store/types/statement.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import { answerExtensions, type Lacks, type Missing } from './answers/answer-extensions.ts';
import type { MadeIn } from './answers/kept-answers.ts';
import { meteredLease, type OpenLease, OperationCost } from './operation-cost.ts';
import type { OperationSource } from './operation-source.ts';
import { OperationTrace, type ResponsePath, spreadable } from './operation-trace.ts';
import type { ServedKinds } from './served-kinds.ts';
import { requireWrites } from './write-access.ts';

interface OpenRead {
  /** Counts the rows that it reads. */
  readonly lease: OpenLease;
  readonly unmetered: OpenLease;
  readonly view: View;
  readonly span: Span;
}

interface MadeAnswerIn {
  readonly made: MadeIn;
  readonly scopes: Scopes;
  /** The kinds of the answer that the store has: ids by resourceKey. */
  readonly kindIds: ReadonlyMap<string, number>;
}

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

/** A probable mistake of the caller. */
interface Warning {
  readonly path: ResponsePath;
  readonly message: string;
}

const turns = new LoopQueue();

/** An answer has at most as many. */
const mostWarnings = 20;

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
  /** Does the answer depend on the time? */
  isTimed = false;
  /** Does the answer depend on more than the objects of `dependencies`? */
  readsMore = false;
  /** An event of a subscription. */
  readonly isDetached: boolean;
  /** A run of a live query, whose result other callers with the same scopes may get. */
  readonly isLive: boolean;
  /** Of an HTTP request with a safe method (RFC 9110, 9.2.1). It writes nothing. */
  readonly isSafe: boolean;
  /** They live as long as the request or the WebSocket, unlike the caller, whom several requests share. */
  readonly #credentials: Credentials | null;
  readonly #dependencies = new Set<string>();
  readonly #loaders = new Map<string, unknown>();
  readonly #shared: Map<string, unknown>;
  readonly #missing = new Map<string, Missing>();
  readonly #overBudget: { path: readonly (string | number)[]; rows: number; allowed: number }[] = [];
  readonly #warnings = new Map<string, Warning>();
  #opening: Promise<OpenRead> | null = null;
  #revision: number | null = null;
  #openedAt: number | null = null;
  #ended = false;
  #scopes: Scopes | null = null;
  readonly #caller: Caller;
  #isPersonal = false;
  readonly #now: number;
  #showsRevision = false;

  constructor(
    source: OperationSource<G>,
    generation: G,
    caller: Caller,
    signal: AbortSignal | undefined,
    {
      detached,
      liveStart,
      credentials,
      span,
      explain = false,
      shared = new Map(),
      objects = 1,
      isLive = false,
      isSafe = false,
    }: OperationBegin,
  ) {
    this.source = source;
    this.generation = generation;
    this.#caller = caller;
    this.#now = source.now();
    this.signal = signal;
    this.span = span;
    this.liveStart = liveStart;
    const { maxCost, maxReadBytes } = source.limits;
    this.cost = new OperationCost({ maxCost: maxCost * objects, maxReadBytes });
    this.isDetached = detached;
    this.isLive = isLive;
    this.isSafe = isSafe;
    this.#credentials = credentials;
    this.#shared = shared;
    this.scans = new ScanBudget(source.limits.scanRows);
    this.trace = new OperationTrace(source.indexAdvisor, () => source.monotonic(), explain);
  }

  get caller(): Caller {
    this.#isPersonal = true;
    return this.#caller;
  }

  /** Has the operation used its caller's rights or credentials? If not, another caller would have got the same. */
  get isPersonal(): boolean {
    return this.#isPersonal;
  }

  /** The start, in milliseconds since the epoch. Relative times of filters refer to it: the answer is another one later. */
  get now(): number {
    this.isTimed = true;
    return this.#now;
  }

  /**
   * Notes that the answer depends on more than objects: on the progress of ingest, on decisions about rights, or on an API server. Every
   * field with such an answer calls it, because the dependencies do not include these.
   */
  noteMore(): void {
    this.readsMore = true;
  }

  /** Notes that the data contains the revision of the snapshot. */
  noteRevision(): void {
    this.#showsRevision = true;
  }

  /**
   * Runs `work` for the field at `path` in the operation's snapshot. A detached operation uses a new snapshot for each call.
   * @throws PortolanError TIMEOUT after the end of the operation, and whatever else `work` throws.
   */
  async read<T>(work: (lease: Lease, view: View) => Promise<T>, path: ResponsePath = []): Promise<T> {
    const options = { client: this.caller.name, ...(this.signal === undefined ? {} : { signal: this.signal }) };
    if (this.isDetached) {
      const span = this.span.child('lease');
      return this.source.reader
        .lease(async (lease) => {
          const view = await this.#view(lease);
          return this.trace.follow(spreadable(lease), path, (traced) => work(traced, view), span);
        }, options)
        .finally(() => span.end());
    }
    if (this.#ended) throw endedError();
    this.#opening ??= this.#open(options);
    const { lease, view, span } = await this.#opening;
    return this.trace.follow(lease, path, (traced) => work(traced, view), span);
  }

  async #open(options: LeaseOptions): Promise<OpenRead> {
    const span = this.span.child('lease');
    let lease: OpenLease | null = null;
    try {
      const unmetered = await this.source.reader.open(options);
      const count = (rows: readonly Row[]): void => {
        this.cost.read(rows);
        this.trace.rows += rows.length;
      };
      lease = meteredLease(unmetered, count, () => span.end());
      if (this.#ended) throw endedError();
      this.#revision = lease.revision;
      this.#openedAt = this.source.monotonic();
      return { lease, unmetered, view: await this.#view(lease), span };
    } catch (error) {
      lease?.end();
      span.fail(codeOf(error));
      span.end();
      throw error;
    }
  }

  /** The caller's view in the lease's snapshot. */
  async #view(lease: Lease): Promise<View> {
    const scopes = await this.source.rights.at(lease, this.caller);
    this.#scopes = scopes;
    for (const [cluster, why] of scopes.unknown ?? []) {
      this.warn(
        [],
        `The objects of the cluster ${cluster} are left out: what you may see there is not known, because ${why}.`,
      );
    }
    return readView(lease, scopes, this.#dependencies);
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
    this.#isPersonal = true;
    this.noteMore();
    if (this.#credentials !== null) return this.#credentials;
    const text = 'The request has no credentials, so nothing is sent in the name of its caller.';
    throw new PortolanError('FORBIDDEN', text);
  }

  /** Notes resources that are missing from the answer. The answer lists them in `extensions.portolan.notReady`. */
  noteMissing(missing: readonly Missing[]): void {
    for (const entry of missing) this.#missing.set(`${entry.cluster}\n${entry.key}`, entry);
  }

  /** Tells the caller about something that is probably a mistake, in `extensions.portolan.warnings`. Each text once for a field. */
  warn(path: ResponsePath, message: string): void {
    if (this.#warnings.size < mostWarnings) this.#warnings.set(`${path.join('.')} ${message}`, { path, message });
  }

  /**
   * The answer of the field at `path`; null when it was over budget. The answer lists the field in
   * `extensions.portolan.notAfforded`.
   */
  withinBudget<T>(answer: T | OverBudget, path: readonly (string | number)[]): T | null {
    if (!(answer instanceof OverBudget)) return answer;
    this.#overBudget.push({ path, rows: answer.rows, allowed: answer.allowed });
    return null;
  }

  /** The content of `extensions.portolan`. */
  extensions(): Record<string, unknown> {
    const explain = this.#explanation();
    return {
      ...answerExtensions(this.generation, this.cost, this.#revision, this.#lacks()),
      ...(explain === null ? {} : { explain }),
      ...(this.#overBudget.length === 0 ? {} : { notAfforded: [...this.#overBudget] }),
      ...(this.#warnings.size === 0 ? {} : { warnings: [...this.#warnings.values()] }),
    };
  }

  #lacks(): Lacks {
    const readsAny = this.#dependencies.has(anyKind);
    const stale = this.source.staleness.of(
      (key) => readsAny || this.generation.isSource(key, this.#dependencies),
      this.#scopes,
    );
    return { missing: [...this.#missing.values()], stale };
  }

  /** Null for a caller who does not see all objects: routes, statements and their rows would reveal hidden objects. */
  #explanation(): Readonly<Record<string, unknown>> | null {
    const explanation = this.trace.explanation();
    const scopes = this.#scopes;
    if (explanation === null || scopes === null) return explanation;
    const isWhole = ({ key }: { readonly key: string }): boolean =>
      (['list', 'get'] as const).every((access) => scopes.of(key, access).rows === 'all');
    if (this.generation.all.every(isWhole)) return explanation;
    this.warn([], 'The explanation is left out: only callers who may see all objects get one.');
    return null;
  }

  /**
   * Waits for the decisions of the API server on the caller's rights that its reads have requested. Null if there are none. True if the
   * caller may see more or less now: the operation must be repeated.
   */
  pendingRights(): Promise<boolean> | null {
    return this.#scopes === null ? null : this.source.rights.pending(this.caller, this.#scopes);
  }

  /** The resourceKeys of the kinds that the reads so far depend on; `*` when they may find rows of any kind. */
  get dependencies(): ReadonlySet<string> {
    return this.#dependencies;
  }

  /** Milliseconds since its lease was opened: without the wait for a reader. Zero before the first read. */
  get readingMs(): number {
    return this.#openedAt === null ? 0 : this.source.monotonic() - this.#openedAt;
  }

  /** The scopes of the reads; null before the first one. */
  get scopes(): Scopes | null {
    return this.#scopes;
  }

  /**
   * The state of the kinds that the answer depends on, in the operation's snapshot, and the scopes in which it was made. Null for an
   * answer that may change without them. Call it after the execution and before `end`.
   */
  async madeIn(): Promise<MadeAnswerIn | null> {
    const isOthers = this.isTimed || this.readsMore || this.isDetached || this.trace.explains;
    const scopes = this.#scopes;
    if (isOthers || this.#opening === null || scopes === null || this.#ended) return null;
    const { unmetered, view } = await this.#opening;
    const kindIds = new Map([...this.#dependencies].flatMap((key) => kindIdOf(view, key)));
    const kinds = this.#dependencies.has(anyKind) ? 'any' : [...kindIds.values()];
    if (kinds.length === 0) return null;
    const [row] = await unmetered.all(stateStatement(kinds, unmetered.revision));
    const state = kindState(kinds, unmetered, row);
    const { layoutVersion } = unmetered;
    return { made: { state, layoutVersion, isOfRevision: this.#showsRevision }, scopes, kindIds };
  }

  /**
   * Ends the snapshot. The next read opens a new one, which has what was committed since. Nothing may read at the time of the call. It is
   * for mutations, whose fields are executed one after the other, and for work before an execution.
   */
  renewSnapshot(): void {
    this.#endLease();
    this.#opening = null;
    this.#loaders.clear();
  }

  /** Ends the lease. Idempotent. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#endLease();
  }

  #endLease(): void {
    this.#opening?.then(
      ({ lease }) => lease.end(),
      () => {},
    );
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

function endedError(): PortolanError {
  return new PortolanError('TIMEOUT', 'The operation is over; send it again.');
}

function kindIdOf({ layouts }: View, key: string): readonly (readonly [string, number])[] {
  const kindId = layouts.get(key)?.kindId;
  return kindId === undefined ? [] : [[key, kindId]];
}
