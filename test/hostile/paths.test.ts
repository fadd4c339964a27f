/** Paths and filters that are more than SQLite takes: refused with their limit before any statement, and never with a statement's text. */
import { describe, expect, test } from 'vitest';
import { checkPathOptions } from '../../src/cli/gateway.ts';
import { describedCrd, made, sharedFixture } from '../kit/engine-fixture.ts';

const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** The tests only read. */
const world = sharedFixture(async (fixture) => {
  // `more` nests in itself, by `$ref` of a definition as OpenAPI gives it or written out.
  const nested = (depth: number): Record<string, unknown> =>
    depth === 0
      ? { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } }
      : { type: 'array', items: { type: 'object', properties: { more: nested(depth - 1) } } };
  await fixture.declare(
    describedCrd({
      kind: 'Free',
      plural: 'frees',
      properties: { spec: { type: 'object', properties: { any: anything, more: nested(14) } } },
    }),
  );
  await fixture.sync('frees.example.com', [made({ kind: 'Free', name: 'a', spec: { any: [[[1]]] } })]);
  return fixture;
});

type Fixture = ReturnType<typeof world>;
type Door = (path: string) => string;

const doors: Readonly<Record<string, Door>> = {
  filter: (path) => `{ exampleComFrees(filter: { path: [{ path: ${path}, eq: 1 }] }) { totalCount } }`,
  'filter exists': (path) => `{ exampleComFrees(filter: { path: [{ path: ${path}, exists: true }] }) { totalCount } }`,
  compare: (path) => `{ exampleComFrees(filter: { compare: [{ path: ${path}, eq: "spec.any" }] }) { totalCount } }`,
  'compare, the other side': (path) =>
    `{ exampleComFrees(filter: { compare: [{ path: "spec.any", eq: ${path} }] }) { totalCount } }`,
  orderBy: (path) => `{ exampleComFrees(orderBy: [{ path: ${path} }]) { nodes { id } } }`,
  groups: (path) => `{ exampleComFrees { aggregate { groups(by: [${path}]) { keys } } } }`,
  facets: (path) => `{ exampleComFrees { facets(paths: [${path}]) { path } } }`,
  aggregate: (path) => `{ exampleComFrees { aggregate { min(path: ${path}) } } }`,
  value: (path) => `{ exampleComFrees { nodes { value(path: ${path}) } } }`,
  'objects, filter': (path) =>
    `{ objects(kinds: ["frees.example.com"], filter: { path: [{ path: ${path}, eq: 1 }] }) { totalCount } }`,
  'objects, orderBy': (path) =>
    `{ objects(kinds: ["frees.example.com"], orderBy: [{ path: ${path} }]) { nodes { id } } }`,
};

describe.each(Object.entries(doors))('%s', (_door, query) => {
  const errorOf = async (fixture: Fixture, path: string) => {
    const { errors } = await fixture.query(query(JSON.stringify(path)));
    const [error] = errors;
    const { code } = (error?.originalError ?? {}) as { code?: string };
    return { message: error?.message ?? '', code: code ?? null };
  };

  test.each([
    ['[]', '[]'],
    ['[name=value].x', '[a=b].x'],
    ['both', '[][a=b].x'],
  ])('a path with ever more %s is answered or refused by its limit', async (_what, step) => {
    const fixture = world();
    for (let count = 1; count <= 49; count += count < 24 ? 1 : 5) {
      const { message, code } = await errorOf(fixture, `spec.any${step.repeat(count)}`);
      expect([count, message]).toEqual([count, expect.not.stringMatching(/SELECT|SQLITE|json_|maximum depth/)]);
      if (count <= 8) continue;
      expect([count, code, message]).toEqual([count, 'BAD_USER_INPUT', expect.stringContaining('more than 8 steps')]);
    }
  });

  test('a path with a hundred other steps is no defect', async () => {
    const fixture = world();
    for (const path of [
      `spec.any${'[0]'.repeat(95)}`,
      `spec.any${'.a'.repeat(95)}`,
      `spec.any[${JSON.stringify('k"]'.repeat(400))}]`,
    ]) {
      const { message, code } = await errorOf(fixture, path);
      expect(message).not.toMatch(/SELECT|SQLITE|maximum depth/);
      expect(['BAD_USER_INPUT', 'QUERY_TOO_COSTLY', null]).toContain(code);
    }
  });
});

test('a live list takes no such path', async () => {
  const fixture = world();
  const path = `spec.any${'[]'.repeat(20)}`;
  const subscription = `subscription { exampleComFreeChanges(filter: { path: [{ path: "${path}", eq: 1 }] }) { cursor } }`;
  const result = await fixture.subscribe(subscription).then(
    (live) => live.next().then((step) => step.value),
    (error: unknown) => error,
  );
  expect(JSON.stringify(result) + String(result)).toContain('more than 8 steps');
});

test('typed filters of lists inside each other have a limit', async () => {
  const fixture = world();
  const filterOf = (depth: number): string =>
    depth === 0 ? '{ name: { eq: "x" } }' : `{ more: { some: ${filterOf(depth - 1)} } }`;
  const { errors } = await fixture.query(`{ exampleComFrees(filter: { spec: ${filterOf(15)} }) { totalCount } }`);
  expect(errors.map(({ message }) => message).join()).toBe(
    'The filter looks into 15 lists inside each other; at most 12 are allowed.',
  );
});

test('a wide filter of long paths is answered', async () => {
  const fixture = world();
  const path = `spec.any${'[]'.repeat(8)}`;
  const wide = Array.from({ length: 50 }, (_, at) => `{ path: "${path}", eq: ${at} }`).join(' ');
  const { errors } = await fixture.query(`{ exampleComFrees(filter: { path: [${wide}] }) { totalCount } }`);
  expect(errors.map(({ message }) => message).join()).not.toMatch(/SELECT|SQLITE|maximum depth/);
});

test.each(['promote', 'redact'] as const)('--%s takes no such path', (option) => {
  const given = { searchPaths: [], promote: [], redact: [], [option]: [`frees.example.com=spec.any${'[]'.repeat(9)}`] };
  expect(() => checkPathOptions(given)).toThrow(/more than 8 steps/);
});
