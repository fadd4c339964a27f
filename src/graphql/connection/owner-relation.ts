/**
 * `owners` and `owned`: the owner relation of every object.
 *
 * Owns: the batching of its reads. The objects of a list share a DataLoader for each field of the document. One statement reads the
 * related objects of all of them.
 * Never: shares a loader between fields whose selections or arguments differ.
 *
 *   { services(first: 50) { nodes { owned(kinds: ["Pod"], first: 5) { nodes { id } } } } }
 *     50 calls of loadOwned -> one loader, 50 keys (cluster and uid of each Service) -> one ownedBy(…) for 50 owners -> 50 pages
 */
import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { encodeLiveCursor } from '../../live/live-cursor.ts';
import type { Operation } from '../../operation/operation.ts';
import type { GroupResult } from '../../query/plan/aggregate.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import type { ListRow } from '../../query/plan/plan.ts';
import { OverBudget } from '../../query/plan/scan-budget.ts';
import { aggregateRelated } from '../../query/read/aggregate-kinds.ts';
import {
  countOwned,
  type OwnedPage,
  type OwnerReference,
  ownedBy,
  ownedObjects,
  ownerObjects,
  ownersOf,
  pageOfOwners,
  type RelatedObjects,
} from '../../query/read/relations.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { costOfNodes, projectionOfNodes } from '../selection/list-selection.ts';
import { type Aggregated, AggregatedRelated, type AggregateRequest } from './aggregated.ts';
import { type ConnectionSource, type EdgeSource, type PageInfoSource, pageOf } from './connection-source.ts';
import { ObjectSource } from './object-source.ts';

interface OwnedArguments {
  readonly kinds: readonly string[] | null;
  readonly first: number | null;
  readonly after: string | null;
}

/** One object's page and its `changesCursor`. Both come from one snapshot, even where every read has its own lease. */
interface Related {
  readonly page: OwnedPage;
  readonly cursor: string;
}

async function related(lease: Lease, pages: Promise<readonly OwnedPage[]>): Promise<readonly Related[]> {
  const cursor = encodeLiveCursor({ epoch: lease.epoch, sequence: lease.revision });
  return (await pages).map((page) => ({ page, cursor }));
}

/** A lazy page of related objects. Its rows are read when one of its fields is resolved. */
class RelatedConnection implements ConnectionSource {
  readonly aggregated: Aggregated;
  readonly #operation: Operation;
  readonly #read: () => Promise<Related>;
  readonly #count: (limit: number | null) => Promise<number>;
  /** Values of one object of the page. */
  readonly #objectCost: number;
  #charged = false;

  constructor(
    operation: Operation,
    info: GraphQLResolveInfo,
    read: () => Promise<Related>,
    count: (limit: number | null) => Promise<number>,
    aggregated: Aggregated,
  ) {
    this.#operation = operation;
    // All objects of the parent's page have the same selection.
    this.#objectCost = operation.loader(`cost ${nodesKeyOf(info)}`, () =>
      costOfNodes(info, operation.source.limits.maxPageSize, 'inner'),
    );
    this.#read = read;
    this.#count = count;
    this.aggregated = aggregated;
  }

  /** The page is charged here, once, because several parents may share the objects that were read. */
  async edges(): Promise<readonly EdgeSource[]> {
    const { page } = await this.#read();
    if (!this.#charged) {
      this.#charged = true;
      this.#operation.cost.charge(page.rows.length * this.#objectCost);
    }
    return page.rows.flatMap((row: ListRow) => {
      const kind = this.#operation.generation.kind(row.key);
      return kind === undefined ? [] : [{ cursor: row.cursor, node: new ObjectSource(this.#operation, kind, row) }];
    });
  }

  async pageInfo(): Promise<PageInfoSource> {
    const { page } = await this.#read();
    return pageOf(page, page.rows);
  }

  totalCount(limit: number | null): Promise<number> {
    return this.#count(limit);
  }

  async changesCursor(): Promise<string> {
    return (await this.#read()).cursor;
  }
}

/** The objects that `source` owns. */
export function loadOwned(source: ObjectSource, args: OwnedArguments, info: GraphQLResolveInfo): ConnectionSource {
  const { operation, row } = source;
  const page = checkPage({ first: args.first, after: args.after }, { maximum: operation.source.limits.maxPageSize });
  const { generation } = operation;
  const kinds = args.kinds === null ? null : generation.kinds(args.kinds);
  const keys = kinds?.map(({ key }) => key) ?? null;
  const owner: OwnerReference = { cluster: row.cluster, uid: row.uid ?? '' };
  const loaderKey = `${nodesKeyOf(info)} ${JSON.stringify([keys, page])}`;
  const projection = projectionOfNodes(info);
  const options = { keys, limit: page.limit, after: args.after };
  return new RelatedConnection(
    operation,
    info,
    () =>
      operation
        .loader(`owned ${loaderKey}`, () =>
          byOwner((owners) =>
            operation.read((lease, view) => related(lease, ownedBy(lease, view, owners, options, projection))),
          ),
        )
        .load(owner),
    (limit) =>
      operation
        .loader(`count ${loaderKey} ${limit}`, () =>
          byOwner((owners) => operation.read((lease, view) => countOwned(lease, view, owners, { keys, limit }))),
        )
        .load(owner),
    new AggregatedRelated(operation, kinds ?? servedKinds(operation), row, (request) =>
      operation
        .loader(`owned ${digest({ keys, request })}`, () =>
          byOwner((owners) =>
            operation.read(async (lease, view) =>
              groupsOf(operation, lease, view, await ownedObjects(lease, view, owners, keys), request, owners.length),
            ),
          ),
        )
        .load(owner),
    ),
  );
}

/** Without `kinds`, a path may belong to any kind. */
function servedKinds({ generation }: Operation): readonly CatalogKind[] {
  return generation.catalog.kinds.filter(({ key }) => generation.kind(key) !== undefined);
}

/** The groups of each of `count` objects, in their order. Every entry is OverBudget when the statement is over budget. */
async function groupsOf(
  operation: Operation,
  lease: Lease,
  view: View,
  related: readonly RelatedObjects[],
  request: AggregateRequest,
  count: number,
): Promise<readonly (readonly GroupResult[] | OverBudget)[]> {
  const found = await aggregateRelated(lease, view, related, request, operation.scans, count);
  return found instanceof OverBudget ? Array.from({ length: count }, () => found) : found;
}

/** Owners on a page without `first`. An object has one or two, so that a deep chain of owners is cheap. */
export const defaultOwners = 10;

/** The objects that own `source`. An owner reference to an object that is not in the store is left out. */
export function loadOwners(
  source: ObjectSource,
  args: { readonly first: number; readonly after: string | null },
  info: GraphQLResolveInfo,
): ConnectionSource {
  const { operation } = source;
  const page = checkPage(args, { maximum: operation.source.limits.maxPageSize });
  const projection = projectionOfNodes(info);
  const owners = operation.loader(
    `owners ${nodesKeyOf(info)}`,
    () =>
      new DataLoader<number, Related>((objectIds) =>
        operation.read((lease, view) => related(lease, ownersOf(lease, view, objectIds, projection))),
      ),
  );
  return new RelatedConnection(
    operation,
    info,
    async () => {
      const { page: all, cursor } = await owners.load(source.row.objectId);
      return { page: pageOfOwners(all, page.limit, args.after), cursor };
    },
    async (limit) => {
      const { page } = await owners.load(source.row.objectId);
      return Math.min(page.rows.length, limit ?? Number.POSITIVE_INFINITY);
    },
    new AggregatedRelated(operation, servedKinds(operation), source.row, (request) =>
      operation
        .loader(
          `owners ${digest(request)}`,
          () =>
            new DataLoader<number, readonly GroupResult[] | OverBudget>((objectIds) =>
              operation.read(async (lease, view) =>
                groupsOf(operation, lease, view, await ownerObjects(lease, view, objectIds), request, objectIds.length),
              ),
            ),
        )
        .load(source.row.objectId),
    ),
  );
}

function byOwner<T>(
  read: (owners: readonly OwnerReference[]) => Promise<readonly T[]>,
): DataLoader<OwnerReference, T, string> {
  return new DataLoader<OwnerReference, T, string>(read, { cacheKeyFn: ({ cluster, uid }) => `${cluster}\n${uid}` });
}

const nodeNumbers = new WeakMap<object, number>();
let lastNumber = 0;

/**
 * A short key for the document nodes that a resolved field was merged from, such as `3+7`. Objects share a loader only under the same
 * key. All nodes are part of it: a fragment's field may be merged with different neighbours in two selections. It projects different
 * paths then.
 */
function nodesKeyOf(info: GraphQLResolveInfo): string {
  return info.fieldNodes
    .map((node) => {
      const known = nodeNumbers.get(node);
      if (known !== undefined) return known;
      lastNumber += 1;
      nodeNumbers.set(node, lastNumber);
      return lastNumber;
    })
    .join('+');
}
