import { expect, test } from 'vitest';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';
import { describeRelation } from '../relations/described-relation.ts';
import { readRelations } from '../relations/read-relations.ts';
import type { RelationOrigin } from '../relations/relation.ts';
import { relateKinds } from './relate-kinds.ts';

/** Messages for a relation between a cluster-scoped Gadget and a namespaced Widget. */
function messagesOf(declaration: Readonly<Record<string, unknown>>, origin: RelationOrigin = 'CONFIGURED') {
  const { relations, problems } = readRelations({ relations: [{ name: 'related', ...declaration }] }, origin);
  expect(problems).toEqual([]);
  const kinds = [
    { key: 'widgets.example.com', ...widget() },
    { key: 'gadgets.example.com', ...gadget() },
  ].map((described) => ({
    ...described,
    clusters: ['east'],
    declared: relations
      .filter(({ source }) => source.kind === described.resource.kind)
      .map((relation) => describeRelation(relation)),
  }));
  return relateKinds(kinds).diagnostics.map(({ resource, message }) => `${resource}: ${message}`);
}

const toWidget = { from: 'Gadget.example.com', to: 'Widget.example.com' };

test.each([
  ['a name', { at: ['spec.name'] }],
  ['the name in an object', { at: [{ at: 'spec' }] }],
  ['an owner with a namespace', { owner: true }],
])('%s that can never lead to an object with a namespace has a diagnostic', (_what, how) => {
  const messages = messagesOf({ ...toWidget, ...how });
  expect(messages).toEqual([
    expect.stringContaining('gadgets.example.com: the relation related never leads to an object'),
  ]);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['a stated namespace', { ...toWidget, at: [{ at: 'spec', namespace: 'total' }] }],
  ['a namespace of the declaration', { ...toWidget, at: [{ at: 'spec', inNamespace: 'shop' }] }],
  ['one place of several', { ...toWidget, at: ['spec.name', { at: 'spec', namespace: 'total' }] }],
  ['a selector', { ...toWidget, selector: 'spec', form: 'map', empty: 'none' }],
  ['the other direction', { from: 'Widget.example.com', to: 'Gadget.example.com', at: ['spec.name'] }],
  ['two objects with namespaces', { from: 'Widget.example.com', to: 'Widget.example.com', at: ['spec.name'] }],
])('%s: no diagnostic', (_what, declaration) => {
  expect(messagesOf(declaration)).toEqual([]);
});

test('a shipped relation has no diagnostic: nobody here can mend it', () => {
  expect(messagesOf({ ...toWidget, at: ['spec.name'] }, 'SHIPPED')).toEqual([]);
});
