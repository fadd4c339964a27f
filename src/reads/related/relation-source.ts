/**
 * The objects that a relation leads to. The objects of a list share a DataLoader for each selection, so one statement reads the related
 * objects of all of them.
 *
 *   { pods(first: 50) { nodes { node { metadata { name } } } } }
 *     50 calls of loadRelatedOne -> one loader, 50 ids -> one relatedPages(…) -> 50 Nodes
 */
import DataLoader from 'dataloader';
import { splitLike } from '../../base/text/split-like.ts';
import { pathOfMention } from '../../catalog/relations/place-text.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { warnOfHiddenEnds } from '../../operation/hidden-ends.ts';
import { keysServedIn } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import type { GroupResult } from '../../query/plan/aggregate.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import { everything, type Filter } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { type Hop, type HopEnd, hopEnd, hopOf, hopsOf } from '../../query/plan/hop.ts';
import type { ListRow, OrderTerm, Projection } from '../../query/plan/plan.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { keysOfMatches } from '../../query/related/any-objects.ts';
import { identitiesOf, placesBetween, referencesOf } from '../../query/related/references.ts';
import { countRelated, relatedIds, relatedPages } from '../../query/related/related-list.ts';
import { type WholeList, type WholeOrder, wholeList } from '../../query/related/whole-list.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { AggregatedRelated } from '../aggregates/aggregated.ts';
import type { ConnectionSource } from '../lists/list-connection.ts';
import type { ObjectSelection } from '../lists/object-selection.ts';
import { ObjectSource } from '../lists/object-source.ts';
import {
  groupsOf,
  groupsOfWhole,
  type Related,
  RelatedConnection,
  readsOfWhole,
  related,
} from './related-connection.ts';

/** A relation to objects of one kind. */
export interface KindHop {
  readonly hop: Hop;
  readonly to: CatalogKind;
}

/** The hop from another kind along the same relation; null for a kind without it. */
export function hopFrom(
  kind: CatalogKind,
  { name, direction }: Pick<Hop, 'name' | 'direction'>,
  to: CatalogKind,
): Hop | null {
  const relation = kind.relations.find(
    (each) => each.name === name && each.direction === direction && each.to === to.key,
  );
  return relation === undefined ? null : hopOf(kind, relation, to);
}

/** A relation whose references state their kind. */
export interface AnyHop {
  readonly name: string;
  readonly places: readonly string[];
}

/** Objects on a page of related objects when `first` is not given. */
export const defaultRelated = 20;

export interface RelatedArguments {
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly first: number;
  readonly after: string | null;
}

/** The object that a to-one relation leads to; the first by identity, if there are several. */
export async function loadRelatedOne(
  source: ObjectSource,
  { hop, to }: KindHop,
  { projection, key }: Omit<ObjectSelection, 'cost'>,
): Promise<ObjectSource | null> {
  const { operation, row } = source;
  const loader = operation.loader(`one ${hop.from.key} ${hop.name} ${key}`, () => {
    const plan = { hop, filter: everything, orderBy: [] };
    return new DataLoader<number, ListRow | null>((ids) =>
      readyFor(operation, to, async (lease, view) => {
        const pages = await relatedPages(lease, view, ids, plan, { limit: 1, after: null, projection });
        return pages.map(({ rows: [first = null] }) => first);
      }),
    );
  });
  const found = await loader.load(row.objectId);
  return found === null ? null : new ObjectSource(operation, to, found);
}

/** The objects that a to-many relation leads to. */
export function loadRelated(
  source: ObjectSource,
  { hop, to }: KindHop,
  args: RelatedArguments,
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { operation, row } = source;
  const { filter, orderBy, after } = args;
  const page = checkPage({ first: args.first, after }, { maximum: operation.source.limits.maxPageSize });
  const plan = { hop, filter, orderBy };
  const asked = { filter, hops: orderBy.flatMap(hopsOf) };
  const of = `${hop.from.key} ${hop.name} ${key}`;
  const byId = <T>(name: string, read: (lease: Lease, view: View, ids: readonly number[]) => Promise<readonly T[]>) =>
    operation.loader(
      `${name} ${of}`,
      () =>
        new DataLoader<number, T>((ids) =>
          readyFor(operation, to, (lease, view) => {
            warnOfHiddenEnds(operation, view, asked, []);
            return read(lease, view, ids);
          }),
        ),
    );
  return new RelatedConnection(operation, cost, {
    read: () =>
      byId<Related>('related', (lease, view, ids) =>
        related(lease, view, [to.key], relatedPages(lease, view, ids, plan, { limit: page.limit, after, projection })),
      ).load(row.objectId),
    count: (limit) =>
      byId(`count ${limit}`, (lease, view, ids) => countRelated(lease, view, ids, plan, limit)).load(row.objectId),
    aggregated: new AggregatedRelated(operation, [to], row, (request) =>
      byId<readonly GroupResult[] | OverBudget>(`groups ${digest(request)}`, async (lease, view, ids) =>
        groupsOf(operation, lease, view, await relatedIds(lease, view, ids, plan), request, ids.length),
      ).load(row.objectId),
    ),
    via: (other) => loadVia(operation, hop, row.objectId, other.objectId),
  });
}

/** The objects of any kind that a relation leads to. References to objects that are not there are left out. */
export function loadRelatedOfAny(
  source: ObjectSource,
  hop: AnyHop,
  { filter, orderBy, first, after }: RelatedArguments,
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { operation, kind, row } = source;
  const page = checkPage({ first, after }, { maximum: operation.source.limits.maxPageSize });
  const list = { filter, orderBy, fingerprint: fingerprintOf(hop, { filter, orderBy }) };
  const loader = anyLoader(source, { ...hop, ...list }, projection, { access: 'list', key });
  const load = (): Promise<Related<WholeList>> => loader.load(row.objectId);
  return new RelatedConnection(operation, cost, {
    ...readsOfWhole(load, list, { limit: page.limit, after }),
    aggregated: new AggregatedRelated(operation, operation.generation.all, row, async (request) =>
      groupsOfWhole(operation, (await load()).page, request),
    ),
    via: (other) => {
      const to = operation.generation.kind(other.key);
      if (to === undefined) return Promise.resolve([]);
      const relation = {
        name: hop.name,
        direction: 'forward',
        way: { by: 'reference', places: hop.places },
        many: true,
      } as const;
      return loadVia(operation, hopOf(kind, relation, to), row.objectId, other.objectId);
    },
  });
}

/** The object of any kind that a to-one relation leads to. */
export async function loadRelatedOneOfAny(
  source: ObjectSource,
  hop: AnyHop,
  { projection, key }: Omit<ObjectSelection, 'cost'>,
): Promise<ObjectSource | null> {
  const list = { filter: everything, orderBy: [], fingerprint: '' };
  const loader = anyLoader(source, { ...hop, ...list }, projection, { access: 'get', key });
  const { page } = await loader.load(source.row.objectId);
  const [first] = page.rows;
  const kind = first === undefined ? undefined : source.operation.generation.kind(first.key);
  return first === undefined || kind === undefined ? null : new ObjectSource(source.operation, kind, first);
}

function anyLoader(
  { operation, kind }: ObjectSource,
  hop: AnyList,
  projection: Projection,
  { access, key }: { readonly access: 'list' | 'get'; readonly key: string },
): { load(id: number): Promise<Related<WholeList>> } {
  return operation.batched(`any ${kind.key} ${hop.name} ${key}`, (lease, view, ids: readonly number[]) =>
    related(lease, view, null, targetsOf(operation, lease, view, kind, { hop, ids, projection, access })),
  );
}

/** Which of the targets belong to the list, and their order. */
type AnyList = AnyHop & WholeOrder & { readonly filter: Filter };

interface TargetRequest {
  readonly hop: AnyList;
  readonly ids: readonly number[];
  readonly projection: Projection;
  /** To-one relations show what the caller may get, to-many ones what the caller may list. */
  readonly access: 'list' | 'get';
}

/** All targets of each object that are there and match, in order. */
async function targetsOf(
  operation: Operation,
  lease: Lease,
  view: View,
  { key }: CatalogKind,
  { hop, ids, projection, access }: TargetRequest,
): Promise<WholeList[]> {
  const kind = view.get(key);
  const references = kind === undefined ? ids.map(() => []) : await referencesOf(lease, kind, ids, hop.places);
  const kindOf = (group: string, named: string): HopEnd | undefined => {
    const found = operation.generation.kindOf(group, named);
    return found === undefined ? undefined : hopEnd(found);
  };
  const identities = references.map((each) => identitiesOf(each, kindOf));
  const rows = await fetchObjects(lease, view, identities.flat(), projection, access);
  const { filter, orderBy } = hop;
  warnOfHiddenEnds(operation, view, { filter, hops: orderBy.flatMap(hopsOf) }, []);
  const keys = await keysOfMatches(lease, view, {
    ids: rows.flatMap((row) => row?.objectId ?? []),
    access,
    filter,
    orderBy,
  });
  return splitLike(identities, rows).map((found) =>
    wholeList(
      found.flatMap((row) => {
        const known = row === null ? undefined : keys.get(row.objectId);
        return row === null || known === undefined ? [] : [{ row, keys: known }];
      }),
      hop,
    ),
  );
}

function fingerprintOf({ name, places }: AnyHop, list: Pick<RelatedArguments, 'filter' | 'orderBy'>): string {
  return digest({ related: name, places, ...list });
}

/** The paths of the references by which two objects are related. All pairs of a hop are read together. */
export function loadVia(operation: Operation, hop: Hop, from: number, to: number): Promise<readonly string[]> {
  const { way } = hop;
  if (way.by === 'owner') return Promise.resolve(['metadata.ownerReferences']);
  if (way.by === 'selector') return Promise.resolve([pathOfMention(way.place)]);
  if (way.by === 'namespace') return Promise.resolve(['metadata.namespace']);
  const loader = operation.batched(
    `via ${hop.from.key} ${hop.name} ${hop.to.key}`,
    async (lease, view, pairs: readonly { readonly from: number; readonly to: number }[]) =>
      (await placesBetween(lease, view, hop, pairs)).map((places) => places.map(pathOfMention)),
    (pair) => `${pair.from} ${pair.to}`,
  );
  return loader.load({ from, to });
}

/** Runs `work` once the kind is known to be synced. @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED */
export async function readyFor<T>(
  operation: Operation,
  { key }: CatalogKind,
  work: (lease: Lease, view: View) => Promise<T>,
): Promise<T> {
  await operation.loader(`ready ${key}`, () =>
    operation.read(async (lease) =>
      operation.noteMissing(await requireReady([lease], keysServedIn(operation, [{ operation }], [key]))),
    ),
  );
  return operation.read(work);
}
