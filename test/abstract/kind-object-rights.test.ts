/** Who reads the diagnostics of AbstractKind objects. */
import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, type Scope } from '../../src/access/scope.ts';
import { describedCrd, engineFixture, made } from '../kit/engine-fixture.ts';

const key = 'abstractkinds.portolan.dev';
const some: Scope = {
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set<string>(), names: new Map([['', new Set(['a'])]]) }]]),
};

test.each([
  ['all objects', allRows, ['of the schema', 'AbstractKind a: wrong', 'AbstractKind b: wrong']],
  ['one object', some, ['of the schema']],
])('a caller who may list %s', async (_, scope, wanted) => {
  const scopes = { id: 'test', of: () => scope };
  const fixture = engineFixture({ engine: { rights: fixedRights(() => scopes) } });
  const plain = describedCrd({
    group: 'portolan.dev',
    kind: 'AbstractKind',
    plural: 'abstractkinds',
    namespaced: false,
    properties: {},
  });
  const messages = ['of the schema', 'AbstractKind a: wrong', 'AbstractKind b: wrong'];
  const diagnostics = messages.map((message) => ({ cluster: 'east', resource: key, message }));
  await fixture.declare({ ...plain, diagnostics });
  await fixture.sync(
    key,
    ['a', 'b'].map((name) => made({ name, namespace: null })),
  );
  const { data, errors } = await fixture.query('{ resources { key objects diagnostics } }');
  expect(errors).toEqual([]);
  expect(data.resources).toEqual([{ key, objects: wanted.length === 1 ? 1 : 2, diagnostics: wanted }]);
});
