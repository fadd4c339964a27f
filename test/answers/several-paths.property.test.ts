/**
 * Paths of several places, such as the latest time of an Event: filters, orders, groups and values of random objects against a plain
 * evaluation, with and without promoted columns. Prepared answers give the same bytes as the executor.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerPair } from '../kit/answer-pair.ts';
import { describedCrd, made } from '../kit/engine-fixture.ts';
import { nextOf, untilPhase } from '../kit/list-messages.ts';
import { randomRuns } from '../kit/random-runs.ts';

const key = 'frees.example.com';
const time = { type: 'string', format: 'date-time' };
const spec = {
  type: 'object',
  properties: {
    a: time,
    b: time,
    c: { type: 'object', properties: { d: time } },
    list: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, at: time } } },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
    text: { type: 'string' },
  },
};
const described = describedCrd({ kind: 'Free', plural: 'frees', properties: { spec } });

interface Times {
  readonly a?: string | null | undefined;
  readonly b?: string | undefined;
  readonly d?: string | undefined;
  readonly at?: string | undefined;
  readonly free?: string | number | undefined;
}

const hours = ['08', '09', '10', '11', '12'];
const written = fc.constantFrom(
  ...hours.flatMap((hour) => [`2026-01-31T${hour}:00:00Z`, `2026-01-31T${hour}:30:00.5Z`]),
);
const maybe = fc.option(written, { nil: undefined, freq: 2 });
const times: fc.Arbitrary<Times> = fc.record({
  a: fc.oneof(maybe, fc.constantFrom(null, 'no time')),
  b: maybe,
  d: maybe,
  at: maybe,
  free: fc.oneof(maybe, fc.constantFrom(5, 'x')),
});

function objectOf({ a, b, d, at, free }: Times, name: string): object {
  return made({ name, spec: { a, b, c: { d }, list: [{ name: 'no' }, { name: 'x', at }], free: { t: free } } });
}

const paths: readonly { readonly path: string; readonly as?: 'TIME'; readonly of: readonly (keyof Times)[] }[] = [
  { path: 'spec.a, spec.b, spec.c.d', of: ['a', 'b', 'd'] },
  { path: 'spec.c.d,spec.list[name=x].at', of: ['d', 'at'] },
  { path: 'spec.free.t, spec.text', as: 'TIME', of: ['free'] },
];

/** Milliseconds; null for no time. */
function latest(of: readonly (keyof Times)[], fold: 'min' | 'max', given: Times): number | null {
  const all = of.flatMap((name) => (String(given[name]).endsWith('Z') ? [Date.parse(String(given[name]))] : []));
  return all.length === 0 ? null : Math[fold](...all);
}

test('the least and the greatest of several places are found, ordered and grouped as a plain evaluation says', async () => {
  const { fixture, ask } = await answerPair();
  const promoted = { path: 'max(spec.a, spec.b, spec.c.d)', type: 'DateTime' } as const;
  await fixture.declare({ ...described, promoted: [promoted] });
  const read = async (list: string) => {
    const [prepared, executed] = await ask(JSON.stringify({ query: `{ exampleComFrees${list} }` }));
    expect(prepared, list).toEqual(executed);
    const { data, errors } = JSON.parse(prepared.text);
    expect(errors, list).toBeUndefined();
    return data.exampleComFrees;
  };
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(times, { minLength: 3, maxLength: 12 }),
      fc.constantFrom(...paths),
      fc.constantFrom('min' as const, 'max' as const),
      fc.constantFrom('gt', 'lte', 'eq'),
      written,
      async (all, { path, as, of }, fold, operator, than) => {
        const objects = all.map((given, at) => ({
          name: `o${String(at).padStart(2, '0')}`,
          at: latest(of, fold, given),
        }));
        await fixture.sync(
          key,
          all.map((given, at) => objectOf(given, objects[at]?.name ?? '')),
        );
        const cast = as === undefined ? '' : `, as: ${as}`;
        const place = `path: "${fold}(${path})"${cast}`;
        const names = async (args: string): Promise<readonly string[]> =>
          (await read(`(${args}) { nodes { metadata { name } } }`)).nodes.map(
            ({ metadata }: { metadata: { name: string } }) => metadata.name,
          );
        const limit = Date.parse(than);
        const holds = ({ at }: { readonly at: number | null }): boolean =>
          at !== null && (operator === 'gt' ? at > limit : operator === 'lte' ? at <= limit : at === limit);
        const expected = objects.filter(holds).map(({ name }) => name);
        expect(await names(`filter: { path: [{ ${place}, ${operator}: "${than}" }] }`)).toEqual(expected);
        found += Number(expected.length > 0 && expected.length < objects.length);
        const ordered = objects
          .toSorted((x, y) => (x.at ?? Infinity) - (y.at ?? Infinity) || (x.name < y.name ? -1 : 1))
          .map(({ name }) => name);
        expect(await names(`orderBy: [{ ${place} }]`)).toEqual(ordered);
        if (as !== undefined) return;
        const { aggregate, nodes } = await read(
          `(first: 20) { nodes { value(${place}) } aggregate { max(${place}) groups(by: ["${fold}(${path})"]) { keys aggregate { count } } } }`,
        );
        expect(nodes.map(({ value }: { value: string | null }) => (value === null ? null : Date.parse(value)))).toEqual(
          objects.map(({ at }) => at),
        );
        const keys = aggregate.groups.map((group: { keys: (string | null)[] }) => group.keys[0] ?? null);
        expect(new Set(keys.map((each: string | null) => (each === null ? null : Date.parse(each))))).toEqual(
          new Set(objects.map(({ at }) => at)),
        );
        expect(
          aggregate.groups.reduce(
            (sum: number, each: { aggregate: { count: number } }) => sum + each.aggregate.count,
            0,
          ),
        ).toBe(objects.length);
      },
    ),
    { numRuns: Number(process.env['PORTOLAN_SEVERAL_RUNS'] ?? randomRuns(20, 60)) },
  );
  expect(found).toBeGreaterThan(5);
});

test('a subscription follows the latest of several times', async () => {
  const { fixture } = await answerPair();
  await fixture.declare(described);
  await fixture.sync(key, [objectOf({ a: '2026-01-31T08:00:00Z' }, 'old')]);
  const events = await fixture.subscribe(
    `subscription { list: exampleComFreeChanges(filter: { path: [{ path: "max(spec.a, spec.b)", gt: "2026-01-31T10:00:00Z" }] }) {
      phase changes { type object { metadata { name } } } } }`,
  );
  await untilPhase(events, 'SYNCED');
  fixture.apply(key, 'MODIFIED', objectOf({ a: '2026-01-31T08:00:00Z', b: '2026-01-31T11:00:00Z' }, 'old'));
  expect(await nextOf(events)).toMatchObject({ changes: [{ type: 'ADDED', object: { metadata: { name: 'old' } } }] });
});

test.each([
  ['max(spec.a, spec.text)', /needs paths of one type, and these are DateTime, String/],
  ['max(spec.list[].at, spec.a)', /takes no path through a list beside others/],
  ['max(spec.a, spec.nope)', /"nope" after "spec" is unknown/],
  ['max(spec.free.t, spec.free.u)', /needs values that can be compared, and these are JSON/],
  ['sum(spec.a, spec.b)', /several paths, which only min and max take/],
  ['max(spec, metadata)', /needs values that can be compared/],
])('%s is refused', async (path, message) => {
  const { fixture } = await answerPair();
  await fixture.declare(described);
  const { errors } = await fixture.query(
    `{ exampleComFrees(orderBy: [{ path: ${JSON.stringify(path)} }]) { totalCount } }`,
  );
  expect(errors[0]?.message).toMatch(message);
  expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT' });
});
