import { expect, test } from 'vitest';
import { readRelations } from '../relations/read-relations.ts';
import { type ReferencePlace, textOfKind } from '../relations/relation.ts';
import { findReferences } from './find-references.ts';

function places(to: string, ...at: readonly unknown[]): readonly ReferencePlace[] {
  const { relations, problems } = readRelations(
    { relations: [{ from: 'Foo.example.com', name: 'x', to, at }] },
    'CONFIGURED',
  );
  expect(problems).toEqual([]);
  const [relation] = relations;
  return relation?.means.by === 'reference' ? relation.means.places : [];
}

const found = (of: readonly ReferencePlace[], body: unknown, namespace = 'shop'): readonly string[] =>
  findReferences(of, body, namespace).map(
    (each) => `${each.place} ${textOfKind(each.target)} ${each.namespace}/${each.name}`,
  );

test('names are found through lists, each once for each place', () => {
  const of = places('Secret', 'spec.volumes[].secret.secretName', 'spec.pull[].name');
  const spec = {
    volumes: [{ secret: { secretName: 'a' } }, {}, { secret: { secretName: 'b' } }, { secret: { secretName: 'a' } }],
    pull: [{ name: 'a' }],
  };
  expect(found(of, { spec })).toEqual(['0 Secret shop/a', '0 Secret shop/b', '1 Secret shop/a']);
});

test('a stated namespace counts before that of the object', () => {
  const of = places('ConfigMap', { at: 'spec.ref', namespace: 'namespace' });
  expect(found(of, { spec: { ref: { name: 'a', namespace: 'other' } } })).toEqual(['0 ConfigMap other/a']);
  expect(found(of, { spec: { ref: { name: 'a' } } })).toEqual(['0 ConfigMap shop/a']);
  expect(found(of, { spec: { ref: { name: 'a' } } }, '')).toEqual(['0 ConfigMap /a']);
});

test('a namespace that the declaration gives counts for each object, also for one without a namespace', () => {
  const of = places('Secret', { at: 'spec', name: 'secretName', inNamespace: 'vault' });
  for (const own of ['', 'shop']) {
    expect(found(of, { spec: { secretName: 'a', namespace: 'other' } }, own)).toEqual(['0 Secret vault/a']);
  }
});

test('the kind is that of the mention: by group, by apiVersion, or the fallback', () => {
  const byGroup = places('any', { at: 'ref', kind: 'kind', group: 'apiGroup', default: 'Issuer.cert-manager.io' });
  const kinds = (of: readonly ReferencePlace[], ref: object) => found(of, { ref }).map((text) => text.split(' ')[1]);
  expect(kinds(byGroup, { name: 'a', kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io' })).toEqual([
    'ClusterRole.rbac.authorization.k8s.io',
  ]);
  expect(kinds(byGroup, { name: 'a' })).toEqual(['Issuer.cert-manager.io']);
  expect(kinds(byGroup, { name: 'a', kind: 'Issuer' })).toEqual(['Issuer.cert-manager.io']);
  expect(kinds(byGroup, { name: 'a', kind: 'ClusterIssuer' })).toEqual(['ClusterIssuer.cert-manager.io']);
  expect(kinds(byGroup, { name: 'a', kind: 'Secret', apiGroup: '' })).toEqual(['Secret']);
  const byVersion = places('any', { at: 'ref', kind: 'kind', apiVersion: 'apiVersion' });
  expect(kinds(byVersion, { name: 'a', kind: 'Deployment', apiVersion: 'apps/v1' })).toEqual(['Deployment.apps']);
  expect(kinds(byVersion, { name: 'a', kind: 'Pod', apiVersion: 'v1' })).toEqual(['Pod']);
  expect(kinds(byVersion, { name: 'a' })).toEqual([]);
  expect(kinds(byVersion, { name: 'a', kind: 'Pod' })).toEqual(['Pod']);
});

test('users and groups of RBAC are no objects; kinds of other groups with these names are', () => {
  const of = places('any', { at: 'subjects[]', kind: 'kind', group: 'apiGroup', namespace: 'namespace' });
  const subjects = [
    { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' },
    { kind: 'Group', name: 'admins' },
    { kind: 'ServiceAccount', apiGroup: '', name: 'web', namespace: 'other' },
    { kind: 'Group', apiGroup: 'example.com', name: 'team' },
  ];
  expect(found(of, { subjects })).toEqual(['0 ServiceAccount other/web', '0 Group.example.com shop/team']);
});

test.each([
  [{ spec: { ref: { name: '' } } }],
  [{ spec: { ref: { name: 7 } } }],
  [{ spec: { ref: 'text' } }],
  [{ spec: { ref: [] } }],
  [{ spec: null }],
  [null],
  [{ spec: { ref: { name: 'x'.repeat(254) } } }],
])('what is no name is no reference: %j', (body) => {
  expect(found(places('ConfigMap', { at: 'spec.ref' }), body)).toEqual([]);
});
