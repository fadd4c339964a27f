/**
 * The guarantees of paging. A client reads all pages while objects are created, changed and deleted. It may read in either
 * direction and with any page size. An object that keeps its order values appears at most once. An object that also exists
 * throughout appears.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  openTestStore,
  orderTerm,
  plainKey,
  plannedKind,
  promotedKey,
  type TestStore,
  thing,
} from '../../../test/kit/query-store.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { IncomingEvent } from '../../store/types/incoming-object.ts';
import type { Filter } from '../plan/filter.ts';
import { everything } from '../plan/filter.ts';
import type { ListResult, ListRow, OrderTerm, Page } from '../plan/plan.ts';
import { listPage } from './list.ts';

const clusters = ['east', 'west'];
const promoted = [
  { path: 'spec.size', type: 'Int64' },
  { path: 'spec.label', type: 'String' },
] as const;

interface Place {
  readonly key: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

interface State {
  readonly size: unknown;
  readonly label: unknown;
}

const place: fc.Arbitrary<Place> = fc.record({
  key: fc.constantFrom(promotedKey, plainKey),
  cluster: fc.constantFrom(...clusters),
  namespace: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('a', 'b', 'é', '😀', '\uffff', 'n1', 'n2', 'n3'),
});
const state: fc.Arbitrary<State> = fc.record({
  size: fc.constantFrom(1, 2, '9007199254740993', '9007199254740992', null, 'none'),
  label: fc.constantFrom('a', 'b', '\0', '😀', '\uffff', null),
});
/** A null state deletes the object. `touch` rewrites the object with the same order values. */
const step = fc.record({ place, state: fc.option(state, { freq: 4 }), touch: fc.boolean() });

const orders: readonly (readonly OrderTerm[])[] = [
  [],
  ...(['ASC', 'DESC'] as const).flatMap((direction) =>
    (['FIRST', 'LAST'] as const).flatMap((nulls) => [
      [orderTerm('spec.size', 'Int64', direction, nulls)],
      [orderTerm('spec.label', 'String', direction, nulls), orderTerm('spec.size', 'Int64', 'DESC', nulls)],
    ]),
  ),
  [orderTerm('metadata.name', 'String', 'DESC')],
];
const filters: readonly Filter[] = [
  everything,
  { kind: 'namespaces', in: ['b'] },
  {
    kind: 'compare',
    path: parsePath('spec.label'),
    type: 'String',
    operator: 'in',
    values: ['a', '😀'],
    ignoreCase: false,
  },
  {
    kind: 'not',
    of: {
      kind: 'compare',
      path: parsePath('spec.size'),
      type: 'Int64',
      operator: 'eq',
      values: [1],
      ignoreCase: false,
    },
  },
];

interface Held {
  readonly state: State;
  /** The step since which the object exists with these order values. */
  readonly since: number;
}

class World {
  readonly held = new Map<string, Held>();
  readonly #store: TestStore;
  #version = 1;
  #step = 0;

  constructor(store: TestStore) {
    this.#store = store;
  }

  get now(): number {
    return this.#step;
  }

  async start(): Promise<void> {
    for (const key of [promotedKey, plainKey]) for (const cluster of clusters) await this.#store.sync(key, cluster, []);
  }

  apply(at: Place, to: State | null, touch: boolean): void {
    this.#step += 1;
    const id = show(at);
    const known = this.held.get(id);
    if (to === null && known === undefined) return;
    const next = to === null ? null : touch && known !== undefined ? known.state : to;
    this.#version += 1;
    const shown = next ?? known?.state ?? { size: null, label: null };
    const text = thing({
      name: at.name,
      namespace: at.namespace,
      uid: `uid-${id}`,
      metadata: { resourceVersion: String(this.#version) },
      rest: { spec: { ...shown, touched: this.#version } },
    });
    const type: IncomingEvent['type'] = next === null ? 'DELETED' : known === undefined ? 'ADDED' : 'MODIFIED';
    this.#store.writer.apply(
      this.#store.handle(at.key, at.cluster),
      [{ type, object: { text } }],
      String(this.#version),
    );
    if (next === null) {
      this.held.delete(id);
    } else {
      const same = known !== undefined && known.state.size === next.size && known.state.label === next.label;
      this.held.set(id, { state: next, since: same ? known.since : this.#step });
    }
  }
}

function show({
  cluster,
  key,
  namespace,
  name,
}: Omit<Place, 'namespace'> & { readonly namespace: string | null }): string {
  return JSON.stringify([cluster, key, namespace, name]);
}

async function read(
  store: TestStore,
  kinds: readonly string[],
  filter: Filter,
  orderBy: readonly OrderTerm[],
  page: Page,
): Promise<ListResult> {
  const plan = { kinds: kinds.map(plannedKind), filter, orderBy, page, projection: {} };
  return store.read((lease, view) => listPage([{ lease, view }], plan));
}

async function whole(
  store: TestStore,
  kinds: readonly string[],
  filter: Filter,
  orderBy: readonly OrderTerm[],
): Promise<string[]> {
  const { rows } = await read(store, kinds, filter, orderBy, { direction: 'forward', limit: 1000, after: null });
  return rows.map(show);
}

test('walking pages under churn loses nothing and shows nothing twice', { timeout: 120_000 }, async () => {
  let changedWhileWalking = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ place, state }), { minLength: 10, maxLength: 50 }),
      fc.array(
        fc.record({
          kinds: fc.constantFrom<readonly string[]>([promotedKey], [plainKey], [plainKey, promotedKey]),
          orderBy: fc.constantFrom(...orders),
          filter: fc.constantFrom(...filters),
          backward: fc.boolean(),
          limit: fc.integer({ min: 1, max: 9 }),
          churn: fc.array(fc.array(step, { maxLength: 6 }), { minLength: 1, maxLength: 6 }),
        }),
        { minLength: 12, maxLength: 12 },
      ),
      async (begin, walks) => {
        const store = openTestStore(promoted);
        const world = new World(store);
        await world.start();
        for (const each of begin) world.apply(each.place, each.state, false);

        for (const { kinds, orderBy, filter, backward, limit, churn } of walks) {
          const before = await whole(store, kinds, filter, orderBy);
          const startedAt = world.now;
          const seen: string[] = [];
          let cursor: string | null = null;
          for (let pages = 0; ; pages++) {
            const page: Page = backward
              ? { direction: 'backward', limit, before: cursor }
              : { direction: 'forward', limit, after: cursor };
            const result: ListResult = await read(store, kinds, filter, orderBy, page);
            const rows: readonly ListRow[] = backward ? result.rows.toReversed() : result.rows;
            seen.push(...rows.map(show));
            cursor = rows.at(-1)?.cursor ?? cursor;
            const more = backward ? result.hasPreviousPage : result.hasNextPage;
            if (!more) break;
            // The changes are finite, so the loop ends.
            for (const { place: at, state: to, touch } of churn[pages] ?? []) {
              world.apply(at, to, touch);
              changedWhileWalking += 1;
            }
          }

          const stable = (id: string): boolean => (world.held.get(id)?.since ?? Number.POSITIVE_INFINITY) <= startedAt;
          const expected = before.filter(stable);
          expect(seen.filter(stable)).toEqual(backward ? expected.toReversed() : expected);
        }
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
  expect(changedWhileWalking).toBeGreaterThan(100);
});

test('a cursor stays a place when its object is gone', async () => {
  const store = openTestStore(promoted);
  const world = new World(store);
  await world.start();
  const at = (name: string): Place => ({ key: promotedKey, cluster: 'east', namespace: 'a', name });
  for (const [index, name] of ['n1', 'n2', 'n3', 'n4'].entries())
    world.apply(at(name), { size: index, label: 'a' }, false);
  const order = [orderTerm('spec.size', 'Int64')];
  const first = await read(store, [promotedKey], everything, order, { direction: 'forward', limit: 2, after: null });
  world.apply(at('n2'), null, false);
  const second = await read(store, [promotedKey], everything, order, {
    direction: 'forward',
    limit: 2,
    after: first.rows[1]?.cursor ?? null,
  });
  expect(second.rows.map(({ name }) => name)).toEqual(['n3', 'n4']);
  expect([second.hasNextPage, second.hasPreviousPage]).toEqual([false, true]);
});

test('a page of no objects tells whether there are any', async () => {
  const store = openTestStore(promoted);
  const world = new World(store);
  await world.start();
  const none: Page = { direction: 'forward', limit: 0, after: null };
  expect(await read(store, [promotedKey], everything, [], none)).toEqual({
    rows: [],
    found: 0,
    hasNextPage: false,
    hasPreviousPage: false,
  });
  world.apply({ key: promotedKey, cluster: 'west', namespace: 'a', name: 'n1' }, { size: 1, label: null }, false);
  expect(await read(store, [promotedKey], everything, [], none)).toEqual({
    rows: [],
    found: 1,
    hasNextPage: true,
    hasPreviousPage: false,
  });
});
