/** The references of objects by name, and the objects that refer to them. */
import { type Access, isVisible } from '../../access/scope.ts';
import { shortList } from '../../base/text/short-list.ts';
import { splitLike } from '../../base/text/split-like.ts';
import { pathOfMention } from '../../catalog/relations/place-text.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { parsedPlaces, referencePlaces } from '../../catalog/resources/reference-places.ts';
import { reaches } from '../../operation/hidden-ends.ts';
import type { Operation } from '../../operation/operation.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { hopEnd, type SyncedKind } from '../../query/plan/hop.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { objectsById } from '../../query/read/object-rows.ts';
import { type Readiness, readiness, readinessInCells } from '../../query/read/readiness.ts';
import { danglingReferences } from '../../query/related/dangling.ts';
import { referenceCounts } from '../../query/related/reference-counts.ts';
import { referencesOf, type StatedReference } from '../../query/related/references.ts';
import { countUsedBy, referringHop, type UsedByPlan, usedBy } from '../../query/related/used-by.ts';
import { leasesOf, type View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { AggregatedRelated } from '../aggregates/aggregated.ts';
import type { ConnectionSource, PageInfoSource } from '../lists/list-connection.ts';
import type { ObjectSelection } from '../lists/object-selection.ts';
import { ObjectSource } from '../lists/object-source.ts';
import { groupsOfWhole, type Related, RelatedConnection, related } from './related-connection.ts';
import { loadVia } from './relation-source.ts';

/** THERE: it exists. MISSING: it does not. UNKNOWN: its kind is not served, not synced, or not visible to the caller. */
const referenceStates = ['THERE', 'MISSING', 'UNKNOWN'] as const;
export type ReferenceState = (typeof referenceStates)[number];

export interface ReferenceSource {
  /** The referring object. */
  readonly from: ObjectSource;
  readonly path: string;
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly state: ReferenceState;
  readonly object: ObjectSource | null;
}

/** The references of an object. */
export async function loadReferences(
  source: ObjectSource,
  states: readonly ReferenceState[] | null,
  { projection, key }: Omit<ObjectSelection, 'cost'>,
): Promise<readonly ReferenceSource[]> {
  const { operation, kind, row } = source;
  const loader = operation.batched(
    `references ${kind.key} ${key}`,
    async (lease, view, ids: readonly number[]): Promise<readonly (readonly StatedObject[])[]> => {
      const tables = view.get(kind.key);
      const stated = tables === undefined ? ids.map(() => []) : await referencesOf(lease, tables, ids, null);
      const found = await statedObjects(operation, lease, view, stated.flat(), projection);
      return splitLike(stated, found);
    },
  );
  const found = (await loader.load(row.objectId)).map((each) => referenceSource(source, each));
  return states === null ? found : found.filter(({ state }) => states.includes(state));
}

/** A reference with the object that it names, if it is there. */
export interface StatedObject {
  readonly stated: StatedReference;
  readonly kind: CatalogKind | undefined;
  readonly object: ObjectSource | null;
  readonly state: ReferenceState;
}

/** @param access as that of `fetchObjects` */
export async function statedObjects(
  operation: Operation,
  lease: Lease,
  view: View,
  references: readonly StatedReference[],
  projection: Projection,
  access: Access = 'get',
): Promise<readonly StatedObject[]> {
  const { generation } = operation;
  const kinds = references.map(({ group, kind }) => generation.kindOf(group, kind));
  const keys = [...new Set(kinds.flatMap((kind) => kind?.key ?? []))];
  const states = keys.length === 0 ? [] : await readiness(lease, keys);
  const identities = references.map(({ cluster, namespace, name }, index): Identity => {
    const kind = kinds[index];
    return { cluster, key: kind?.key ?? '', namespace: kind?.resource.namespaced === true ? namespace : null, name };
  });
  const rows = await fetchObjects(lease, view, identities, projection, access);
  return references.map((stated, index) => {
    const kind = kinds[index];
    const row = rows[index] ?? null;
    const identity = identities[index];
    const object = row === null || kind === undefined ? null : new ObjectSource(operation, kind, row);
    const known = identity !== undefined && kind !== undefined && isKnown(states, view, identity, access);
    return { stated, kind, object, state: object !== null ? 'THERE' : known ? 'MISSING' : 'UNKNOWN' };
  });
}

/** Would the object be found if it existed? */
function isKnown(states: readonly Readiness[], view: View, identity: Identity, access: Access): boolean {
  return isWhole(states, identity) && isVisible(view.scopeOf(identity.key, access), identity);
}

function isWhole(states: readonly Readiness[], { key, cluster }: Pick<Identity, 'key' | 'cluster'>): boolean {
  const state = states.find((each) => each.key === key && each.cluster === cluster);
  return state?.synced === true && state.whole;
}

function referenceSource(from: ObjectSource, { stated, kind, object, state }: StatedObject): ReferenceSource {
  const { place, group, kind: named, namespace, name } = stated;
  const scoped = kind?.resource.namespaced !== false && namespace !== '';
  return {
    from,
    path: pathOfMention(place),
    group,
    kind: named,
    namespace: scoped ? namespace : null,
    name,
    state,
    object,
  };
}

/** The objects that refer to an object by name. */
export function loadUsedBy(
  source: ObjectSource,
  args: { readonly kinds: readonly string[] | null; readonly first: number; readonly after: string | null },
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { operation, kind, row } = source;
  const { generation } = operation;
  const page = checkPage({ first: args.first, after: args.after }, { maximum: operation.source.limits.maxPageSize });
  // All objects of a page have the same plan.
  const { kinds, plan } = operation.loader(`usedBy plan ${kind.key} ${key}`, () =>
    usedByPlan(kind, args.kinds === null ? generation.all : generation.kinds(args.kinds)),
  );
  const keys = plan.kinds.map((each) => each.key);
  const byId = <T>(name: string, read: (lease: Lease, view: View, ids: readonly number[]) => Promise<readonly T[]>) =>
    operation.batched(`${name} ${kind.key} ${key}`, read).load(row.objectId);
  return new RelatedConnection(operation, cost, {
    read: () =>
      byId<Related>('usedBy', (lease, view, ids) =>
        related(
          lease,
          view,
          keys,
          usedBy(lease, view, ids, plan, { limit: page.limit, after: args.after, projection }),
        ),
      ),
    count: async (limit) =>
      Math.min(
        await byId('count usedBy', (lease, view, ids) => countUsedBy(lease, view, ids, plan)),
        limit ?? Number.POSITIVE_INFINITY,
      ),
    aggregated: new AggregatedRelated(operation, kinds, row, async (request) => {
      const { page: whole } = await byId<Related>('all usedBy', (lease, view, ids) =>
        related(
          lease,
          view,
          keys,
          usedBy(lease, view, ids, plan, { limit: mostAggregated, after: null, projection: {} }),
        ),
      );
      return groupsOfWhole(operation, whole, request);
    }),
    via: async (other) => {
      const end = plan.kinds.find((each) => each.key === other.key);
      if (end === undefined) return [];
      return loadVia(operation, referringHop(end, plan.of), row.objectId, other.objectId);
    },
  });
}

function usedByPlan(
  of: CatalogKind,
  kinds: readonly CatalogKind[],
): { readonly kinds: readonly CatalogKind[]; readonly plan: UsedByPlan } {
  const referring = [...new Set(kinds)].flatMap((each) => {
    const places = referencePlaces(each, { weak: false });
    return places.length === 0 ? [] : [{ ...hopEnd(each), places }];
  });
  return { kinds, plan: { of: hopEnd(of), kinds: referring } };
}

/** Objects that the aggregates of `usedBy` take. */
const mostAggregated = 100_000;

/** A page of references to objects that are not there. */
export interface DanglingSource {
  readonly edges: readonly { readonly cursor: string; readonly node: ReferenceSource }[];
  readonly pageInfo: PageInfoSource;
}

interface DanglingArguments {
  readonly kinds: readonly string[] | null;
  readonly namespaces: readonly string[] | null;
  readonly first: number;
  readonly after: string | null;
}

/** References to objects that are not there. @param projection of the referring objects */
export async function loadDangling(
  operation: Operation,
  { kinds: words, namespaces, first, after }: DanglingArguments,
  projection: Projection,
): Promise<DanglingSource> {
  const { generation, source } = operation;
  const page = checkPage({ first, after }, { maximum: source.limits.maxPageSize });
  const kinds = words === null ? generation.all : [...new Set(generation.kinds(words))];
  return operation.readCells(async (cells) => {
    const to = await syncedKinds(operation, leasesOf(cells));
    const pages = await Promise.all(
      cells.map(async (cell) => {
        warnOfUnchecked(operation, cell.view, kinds, to);
        const found = await danglingReferences(cell.lease, cell.view, {
          from: kinds.map((kind) => ({ key: kind.key, places: referencePlaces(kind, { weak: false }) })),
          to,
          namespaces,
          limit: page.limit,
          after,
        });
        return { cell, ...found };
      }),
    );
    const all = pages.flatMap(({ cell, references }) => references.map((stated) => ({ cell, stated })));
    // Objects of one cluster are in one cell, and the order begins with the cluster.
    const sorted = all.toSorted(({ stated: a }, { stated: b }) =>
      a.cluster === b.cluster ? 0 : a.cluster < b.cluster ? -1 : 1,
    );
    const shown = sorted.slice(0, page.limit);
    const edges = new Map<unknown, DanglingSource['edges'][number]>();
    for (const [{ operation: own, lease }, some] of Map.groupBy(shown, ({ cell }) => cell)) {
      const stated = some.map((each) => each.stated);
      const rows = await objectsById(
        lease,
        stated.map(({ from }) => from),
        projection,
      );
      for (const [index, each] of stated.entries()) {
        const row = rows[index];
        const kind = generation.kind(each.from.key);
        if (row === undefined || kind === undefined) continue;
        const target = generation.kindOf(each.group, each.kind);
        const from = new ObjectSource(own, kind, row);
        const node = referenceSource(from, { stated: each, kind: target, object: null, state: 'MISSING' });
        edges.set(each, { cursor: each.cursor, node });
      }
    }
    return {
      edges: shown.flatMap(({ stated }) => edges.get(stated) ?? []),
      pageInfo: {
        hasNextPage: sorted.length > page.limit || pages.some(({ hasNextPage }) => hasNextPage),
        hasPreviousPage: after !== null,
        startCursor: shown[0]?.stated.cursor ?? null,
        endCursor: shown.at(-1)?.stated.cursor ?? null,
      },
    };
  });
}

/**
 * Names the kinds of objects that these kinds name, and of which it cannot be known whether some are missing. The decision depends on
 * rights and syncs alone.
 */
function warnOfUnchecked(
  operation: Operation,
  view: View,
  kinds: readonly CatalogKind[],
  synced: readonly SyncedKind[],
): void {
  const hidden = new Set<string>();
  const unsynced = new Set<string>();
  const clustersOf = new Map(synced.map(({ key, clusters }) => [key, clusters]));
  for (const kind of kinds) {
    const from = view.scopeOf(kind.key, 'list');
    if (from.rows === 'none') continue;
    for (const { target: named, namespace } of parsedPlaces(kind)) {
      if ('kindAt' in named) continue;
      const target = operation.generation.kindOf(named.group, named.kind);
      if (target === undefined) continue;
      const clusters = clustersOf.get(target.key) ?? [];
      if (target.clusters.some((cluster) => !clusters.includes(cluster))) unsynced.add(target.key);
      const ends = { from: hopEnd(kind), to: hopEnd(target), isNear: namespace === null };
      if (!reaches(from, view.scopeOf(target.key, 'list'), ends)) hidden.add(target.key);
    }
  }
  const warn = (keys: ReadonlySet<string>, why: string): void => {
    if (keys.size === 0) return;
    const listed = shortList([...keys].sort(), 8).join(', ');
    operation.warn(['danglingReferences'], `Not all references to these kinds are checked, because ${why}: ${listed}.`);
  };
  warn(hidden, 'you may not list all of their objects');
  warn(unsynced, 'Portolan does not have all of their objects');
}

export interface RelationCounts {
  readonly references: number;
  readonly missing: number;
}

/** The references at these places of the objects of one resource. */
export async function countReferences(
  operation: Operation,
  { key, cluster }: { readonly key: string; readonly cluster: string },
  places: readonly string[],
): Promise<RelationCounts> {
  const counts = await operation.loader(`reference counts ${key}`, () =>
    operation.read(async (lease, view) => referenceCounts(lease, view, key, await syncedKinds(operation, [lease]))),
  );
  const own = counts.filter((count) => count.cluster === cluster && places.includes(count.place));
  return {
    references: own.reduce((sum, { references }) => sum + references, 0),
    missing: own.reduce((sum, { missing }) => sum + missing, 0),
  };
}

/** All served kinds with the clusters in which they are synced. The answer depends on their syncs, also of kinds without objects. */
async function syncedKinds(operation: Operation, leases: readonly Lease[]): Promise<readonly SyncedKind[]> {
  operation.noteMore();
  const kinds = operation.generation.all;
  const states = await readinessInCells(
    leases,
    kinds.map(({ key }) => key),
  );
  return kinds.map((kind) => ({
    ...hopEnd(kind),
    clusters: kind.clusters.filter((cluster) => isWhole(states, { key: kind.key, cluster })),
  }));
}
