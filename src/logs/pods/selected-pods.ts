/**
 * The Pods whose logs a subscription shows: named ones, results of a query, and all Pods that these objects own.
 *
 *   Deployment web -> ReplicaSet web-1 -> Pods web-1-a, web-1-b
 *
 * Only owned Pods that the caller may list count, as in every list.
 */
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { servingClusters } from '../../operation/list-readiness.ts';
import type { CellRead, Operation } from '../../operation/operation.ts';
import { refusalOfObject, requireVisible } from '../../operation/require-visible.ts';
import { clustersIn, type Filter, type Identity } from '../../query/plan/filter.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { matchingObjects } from '../../query/read/match-ids.ts';
import { objectsById } from '../../query/read/object-rows.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { ownedTrees } from '../../query/related/owned-tree.ts';
import { leasesOf, viewsOf } from '../../query/sql/view.ts';
import { podProjection } from './pod-containers.ts';

/** The key of Pods. */
export const podKey = 'pods';

export type PodSource =
  /** Objects of any kind. */
  | { readonly by: 'ids'; readonly identities: readonly Identity[] }
  | { readonly by: 'query'; readonly kinds: readonly CatalogKind[]; readonly filter: Filter };

interface SelectedPods {
  readonly pods: readonly ObjectRow[];
  /** Rows that were read, and `lookCost`. */
  readonly cost: number;
}

/** The clusters of these Pods; null for all. */
export function clustersOf(source: PodSource): readonly string[] | null {
  return source.by === 'ids' ? source.identities.map(({ cluster }) => cluster) : clustersIn(source.filter);
}

/** Pods and their owners of one subscription, and objects that the owners own. */
const most = { objects: 1000, owned: 20_000 };

/** Values that a look counts, whatever it finds: it evaluates the filter. */
const lookCost = 100;

/**
 * @throws PortolanError FORBIDDEN if the caller may see none of the objects, CACHE_NOT_READY while a kind is not synced, QUERY_TOO_COSTLY
 * for too many objects.
 */
export async function selectedPods(
  operation: Operation,
  cells: readonly CellRead[],
  source: PodSource,
): Promise<SelectedPods> {
  if (source.by === 'ids') await requireNamed(operation, cells, source.identities);
  else await requireMatched(operation, cells, source);
  const parts = await Promise.all(cells.map((cell) => podsIn(operation.generation, cell, source)));
  const pods = parts.flatMap((part) => part.pods);
  requireFew(pods.length, most.objects);
  return { pods, cost: lookCost + parts.reduce((sum, { cost }) => sum + cost, 0) };
}

async function podsIn(generation: Operation['generation'], cell: CellRead, source: PodSource): Promise<SelectedPods> {
  const { lease, view } = cell;
  const found = await (source.by === 'ids'
    ? named(generation, cell, source.identities)
    : matched(generation, cell, source));
  requireFew(found.length, most.objects);
  const owners = found.filter(({ key }) => key !== podKey);
  const trees = owners.length === 0 ? [] : await ownedTrees(lease, view, owners.map(rootOf), most.owned);
  requireFew(trees === null ? most.owned + 1 : 0, most.owned);
  const owned = (trees ?? []).flat();
  const ids = new Set([
    ...found.filter(({ key }) => key === podKey).map(({ objectId }) => objectId),
    ...owned.filter(({ key }) => key === podKey).map(({ id }) => id),
  ]);
  requireFew(ids.size, most.objects);
  const pods = await objectsById(
    lease,
    [...ids].map((id) => ({ id, key: podKey })),
    podProjection,
  );
  return { pods, cost: found.length + owned.length + pods.length };
}

/** @throws as `selectedPods` */
async function requireNamed(
  operation: Operation,
  cells: readonly CellRead[],
  identities: readonly Identity[],
): Promise<void> {
  const { generation } = operation;
  const meant = identities.map((identity) => originOf(generation, identity));
  const refusals = meant.map((identity) => refusalOfObject(operation.viewIn(cells, identity.cluster), identity));
  const [first] = refusals;
  if (first !== null && first !== undefined && refusals.every((refusal) => refusal !== null)) throw first;
  const keys = [...new Set(meant.map(({ key }) => key))].filter((key) => generation.kind(key) !== undefined);
  const clusters = [...new Set(meant.map(({ cluster }) => cluster))].filter((each) => generation.clusters.has(each));
  if (keys.length > 0 && clusters.length > 0) await requireReady(leasesOf(cells), keys, clusters);
}

/** @throws as `selectedPods` */
async function requireMatched(
  operation: Operation,
  cells: readonly CellRead[],
  { kinds, filter }: Extract<PodSource, { by: 'query' }>,
): Promise<void> {
  requireVisible(
    viewsOf(cells),
    kinds.map(({ key }) => key),
    filter,
  );
  for (const kind of kinds) {
    const clusters = servingClusters(operation, kind, filter);
    if (clusters.length > 0) await requireReady(leasesOf(cells), [kind.key], clusters);
  }
}

async function named(
  generation: Operation['generation'],
  { lease, view }: CellRead,
  identities: readonly Identity[],
): Promise<readonly ObjectRow[]> {
  const meant = identities.map((identity) => originOf(generation, identity));
  return (await fetchObjects(lease, view, meant, {})).filter((row) => row !== null);
}

async function matched(
  generation: Operation['generation'],
  { lease, view }: CellRead,
  { kinds, filter }: Extract<PodSource, { by: 'query' }>,
): Promise<readonly ObjectRow[]> {
  const found: { readonly id: number; readonly key: string }[] = [];
  for (const kind of kinds) {
    const limit = most.objects + 1;
    const some = await matchingObjects(lease, view, kind, filter, { limit, access: 'list' });
    found.push(...some.map(({ objectId }) => ({ id: objectId, key: kind.key })));
    if (found.length > most.objects) break;
  }
  requireFew(found.length, most.objects);
  const rows = await objectsById(lease, found, {});
  const origins = rows.map((row) => originOf(generation, row));
  const own = rows.filter((row, at) => row === origins[at]);
  if (own.length === rows.length) return rows;
  const others = origins.filter((origin, at) => origin !== rows[at]);
  const all = [...own, ...(await fetchObjects(lease, view, others, {}, 'list')).filter((row) => row !== null)];
  return [...new Map(all.map((row) => [row.objectId, row])).values()];
}

/** The object that an object of an abstract kind is made from; any other object itself. */
function originOf(generation: Operation['generation'], identity: Identity): Identity {
  const kind = generation.kind(identity.key);
  return (kind === undefined ? null : generation.origin(kind, identity))?.identity ?? identity;
}

function rootOf({ objectId, cluster, namespace, uid }: ObjectRow) {
  return { id: objectId, cluster, namespace, uid };
}

function requireFew(count: number, allowed: number): void {
  if (count <= allowed) return;
  throw new PortolanError(
    'QUERY_TOO_COSTLY',
    `These are more than ${allowed} objects; follow the logs of fewer at a time, by a narrower filter.`,
    { details: { allowed } },
  );
}
