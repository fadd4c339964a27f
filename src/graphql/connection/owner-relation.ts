/**
 * `owners` and `owned`: the relation that every object has. Reads are batched: one statement for all objects of a list that ask for
 * the same page of the same kinds.
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
  type RelatedObjects,
} from '../../query/read/relations.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { projectionOfNodes } from '../selection/list-selection.ts';
import { type Aggregated, AggregatedRelated, type Asked } from './aggregated.ts';
import { type ConnectionSource, type EdgeSource, type PageInfoSource, pageOf } from './connection-source.ts';
import { ObjectSource } from './object-source.ts';

interface OwnedArguments {
  readonly kinds: readonly string[] | null;
  readonly first: number | null;
  readonly after: string | null;
}

/** One object's page, and where a subscription goes on from it: read in one snapshot, also where every read has a lease of its own. */
interface Related {
  readonly page: OwnedPage;
  readonly cursor: string;
}

async function related(lease: Lease, pages: Promise<readonly OwnedPage[]>): Promise<readonly Related[]> {
  const cursor = encodeLiveCursor({ epoch: lease.epoch, sequence: lease.revision });
  return (await pages).map((page) => ({ page, cursor }));
}

/** A page of related objects that is read when a field of it is resolved. */
class RelatedConnection implements ConnectionSource {
  readonly aggregated: Aggregated;
  readonly #operation: Operation;
  readonly #read: () => Promise<Related>;
  readonly #count: (limit: number | null) => Promise<number>;

  constructor(
    operation: Operation,
    read: () => Promise<Related>,
    count: (limit: number | null) => Promise<number>,
    aggregated: Aggregated,
  ) {
    this.#operation = operation;
    this.#read = read;
    this.#count = count;
    this.aggregated = aggregated;
  }

  async edges(): Promise<readonly EdgeSource[]> {
    const { page } = await this.#read();
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
  const place = `${placeOf(info)} ${JSON.stringify([keys, page])}`;
  const projection = projectionOfNodes(info);
  const options = { keys, limit: page.limit, after: args.after };
  return new RelatedConnection(
    operation,
    () =>
      operation
        .loader(`owned ${place}`, () =>
          byOwner((owners) =>
            operation.read((lease, view) => related(lease, ownedBy(lease, view, owners, options, projection))),
          ),
        )
        .load(owner),
    (limit) =>
      operation
        .loader(`count ${place} ${limit}`, () =>
          byOwner((owners) => operation.read((lease, view) => countOwned(lease, view, owners, { keys, limit }))),
        )
        .load(owner),
    new AggregatedRelated(operation, kinds ?? servedKinds(operation), row, (asked) =>
      operation
        .loader(`owned ${digest({ keys, asked })}`, () =>
          byOwner((owners) =>
            operation.read(async (lease, view) =>
              groupsOf(operation, lease, view, await ownedObjects(lease, view, owners, keys), asked, owners.length),
            ),
          ),
        )
        .load(owner),
    ),
  );
}

/** Without a word on kinds, paths may be of any kind. */
function servedKinds({ generation }: Operation): readonly CatalogKind[] {
  return generation.catalog.kinds.filter(({ key }) => generation.kind(key) !== undefined);
}

/** One answer for each of the objects at the places. */
async function groupsOf(
  operation: Operation,
  lease: Lease,
  view: View,
  related: readonly RelatedObjects[],
  asked: Asked,
  places: number,
): Promise<readonly (readonly GroupResult[] | OverBudget)[]> {
  const found = await aggregateRelated(lease, view, related, asked, operation.scans, places);
  return found instanceof OverBudget ? Array.from({ length: places }, () => found) : found;
}

/** The objects that own `source`: those of its owner references that are there. */
export function loadOwners(source: ObjectSource, info: GraphQLResolveInfo): ConnectionSource {
  const { operation } = source;
  const projection = projectionOfNodes(info);
  const owners = operation.loader(
    `owners ${placeOf(info)}`,
    () =>
      new DataLoader<number, Related>((objectIds) =>
        operation.read((lease, view) => related(lease, ownersOf(lease, view, objectIds, projection))),
      ),
  );
  return new RelatedConnection(
    operation,
    () => owners.load(source.row.objectId),
    async (limit) => {
      const { page } = await owners.load(source.row.objectId);
      return Math.min(page.rows.length, limit ?? Number.POSITIVE_INFINITY);
    },
    new AggregatedRelated(operation, servedKinds(operation), source.row, (asked) =>
      operation
        .loader(
          `owners ${digest(asked)}`,
          () =>
            new DataLoader<number, readonly GroupResult[] | OverBudget>((objectIds) =>
              operation.read(async (lease, view) =>
                groupsOf(operation, lease, view, await ownerObjects(lease, view, objectIds), asked, objectIds.length),
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

const places = new WeakMap<object, number>();
let nextPlace = 0;

/**
 * A short name for the places in the document that a field stands at: loaders are shared by objects of the same places only. All of
 * them count: a field of a fragment is merged with its neighbours, here with these and there with others, and needs what they need.
 */
function placeOf(info: GraphQLResolveInfo): string {
  return info.fieldNodes
    .map((node) => {
      const known = places.get(node);
      if (known !== undefined) return known;
      nextPlace += 1;
      places.set(node, nextPlace);
      return nextPlace;
    })
    .join('+');
}
