/**
 * `owners` and `owned`: the relation that every object has. Reads are batched: one statement for all objects of a list that ask for
 * the same page of the same kinds.
 */
import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import { encodeLiveCursor } from '../live/live-cursor.ts';
import { checkPage } from '../query/check-page.ts';
import type { ListRow } from '../query/plan.ts';
import { countOwned, type OwnedPage, type OwnerReference, ownedBy, ownersOf } from '../query/relations.ts';
import type { Lease } from '../store/types.ts';
import { type ConnectionSource, type EdgeSource, type PageInfoSource, pageOf } from './connection-source.ts';
import { projectionOfNodes } from './list-field.ts';
import { ObjectSource } from './object-source.ts';
import type { Operation } from './operation.ts';

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
  readonly #operation: Operation;
  readonly #read: () => Promise<Related>;
  readonly #count: (limit: number | null) => Promise<number>;

  constructor(operation: Operation, read: () => Promise<Related>, count: (limit: number | null) => Promise<number>) {
    this.#operation = operation;
    this.#read = read;
    this.#count = count;
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
  const keys = args.kinds === null ? null : operation.generation.kinds(args.kinds).map(({ key }) => key);
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
            operation.read((lease, layouts) => related(lease, ownedBy(lease, layouts, owners, options, projection))),
          ),
        )
        .load(owner),
    (limit) =>
      operation
        .loader(`count ${place} ${limit}`, () =>
          byOwner((owners) => operation.read((lease, layouts) => countOwned(lease, layouts, owners, { keys, limit }))),
        )
        .load(owner),
  );
}

/** The objects that own `source`: those of its owner references that are there. */
export function loadOwners(source: ObjectSource, info: GraphQLResolveInfo): ConnectionSource {
  const { operation } = source;
  const projection = projectionOfNodes(info);
  const owners = operation.loader(
    `owners ${placeOf(info)}`,
    () =>
      new DataLoader<number, Related>((objectIds) =>
        operation.read((lease, layouts) => related(lease, ownersOf(lease, layouts, objectIds, projection))),
      ),
  );
  return new RelatedConnection(
    operation,
    () => owners.load(source.row.objectId),
    async (limit) => {
      const { page } = await owners.load(source.row.objectId);
      return Math.min(page.rows.length, limit ?? Number.POSITIVE_INFINITY);
    },
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
