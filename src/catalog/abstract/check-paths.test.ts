import { expect, test } from 'vitest';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import type { DescribedRelation } from '../relations/described-relation.ts';
import { checkPaths } from './check-paths.ts';
import { readAbstractKinds } from './read-abstract-kinds.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const { tree } = describedCrd({
  kind: 'Redis',
  plural: 'redises',
  properties: {
    spec: object({
      version: { type: 'string' },
      count: { type: 'integer' },
      shards: { type: 'array', items: object({ replicas: { type: 'integer' } }) },
      settings: { type: 'object', additionalProperties: { type: 'string' } },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    }),
    open: object({ known: { type: 'string' } }, { 'x-kubernetes-preserve-unknown-fields': true }),
  },
});

const relations: readonly DescribedRelation[] = [
  {
    name: 'config',
    to: 'ConfigMap',
    reverse: null,
    reverseOn: [],
    many: false,
    origin: 'CONFIGURED',
    way: { by: 'owner' },
  },
];

function problemsOf(member: object): readonly string[] {
  const columns = { x: 'String', y: 'String' };
  const { kinds, problems } = readAbstractKinds({
    abstractKinds: [{ name: 'apps', columns, members: [{ resource: 'redises.example.com', ...member }] }],
  });
  expect(problems).toEqual([]);
  const [only] = kinds[0]?.members ?? [];
  if (only === undefined) throw new Error('there is a member');
  return checkPaths(only, { tree, relations });
}

test.each([
  ['spec.version'],
  ['sum(spec.shards[].replicas)'],
  // The column converts the values: a fold needs no type.
  ['sum(spec.shards[])'],
  ['max(spec.version, spec.count)'],
  ['min(spec.settings["a"])'],
  ['spec.settings["any key"]'],
  ['spec.free.any.thing[0]'],
  ['open.unknown.below'],
  ['metadata.labels["a/b"]'],
  ['metadata.annotations.a'],
  ['kind'],
  // A path of a related object is one of another kind.
  ['config.data.any'],
])('the schema has %s', (path) => {
  expect(problemsOf({ columns: { x: path } })).toEqual([]);
});

const notThere = (use: string, rest: string) =>
  `${use} names a path that the schema of redises.example.com does not have: ${rest}`;
const version = 'In the path "spec.verson", "verson" after "spec" is unknown; did you mean "version"?';

test.each<readonly [string, object, readonly string[]]>([
  ['a path', { columns: { x: 'spec.verson' } }, [notThere('the column x', version)]],
  [
    'a path of two columns',
    { columns: { x: 'spec.verson', y: { of: 'spec.verson', map: { a: 'b' } } } },
    [notThere('the column x', version), notThere('the column y', version)],
  ],
  [
    'paths below others',
    { columns: { x: { firstOf: ['spec.version', { concat: ['spec.verson', { value: 'a' }] }] } } },
    [notThere('the column x', version)],
  ],
  ['one of several paths', { columns: { x: 'max(spec.count, spec.verson)' } }, [notThere('the column x', version)]],
  ['a path of where', { where: { 'spec.verson': 'a', kind: { exists: true } } }, [notThere('where', version)]],
  [
    'a path that is compared with',
    { where: { 'spec.version': { lessThan: 'spec.verson' } } },
    [notThere('where', version)],
  ],
])('%s that is not there is named', (_, member, wanted) => {
  expect(problemsOf(member)).toEqual(wanted);
});

test('ten are named, and the others are counted', () => {
  const found = problemsOf({
    columns: { x: { firstOf: Array.from({ length: 15 }, (_, at) => `spec.no${at}`) } },
  });
  expect(found).toHaveLength(11);
  expect(found.at(-1)).toBe('the schema of redises.example.com lacks 5 more of the paths of this abstract kind');
});
