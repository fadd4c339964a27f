/**
 * `owners` and `owned`: the owner relation of every object.
 *
 * Owns: the batching of its reads. The objects of a list share a DataLoader for each selection. One statement reads the related objects
 * of all of them.
 * Never: shares a loader between selections or arguments that differ.
 *
 *   { services(first: 50) { nodes { owned(kinds: ["Pod"], first: 5) { nodes { id } } } } }
 *     50 calls of loadOwned -> one loader, 50 keys (cluster and uid of each Service) -> one ownedBy(…) for 50 owners -> 50 pages
 */
import { checkPage } from '../../query/plan/check-page.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import {
  countOwned,
  type OwnerReference,
  ownedBy,
  ownedObjects,
  ownerObjects,
  ownersOf,
  ownersOrder,
} from '../../query/related/owners.ts';
import { AggregatedRelated } from '../aggregates/aggregated.ts';
import type { ConnectionSource } from '../lists/list-connection.ts';
import type { ObjectSelection } from '../lists/object-selection.ts';
import type { ObjectSource } from '../lists/object-source.ts';
import { groupsOf, RelatedConnection, readsOfWhole, related } from './related-connection.ts';

interface OwnedArguments {
  readonly kinds: readonly string[] | null;
  readonly first: number | null;
  readonly after: string | null;
}

/** The objects that `source` owns. */
export function loadOwned(
  source: ObjectSource,
  args: OwnedArguments,
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { operation, row } = source;
  const page = checkPage({ first: args.first, after: args.after }, { maximum: operation.source.limits.maxPageSize });
  const { generation } = operation;
  const kinds = args.kinds === null ? null : generation.kinds(args.kinds);
  const keys = kinds?.map(({ key }) => key) ?? null;
  const owner: OwnerReference = { cluster: row.cluster, uid: row.uid ?? '' };
  const loaderKey = `${key} ${JSON.stringify([keys, page])}`;
  const options = { keys, limit: page.limit, after: args.after };
  return new RelatedConnection(operation, cost, {
    read: () =>
      operation
        .batched(
          `owned ${loaderKey}`,
          (lease, view, owners: readonly OwnerReference[]) =>
            related(lease, view, keys, ownedBy(lease, view, owners, options, projection)),
          textOfOwner,
        )
        .load(owner),
    count: (limit) =>
      operation
        .batched(
          `count ${loaderKey} ${limit}`,
          (lease, view, owners: readonly OwnerReference[]) => countOwned(lease, view, owners, { keys, limit }),
          textOfOwner,
        )
        .load(owner),
    // Without `kinds`, a path may belong to any kind.
    aggregated: new AggregatedRelated(operation, kinds ?? generation.all, row, (request) =>
      operation
        .batched(
          `owned ${digest({ keys, request })}`,
          async (lease, view, owners: readonly OwnerReference[]) =>
            groupsOf(operation, lease, view, await ownedObjects(lease, view, owners, keys), request, owners.length),
          textOfOwner,
        )
        .load(owner),
    ),
  });
}

/** Owners on a page without `first`. An object has one or two, so that a deep chain of owners is cheap. */
export const defaultOwners = 10;

/** The objects that own `source`. An owner reference to an object that is not in the store is left out. */
export function loadOwners(
  source: ObjectSource,
  args: { readonly first: number; readonly after: string | null },
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { operation } = source;
  const page = checkPage(args, { maximum: operation.source.limits.maxPageSize });
  const owners = operation.batched(`owners ${key}`, (lease, view, ids: readonly number[]) =>
    related(lease, view, null, ownersOf(lease, view, ids, projection)),
  );
  return new RelatedConnection(operation, cost, {
    ...readsOfWhole(() => owners.load(source.row.objectId), ownersOrder, { limit: page.limit, after: args.after }),
    aggregated: new AggregatedRelated(operation, operation.generation.all, source.row, (request) =>
      operation
        .batched(`owners ${digest(request)}`, async (lease, view, ids: readonly number[]) =>
          groupsOf(operation, lease, view, await ownerObjects(lease, view, ids), request, ids.length),
        )
        .load(source.row.objectId),
    ),
  });
}

const textOfOwner = ({ cluster, uid }: OwnerReference): string => `${cluster}\n${uid}`;
