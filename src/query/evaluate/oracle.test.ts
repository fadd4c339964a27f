/**
 * Compares SQL with the evaluator. For random objects, filters, orders and pages, both give the same objects in the same order.
 * The lists are over one kind or several, with and without promoted columns.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { boundless } from '../../../test/kit/displayed-groups.ts';
import { compareByOrder } from '../../../test/kit/evaluate-order.ts';
import { comparable, patterns, pools, types } from '../../../test/kit/leaf-values.ts';
import { openTestStore, plainKey, plannedKind, promotedKey, type TestStore } from '../../../test/kit/query-store.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { healthStatuses } from '../../catalog/health/health-status.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type Path, parsePath, pathOf } from '../../catalog/tree/path.ts';
import { rawJson } from '../../catalog/values/raw-json.ts';
import { hasTextKey, parseExact } from '../../catalog/values/values.ts';
import type { CompareOperator, Filter, Identity } from '../plan/filter.ts';
import type { ListPlan, ListResult, OrderTerm, Page } from '../plan/plan.ts';
import { countMatches } from '../read/count.ts';
import { listPage } from '../read/list.ts';
import { matchingObjects } from '../read/match-ids.ts';
import { chooseRoute } from '../route/route.ts';
import { matches } from './matches.ts';
import { matchesIdentity } from './matches-identity.ts';
import { type Members, membersRead } from './members-read.ts';

const anything = [...types.flatMap((type) => pools[type].slice(0, 6)), null, {}, [], { a: null }, [null, 'a']];
const oddName = 'o"d.n\\a[0]\0';

/** The leaf of each type is at spec.<Type>. */
const leaves: readonly { path: Path; type: LeafType }[] = [
  { path: parsePath('health.status'), type: 'String' },
  { path: parsePath('health.reason'), type: 'String' },
  ...types.map((type) => ({ path: parsePath(`spec.${type}`), type })),
  {
    path: pathOf([
      { kind: 'field', name: 'spec' },
      { kind: 'key', key: oddName },
    ]),
    type: 'String',
  },
  { path: parsePath('status.conditions[type=Ready].status'), type: 'String' },
  { path: parsePath('status.conditions[type=5].status'), type: 'JSON' },
  { path: parsePath('status.conditions[type="9007199254740993"].n'), type: 'Int64' },
  { path: parsePath('status.conditions[type=true].nested[status=True].n'), type: 'Int' },
  { path: parsePath('spec.list[0]'), type: 'String' },
  { path: parsePath('metadata.name'), type: 'String' },
  { path: parsePath('metadata.namespace'), type: 'String' },
  { path: parsePath('metadata.uid'), type: 'String' },
  { path: parsePath('metadata.creationTimestamp'), type: 'DateTime' },
  { path: parsePath('metadata.deletionTimestamp'), type: 'DateTime' },
  { path: parsePath('metadata.labels["app"]'), type: 'String' },
];
const promoted = leaves
  .filter(({ path }) => !path.text.startsWith('metadata.') || path.text.includes('labels'))
  .slice(0, 16)
  .map(({ path, type }) => ({ path: path.text, type }));

const throughLists: readonly { path: Path; type: LeafType }[] = [
  { path: parsePath('spec.list[]'), type: 'String' },
  { path: parsePath('spec.list[]'), type: 'Int64' },
  { path: parsePath('status.conditions[].status'), type: 'String' },
  { path: parsePath('status.conditions[].nested[].n'), type: 'Int' },
  { path: parsePath('status.conditions[].nested[status=True].n'), type: 'Int' },
  { path: parsePath('status.conditions[type=Ready].nested[].status'), type: 'String' },
];

const names = ['a', 'B', 'b', 'é', '\uffff', '😀', 'web-1', 'web-10', 'web-2'];
const namespaces = ['default', 'kube-system', 'Ω', '😀'];
const clusters = ['east', 'west'];

const anyOf = (type: LeafType): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pools[type]) },
    { weight: 1, arbitrary: fc.constantFrom(...anything) },
  );
/** An object with only these members. */
function withMembers(body: unknown, members: Members): unknown {
  if (members === 'all' || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => members.includes(name)));
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 3 });

const condition = fc.record({
  type: fc.constantFrom('Ready', 'Ready', 'Stalled', 'Other', 5, true, rawJson('9007199254740993'), null),
  status: maybe(fc.constantFrom('True', 'False', 'Unknown', 1)),
  reason: maybe(fc.constantFrom('Waiting', 'é', '\udfff', '')),
  n: maybe(anyOf('Int64')),
  nested: maybe(
    fc.array(
      fc.oneof(fc.record({ status: fc.constantFrom('True', 'False'), n: anyOf('Int') }), fc.constantFrom(...anything)),
      { maxLength: 3 },
    ),
  ),
});
const body = fc.record({
  spec: fc.oneof(
    {
      weight: 20,
      arbitrary: fc
        .record(Object.fromEntries(types.map((type) => [type, maybe(anyOf(type))])))
        .chain((spec) =>
          fc.record({
            spec: fc.constant(spec),
            [oddName]: maybe(anyOf('String')),
            list: maybe(
              fc.oneof(
                fc.array(fc.oneof(anyOf('String'), anyOf('Int64')), { maxLength: 4 }),
                fc.constantFrom(...anything),
              ),
            ),
          }),
        )
        .map(({ spec, ...rest }) => ({ ...(spec as object), ...rest })),
    },
    { weight: 1, arbitrary: fc.constantFrom(...anything) },
  ),
  status: maybe(
    fc.record({
      conditions: fc.oneof(
        {
          weight: 8,
          arbitrary: fc.array(
            fc.oneof(
              { weight: 6, arbitrary: condition },
              { weight: 1, arbitrary: fc.constantFrom<unknown>(...anything) },
            ),
            { maxLength: 4 },
          ),
        },
        { weight: 1, arbitrary: fc.constantFrom<unknown>(...anything, { x: { type: 'Ready', status: 'True' } }) },
      ),
    }),
  ),
  labels: maybe(
    fc.dictionary(fc.constantFrom('app', 'tier', 'x/y'), fc.constantFrom<unknown>('web', 'db', '', 'é', 5), {
      maxKeys: 3,
    }),
  ),
  created: fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:01Z', '2025-01-31T12:00:00Z', 'never', null),
  deleted: maybe(fc.constantFrom('2026-01-31T12:00:00Z', '2026-02-01T12:00:00Z')),
});

const object = fc.record({
  cluster: fc.constantFrom(...clusters),
  namespace: fc.option(fc.constantFrom(...namespaces), { freq: 8 }),
  name: fc.constantFrom(...names),
  body,
});
const objects = fc.uniqueArray(object, {
  selector: ({ cluster, namespace, name }) => JSON.stringify([cluster, namespace, name]),
  minLength: 5,
  maxLength: 45,
});

const operators: readonly CompareOperator[] = [
  'eq',
  'in',
  'lt',
  'lte',
  'gt',
  'gte',
  'startsWith',
  'endsWith',
  'contains',
  'matches',
];
const comparison = (type: LeafType, path: Path): fc.Arbitrary<Filter> => {
  const own: readonly unknown[] =
    path.text === 'metadata.name'
      ? names
      : path.text === 'metadata.namespace'
        ? namespaces
        : path.steps[0]?.kind === 'health'
          ? [...healthStatuses, 'Waiting', 'é']
          : path.text.endsWith('status') && type === 'String'
            ? ['True', 'False', 'true']
            : comparable[type];
  return fc
    .tuple(
      fc.constantFrom(...operators),
      fc.array(fc.constantFrom(...own), { minLength: 1, maxLength: 24 }),
      fc.boolean(),
    )
    .map(([operator, values, ignoreCase]) => ({
      kind: 'compare',
      path,
      type,
      operator,
      values:
        operator === 'matches'
          ? [patterns[values.length % patterns.length]]
          : operator === 'in'
            ? values
            : values.slice(0, 1),
      ignoreCase,
    }));
};
const leafFilter = fc.constantFrom(...leaves).chain(({ path, type }) => comparison(type, path));
const element = fc.oneof(
  comparison('String', pathOf([])),
  comparison('Int64', pathOf([])),
  fc.constantFrom<Path>(parsePath('type'), parsePath('status')).chain((path) => comparison('String', path)),
  fc.constant<Filter>({ kind: 'exists', path: pathOf([]) }),
  fc.constant<Filter>({ kind: 'exists', path: parsePath('nested[status=True].n') }),
  fc.constant<Filter>({ kind: 'some', path: parsePath('nested'), of: { kind: 'exists', path: parsePath('n') } }),
  comparison('Int', parsePath('n')).map((of): Filter => ({ kind: 'some', path: parsePath('nested'), of })),
);
const negated = (filter: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  fc.oneof(
    filter,
    filter.map((of): Filter => ({ kind: 'not', of })),
  );
const requirement = fc.record({
  key: fc.constantFrom('app', 'tier', 'x/y', 'none'),
  operator: fc.constantFrom('In' as const, 'NotIn' as const, 'Exists' as const, 'DoesNotExist' as const),
  values: fc.uniqueArray(fc.constantFrom('web', 'db', '', 'é', '5'), { minLength: 1, maxLength: 2 }),
});
const identity: fc.Arbitrary<Identity> = fc.record({
  cluster: fc.constantFrom(...clusters),
  key: fc.constantFrom(promotedKey, plainKey),
  namespace: fc.option(fc.constantFrom(...namespaces)),
  name: fc.constantFrom(...names),
});
const simple: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 8, arbitrary: leafFilter },
  { weight: 2, arbitrary: fc.constantFrom(...leaves).map(({ path }): Filter => ({ kind: 'exists', path })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom('spec.list', 'status.conditions', 'spec.JSON', 'status.conditions[type=true].nested'),
        negated(element),
      )
      .map(([path, of]): Filter => ({ kind: 'some', path: parsePath(path), of })),
  },
  {
    weight: 3,
    arbitrary: fc
      .array(requirement, { minLength: 1, maxLength: 2 })
      .map((requirements): Filter => ({ kind: 'labels', requirements })),
  },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom(...namespaces, 'none', ''), { maxLength: 3 })
      .map((list): Filter => ({ kind: 'namespaces', in: list })),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...clusters, 'none'), { maxLength: 2 })
      .map((list): Filter => ({ kind: 'clusters', in: list })),
  },
  { weight: 1, arbitrary: fc.array(identity, { maxLength: 30 }).map((list): Filter => ({ kind: 'ids', in: list })) },
);
const { filter } = fc.letrec<{ filter: Filter; many: Filter[] }>((tie) => ({
  many: fc.array(tie('filter'), { maxLength: 3 }),
  filter: fc.oneof(
    { maxDepth: 3 },
    { weight: 5, arbitrary: simple },
    { weight: 2, arbitrary: tie('many').map((of): Filter => ({ kind: 'and', of })) },
    { weight: 1, arbitrary: tie('many').map((of): Filter => ({ kind: 'or', of })) },
    { weight: 2, arbitrary: tie('filter').map((of): Filter => ({ kind: 'not', of })) },
  ),
}));
const orderBy: fc.Arbitrary<OrderTerm[]> = fc.array(
  fc
    .record({
      leaf: fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...leaves) },
        { weight: 1, arbitrary: fc.constantFrom(...throughLists) },
      ),
      direction: fc.constantFrom('ASC' as const, 'DESC' as const),
      nulls: fc.constantFrom('FIRST' as const, 'LAST' as const),
      natural: fc.boolean(),
      ignoreCase: fc.boolean(),
    })
    .map(({ leaf, direction, nulls, natural, ignoreCase }) => ({
      ...leaf,
      direction,
      nulls,
      ...(natural && hasTextKey(leaf.type) ? { natural: true as const } : {}),
      ...(ignoreCase && hasTextKey(leaf.type) ? { ignoreCase: true as const } : {}),
    })),
  { maxLength: 3 },
);
const question = fc.record({
  filter,
  orderBy,
  limit: fc.constantFrom(1, 2, 3, 7, 20, 100),
  kinds: fc.constantFrom<readonly string[]>(
    [promotedKey],
    [plainKey],
    [promotedKey, plainKey],
    [plainKey, promotedKey],
  ),
  backward: fc.boolean(),
  /** Two places in the list, from 0 to 1; null for no cursor. */
  ends: fc.tuple(
    fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  ),
});

type Body = typeof body extends fc.Arbitrary<infer T> ? T : never;

interface Held extends Identity {
  readonly body: unknown;
}

function textOf(made: { namespace: string | null; name: string; cluster: string; body: Body }, uid: string): string {
  const { spec, status, labels, created, deleted } = made.body;
  return JSON.stringify({
    metadata: {
      name: made.name,
      ...(made.namespace === null ? {} : { namespace: made.namespace }),
      uid,
      resourceVersion: '1',
      creationTimestamp: created,
      deletionTimestamp: deleted,
      labels,
    },
    spec,
    status,
  });
}

/** Each run asks forty questions. */
const runs = Number(process.env['ORACLE_RUNS'] ?? randomRuns(6, 12));

const routes = new Set<string>();

/** Reads all pages and returns their rows in the order of the list. */
async function walk(
  store: TestStore,
  plan: Omit<ListPlan, 'page'>,
  limit: number,
  backward: boolean,
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page: Page = backward
      ? { direction: 'backward', limit, before: cursor }
      : { direction: 'forward', limit, after: cursor };
    const result: ListResult = await store.read((lease, view) => listPage([{ lease, view }], { ...plan, page }));
    const shown = result.rows.map(show);
    if (backward) found.unshift(...shown);
    else found.push(...shown);
    expect(backward ? result.hasNextPage : result.hasPreviousPage).toBe(cursor !== null);
    const more = backward ? result.hasPreviousPage : result.hasNextPage;
    expect(result.rows.length).toBe(more ? limit : result.rows.length);
    if (!more) return found;
    cursor = (backward ? result.rows[0] : result.rows.at(-1))?.cursor ?? null;
  }
}

/** The page between two places of the list is the result of Relay's EdgesToReturn. */
async function checkWindow(
  store: TestStore,
  plan: Omit<ListPlan, 'page'>,
  { limit, backward, ends }: { limit: number; backward: boolean; ends: readonly (number | null)[] },
): Promise<void> {
  const page = (given: Page): Promise<ListResult> =>
    store.read((lease, view) => listPage([{ lease, view }], { ...plan, page: given }));
  const { rows } = await page({ direction: 'forward', limit: 10_000, after: null });
  if (rows.length === 0) return;
  const at = ends.map((end) => (end === null ? null : Math.min(rows.length - 1, Math.floor(end * rows.length))));
  const [from = null, to = null] = at;
  const between = rows.slice(from === null ? 0 : from + 1, to ?? rows.length).map(show);
  const cursor = (index: number | null): string | null => (index === null ? null : (rows[index]?.cursor ?? null));
  const [after, before] = [cursor(from), cursor(to)];
  const found = await page(
    backward
      ? { direction: 'backward', limit, before, ...(after === null ? {} : { after }) }
      : { direction: 'forward', limit, after, ...(before === null ? {} : { before, isSized: true }) },
  );
  const asked = `${JSON.stringify(plan.filter)} by ${JSON.stringify(plan.orderBy)}, ${limit} of ${from} to ${to}`;
  expect(found.rows.map(show), asked).toEqual(backward ? between.slice(-limit) : between.slice(0, limit));
  const more = between.length > limit;
  expect(found.hasPreviousPage, asked).toBe(backward ? more : from !== null);
  expect(found.hasNextPage, asked).toBe(backward ? to !== null : more);
}

function show({ cluster, key, namespace, name }: Identity): string {
  return JSON.stringify([cluster, key, namespace, name]);
}

test('SQL gives what the evaluator gives', { timeout: 120_000 }, async () => {
  let uid = 0;
  await fc.assert(
    fc.asyncProperty(objects, fc.array(question, { minLength: 40, maxLength: 40 }), async (made, questions) => {
      const store = openTestStore(promoted, [...clusters, 'north']);
      const held: Held[] = [];
      for (const key of [promotedKey, plainKey]) {
        for (const cluster of clusters) {
          const own = made.filter((each) => each.cluster === cluster);
          const texts = own.map((each) => textOf(each, `uid-${uid++}`));
          await store.sync(key, cluster, texts);
          for (const [index, { namespace, name }] of own.entries()) {
            held.push({ cluster, key, namespace, name, body: parseExact(texts[index] ?? '') });
          }
        }
        // The rows of an unpublished list do not count.
        const [template] = made;
        if (template === undefined) throw new Error('there are objects');
        const unpublished = textOf({ ...template, cluster: 'north' }, `uid-${uid++}`);
        store.writer.replace(store.handle(key, 'north')).put([{ text: unpublished }]);
      }
      for (const { filter, orderBy, limit, kinds, backward, ends } of questions) {
        const plan = {
          kinds: kinds.map(plannedKind),
          filter,
          orderBy,
          projection: { metadata: { name: true } } as const,
        };
        const expected = held
          .filter((each) => kinds.includes(each.key) && matches(filter, each))
          .sort((a, b) => compareByOrder(orderBy, a, b))
          .map(show);
        for (const each of held) {
          const wanted = matches(filter, each);
          expect(matchesIdentity(filter, each) ?? wanted, JSON.stringify(filter)).toBe(wanted);
          expect(matches(filter, { ...each, body: withMembers(each.body, membersRead(filter)) })).toBe(wanted);
        }
        const asked = `${JSON.stringify(filter)} by ${JSON.stringify(orderBy)}, ${limit} ${backward ? 'back' : 'on'}`;
        expect(await walk(store, plan, limit, backward), asked).toEqual(expected);
        await checkWindow(store, plan, { limit, backward, ends });
        await store.read(async (lease, view) => {
          expect(await countMatches(lease, view, plan, null, boundless())).toBe(expected.length);
          expect(await countMatches(lease, view, plan, 3, boundless())).toBe(Math.min(3, expected.length));
          const [key = ''] = kinds;
          const kind = view.get(key);
          if (kind !== undefined) routes.add((await chooseRoute(lease, kind, filter, orderBy, limit + 1)).kind);
          const ids = await matchingObjects(lease, view, plannedKind(key), filter);
          expect(ids.map(({ identity }) => show(identity))).toEqual(
            held
              .filter((each) => each.key === key && matches(filter, each))
              .sort((a, b) => compareByOrder([], a, b))
              .map(show),
          );
        });
      }
    }),
    // Shrinking would open a store for each attempt. The failure message already contains the question.
    { numRuns: runs, endOnFailure: true },
  );
});

afterAll(() => {
  expect([...routes].sort()).toEqual(['identity', 'order', 'path', 'scan']);
});
