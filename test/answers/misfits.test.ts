/** Stored values that do not fit the schema of their kind any more: each is shown where its field can hold it, or is an error there. */
import fc from 'fast-check';
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { plainForms } from '../../src/catalog/values/displayed-value.ts';
import { orderKey } from '../../src/catalog/values/values.ts';
import { describedCrd, engineFixture, made, type Schema } from '../kit/engine-fixture.ts';
import { serveFixture } from '../kit/served-fixture.ts';

const key = 'olds.example.com';
const int32 = { type: 'integer', format: 'int32' };

/** The kind Old with these fields in its spec, and objects with these specs; a spec may be JSON text, for numbers that JavaScript has not. */
async function olds(properties: Schema, specs: readonly (Schema | string)[], columns: readonly Schema[] = []) {
  const fixture = engineFixture();
  const spec = { type: 'object', properties };
  await fixture.declare(describedCrd({ kind: 'Old', plural: 'olds', properties: { spec }, columns }));
  const objects = specs.map((given, index) =>
    JSON.stringify(made({ name: `o${index}`, spec: 'SPEC' })).replace(
      '"SPEC"',
      typeof given === 'string' ? given : JSON.stringify(given),
    ),
  );
  await fixture.sync(key, objects);
  return fixture;
}

type Fixture = Awaited<ReturnType<typeof olds>>;

async function served(fixture: Fixture): Promise<string> {
  return (await serveFixture(fixture)).url;
}

interface Shown {
  readonly data: { readonly exampleComOlds: { readonly nodes: readonly { readonly spec: unknown }[] } };
  readonly errors?: readonly {
    readonly message: string;
    readonly path: readonly (string | number)[];
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
}

/** The answer over HTTP, which a prepared answer may give. */
async function ask(url: string, query: string): Promise<Shown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await answer.json()) as Shown;
}

const fields = {
  text: { type: 'string' },
  ip: { type: 'string', format: 'ipv4' },
  flag: { type: 'boolean' },
  small: int32,
  large: { type: 'integer' },
  ratio: { type: 'number' },
  at: { type: 'string', format: 'date-time' },
  for: { type: 'string', format: 'duration' },
  amount: { type: 'string', format: 'quantity' },
  port: { 'x-kubernetes-int-or-string': true },
  inner: { type: 'object', properties: { text: { type: 'string' } } },
  map: { type: 'object', additionalProperties: { type: 'string' } },
  items: { type: 'array', items: { type: 'string' } },
};

/** A stored value, and what its field shows; `ERROR` for null with an error. */
const shownAs: readonly (readonly [field: keyof typeof fields, stored: string, shown: unknown])[] = [
  ['text', '5', '5'],
  ['text', '1.5', '1.5'],
  ['text', '-0', '0'],
  ['text', '5.0', '5'],
  ['text', '9007199254740993', '9007199254740993'],
  ['text', '1e21', '1e+21'],
  ['text', 'true', 'true'],
  ['text', 'null', null],
  ['text', '{"a":1}', 'ERROR'],
  ['text', '["a"]', 'ERROR'],
  ['ip', '5', '5'],
  ['ip', '"none"', 'none'],
  ['ip', '{}', 'ERROR'],
  ['flag', '"x"', 'ERROR'],
  ['flag', '"true"', 'ERROR'],
  ['flag', '1', 'ERROR'],
  ['small', '5.0', 5],
  ['small', '1e2', 100],
  ['small', '3000000000', 'ERROR'],
  ['small', '1.5', 'ERROR'],
  ['small', '"5"', 'ERROR'],
  ['small', 'true', 'ERROR'],
  ['large', '5.0', 5],
  ['large', '"9007199254740993"', '9007199254740993'],
  ['large', '9223372036854775808', 'ERROR'],
  ['large', '1.5', 'ERROR'],
  ['large', '"x"', 'ERROR'],
  ['ratio', '5', 5],
  ['ratio', '"1.5"', 'ERROR'],
  ['ratio', 'false', 'ERROR'],
  ['at', '"soon"', 'ERROR'],
  ['at', '"2026-02-30T00:00:00Z"', 'ERROR'],
  ['at', '"2024-02-29T00:00:00Z"', '2024-02-29T00:00:00Z'],
  ['at', '1767225600', 'ERROR'],
  ['for', '"long"', 'ERROR'],
  ['for', '"3 days"', '3 days'],
  ['for', '60', 'ERROR'],
  ['amount', '1.5', '1.5'],
  ['amount', '"lots"', 'ERROR'],
  ['amount', 'true', 'ERROR'],
  ['port', '80', 80],
  ['port', '"http"', 'http'],
  ['port', '1.5', 'ERROR'],
  ['port', 'true', 'ERROR'],
  ['port', '{"a":1}', 'ERROR'],
  ['inner', '"text"', 'ERROR'],
  ['inner', '[]', 'ERROR'],
  ['map', '"text"', 'ERROR'],
  ['map', '["a"]', 'ERROR'],
  ['items', '{"a":1}', 'ERROR'],
  ['items', '"a"', 'ERROR'],
];

test('V2: a value that its field can hold is shown, another one is an error at its field; prepared answers agree', async () => {
  const fixture = await olds(
    fields,
    shownAs.map(([field, stored]) => `{"${field}":${stored}}`),
  );
  const url = await served(fixture);
  for (const [index, [field, stored, shown]] of shownAs.entries()) {
    const selected = field === 'inner' ? 'inner { text }' : field;
    const query = `{ exampleComOlds(filter: { metadata: { name: { eq: "o${index}" } } }) { nodes { spec { ${selected} } } } }`;
    const executed = await fixture.query(query);
    expect({ field, stored, shown: executed.data.exampleComOlds.nodes[0].spec[field] }).toEqual({
      field,
      stored,
      shown: shown === 'ERROR' ? null : shown,
    });
    const paths = executed.errors.map(({ path }) => path);
    expect(paths).toEqual(shown === 'ERROR' ? [['exampleComOlds', 'nodes', 0, 'spec', field]] : []);
    const { data, errors = [] } = await ask(url, query);
    expect(data).toEqual(executed.data);
    expect(errors.map(({ path }) => path)).toEqual(paths);
  }
});

test('V2: the error names the stored type and `raw`, has a code, and does not tell the value', async () => {
  const fixture = await olds(fields, [{ flag: 'secret', inner: 'secret', items: 7, at: 'secret' }]);
  const url = await served(fixture);
  const { data, errors } = await ask(url, '{ exampleComOlds { nodes { spec { flag inner { text } items at } raw } } }');
  const end = '; `raw` and `value(path:)` show the value.';
  const said = (stored: string, wanted: string): string =>
    `The stored value is of the type ${stored}, and the field takes ${wanted}${end}`;
  expect(errors?.map(({ message, extensions }) => ({ message, extensions }))).toEqual([
    { message: said('text', 'true or false'), extensions: { code: 'VALUE_MISFIT', stored: 'text' } },
    { message: said('text', 'an object'), extensions: { code: 'VALUE_MISFIT', stored: 'text' } },
    { message: said('number', 'a list'), extensions: { code: 'VALUE_MISFIT', stored: 'number' } },
    {
      message: said('text', 'a time such as "2026-01-31T12:00:00Z"'),
      extensions: { code: 'VALUE_MISFIT', stored: 'text' },
    },
  ]);
  const [node] = data.exampleComOlds.nodes as readonly unknown[];
  expect(node).toMatchObject({
    spec: { flag: null, inner: null, items: null, at: null },
    raw: { spec: { flag: 'secret', inner: 'secret', items: 7, at: 'secret' } },
  });
});

test('V2: lists keep their length and their indexes', async () => {
  const list = (items: Schema): Schema => ({ type: 'array', items });
  const properties = {
    texts: list({ type: 'string' }),
    numbers: list(int32),
    objects: list({ type: 'object', properties: { text: { type: 'string' } } }),
    lists: list(list({ type: 'integer' })),
    free: list({ 'x-kubernetes-preserve-unknown-fields': true }),
  };
  const stored = {
    texts: ['a', 5, { b: 1 }, null, true, 'c'],
    numbers: [1, 'x', 3],
    objects: ['x', { text: 'a' }, { text: [] }, null],
    lists: [[1, 'x'], 'y', [2]],
    free: [1, { a: 1 }, null],
  };
  const fixture = await olds(properties, [stored]);
  const url = await served(fixture);
  const query = '{ exampleComOlds { nodes { spec { texts numbers objects { text } lists free } } } }';
  for (const { data, errors = [] } of [await fixture.query(query), await ask(url, query)]) {
    expect(data.exampleComOlds.nodes[0].spec).toEqual({
      texts: ['a', '5', null, null, 'true', 'c'],
      numbers: [1, null, 3],
      objects: [null, { text: 'a' }, { text: null }, null],
      lists: [[1, null], null, [2]],
      free: [1, { a: 1 }, null],
    });
    expect(errors.map(({ path }) => path?.slice(4).join('.')).sort()).toEqual(
      ['texts.2', 'numbers.1', 'objects.0', 'objects.2.text', 'lists.0.1', 'lists.1'].sort(),
    );
  }
});

test('V2: a page of misfits has 100 errors and one that tells how many are left out', async () => {
  const specs = Array.from({ length: 500 }, () => ({ flag: 'x', small: 'y' }));
  const fixture = await olds(fields, specs);
  const url = await served(fixture);
  const { data, errors = [] } = await ask(url, '{ exampleComOlds(first: 500) { nodes { spec { flag small } } } }');
  expect(data.exampleComOlds.nodes).toEqual(specs.map(() => ({ spec: { flag: null, small: null } })));
  expect(errors).toHaveLength(101);
  const last = errors.at(-1);
  expect(last?.extensions).toEqual({ code: 'VALUE_MISFIT', leftOut: 900 });
  expect(last?.message).toMatch(/^The stored values of more fields do not fit, from this one on: 900\./);
  expect(last?.path).toEqual(['exampleComOlds', 'nodes', 50, 'spec', 'flag']);
});

test('V2: what is shown is found; what is an error exists, is found by no comparison and is last in orders', async () => {
  const stored = { text: ['b', 5, '10', true, { a: 1 }, undefined], small: [5, '5', 3_000_000_000, 7, undefined, 1.5] };
  const specs = stored.text.map((text, index) => ({ text, small: stored.small[index] }));
  const columns = ['text', 'small'].map((name) => ({ name, type: 'string', jsonPath: `.spec.${name}` }));
  // A printer column has a column of its own in the tables.
  for (const printed of [[], columns]) {
    const fixture = await olds(fields, specs, printed);
    const names = async (args: string): Promise<string> => {
      const { data, errors } = await fixture.query(`{ exampleComOlds(${args}) { nodes { metadata { name } } } }`);
      expect(errors).toEqual([]);
      return data.exampleComOlds.nodes.map((node: { metadata: { name: string } }) => node.metadata.name).join(' ');
    };
    const filtered = (condition: string): Promise<string> => names(`filter: { spec: { ${condition} } }`);
    expect(await filtered('text: { eq: "5" }')).toBe('o1');
    expect(await filtered('text: { in: ["true", "b"] }')).toBe('o0 o3');
    expect(await filtered('text: { startsWith: "t" }')).toBe('o3');
    expect(await filtered('text: { matches: "^[0-9]+$" }')).toBe('o1 o2');
    expect(await filtered('text: { gte: "5" }')).toBe('o0 o1 o3');
    expect(await filtered('text: { exists: true }')).toBe('o0 o1 o2 o3 o4');
    expect(await filtered('text: { ne: "b" }')).toBe('o1 o2 o3 o4 o5');
    expect(await names('orderBy: [{ path: "spec.text" }]')).toBe('o2 o1 o0 o3 o4 o5');
    expect(await names('orderBy: [{ path: "spec.text", natural: true }]')).toBe('o1 o2 o0 o3 o4 o5');
    expect(await filtered('small: { eq: 5 }')).toBe('o0');
    expect(await filtered('small: { gt: 0 }')).toBe('o0 o3');
    expect(await filtered('small: { exists: true }')).toBe('o0 o1 o2 o3 o5');
    expect(await names('orderBy: [{ path: "spec.small" }]')).toBe('o0 o3 o1 o2 o4 o5');
    const { data, errors } = await fixture.query(`{ exampleComOlds {
      facets(paths: ["spec.text", "spec.small"]) { values { value count } }
      aggregate {
        groups(by: ["spec.text"]) { keys aggregate { count } }
        min(path: "spec.small")
        sum(path: "spec.small") { text }
      }
    } }`);
    const text = [null, '10', '5', 'b', 'true'].map((value) => ({ value, count: value === null ? 2 : 1 }));
    const groups = text.map(({ value, count }) => ({ keys: [value], aggregate: { count } }));
    const small = [null, 5, 7].map((value) => ({ value, count: value === null ? 4 : 1 }));
    expect({ data, errors }).toEqual({
      data: {
        exampleComOlds: {
          facets: [{ values: text }, { values: small }],
          aggregate: { groups, min: 5, sum: { text: '12' } },
        },
      },
      errors: [],
    });
  }
});

test('V2: live lists, live queries and the history show and find what lists do', async () => {
  const fixture = await olds(fields, [{ text: 5, flag: 'x' }, { text: { a: 1 } }]);
  const url = await served(fixture);
  const put = (name: string, spec: Schema): void => fixture.apply(key, 'MODIFIED', made({ name, spec }));

  const events = await fixture.subscribe(
    'subscription { list: exampleComOldChanges(filter: { spec: { text: { eq: "5" } } }) { phase changes { type object { metadata { name } spec { text flag } } } } }',
  );
  const next = async () =>
    JSON.parse(JSON.stringify((await events.next()).value)) as Shown & { data: { list: object } };
  const shown = (name: string) => ({ metadata: { name }, spec: { text: '5', flag: null } });
  const first = await next();
  expect(first.data.list).toMatchObject({ phase: 'SNAPSHOT', changes: [{ type: 'ADDED', object: shown('o0') }] });
  expect(first.errors?.map(({ path }) => path)).toEqual([['list', 'changes', 0, 'object', 'spec', 'flag']]);
  expect((await next()).data.list).toMatchObject({ phase: 'SYNCED' });
  put('o1', { text: 5 });
  expect((await next()).data.list).toMatchObject({ changes: [{ type: 'ADDED', object: shown('o1') }] });

  const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, lazy: true });
  onTestFinished(() => client.dispose());
  const results = client.iterate({ query: 'query @live { exampleComOlds { nodes { spec { text flag } } } }' });
  const live = async () => (await results.next()).value as unknown as Shown;
  const list = (...specs: readonly object[]) => ({ exampleComOlds: { nodes: specs.map((spec) => ({ spec })) } });
  const before = await live();
  expect(before.data).toEqual(list({ text: '5', flag: null }, { text: '5', flag: null }));
  expect(before.errors?.map(({ path, extensions }) => [path.at(-1), extensions['code']])).toEqual([
    ['flag', 'VALUE_MISFIT'],
  ]);
  put('o1', { text: true, flag: true });
  expect((await live()).data).toEqual(list({ text: '5', flag: null }, { text: 'true', flag: true }));
  put('o0', { text: 'a', flag: false });
  const after = await live();
  expect(after.data).toEqual(list({ text: 'a', flag: false }, { text: 'true', flag: true }));
  expect(after.errors).toBeUndefined();

  put('o0', { text: 7, flag: 'x' });
  const past = await fixture.query(
    '{ exampleComOlds(first: 1) { nodes { history { nodes { object { ... on ExampleComOld { spec { text flag } } } } } } } }',
  );
  const [{ history }] = past.data.exampleComOlds.nodes;
  expect(history.nodes.map(({ object }: { object: { spec: object } | null }) => object?.spec)).toEqual([
    { text: '7', flag: null },
    { text: 'a', flag: false },
  ]);
  expect(past.errors.map(({ path }) => path?.slice(2).join('.'))).toEqual(['0.history.nodes.0.object.spec.flag']);
});

test('V2: texts in the usual form of a time, a duration or a quantity are one', () => {
  for (const type of ['DateTime', 'Duration', 'Quantity'] as const) {
    const usual = fc.stringMatching(new RegExp(`^${plainForms[type]}$`));
    fc.assert(
      fc.property(usual, (text) => {
        expect([text, orderKey(type, text) !== null]).toEqual([text, true]);
      }),
      { numRuns: 1000 },
    );
  }
});
