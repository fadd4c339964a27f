import { parseConstValue } from 'graphql';
import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { createYogaServer } from '../../server/graphql/yoga-server.ts';
import { scalars } from './scalars.ts';

const big = '9007199254740993';

/** One object whose int64 is greater than a double can hold, queried as clients do: JSON in, JSON out. */
async function endpoint() {
  const { declare, sync, engine } = engineFixture();
  await declare(widget());
  const text = JSON.stringify(
    made({
      name: 'a',
      metadata: { generation: 7 },
      spec: { total: 'TOTAL', numbers: [1, 'TOTAL'], ratio: 1.5, port: 80, free: { deep: 'TOTAL' } },
    }),
  ).replaceAll('"TOTAL"', big);
  await sync(widgets, [text, made({ name: 'b', spec: { total: 5, ratio: 2, port: 'http' } })]);
  const yoga = createYogaServer({ source: engine.source, log: silentLogger });
  return async (query: string, variables: unknown = {}): Promise<string> => {
    const response = await yoga.fetch('http://portolan/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body:
        typeof variables === 'string'
          ? `{"query":${JSON.stringify(query)},"variables":${variables}}`
          : JSON.stringify({ query, variables }),
    });
    return response.text();
  };
}

const one = 'exampleComWidget(namespace: "default", name: "a")';

test('an Int64 is a number while a double holds it and digits beyond', async () => {
  const ask = await endpoint();
  expect(await ask(`{ ${one} { spec { total numbers } metadata { generation } } }`)).toContain(
    `{"spec":{"total":"${big}","numbers":[1,"${big}"]},"metadata":{"generation":7}}`,
  );
});

test('free JSON and raw keep the digits as they are, and value has an integer beyond 2^53 as text', async () => {
  const ask = await endpoint();
  const text = await ask(
    `{ ${one} { spec { free } raw value(path: "spec.total") deep: value(path: "spec.free.deep") all: value(path: "spec.numbers[]") object: value(path: "spec.free") } }`,
  );
  expect(text).toContain(`"free":{"deep":${big}}`);
  expect(text).toContain(`"total":${big}`);
  expect(text).toContain(`"value":"${big}","deep":"${big}","all":[1,"${big}"],"object":{"deep":${big}}`);
});

test.each([
  ['a literal beyond 2^53', `{ exampleComWidgets(filter: { spec: { total: { eq: ${big} } } }) { totalCount } }`, {}, 1],
  [
    'its neighbour',
    '{ exampleComWidgets(filter: { spec: { total: { eq: 9007199254740992 } } }) { totalCount } }',
    {},
    0,
  ],
  ['a literal in quotes', `{ exampleComWidgets(filter: { spec: { total: { eq: "${big}" } } }) { totalCount } }`, {}, 1],
  [
    'a list of literals',
    `{ exampleComWidgets(filter: { spec: { total: { in: [5, ${big}] } } }) { totalCount } }`,
    {},
    2,
  ],
  [
    'a variable',
    'query ($v: Int64) { exampleComWidgets(filter: { spec: { total: { eq: $v } } }) { totalCount } }',
    { v: big },
    1,
  ],
  [
    'a variable that is a number',
    'query ($v: Int64) { exampleComWidgets(filter: { spec: { total: { eq: $v } } }) { totalCount } }',
    { v: 5 },
    1,
  ],
  [
    'a filter as one variable',
    'query ($f: ExampleComWidgetFilter) { exampleComWidgets(filter: $f) { totalCount } }',
    { f: { spec: { total: { gt: '9007199254740992' } } } },
    1,
  ],
])('%s is compared exactly', async (_what, query, variables, count) => {
  const ask = await endpoint();
  expect(await ask(query, variables)).toContain(`"totalCount":${count}`);
});

test('V1: a variable that is a number beyond 2^53 is compared exactly', async () => {
  const ask = await endpoint();
  const query = 'query ($v: Int64) { exampleComWidgets(filter: { spec: { total: { eq: $v } } }) { totalCount } }';
  expect(await ask(query, `{"v":${big}}`)).toContain('"totalCount":1');
  expect(await ask(query, '{"v":9223372036854775807}')).toContain('"totalCount":0');
  expect(await ask(query, '{"v":99999999999999999999}')).toContain('as a string when it is beyond 2^53');
});

test('V1: a number that is too great is refused with what to write instead', async () => {
  const ask = await endpoint();
  const list = (value: string): string =>
    `exampleComWidgets(filter: { path: [{ path: "spec.free.deep", ${value} }] }) { totalCount }`;
  const tooGreat =
    /path\[0\]\.(eq|in|gt) is beyond the numbers of JSON; write a number as text, in a condition by path with as: NUMBER/;
  expect(await ask(`{ ${list('eq: 1e400')} }`)).toMatch(tooGreat);
  expect(await ask(`{ ${list('in: [1, -1e400]')} }`)).toMatch(tooGreat);
  expect(await ask(`query ($v: JSON) { ${list('gt: $v')} }`, '{"v":1e400}')).toMatch(tooGreat);
  expect(await ask(`{ ${list('lt: "1e400", as: NUMBER')} }`)).toContain('"totalCount":1');
});

test.each([
  ['a DateTime', 'at: { eq: 5 }', 'DateTime cannot be 5; it takes string.'],
  ['an Int64', 'total: { eq: true }', 'Int64 cannot be true; it takes string or number.'],
  ['an IntOrString', 'port: { eq: {} }', 'IntOrString cannot be {}; it takes string or number.'],
])('%s of another type is refused', async (_what, condition, message) => {
  const ask = await endpoint();
  expect(await ask(`{ exampleComWidgets(filter: { spec: { ${condition} } }) { totalCount } }`)).toContain(message);
});

test('an IntOrString is what it is, a Float a number', async () => {
  const ask = await endpoint();
  expect(await ask('{ exampleComWidgets { nodes { spec { port ratio } } } }')).toContain(
    '{"nodes":[{"spec":{"port":80,"ratio":1.5}},{"spec":{"port":"http","ratio":2}}]}',
  );
});

test('V1: a variable of the type Float may be an integer beyond 2^53', async () => {
  const ask = await endpoint();
  const query = 'query ($v: Float) { exampleComWidgets(filter: { spec: { ratio: { lt: $v } } }) { totalCount } }';
  expect(await ask(query, `{"v":10000000000000000}`)).toContain('"totalCount":2');
});

test('V1: integers beyond 2^53 in literals keep their digits', () => {
  const written = (name: string, text: string): string => {
    const scalar = must(
      scalars.find((each) => each.name === name),
      'a scalar',
    );
    return JSON.stringify(scalar.coerceInputLiteral?.(parseConstValue(text)));
  };
  const object = `{a: ${big}, b: [-${big}, {c: ${big}}], d: 5, e: "${big}", f: 1.5}`;
  const json = `{"a":${big},"b":[-${big},{"c":${big}}],"d":5,"e":"${big}","f":1.5}`;
  expect(written('JSON', object)).toBe(json);
  expect(written('JSON', `[${object}]`)).toBe(`[${json}]`);
  expect(written('JSON', big)).toBe(big);
  expect(written('JSON', `[${big}]`)).toBe(`[${big}]`);
  expect(written('QuantityMap', `{a: ${big}}`)).toBe(`{"a":${big}}`);
  expect(written('Int64', big)).toBe(big);
  expect(written('IntOrString', big)).toBe(big);
  expect(written('IntOrString', `"${big}"`)).toBe(`"${big}"`);
});
