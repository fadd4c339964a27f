/**
 * Random objects against random structural schemas that do not fit them. Each leaf is the value that a plain computation shows, or null with
 * an error at its path. `raw` is exact. Filters, orders and groups find what is shown.
 *
 * PORTOLAN_MISFIT_PAIRS is the number of pairs of a schema and an object; 1,000 take some minutes.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture, type Schema } from '../kit/engine-fixture.ts';
import { randomRuns } from '../kit/random-runs.ts';

const pairs = Number(process.env['PORTOLAN_MISFIT_PAIRS'] ?? randomRuns(40, 90));
const objectsOfSchema = 5;

const scalars = ['text', 'boolean', 'int32', 'int64', 'number', 'time', 'duration', 'quantity', 'port'] as const;
type Scalar = (typeof scalars)[number];
type Node =
  | { readonly is: Scalar | 'free' | 'map' }
  | { readonly is: 'list'; readonly of: Node }
  | { readonly is: 'object'; readonly fields: Readonly<Record<string, Node>> };
/** JSON with bigint for integers that a number does not hold. */
type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };

const schemaOf = (node: Node): Schema => {
  switch (node.is) {
    case 'text':
      return { type: 'string' };
    case 'boolean':
      return { type: 'boolean' };
    case 'int32':
      return { type: 'integer', format: 'int32' };
    case 'int64':
      return { type: 'integer' };
    case 'number':
      return { type: 'number' };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'duration':
      return { type: 'string', format: 'duration' };
    case 'quantity':
      return { type: 'string', format: 'quantity' };
    case 'port':
      return { 'x-kubernetes-int-or-string': true };
    case 'free':
      return { 'x-kubernetes-preserve-unknown-fields': true };
    case 'map':
      return { type: 'object', additionalProperties: { type: 'string' } };
    case 'list':
      return { type: 'array', items: schemaOf(node.of) };
    case 'object':
      return { type: 'object', properties: Object.fromEntries(entries(node).map(([n, of]) => [n, schemaOf(of)])) };
  }
};

/** Known texts, and what they are as a time (seconds), a duration (minutes) and a quantity; absent: nothing. */
const texts: Readonly<Record<string, { time?: number; duration?: number; quantity?: number }>> = {
  '': {},
  a: {},
  'Ä"\n': {},
  true: {},
  '5': { quantity: 5 },
  '1.5': { quantity: 1.5 },
  '250m': { duration: 250, quantity: 0.25 },
  '1h': { duration: 60 },
  '3 days': { duration: 4320 },
  '2026-01-31T12:00:00Z': { time: 43_200 },
  '2026-01-31T00:00:00Z': { time: 0 },
  '2026-02-30T00:00:00Z': {},
  '9007199254740993': { quantity: Number('9007199254740993') },
};
const leaves: readonly Json[] = [
  ...Object.keys(texts),
  ...[true, false, 0, 5, -1, 1.5, 2 ** 31 - 1, 3_000_000_000, 1e21, 9007199254740993n, 2n ** 63n],
];
const leaf = fc.constantFrom(...leaves);
const names = ['f0', 'f1', 'f2', 'f3'];

const node: fc.Arbitrary<Node> = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 5, arbitrary: fc.constantFrom(...scalars).map((is) => ({ is })) },
    { weight: 1, arbitrary: fc.constantFrom('free' as const, 'map' as const).map((is) => ({ is })) },
    { weight: 2, arbitrary: tie('node').map((of) => ({ is: 'list' as const, of })) },
    { weight: 2, arbitrary: objectNode(tie('node')) },
  ),
})).node;

function objectNode(of: fc.Arbitrary<Node>): fc.Arbitrary<Extract<Node, { is: 'object' }>> {
  return fc
    .dictionary(fc.constantFrom(...names), of, { minKeys: 1, maxKeys: 4 })
    .map((fields) => ({ is: 'object' as const, fields: { ...fields } }));
}

const anything: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    leaf,
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 2 }).map((json) => ({ ...json })),
  ),
})).json;

/** A value that has the form of the node in some places. */
function valueFor(of: Node): fc.Arbitrary<Json> {
  const alike: fc.Arbitrary<Json> =
    of.is === 'list'
      ? fc.array(valueFor(of.of), { maxLength: 4 })
      : of.is === 'object'
        ? fc
            .record(Object.fromEntries(entries(of).map(([n, each]) => [n, valueFor(each)])), { requiredKeys: [] })
            .map((json) => json as Json)
        : leaf;
  return fc.oneof({ weight: 6, arbitrary: alike }, { weight: 1, arbitrary: leaf }, { weight: 1, arbitrary: anything });
}

function entries(of: Extract<Node, { is: 'object' }>): [string, Node][] {
  return Object.entries(of.fields);
}

function written(json: Json | undefined): string {
  if (json === undefined || json === null) return 'null';
  if (typeof json === 'bigint') return String(json);
  if (typeof json !== 'object') return JSON.stringify(json);
  if (isList(json)) return `[${json.map(written).join(',')}]`;
  return `{${Object.entries(json)
    .map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`)
    .join(',')}}`;
}

function isList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

function isObject(json: Json | undefined): json is { readonly [name: string]: Json } {
  return typeof json === 'object' && json !== null && !isList(json);
}

const misfit = Symbol('misfit');

/** What a scalar field shows of a value that is not null. */
function shownScalar(is: Scalar, value: Json): Json | typeof misfit {
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  switch (is) {
    case 'text':
      return typeof value === 'object' ? misfit : String(value);
    case 'boolean':
      return typeof value === 'boolean' ? value : misfit;
    case 'int32':
      return typeof value === 'number' && isInteger && Math.abs(value) < 2 ** 31 ? value : misfit;
    case 'int64':
      if (typeof value === 'string') {
        // An integer that a number holds is shown as one.
        if (!/^\d+$/.test(value)) return misfit;
        return Number.isSafeInteger(Number(value)) ? Number(value) : value;
      }
      if (typeof value === 'bigint') return value < 2n ** 63n ? String(value) : misfit;
      return Number.isSafeInteger(value) ? value : misfit;
    case 'number':
      return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : misfit;
    case 'time':
    case 'duration':
      return typeof value === 'string' && texts[value]?.[is] !== undefined ? value : misfit;
    case 'quantity':
      if (typeof value === 'number' || typeof value === 'bigint') return String(value);
      return typeof value === 'string' && texts[value]?.quantity !== undefined ? value : misfit;
    case 'port':
      return typeof value === 'string' || isInteger ? value : misfit;
  }
}

type Path = readonly (string | number)[];

/** What a field shows of a value. Paths of misfits are added to `errors`. */
function shown(of: Node, value: Json | undefined, path: Path, errors: Path[]): Json {
  if (value === undefined || value === null) return null;
  const wrong = (): null => {
    errors.push(path);
    return null;
  };
  switch (of.is) {
    case 'free':
      return value;
    case 'map':
      return isObject(value) ? value : wrong();
    case 'list':
      if (!isList(value)) return wrong();
      return value.map((item, index) => shown(of.of, item, [...path, index], errors));
    case 'object':
      if (!isObject(value)) return wrong();
      return Object.fromEntries(
        entries(of).map(([name, each]) => [name, shown(each, value[name], [...path, name], errors)]),
      );
    default: {
      const scalar = shownScalar(of.is, value);
      return scalar === misfit ? wrong() : scalar;
    }
  }
}

/** What filters and orders compare of a shown value. Equal keys are equal values. */
function keyOf(is: Scalar, value: Json): number | bigint | string {
  switch (is) {
    case 'time':
    case 'duration':
      return texts[String(value)]?.[is] ?? 0;
    case 'quantity':
      return texts[String(value)]?.quantity ?? Number(value);
    case 'int64':
      return BigInt(String(value));
    case 'port':
      return typeof value === 'string' ? `s${value}` : `n${BigInt(value as number | bigint)}`;
    case 'boolean':
      return Number(value);
    default:
      return typeof value === 'number' || typeof value === 'string' ? value : String(value);
  }
}

function selection(of: Extract<Node, { is: 'object' }>): string {
  const each = ([name, node]: [string, Node]): string => {
    let inner = node;
    while (inner.is === 'list') inner = inner.of;
    return inner.is === 'object' ? `${name} ${selection(inner)}` : name;
  };
  return `{ ${entries(of).map(each).join(' ')} }`;
}

interface Place {
  readonly path: readonly string[];
  readonly node: Node;
}

/** The fields of the schema that are reached without a list. */
function placesOf(of: Node, path: readonly string[] = []): readonly Place[] {
  const below = of.is === 'object' ? entries(of).flatMap(([name, each]) => placesOf(each, [...path, name])) : [];
  return path.length === 0 ? below : [{ path, node: of }, ...below];
}

function storedAt(json: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    json,
  );
}

async function namesOf(fixture: EngineFixture, args: string): Promise<readonly string[]> {
  const { data, errors } = await fixture.query(`{ exampleComOlds(${args}) { nodes { metadata { name } } } }`);
  expect([args, errors]).toEqual([args, []]);
  return data.exampleComOlds.nodes.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

function nested(path: readonly string[], condition: string): string {
  return `filter: { spec: ${path.reduceRight((inner, name) => `{ ${name}: ${inner} }`, condition)} }`;
}

const isScalar = (node: Node): node is { readonly is: Scalar } => (scalars as readonly string[]).includes(node.is);
const nameOf = (index: number): string => `o${index}`;

async function checkPlace(fixture: EngineFixture, { path, node }: Place, specs: readonly Json[]): Promise<number> {
  const stored = specs.map((spec) => storedAt(spec, path));
  const which = (test: (index: number) => boolean): string[] =>
    specs.flatMap((_, index) => (test(index) ? [nameOf(index)] : []));
  const there = which((index) => (stored[index] ?? null) !== null);
  const found = await namesOf(fixture, `filter: { path: [{ path: "spec.${path.join('.')}", exists: true }] }`);
  expect({ path, node, stored, found }).toEqual({ path, node, stored, found: there });
  if (node.is === 'list' && isScalar(node.of)) {
    const { is } = node.of;
    const lists = stored.map((list) => (isList(list) ? list.flatMap((item) => shownItem(is, item)) : []));
    for (const value of new Set(lists.flat())) {
      const wanted = which((index) => (lists[index] ?? []).some((item) => keyOf(is, item) === keyOf(is, value)));
      const some = await namesOf(fixture, nested(path, `{ some: { eq: ${written(value)} } }`));
      expect({ path, value, stored, some }).toEqual({ path, value, stored, some: wanted });
    }
    return lists.flat().length;
  }
  if (!isScalar(node)) return 0;
  const { is } = node;
  const values = stored.map((value) => shownItem(is, value ?? null)[0]);
  for (const value of new Set(values)) {
    if (value === undefined) continue;
    const wanted = which((index) => {
      const other = values[index];
      return other !== undefined && keyOf(is, other) === keyOf(is, value);
    });
    const equal = await namesOf(fixture, nested(path, `{ eq: ${written(value)} }`));
    expect({ path, is, value, stored, equal }).toEqual({ path, is, value, stored, equal: wanted });
  }
  const order = await namesOf(fixture, `orderBy: [{ path: "spec.${path.join('.')}" }]`);
  const keys = order.map((name) => {
    const value = values[Number(name.slice(1))];
    return value === undefined ? undefined : keyOf(is, value);
  });
  expect({ path, is, keys }).toEqual({ path, is, keys: keys.toSorted((a, b) => compare(is, a, b)) });
  return values.filter((value) => value !== undefined).length;
}

/** The shown value of an item, in a list; empty for none. */
function shownItem(is: Scalar, item: Json): readonly Json[] {
  const value = item === null ? misfit : shownScalar(is, item);
  return value === misfit ? [] : [value];
}

type Key = ReturnType<typeof keyOf> | undefined;

/** `toSorted` puts undefined last by itself. */
function compare(is: Scalar, a: Key, b: Key): number {
  if (is === 'port') {
    const [x, y] = [String(a), String(b)];
    if (x.startsWith('n') && y.startsWith('n')) return less(BigInt(x.slice(1)), BigInt(y.slice(1)));
    return less(Buffer.from(x), Buffer.from(y));
  }
  return typeof a === 'string'
    ? less(Buffer.from(a), Buffer.from(String(b)))
    : less(a ?? 0, typeof b === 'string' ? 0 : (b ?? 0));
}

function less(a: number | bigint | Buffer, b: number | bigint | Buffer): number {
  if (a instanceof Buffer && b instanceof Buffer) return Buffer.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

test('each leaf is the value or an error at its path; raw is exact; filters and orders agree', {
  timeout: 600_000,
}, async () => {
  const counts = { pairs: 0, errors: 0, values: 0 };
  await fc.assert(
    fc.asyncProperty(
      objectNode(node).chain((of) =>
        fc.tuple(fc.constant(of), fc.array(valueFor(of), { minLength: objectsOfSchema, maxLength: objectsOfSchema })),
      ),
      async ([of, specs]) => {
        const fixture = engineFixture();
        await fixture.declare(describedCrd({ kind: 'Old', plural: 'olds', properties: { spec: schemaOf(of) } }));
        const objects = specs.map(
          (spec, index) =>
            `{"metadata":{"name":"${nameOf(index)}","namespace":"n","uid":"u${index}","resourceVersion":"${index + 1}"},"spec":${written(spec)}}`,
        );
        await fixture.sync('olds.example.com', objects);
        const { data, errors } = await fixture.query(`{ exampleComOlds { nodes { raw spec ${selection(of)} } } }`);
        const wrong: Path[] = [];
        for (const [index, spec] of specs.entries()) {
          const given = data.exampleComOlds.nodes[index];
          const at = ['exampleComOlds', 'nodes', index, 'spec'];
          expect(JSON.stringify(given.spec)).toBe(written(shown(of, spec, at, wrong)));
          expect(JSON.stringify(given.raw.spec ?? null)).toBe(written(spec));
        }
        expect(wrong.length).toBeLessThanOrEqual(100);
        expect(errors.map(({ path }) => path?.join('.')).sort()).toEqual(wrong.map((path) => path.join('.')).sort());
        for (const place of placesOf(of)) counts.values += await checkPlace(fixture, place, specs);
        counts.pairs += specs.length;
        counts.errors += wrong.length;
      },
    ),
    { numRuns: Math.ceil(pairs / objectsOfSchema), endOnFailure: true },
  );
  expect(counts.pairs).toBeGreaterThanOrEqual(pairs);
  expect(Math.min(counts.errors, counts.values)).toBeGreaterThan(counts.pairs / 10);
});
