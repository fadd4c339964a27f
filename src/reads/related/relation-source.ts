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
import type { Operation } from '../../operation/operation.ts';
import type { GroupResult } from '../../query/plan/aggregate.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import { everything, type Filter, type Identity } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { type Hop, hopOf } from '../../query/plan/hop.ts';
import type { ListResult, ListRow, OrderTerm, Projection } from '../../query/plan/plan.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { placesBetween, referencesOf, type StatedReference } from '../../query/related/references.ts';
import { countRelated, relatedIds, relatedPages } from '../../query/related/related-list.ts';
import { pageOfWhole, wholeList } from '../../query/related/whole-list.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { AggregatedRelated } from '../aggregates/aggregated.ts';
import type { ConnectionSource } from '../lists/list-connection.ts';
import type { ObjectSelection } from '../lists/object-selection.ts';
import { ObjectSource } from '../lists/object-source.ts';
import { groupsOf, groupsOfWhole, type Related, RelatedConnection, related } from './related-connection.ts';

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
  const of = `${hop.from.key} ${hop.name} ${key}`;
  const byId = <T>(name: string, read: (lease: Lease, view: View, ids: readonly number[]) => Promise<readonly T[]>) =>
    operation.loader(
      `${name} ${of}`,
      () => new DataLoader<number, T>((ids) => readyFor(operation, to, (lease, view) => read(lease, view, ids))),
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
  { first, after }: { readonly first: number; readonly after: string | null },
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { operation, row } = source;
  const page = checkPage({ first, after }, { maximum: operation.source.limits.maxPageSize });
  const loader = anyLoader(source, hop, projection, { access: 'list', key });
  const read = async (): Promise<Related> => {
    const { page: whole, cursor } = await loader.load(row.objectId);
    return { page: pageOfWhole(whole, fingerprintOf(hop), page.limit, after), cursor };
  };
  return new RelatedConnection(operation, cost, {
    read,
    count: async (limit) => {
      const { page: whole } = await loader.load(row.objectId);
      return Math.min(whole.rows.length, limit ?? Number.POSITIVE_INFINITY);
    },
    aggregated: new AggregatedRelated(operation, operation.generation.all, row, async (request) => {
      const { page: whole } = await loader.load(row.objectId);
      return groupsOfWhole(operation, whole, request);
    }),
  });
}

/** The object of any kind that a to-one relation leads to. */
export async function loadRelatedOneOfAny(
  source: ObjectSource,
  hop: AnyHop,
  { projection, key }: Omit<ObjectSelection, 'cost'>,
): Promise<ObjectSource | null> {
  const loader = anyLoader(source, hop, projection, { access: 'get', key });
  const { page } = await loader.load(source.row.objectId);
  const [first] = page.rows;
  const kind = first === undefined ? undefined : source.operation.generation.kind(first.key);
  return first === undefined || kind === undefined ? null : new ObjectSource(source.operation, kind, first);
}

function anyLoader(
  { operation, kind }: ObjectSource,
  hop: AnyHop,
  projection: Projection,
  { access, key }: { readonly access: 'list' | 'get'; readonly key: string },
): { load(id: number): Promise<Related> } {
  return operation.batched(`any ${kind.key} ${hop.name} ${key}`, (lease, view, ids: readonly number[]) =>
    related(lease, view, null, targetsOf(operation, lease, view, kind, { hop, ids, projection, access })),
  );
}

interface TargetRequest {
  readonly hop: AnyHop;
  readonly ids: readonly number[];
  readonly projection: Projection;
  /** To-one relations show what the caller may get, to-many ones what the caller may list. */
  readonly access: 'list' | 'get';
}

/** All targets of each object that are there, by identity. */
async function targetsOf(
  operation: Operation,
  lease: Lease,
  view: View,
  { key }: CatalogKind,
  { hop, ids, projection, access }: TargetRequest,
): Promise<ListResult[]> {
  const kind = view.get(key);
  const references = kind === undefined ? ids.map(() => []) : await referencesOf(lease, kind, ids, hop.places);
  const identities = references.map((each) => identitiesOf(operation, each));
  const rows = await fetchObjects(lease, view, identities.flat(), projection, access);
  return splitLike(identities, rows).map((found) =>
    wholeList(
      found.filter((row) => row !== null),
      fingerprintOf(hop),
    ),
  );
}

/** The objects that references name, each once. References to kinds that are not served are left out. */
function identitiesOf(
  { generation }: Pick<Operation, 'generation'>,
  references: readonly StatedReference[],
): readonly Identity[] {
  const found = new Map<string, Identity>();
  for (const { cluster, group, kind: named, namespace, name } of references) {
    const kind = generation.kindOf(group, named);
    if (kind === undefined) continue;
    const identity = { cluster, key: kind.key, namespace: kind.resource.namespaced ? namespace : null, name };
    found.set(JSON.stringify(identity), identity);
  }
  return [...found.values()];
}

function fingerprintOf({ name, places }: AnyHop): string {
  return digest({ related: name, places });
}

/** The paths of the references by which two objects are related. */
function loadVia(operation: Operation, hop: Hop, from: number, to: number): Promise<readonly string[]> {
  const { way } = hop;
  if (way.by === 'owner') return Promise.resolve(['metadata.ownerReferences']);
  if (way.by === 'selector') return Promise.resolve([pathOfMention(way.place)]);
  const loader = operation.batched(
    `via ${hop.from.key} ${hop.name}`,
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
    operation.read(async (lease) => operation.noteMissing(await requireReady(lease, [key]))),
  );
  return operation.read(work);
}
