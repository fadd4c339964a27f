/**
 * The snapshot that an operation reads: of one store file, with the caller's view of it.
 *
 *   read -> (lease opened) -> read … read -> renew: the next read opens another lease
 *                                         -> end: the lease ends, and a read fails
 *
 * Owns the lease of a query. The first read opens it, and `end` ends it. So all data of one cell comes from one snapshot.
 *
 * The events of a subscription are `detached`: each read takes a short lease of its own. The end of an event's execution is not
 * signalled, and a lease held by a slow client would keep the WAL from being truncated.
 */
import type { Caller } from '../access/caller.ts';
import type { Scopes } from '../access/scope.ts';
import { codeOf, PortolanError } from '../base/errors.ts';
import type { Span } from '../base/tracing.ts';
import { anyKind } from '../query/plan/hop.ts';
import { kindState, stateOfCells, stateStatement } from '../query/read/kind-state.ts';
import { readView, type View } from '../query/sql/view.ts';
import type { Lease, LeaseOptions } from '../store/types/lease.ts';
import type { Row } from '../store/types/statement.ts';
import type { MadeIn } from './answers/kept-answers.ts';
import type { OperationSource } from './operation-source.ts';
import { meteredLease, type OpenLease, type OperationCost } from './parts/operation-cost.ts';
import type { OperationNotes } from './parts/operation-notes.ts';
import { type OperationTrace, type ResponsePath, spreadable } from './parts/operation-trace.ts';

interface OpenRead {
  /** Counts the rows that it reads. */
  readonly lease: OpenLease;
  readonly unmetered: OpenLease;
  readonly view: View;
  readonly span: Span;
}

export interface MadeAnswerIn {
  readonly made: MadeIn;
  readonly scopes: Scopes;
  /** The kinds of the answer that the store has: ids by resourceKey. */
  readonly kindIds: ReadonlyMap<string, number>;
}

interface SnapshotParts {
  readonly source: Pick<OperationSource, 'reader' | 'rights' | 'monotonic'>;
  readonly caller: Caller;
  readonly signal: AbortSignal | undefined;
  readonly isDetached: boolean;
  readonly span: Span;
  readonly cost: OperationCost;
  readonly trace: OperationTrace;
  readonly notes: OperationNotes;
  /** Resolves when the operation may open leases. Absent with one cell. */
  readonly mayOpen?: (() => Promise<unknown>) | undefined;
}

export class OperationSnapshot {
  readonly #parts: SnapshotParts;
  #opening: Promise<OpenRead> | null = null;
  #revision: number | null = null;
  #openedAt: number | null = null;
  #scopes: Scopes | null = null;
  #ended = false;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** That of the lease; null before it was opened. */
  get revision(): number | null {
    return this.#revision;
  }

  /** The scopes of the reads; null before the first one. */
  get scopes(): Scopes | null {
    return this.#scopes;
  }

  /** Milliseconds since its lease was opened: without the wait for a reader. Zero before the first read. */
  get readingMs(): number {
    return this.#openedAt === null ? 0 : this.#parts.source.monotonic() - this.#openedAt;
  }

  /** Opens the lease, if it is not open. @throws as `read` */
  async opened(): Promise<void> {
    await this.#opened();
  }

  /** As `Operation.read`. */
  async read<T>(work: (lease: Lease, view: View) => Promise<T>, path: ResponsePath): Promise<T> {
    const { source, isDetached, trace, notes, span: parent } = this.#parts;
    notes.isPersonal = true;
    if (isDetached) {
      const span = parent.child('lease');
      return source.reader
        .lease(async (lease) => {
          const view = await this.#view(lease);
          return trace.follow(spreadable(lease), path, (traced) => work(traced, view), span);
        }, this.#leaseOptions())
        .finally(() => span.end());
    }
    const { lease, view, span } = await this.#opened();
    return trace.follow(lease, path, (traced) => work(traced, view), span);
  }

  #leaseOptions(): LeaseOptions {
    const { caller, signal } = this.#parts;
    return { client: caller.name, ...(signal === undefined ? {} : { signal }) };
  }

  async #opened(): Promise<OpenRead> {
    if (this.#ended) throw endedError();
    this.#opening ??= this.#open(this.#leaseOptions());
    return this.#opening;
  }

  async #open(options: LeaseOptions): Promise<OpenRead> {
    const { source, cost, trace, mayOpen, span: parent } = this.#parts;
    const span = parent.child('lease');
    let lease: OpenLease | null = null;
    try {
      if (mayOpen !== undefined) await mayOpen();
      const unmetered = await source.reader.open(options);
      const count = (rows: readonly Row[]): void => {
        cost.read(rows);
        trace.rows += rows.length;
      };
      lease = meteredLease(unmetered, count, () => span.end());
      if (this.#ended) throw endedError();
      this.#revision = lease.revision;
      this.#openedAt = source.monotonic();
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
    const { source, caller, notes } = this.#parts;
    const scopes = await source.rights.at(lease, caller);
    this.#scopes = scopes;
    for (const [cluster, why] of scopes.unknown ?? []) {
      notes.warn(
        [],
        `The objects of the cluster ${cluster} are left out: what you may see there is not known, because ${why}.`,
      );
    }
    return readView(lease, scopes, notes.dependencies);
  }

  /** As `Operation.madeIn`. */
  async madeIn(): Promise<MadeAnswerIn | null> {
    const { isDetached, trace, notes } = this.#parts;
    const { dependencies, isTimed, readsMore, showsRevision } = notes;
    const scopes = this.#scopes;
    const isOthers = isTimed || readsMore || isDetached || trace.explains;
    if (isOthers || this.#opening === null || scopes === null || this.#ended) return null;
    const { unmetered, view } = await this.#opening;
    const kindIds = new Map([...dependencies].flatMap((key) => kindIdOf(view, key)));
    const kinds = dependencies.has(anyKind) ? 'any' : [...kindIds.values()];
    if (kinds.length === 0) return null;
    const [row] = await unmetered.all(stateStatement(kinds, unmetered.revision));
    const state = kindState(kinds, unmetered, row);
    const { layoutVersion } = unmetered;
    return { made: { state, layoutVersion, isOfRevision: showsRevision }, scopes, kindIds };
  }

  /** As `Operation.renewSnapshot`. */
  renew(): void {
    this.#endLease();
    this.#opening = null;
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

function endedError(): PortolanError {
  return new PortolanError('TIMEOUT', 'The operation is over; send it again.');
}

function kindIdOf({ layouts }: View, key: string): readonly (readonly [string, number])[] {
  const kindId = layouts.get(key)?.kindId;
  return kindId === undefined ? [] : [[key, kindId]];
}

/** As `Operation.madeIn`, of the snapshots of several cells. Nothing is kept of them: no layout, and no ids of kinds. */
export async function madeInCells(
  snapshots: readonly OperationSnapshot[],
  scopes: Scopes | null,
): Promise<MadeAnswerIn | null> {
  const found = await Promise.all(snapshots.map((snapshot) => snapshot.madeIn()));
  const cells = found.flatMap((each, index) => (each === null ? [] : [{ index, state: each.made.state }]));
  if (scopes === null || cells.length === 0) return null;
  return { made: { state: stateOfCells(cells), layoutVersion: 0, isOfRevision: false }, scopes, kindIds: new Map() };
}
