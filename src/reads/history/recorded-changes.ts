/**
 * `history` of an object, and `changes` over several kinds: pages of recorded changes, newest first.
 *
 * Owns: the batching of their reads. The histories of a list of objects are one statement. The entries of all pages are another one, and
 * so are their bodies, which are read only if a field shows something of them.
 *
 *   { deployments(first: 50) { nodes { history(first: 3) { nodes { at changedPaths } } } } }
 *     50 objects -> changesOfObjects -> up to 150 sequence numbers -> recordedChanges -> readChangedBodies
 */
import { partIn, type Scope } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import { healthOf } from '../../catalog/health/health.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { changedPaths } from '../../catalog/values/changed-paths.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { servingClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import { requireVisible } from '../../operation/require-visible.ts';
import {
  type ChangeList,
  decodeCellsCursor,
  decodeChangeCursor,
  encodeCellsCursor,
  encodeChangeCursor,
} from '../../query/history/change-cursor.ts';
import { changesOfKinds, changesOfObjects } from '../../query/history/change-pages.ts';
import { type Reach, reachOf } from '../../query/history/reach.ts';
import { type RecordedChange, recordedChanges } from '../../query/history/recorded-change.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import { conjunction } from '../../query/plan/comparison.ts';
import type { Filter, Identity } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { viewsOf } from '../../query/sql/view.ts';
import { type ChangedBodies, readChangedBodies } from '../../store/read/changes.ts';
import type { PageInfoSource } from '../lists/list-connection.ts';
import { ObjectSource } from '../lists/object-source.ts';
import { readTime } from '../paths/leaf-conditions.ts';

/** Changes on a page of a history when the caller gives no number. */
export const defaultHistory = 20;

/** A change of an object, as the parent of resolvers. */
export class ChangeSource {
  readonly operation: Operation;
  readonly kind: CatalogKind;
  readonly change: RecordedChange;
  #before: Promise<ObjectSource | null> | null = null;
  #after: Promise<ObjectSource | null> | null = null;
  #changedPaths: Promise<readonly string[] | null> | null = null;

  constructor(operation: Operation, kind: CatalogKind, change: RecordedChange) {
    this.operation = operation;
    this.kind = kind;
    this.change = change;
  }

  get identity(): Identity {
    const { cluster, namespace, name } = this.change;
    return { cluster, key: this.kind.key, namespace, name };
  }

  /** The object before the change; null if there was none, or if it is no longer known. Parsed once. */
  before(): Promise<ObjectSource | null> {
    this.#before ??= this.#objectOf('before');
    return this.#before;
  }

  /** The object after the change; null if there was none, or if it is no longer known. Parsed once. */
  after(): Promise<ObjectSource | null> {
    this.#after ??= this.#objectOf('after');
    return this.#after;
  }

  /** The paths that differ; null for an addition, a deletion and bodies that are no longer known. Compared once. */
  changedPaths(): Promise<readonly string[] | null> {
    this.#changedPaths ??= this.#compared();
    return this.#changedPaths;
  }

  async #compared(): Promise<readonly string[] | null> {
    if (this.change.type !== 'MODIFIED') return null;
    const [before, after] = await Promise.all([this.before(), this.after()]);
    if (before === null || after === null) return null;
    const { operation, kind } = this;
    return operation.inTurn(() => changedPaths(before.row.body, after.row.body, isAbstract(kind)));
  }

  async #bodies(): Promise<ChangedBodies> {
    const { operation, change } = this;
    const found = await operation
      .batched('bodies of changes', (lease, _view, seqs: readonly number[]) =>
        bySeq(seqs, readChangedBodies(lease, seqs)),
      )
      .load(change.seq);
    return found ?? { before: null, after: null };
  }

  async #objectOf(state: keyof ChangedBodies): Promise<ObjectSource | null> {
    const text = (await this.#bodies())[state];
    return text === null ? null : this.operation.inTurn(() => this.#parsed(text));
  }

  #parsed(text: string): ObjectSource {
    const { operation, kind, change, identity } = this;
    const body = parseExact(text);
    const { metadata } = body as { readonly metadata?: { readonly resourceVersion?: unknown } };
    const { objectId, uid, seq } = change;
    const resourceVersion = String(metadata?.resourceVersion ?? change.resourceVersion);
    const row = { ...identity, objectId, uid, resourceVersion, seq, health: healthOf(body, kind.health), body };
    return new ObjectSource(operation, kind, row, { isPast: true });
  }
}

export interface ChangeEdge {
  readonly cursor: string;
  readonly node: ChangeSource;
}

/** A page of recorded changes. */
export interface ChangePage {
  readonly edges: readonly ChangeEdge[];
  readonly pageInfo: PageInfoSource;
}

/** The recorded changes of one object. */
export interface HistorySource extends ChangePage {
  readonly isComplete: boolean;
  /** Milliseconds since the epoch; null if nothing is recorded. */
  since(): Promise<number | null>;
}

interface PageArguments {
  readonly first: number;
  readonly after: string | null;
}

/** The recorded changes of an object that the caller sees. @param changeCost values of one change */
export async function loadHistory(
  source: ObjectSource,
  args: PageArguments,
  changeCost: number,
): Promise<HistorySource> {
  const { operation, kind, row } = source;
  // Old entries leave the log without a change of the kind.
  operation.noteMore();
  const page = checkPage(args, { maximum: operation.source.limits.maxPageSize });
  const list = await listIn(operation, `${kind.key} ${row.objectId}`);
  const before = args.after === null ? null : decodeChangeCursor(args.after, list);
  const key = JSON.stringify([page.limit, before]);
  const { seqs, isComplete } = await operation
    .batched(`history ${key}`, (lease, _view, ids: readonly number[]) =>
      changesOfObjects(lease, ids, { before, limit: page.limit + 1 }),
    )
    .load(row.objectId);
  const edges = await edgesOf(operation, seqs.slice(0, page.limit), list, changeCost);
  return {
    ...pageOf(edges, seqs.length > page.limit, before),
    isComplete,
    since: async () => {
      const reaches = await reachesOf(operation, [kind]);
      return reaches.find(({ cluster }) => cluster === row.cluster)?.since ?? null;
    },
  };
}

interface ChangesArguments extends PageArguments {
  readonly since: string;
  readonly until: string | null;
  readonly kinds: readonly string[] | null;
  readonly namespaces: readonly string[] | null;
  readonly clusters: readonly string[] | null;
}

/** The recorded changes over several kinds. */
export interface ChangesSource extends ChangePage {
  reaches(): Promise<readonly (Reach & { readonly kind: CatalogKind })[]>;
}

/**
 * The recorded changes that the caller may see now.
 * @param changeCost values of one change
 * @throws PortolanError BAD_USER_INPUT for an argument; FORBIDDEN if the caller may list nothing of what the arguments name.
 */
export async function loadChanges(
  operation: Operation,
  args: ChangesArguments,
  changeCost: number,
): Promise<ChangesSource> {
  const { generation } = operation;
  const { namespaces, clusters } = args;
  const kinds = args.kinds === null ? generation.all.filter(isNoEvent) : [...new Set(generation.kinds(args.kinds))];
  const filter = filterOf(namespaces, clusters);
  // Refuses the name of a cluster that serves nothing.
  for (const kind of kinds) servingClusters(operation, kind, filter);
  const clock = { now: () => operation.now };
  const since = Math.ceil(readTime(args.since, 'since', clock));
  const until = args.until === null ? anyTime.until : Math.floor(readTime(args.until, 'until', clock));
  if (until < since) throw new PortolanError('BAD_USER_INPUT', '`until` is before `since`.');
  const keys = kinds.map(({ key }) => key);
  await operation.readCells(async (cells) => requireVisible(viewsOf(cells), keys, filter), [], clusters);
  const subject = digest({ changes: keys.toSorted(), namespaces, clusters });
  return loadChangesOf(operation, { kinds, namespaces, clusters, since, until, subject }, args, changeCost);
}

interface WantedChanges {
  readonly kinds: readonly CatalogKind[];
  /** Null for all. */
  readonly clusters: readonly string[] | null;
  /** Null for all. */
  readonly namespaces: readonly string[] | null;
  /** Absent for all objects. */
  readonly uids?: readonly string[];
  /** Milliseconds since the epoch. Default: any time. */
  readonly since?: number;
  readonly until?: number;
  /** The subject of the pages: a cursor is of one subject. */
  readonly subject: string;
}

const anyTime = { since: 0, until: Number.MAX_SAFE_INTEGER - 1 } as const;

/** The recorded changes of these objects, as far as the caller may list them now. @param changeCost values of one change */
export async function loadChangesOf(
  operation: Operation,
  { kinds, clusters, subject, ...wanted }: WantedChanges,
  args: PageArguments,
  changeCost: number,
): Promise<ChangesSource> {
  // Old entries leave the log without a change of the kind.
  operation.noteMore();
  const { limit } = checkPage(args, { maximum: operation.source.limits.maxPageSize });
  const keys = kinds.map(({ key }) => key);
  const asked = { ...anyTime, ...wanted, keys, clusters, limit: limit + 1 };
  const read = (cell: Operation, before: number | null): Promise<readonly number[]> =>
    cell.read((lease, view) => changesOfKinds(lease, view, { ...asked, before }));
  const cells = operation.cellsOf(clusters);
  const [only, ...others] = cells;
  const reaches = (): ReturnType<ChangesSource['reaches']> => visibleReaches(operation, kinds, clusters);
  if (only !== undefined && others.length === 0) {
    const list = await listIn(only, subject);
    const before = args.after === null ? null : decodeChangeCursor(args.after, list);
    const seqs = await read(only, before);
    const edges = await edgesOf(only, seqs.slice(0, limit), list, changeCost);
    return { ...pageOf(edges, seqs.length > limit, before), reaches };
  }
  const lists = await Promise.all(cells.map((cell) => listIn(cell, subject)));
  // The first page fixes where each log ends: what is written later is not on the next pages.
  const before = args.after === null ? lists.map(({ end }) => end) : decodeCellsCursor(args.after, lists);
  const pages = await Promise.all(
    cells.map(async (cell, index) => {
      const list = must(lists[index], 'the log of each cell');
      return edgesOf(cell, await read(cell, must(before[index], 'a place in each log')), list, 0);
    }),
  );
  const edges = mergedEdges(pages, lists, before, limit + 1);
  operation.cost.charge(Math.min(edges.length, limit) * changeCost);
  return { ...pageOf(edges.slice(0, limit), edges.length > limit, args.after), reaches };
}

/**
 * The changes of several logs, the latest first. The order of one log stays. An edge has the place that is reached in each log, so that the
 * next page goes on there.
 * @param before the places where the page begins
 */
function mergedEdges(
  pages: readonly (readonly ChangeEdge[])[],
  lists: readonly ChangeList[],
  before: readonly number[],
  most: number,
): readonly ChangeEdge[] {
  const places = [...before];
  const left = pages.map((page) => [...page]);
  const merged: ChangeEdge[] = [];
  while (merged.length < most) {
    const heads = left.flatMap(([head], index) => (head === undefined ? [] : [{ head, index }]));
    const [first, ...others] = heads;
    if (first === undefined) return merged;
    const latest = others.reduce((a, b) => (b.head.node.change.at > a.head.node.change.at ? b : a), first);
    left[latest.index]?.shift();
    places[latest.index] = latest.head.node.change.seq;
    merged.push({ node: latest.head.node, cursor: encodeCellsCursor(lists, places) });
  }
  return merged;
}

/** The reach of each kind in the clusters in which the caller may list it. @param clusters null for all */
async function visibleReaches(
  operation: Operation,
  kinds: readonly CatalogKind[],
  clusters: readonly string[] | null,
): ReturnType<ChangesSource['reaches']> {
  const seen = await Promise.all(
    operation.cellsOf(clusters).map(async (cell) => {
      const scopes = await cell.read(
        async (_lease, view) => new Map(kinds.map(({ key }) => [key, view.scopeOf(key, 'list')])),
      );
      return (await reachesOf(cell, kinds)).filter(
        ({ key, cluster }) =>
          (clusters?.includes(cluster) ?? true) && partIn(scopes.get(key) as Scope, cluster) !== null,
      );
    }),
  );
  const byKind = Map.groupBy(seen.flat(), ({ key }) => key);
  return kinds.flatMap((kind) =>
    (byKind.get(kind.key) ?? [])
      .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1))
      .map((reach) => ({ ...reach, kind })),
  );
}

/** Events are about other changes, and there are many. So a caller must name them. */
function isNoEvent({ key }: CatalogKind): boolean {
  return key !== 'events';
}

/** The filter of a list over the same objects. */
function filterOf(namespaces: readonly string[] | null, clusters: readonly string[] | null): Filter {
  return conjunction([
    ...(namespaces === null ? [] : [{ kind: 'namespaces', in: namespaces } as const]),
    ...(clusters === null ? [] : [{ kind: 'clusters', in: clusters } as const]),
  ]);
}

/** The log of a cell, with the number after its newest change. */
function listIn(operation: Operation, fingerprint: string): Promise<ChangeList & { readonly end: number }> {
  return operation.read(async ({ epoch, revision }) => ({
    fingerprint: digest(fingerprint),
    epoch,
    end: revision + 1,
  }));
}

async function edgesOf(
  operation: Operation,
  seqs: readonly number[],
  list: ChangeList,
  changeCost: number,
): Promise<readonly ChangeEdge[]> {
  operation.cost.charge(seqs.length * changeCost);
  const loader = operation.batched('recorded changes', (lease, _view, wanted: readonly number[]) =>
    bySeq(wanted, recordedChanges(lease, wanted)),
  );
  const kinds = operation.loader('kinds by id', () =>
    operation.read(async (_lease, view) => new Map([...view.layouts].map(([key, { kindId }]) => [kindId, key]))),
  );
  const changes = await Promise.all(seqs.map((seq) => loader.load(seq)));
  const keys = await kinds;
  return changes.flatMap((change) => {
    // A detached operation reads each time in another snapshot, and the entry may be gone.
    const kind = change === undefined ? undefined : operation.generation.kind(keys.get(change.kindId) ?? '');
    if (change === undefined || kind === undefined) return [];
    // Other pages of the operation may have the same change.
    const node = operation.loader(`change ${change.seq}`, () => new ChangeSource(operation, kind, change));
    return [{ cursor: encodeChangeCursor(list, change.seq), node }];
  });
}

/** The result for each sequence number, in the order of the numbers. */
async function bySeq<T>(
  seqs: readonly number[],
  found: Promise<ReadonlyMap<number, T>>,
): Promise<readonly (T | undefined)[]> {
  const values = await found;
  return seqs.map((seq) => values.get(seq));
}

function pageOf(edges: readonly ChangeEdge[], hasNextPage: boolean, before: unknown): ChangePage {
  return {
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: before !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function reachesOf(operation: Operation, kinds: readonly CatalogKind[]): Promise<readonly Reach[]> {
  const keys = kinds.map(({ key }) => key);
  return operation.loader(`reach ${keys.join()}`, () => operation.read((lease, view) => reachOf(lease, view, keys)));
}
