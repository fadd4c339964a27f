/**
 * Casts (`as`), `ignoreCase` and `natural` of free JSON: filters, orders, groups, facets and single values of random values, against a plain
 * evaluation of what docs/values.md says that shares nothing with the gateway's own. Each list is walked in pages, forward and backward.
 * Prepared answers give the same bytes as the executor, and a subscription the same objects as the list.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerPair } from '../kit/answer-pair.ts';
import { made } from '../kit/engine-fixture.ts';
import { widget, widgets } from '../kit/graphql-world.ts';
import { randomRuns } from '../kit/random-runs.ts';

type Cast = 'NUMBER' | 'QUANTITY' | 'TIME';

/** A value as JSON writes it, so that the digits of its numbers stay. */
type JsonText = string;

const numbers = [
  '0',
  '5',
  '-5',
  '10',
  '1.5',
  '1e3',
  '9007199254740993',
  '9007199254740992',
  '-0.0',
  '0.1',
  '18446744073709551617',
];
const numerals = [
  '5',
  '05',
  '5.0',
  '10',
  '+7',
  '-5',
  '.5',
  '5.',
  '1e3',
  '9007199254740993',
  '9007199254740992',
  ' 5',
  '5 ',
  '0x10',
  '1_000',
];
const quantities = ['500m', '1Gi', '1G', '1k', '1Ki', '0.5', '1500m', '2', '1E', '1e3', 'Gi', '1 Gi', '100n'];
const times = [
  '2026-01-31T12:00:00Z',
  '2026-01-31T13:00:00+01:00',
  '2026-01-31T12:00:00.5Z',
  '2025-12-31T23:59:59Z',
  '2026-01-31t12:00:00z',
  '2026-02-30T12:00:00Z',
  '2026-01-31',
  '2026-01-31T00:00:00Z',
  '2026-02-01',
  '2026-02-30',
  '2026-1-31',
  '-1h',
];
const words = [
  'a',
  'A',
  'b',
  'B',
  'é',
  'É',
  'web-2',
  'web-10',
  'Web-2',
  'WEB-10',
  'web-02',
  'x1y',
  'x01Y',
  '',
  'true',
  'null',
];
const texts = [...numerals, ...quantities, ...times, ...words].map((text) => JSON.stringify(text));
const others = ['true', 'false', 'null', '{}', '[]', '{"a":5}', '[5]'];
const value: fc.Arbitrary<JsonText> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 3, arbitrary: fc.constantFrom(...numbers) },
  { weight: 1, arbitrary: fc.constantFrom(...others) },
);

/** An exact number: units of 10^-40. */
function exact(text: string): bigint | null {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text);
  if (match === null || `${match[2]}${match[3] ?? ''}` === '') return null;
  const digits =
    BigInt(`${match[2]}${match[3] ?? ''}`) * 10n ** BigInt(40 - (match[3]?.length ?? 0) + Number(match[4] ?? 0));
  return match[1] === '-' ? -digits : digits;
}

const powers: Readonly<Record<string, bigint>> = {
  k: 10n ** 3n,
  M: 10n ** 6n,
  G: 10n ** 9n,
  E: 10n ** 18n,
  Ki: 2n ** 10n,
  Gi: 2n ** 30n,
};
const fractions: Readonly<Record<string, bigint>> = { n: 10n ** 9n, u: 10n ** 6n, m: 10n ** 3n };

function quantity(text: string): bigint | null {
  const [, number = '', suffix = ''] = /^([+-]?[0-9.]+)(n|u|m|k|M|G|E|Ki|Gi)$/.exec(text) ?? [];
  const value = exact(number);
  if (suffix === '' || value === null) return exact(text);
  return suffix in fractions ? value / (fractions[suffix] ?? 1n) : value * (powers[suffix] ?? 1n);
}

/** Microseconds. */
function time(text: string): bigint | null {
  if (text === '2026-01-31' || text === '2026-02-01') return time(`${text}T00:00:00Z`);
  const match = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:\d\d)$/.exec(text);
  if (match === null || text.startsWith('2026-02-30')) return null;
  return BigInt(Date.parse(`${match[1]}T${match[2]}${match[3]?.toUpperCase()}`)) * 1000n;
}

/** The number that a value is as the type of a cast; null for none. */
function cast(as: Cast, json: JsonText | undefined): bigint | null {
  if (json === undefined || /^[[{tfn]/.test(json)) return null;
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  if (as === 'TIME') return json.startsWith('"') ? time(text) : null;
  return as === 'NUMBER' ? exact(text) : quantity(text);
}

type Key = readonly (bigint | string)[] | null;

function compareParts(a: bigint | string, b: bigint | string): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (typeof a === 'string') return 1;
  return typeof b === 'string' || a < b ? -1 : a > b ? 1 : 0;
}

function compareKeys(a: readonly (bigint | string)[], b: readonly (bigint | string)[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = compareParts(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

interface Term {
  readonly as?: Cast;
  readonly natural?: boolean;
  readonly ignoreCase?: boolean;
  readonly direction: 'ASC' | 'DESC';
  readonly nulls: 'FIRST' | 'LAST';
}

/** Booleans, then numbers, then texts; in natural order a text is its characters, where a run of digits is one number that stands where its 0 would. */
function orderKey({ as, natural, ignoreCase }: Term, json: JsonText | undefined): Key {
  if (as !== undefined) {
    const number = cast(as, json);
    return number === null ? null : [number];
  }
  if (json === undefined || /^[[{n]/.test(json)) return null;
  if (/^[tf]/.test(json)) return [0n, json === 'true' ? 1n : 0n];
  if (!json.startsWith('"')) return [1n, exact(json) ?? 0n];
  const text = JSON.parse(json) as string;
  const folded = ignoreCase === true ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text;
  if (natural !== true) return [2n, folded];
  const parts = folded.match(/[0-9]+|[^0-9]/gu) ?? [];
  return [2n, ...parts.flatMap((part) => (/^[0-9]/.test(part) ? ['0', BigInt(part)] : [part]))];
}

function sorted(terms: readonly Term[], objects: readonly Held[]): readonly string[] {
  const compare = (a: Held, b: Held): number => {
    for (const term of terms) {
      const [left, right] = [orderKey(term, a.json), orderKey(term, b.json)];
      if (left === null || right === null) {
        if (left === right) continue;
        return (left === null) === (term.nulls === 'FIRST') ? -1 : 1;
      }
      const order = compareKeys(left, right);
      if (order !== 0) return term.direction === 'DESC' ? -order : order;
    }
    const order = a.name < b.name ? -1 : 1;
    return terms.at(-1)?.direction === 'DESC' ? -order : order;
  };
  return objects.toSorted(compare).map(({ name }) => name);
}

interface Held {
  readonly name: string;
  /** Undefined: the field is absent. */
  readonly json: JsonText | undefined;
}

const operators = ['eq', 'ne', 'in', 'notIn', 'lt', 'lte', 'gt', 'gte'] as const;

interface Condition {
  readonly as: Cast;
  readonly operator: (typeof operators)[number];
  readonly operands: readonly JsonText[];
}

function holds({ as, operator, operands }: Condition, { json }: Held): boolean {
  const left = cast(as, json);
  const wanted = operands.map((operand) => cast(as, operand) ?? 0n);
  const [right = 0n] = wanted;
  if (operator === 'ne' || operator === 'notIn') return left === null || !wanted.includes(left);
  if (left === null) return false;
  const compared = { lt: left < right, lte: left <= right, gt: left > right, gte: left >= right };
  return operator === 'eq' || operator === 'in' ? wanted.includes(left) : compared[operator];
}

const operandsOf: Readonly<Record<Cast, readonly JsonText[]>> = {
  NUMBER: [...numbers, ...numerals.map((text) => JSON.stringify(text))].filter((json) => cast('NUMBER', json) !== null),
  QUANTITY: [...numbers, ...quantities.map((text) => JSON.stringify(text))].filter(
    (json) => cast('QUANTITY', json) !== null,
  ),
  TIME: times.map((text) => JSON.stringify(text)).filter((json) => cast('TIME', json) !== null),
};
const condition: fc.Arbitrary<Condition> = fc.constantFrom<Cast>('NUMBER', 'QUANTITY', 'TIME').chain((as) =>
  fc.constantFrom(...operators).chain((operator) => {
    const several = operator === 'in' || operator === 'notIn';
    const operands = fc.array(fc.constantFrom(...operandsOf[as]), { minLength: 1, maxLength: several ? 4 : 1 });
    return operands.map((operands) => ({ as, operator, operands }));
  }),
);
const term: fc.Arbitrary<Term> = fc
  .record({
    how: fc.oneof(
      fc.constantFrom<Cast>('NUMBER', 'QUANTITY', 'TIME').map((as) => ({ as })),
      fc.record({ natural: fc.boolean(), ignoreCase: fc.boolean() }),
    ),
    direction: fc.constantFrom('ASC' as const, 'DESC' as const),
    nulls: fc.constantFrom('FIRST' as const, 'LAST' as const),
  })
  .map(({ how, ...rest }) => ({ ...how, ...rest }));
/** The values lie in free JSON, below a list of free JSON, or in a map. */
const place = fc.constantFrom('spec.free.v', 'spec.free.list[0].v', 'spec.free.list[].v', 'metadata.annotations["v"]');

function objectOf({ name, json }: Held): string {
  const text = json?.startsWith('"') === true ? JSON.parse(json) : null;
  const object = made({ name, spec: { free: { v: 'VALUE', list: [{ v: 'VALUE' }] } } });
  const withAnnotation = {
    ...object,
    metadata: { ...(object['metadata'] as object), ...(text === null ? {} : { annotations: { v: text } }) },
  };
  const written = JSON.stringify(withAnnotation);
  return json === undefined ? written.replaceAll(/"v":"VALUE"/g, '"w":1') : written.replaceAll('"VALUE"', () => json);
}

const question = fc.record({
  values: fc.array(fc.option(value, { nil: undefined, freq: 8 }), { minLength: 6, maxLength: 24 }),
  condition,
  terms: fc.array(term, { minLength: 1, maxLength: 2 }),
  place,
  size: fc.integer({ min: 1, max: 7 }),
});

function conditionText({ as, operator, operands }: Condition, path: string): string {
  const operand = operator === 'in' || operator === 'notIn' ? `[${operands.join(', ')}]` : operands[0];
  return `{ path: ${JSON.stringify(path)}, as: ${as}, ${operator}: ${operand} }`;
}

function termText({ as, natural, ignoreCase, direction, nulls }: Term, path: string): string {
  const how = as === undefined ? `natural: ${natural}, ignoreCase: ${ignoreCase}` : `as: ${as}`;
  return `{ path: ${JSON.stringify(path)}, ${how}, direction: ${direction}, nulls: ${nulls} }`;
}

/** How many of the values have each number; those that have none are at null. */
function counted(numbers: readonly (bigint | null)[]): ReadonlyMap<bigint | null, number> {
  const counts = new Map<bigint | null, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

test('lists by cast values, and pages of orders, are those of a plain evaluation', async () => {
  const { fixture, ask } = await answerPair();
  await fixture.declare(widget());
  const seen = { some: 0, walked: 0 };
  const answer = async (list: string) => {
    const query = `{ exampleComWidgets${list} }`;
    const [prepared, executed] = await ask(JSON.stringify({ query }));
    expect(prepared, query).toEqual(executed);
    const { data, errors } = JSON.parse(prepared.text);
    expect(errors, query).toBeUndefined();
    return data.exampleComWidgets;
  };
  const read = async (args: string) => {
    const { nodes, pageInfo } = await answer(
      `(${args}) { nodes { metadata { name } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }`,
    );
    return { names: nodes.map((node: { metadata: { name: string } }) => node.metadata.name) as string[], pageInfo };
  };
  await fc.assert(
    fc.asyncProperty(question, async ({ values, condition, terms, place, size }) => {
      // In a map of texts, other values do not fit.
      const isMap = place.startsWith('metadata');
      const held = values.map(
        (json, at): Held => ({
          name: `w${String(at).padStart(2, '0')}`,
          json: isMap && json?.startsWith('"') !== true ? undefined : json,
        }),
      );
      await fixture.sync(widgets, held.map(objectOf));
      const found = held.filter((each) => holds(condition, each));
      const filter = `filter: { path: [${conditionText(condition, place)}] }`;
      expect((await read(filter)).names, filter).toEqual(found.map(({ name }) => name));
      seen.some += Number(found.length > 0 && found.length < held.length);

      const order = `orderBy: [${terms.map((each) => termText(each, place)).join(', ')}]`;
      const expected = sorted(terms, held);
      for (const [cursor, count] of [
        ['after', 'first'],
        ['before', 'last'],
      ] as const) {
        let walked: string[] = [];
        let at: string | null = null;
        for (let page = 0; page <= held.length; page += 1) {
          const { names, pageInfo } = await read(
            `${order}, ${count}: ${size}${at === null ? '' : `, ${cursor}: "${at}"`}`,
          );
          walked = cursor === 'after' ? [...walked, ...names] : [...names, ...walked];
          at = cursor === 'after' ? pageInfo.endCursor : pageInfo.startCursor;
          if (!(cursor === 'after' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) break;
        }
        expect(walked, order).toEqual(expected);
      }
      seen.walked += 1;

      const { as } = condition;
      const path = JSON.stringify(place);
      const { nodes, facets, aggregate } = await answer(
        `{ nodes { value(path: ${path}, as: ${as}) } facets(paths: [${path}], as: ${as}, first: 50) { path values { value count } }
           aggregate { groups(by: [${path}, "metadata.namespace"], as: [${as}, null], orderBy: [{ by: KEY, path: ${path}, as: ${as} }]) { keys aggregate { count } } } }`,
      );
      const numberOf = (shown: unknown): bigint | null => cast(as, JSON.stringify(shown));
      const numbers = held.map(({ json }) => cast(as, json));
      expect(nodes.flatMap(({ value }: { value: unknown }) => value).map(numberOf)).toEqual(
        place.includes('[]') ? numbers.filter((_, index) => held[index]?.json !== undefined) : numbers,
      );
      expect(facets[0].path).toBe(place);
      const facetCounts = facets[0].values.map((each: { value: unknown; count: number }) => [
        numberOf(each.value),
        each.count,
      ]);
      expect(new Map(facetCounts)).toEqual(counted(numbers));
      const groups = aggregate.groups.map((each: { keys: unknown[]; aggregate: { count: number } }) => [
        numberOf(each.keys[0]),
        each.aggregate.count,
      ]);
      expect(new Map(groups)).toEqual(counted(numbers));
      expect(groups.map(([number]: [bigint | null]) => number)).toEqual(
        [...counted(numbers).keys()].toSorted((a, b) => (a === null ? 1 : b === null || a > b ? -1 : 1)),
      );
    }),
    { numRuns: Number(process.env['PORTOLAN_CAST_RUNS'] ?? randomRuns(20, 80)) },
  );
  // Conditions that hold for all objects or for none would show nothing.
  expect(seen.some).toBeGreaterThan(seen.walked / 4);
});

test.each([
  ['nodes { value(path: "spec.free", as: NUMBER) }', null],
  [
    'nodes { value(path: "metadata.labels", as: NUMBER) }',
    /needs a value that can be compared; metadata.labels is a stringMap/,
  ],
  [
    'nodes { value(path: "metadata.creationTimestamp", as: NUMBER) }',
    /as: NUMBER does not apply to metadata.creationTimestamp, which is DateTime/,
  ],
  ['nodes { value(path: "health.status", as: NUMBER) }', /as: NUMBER does not apply to health.status/],
  ['nodes { value(path: "count(spec.free.list[])", as: NUMBER) }', /which is a number of values/],
  ['facets(paths: ["cluster"], as: NUMBER) { path }', /as: NUMBER does not apply to cluster/],
  ['facets(paths: ["metadata.labels"], as: NUMBER) { path }', /needs a value that can be compared/],
  ['facets(paths: ["spec.free.v", "spec.free.w"], as: NUMBER) { path }', /`as` of facets has 1 types for 2 paths/],
  ['aggregate { groups(by: ["spec.free.v"], as: [NUMBER, TIME]) { keys } }', /`as` of groups has 2 types for 1 paths/],
  [
    'aggregate { groups(by: ["spec.free.v"], as: NUMBER, orderBy: [{ by: KEY, as: NUMBER }]) { keys } }',
    /KEY needs a `path` beside `as`/,
  ],
  [
    'aggregate { groups(by: ["spec.free.v"], orderBy: [{ by: KEY, path: "spec.free.v", as: NUMBER }]) { keys } }',
    /KEY needs the `path` of one of `by`/,
  ],
  ['aggregate { groups(by: ["spec.free.v"], orderBy: [{ as: NUMBER }]) { keys } }', /COUNT takes no `as`/],
])('%s', async (selection, message) => {
  const { fixture } = await answerPair();
  await fixture.declare(widget());
  await fixture.sync(widgets, [objectOf({ name: 'a', json: '5' })]);
  const { errors } = await fixture.query(`{ exampleComWidgets { ${selection} } }`);
  if (message === null) expect(errors).toEqual([]);
  else {
    expect(errors[0]?.message).toMatch(message);
    expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT' });
  }
});
