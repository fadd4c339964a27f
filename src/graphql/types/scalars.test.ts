import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { silentLogger } from '../../base/log.ts';
import { createYogaServer } from '../../server/graphql/yoga-server.ts';

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

test('free JSON, raw and value keep the digits as they are', async () => {
  const ask = await endpoint();
  const text = await ask(`{ ${one} { spec { free } raw value(path: "spec.total") } }`);
  expect(text).toContain(`"free":{"deep":${big}}`);
  expect(text).toContain(`"total":${big}`);
  expect(text).toContain(`"value":${big}`);
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

test('a variable that JSON has rounded is refused rather than compared wrongly', async () => {
  const ask = await endpoint();
  const query = 'query ($v: Int64) { exampleComWidgets(filter: { spec: { total: { eq: $v } } }) { totalCount } }';
  const answer = await ask(query, `{"v":${big}}`);
  expect(answer).toContain('BAD_USER_INPUT');
  expect(answer).toContain('as a string when it is beyond 2^53');
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
