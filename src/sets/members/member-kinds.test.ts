import { expect, test } from 'vitest';
import { refusalOfKind } from './member-kinds.ts';

const kindOf = (plural: string, kind: string, group = '', namespaced = true) => ({ group, plural, kind, namespaced });

const configMaps = kindOf('configmaps', 'ConfigMap');
const deployments = kindOf('deployments', 'Deployment', 'apps');
const roles = kindOf('roles', 'Role', 'rbac.authorization.k8s.io');

test('by default, every namespaced kind may be a member but those of RBAC, Events and sets', () => {
  expect(refusalOfKind(configMaps, [])).toBeNull();
  expect(refusalOfKind(deployments, [])).toBeNull();
  expect(refusalOfKind(kindOf('redises', 'Redis', 'example.com'), [])).toBeNull();
  const refused = [
    roles,
    kindOf('events', 'Event'),
    kindOf('events', 'Event', 'events.k8s.io'),
    kindOf('shadowrecords', 'ShadowRecord', 'portolan.dev'),
    kindOf('shadowresources', 'ShadowResource', 'shadow.portolan.dev'),
    kindOf('nodes', 'Node', '', false),
  ];
  for (const each of refused) expect(refusalOfKind(each, [])).toContain('cannot be a member of a set');
});

test('a list allows what it names, and nothing that sets do not allow', () => {
  for (const name of ['configmaps', 'ConfigMap', 'config*', '*']) expect(refusalOfKind(configMaps, [name])).toBeNull();
  for (const name of ['deployments.apps', '*.apps']) {
    expect(refusalOfKind(deployments, ['secrets', name])).toBeNull();
    expect(refusalOfKind(configMaps, ['secrets', name])).toBe(
      'A ConfigMap cannot be a member of a set here: --set-kinds does not name configmaps.',
    );
  }
  expect(refusalOfKind(roles, ['roles', '*'])).toBe('A Role cannot be a member of a set.');
});
