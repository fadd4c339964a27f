import { getIntrospectionQuery } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { describe, expect, test } from 'vitest';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { defaultLimits } from '../../graphql/document/document-limits.ts';
import { Documents } from '../../graphql/document/documents.ts';
import { createYogaServer } from '../graphql/yoga-server.ts';
import { useDocuments } from './documents-plugin.ts';

const made = handMadeSource();
const narrow = createYoga({
  schema: made.source.generation().schema,
  plugins: [
    {
      onEnveloped: ({ extendContext }: { extendContext: (more: object) => void }) =>
        extendContext({ admitted: { charge: () => {} } }),
    },
    useDocuments(
      new Documents({
        ...defaultLimits,
        maxTokens: 100,
        maxNesting: 20,
        maxDepth: 4,
        maxAliases: 3,
        maxComparisons: 100,
      }),
    ),
  ],
  parserAndValidationCache: false,
  logging: false,
});
const wide = createYogaServer({ source: made.source, log: made.log });

async function ask(yoga: Pick<typeof narrow, 'fetch'>, query: string) {
  const response = await yoga.fetch('http://127.0.0.1/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const answer = (await response.json()) as {
    data?: unknown;
    errors?: { message: string; extensions: { code: string } }[];
  };
  return { data: answer.data, codes: (answer.errors ?? []).map(({ extensions }) => extensions?.code), answer };
}

function nest(depth: number): string {
  return `{ ${'nested { '.repeat(depth - 1)}name${' }'.repeat(depth - 1)} }`;
}

describe('depth', () => {
  test('the limit itself is allowed', async () => {
    expect((await ask(narrow, nest(4))).codes).toEqual([]);
  });

  test('one more is too costly', async () => {
    const { codes, answer } = await ask(narrow, nest(5));
    expect(codes).toEqual(['QUERY_TOO_COSTLY']);
    expect(answer.errors?.[0]?.message).toBe('The operation is 5 fields deep; at most 4 are allowed.');
  });

  test('is counted through fragments and inline fragments', async () => {
    const query = `{ nested { ...A } } fragment A on Nested { ... on Nested { nested { ...B } } }
      fragment B on Nested { nested { nested { name } } }`;
    expect((await ask(narrow, query)).codes).toEqual(['QUERY_TOO_COSTLY']);
    expect((await ask(narrow, query.replace('nested { nested { name } }', 'name'))).codes).toEqual([]);
  });

  test('fragments that spread each other are refused as such and do not hang', async () => {
    const { codes } = await ask(
      narrow,
      '{ nested { ...A } } fragment A on Nested { ...B } fragment B on Nested { ...A }',
    );
    expect(codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  test('a second time, from the cache, the verdict is the same', async () => {
    expect((await ask(narrow, nest(5))).codes).toEqual(['QUERY_TOO_COSTLY']);
    expect((await ask(narrow, nest(5))).codes).toEqual(['QUERY_TOO_COSTLY']);
  });
});

describe('aliases', () => {
  test('the limit itself is allowed, one more is not', async () => {
    const aliases = (count: number) =>
      `{ ${Array.from({ length: count }, (_, index) => `a${index}: greeting`).join(' ')} }`;
    expect((await ask(narrow, aliases(3))).codes).toEqual([]);
    expect((await ask(narrow, aliases(4))).codes).toEqual(['QUERY_TOO_COSTLY']);
  });

  test('a fragment counts each time it is spread', async () => {
    const query = `{ nested { ...A nested { ...A } } } fragment A on Nested { a: name b: name }`;
    expect((await ask(narrow, query)).codes).toEqual(['QUERY_TOO_COSTLY']);
  });

  test('fragments that double each other do not take exponential time', async () => {
    const steps = 60;
    const query = `{ nested { ...F0 } } ${Array.from(
      { length: steps },
      (_, index) =>
        `fragment F${index} on Nested { a: name ${index + 1 < steps ? `...F${index + 1} ...F${index + 1}` : 'name'} }`,
    ).join('\n')}`;
    expect((await ask(wide, query)).codes).toContain('QUERY_TOO_COSTLY');
  });
});

describe('tokens', () => {
  test('too many are too costly, and nothing else is said', async () => {
    const { codes, answer } = await ask(narrow, `{ ${'greeting '.repeat(101)} }`);
    expect(codes).toEqual(['QUERY_TOO_COSTLY']);
    expect(answer.errors?.[0]?.message).toBe('The document has more than 100 tokens; split it.');
  });

  test('a syntax error stays a syntax error', async () => {
    expect((await ask(narrow, '{ greeting')).codes).toEqual(['GRAPHQL_PARSE_FAILED']);
  });
});

describe('nesting', () => {
  test('a document as deep as its tokens allow is refused, and it is no defect', async () => {
    const { codes, answer } = await ask(wide, nest(3000));
    expect(codes).toEqual(['QUERY_TOO_COSTLY']);
    expect(answer.errors?.[0]?.message).toBe('The document nests 3000 brackets; at most 200 are allowed.');
    expect(made.logged).toEqual([]);
  });

  test('brackets that never close are refused, and it is no defect', async () => {
    expect((await ask(wide, `{ echo(number: ${'['.repeat(9000)}`)).codes).toEqual(['QUERY_TOO_COSTLY']);
    expect(made.logged).toEqual([]);
  });

  test('brackets in strings and comments do not count', async () => {
    const many = '{'.repeat(100);
    const query = `# ${many}
      query Q($a: String = "\\"${many}", $b: String = """${many} \\""" "${many}""") { greeting }`;
    expect((await ask(narrow, query)).codes).toEqual(['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED']);
  });
});

test('the default limits let the introspection of a playground through', async () => {
  const { codes, data } = await ask(wide, getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true }));
  expect(codes).toEqual([]);
  expect(data).toHaveProperty('__schema');
});
