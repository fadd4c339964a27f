import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { expect, test } from 'vitest';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { createYogaServer } from '../graphql/yoga-server.ts';
import { codedError, codeOfThrown } from './coded-error.ts';

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly GraphQLFormattedError[];
}

function endpoint() {
  const made = handMadeSource();
  const yoga = createYogaServer({ source: made.source, log: made.log });
  const ask = async (query: string, variables?: object) => {
    const response = await yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    return { status: response.status, text, answer: JSON.parse(text) as Answer };
  };
  return { ...made, ask };
}

test('an error of ours keeps its message, code, details and place', async () => {
  const { ask, logged } = endpoint();
  const { answer } = await ask('{ here: refused }');
  expect(answer.data).toEqual({ here: null });
  expect(answer.errors).toEqual([
    {
      message: 'Read the object again and send the change once more.',
      path: ['here'],
      locations: [{ line: 1, column: 3 }],
      extensions: { code: 'CONFLICT', kubernetes: { reason: 'Conflict', status: 409 } },
    },
  ]);
  expect(logged).toEqual([]);
});

test('the end of a request that its client has left is no defect', () => {
  const { logged, log } = handMadeSource();
  const left = new AbortController();
  left.abort();
  for (const error of [left.signal.reason, new GraphQLError('aborted', { originalError: left.signal.reason })]) {
    expect([codedError(error, log).extensions['code'], codeOfThrown(error)]).toEqual(['TIMEOUT', 'TIMEOUT']);
  }
  expect(logged).toEqual([]);
});

test('a GraphQLError with a code stays as it is', async () => {
  const { answer } = await endpoint().ask('{ refusedInGraphQL }');
  expect(answer.errors).toMatchObject([{ message: 'gone', extensions: { code: 'GONE' } }]);
});

test.each([
  ['defect', 'secret of the house'],
  ['oddThrow', 'a string with a secret'],
  ['missing', 'non-nullable'],
  ['tooLarge', 'non 32-bit'],
])('%s is a defect: the caller gets a number, the log gets the rest under it', async (field, secret) => {
  const { ask, logged } = endpoint();
  const { answer, text } = await ask(`{ ${field} }`);
  const [error] = answer.errors ?? [];
  expect(error).toMatchObject({ path: [field], extensions: { code: 'INTERNAL_SERVER_ERROR' } });
  expect(text).not.toContain(secret);
  expect(text).not.toContain('stack');
  const number = String(error?.extensions?.['number']);
  expect(error?.message).toContain(number);
  expect(logged).toHaveLength(1);
  expect(logged[0]?.fields).toMatchObject({ number, error: expect.stringContaining(secret) });
});

test.each([
  ['a variable of the wrong type', 'query Q($n: Int!) { echo(number: $n) }', { n: 'many' }],
  ['a variable that is missing', 'query Q($n: Int!) { echo(number: $n) }', {}],
  ['null where a value must be', 'query Q($n: Int = 1) { echo(number: $n) }', { n: null }],
])('%s is BAD_USER_INPUT', async (_what, query, variables) => {
  const { ask, logged } = endpoint();
  const { answer } = await ask(query, variables);
  expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(logged).toEqual([]);
});

test.each([
  ['{ greeting', 'GRAPHQL_PARSE_FAILED'],
  ['{ nothingOfThatName }', 'GRAPHQL_VALIDATION_FAILED'],
])('%s keeps the code of the protocol', async (query, code) => {
  const { answer } = await endpoint().ask(query);
  expect(answer.errors).toMatchObject([{ extensions: { code } }]);
  expect(answer.errors?.[0]?.extensions).not.toHaveProperty('http');
});

test('an operation name that is not in the document has a code', async () => {
  const made = endpoint();
  const { answer } = await made.ask('query A { greeting } query B { greeting }');
  expect(answer.errors?.[0]?.extensions?.['code']).toBeDefined();
  expect(made.logged).toEqual([]);
});

test('a message never shows a stack or a file of the house', async () => {
  const { text } = await endpoint().ask('{ defect oddThrow missing tooLarge }');
  expect(text).not.toMatch(/\.ts\b|node:|at \w+ \(/);
});
