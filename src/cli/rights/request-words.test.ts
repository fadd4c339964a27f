import { describe, expect, test } from 'vitest';
import { pathRequest, type RequestWords, resourceRequest, type ServedResource } from './request-words.ts';

const kind = (group: string, plural: string, name: string, more: Partial<ServedResource> = {}): ServedResource => ({
  group,
  plural,
  kind: name,
  singular: name.toLowerCase(),
  namespaced: true,
  shortNames: [],
  subresources: ['status'],
  ...more,
});

const served = [
  kind('', 'pods', 'Pod', { shortNames: ['po'], subresources: ['log', 'status'] }),
  kind('', 'namespaces', 'Namespace', { shortNames: ['ns'], namespaced: false }),
  kind('', 'nodes', 'Node', { shortNames: ['no'], namespaced: false }),
  kind('', 'events', 'Event', { shortNames: ['ev'], subresources: [] }),
  kind('events.k8s.io', 'events', 'Event', { shortNames: ['ev'] }),
  kind('apps', 'deployments', 'Deployment', { shortNames: ['deploy'], subresources: ['scale', 'status'] }),
  kind('metrics.k8s.io', 'pods', 'PodMetrics'),
];

const words = (target: string, more: Partial<RequestWords> = {}): RequestWords => ({
  verb: 'get',
  name: '',
  namespace: '',
  target,
  ...more,
});
const read = (target: string, more: Partial<RequestWords> = {}) => resourceRequest(words(target, more), served);

describe('a request in words', () => {
  test.each([
    ['pods', '', 'pods'],
    ['po', '', 'pods'],
    ['Pod', '', 'pods'],
    ['PODS', '', 'pods'],
    ['pods.metrics.k8s.io', 'metrics.k8s.io', 'pods'],
    ['PodMetrics', 'metrics.k8s.io', 'pods'],
    ['events', '', 'events'],
    ['ev', '', 'events'],
    ['events.events.k8s.io', 'events.k8s.io', 'events'],
    ['deployments.apps', 'apps', 'deployments'],
    ['Deployment.apps', 'apps', 'deployments'],
    ['deploy', 'apps', 'deployments'],
    ['*', '*', '*'],
    ['*.apps', 'apps', '*'],
  ])('%s is of the group %j: %s', (target, group, resource) => {
    expect(read(target)).toMatchObject({ group, resource });
  });

  test('has a subresource, a name and a namespace', () => {
    expect(read('deploy/scale', { verb: 'UPDATE', name: 'web', namespace: 'shop' })).toEqual({
      verb: 'update',
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'shop',
      name: 'web',
    });
  });

  test('for one Namespace is in it, as the API server sees it', () => {
    expect(read('ns', { name: 'shop' })).toMatchObject({ namespace: 'shop', name: 'shop' });
    expect(read('ns', { verb: 'list' })).toMatchObject({ namespace: '', name: '' });
  });

  test('may concern what no server serves', () => {
    expect(read('users', { verb: 'impersonate', name: 'kim' })).toMatchObject({ group: '', resource: 'users' });
    expect(read('signers', { verb: 'approve' })).toMatchObject({ group: 'certificates.k8s.io', resource: 'signers' });
    expect(() => read('users')).toThrow('no resource "users"');
  });

  test('may be for a path', () => {
    expect(pathRequest(words('/metrics'))).toEqual({ verb: 'get', path: '/metrics' });
    expect(() => pathRequest(words('/metrics', { namespace: 'shop' }))).toThrow('is a path');
  });

  test.each([
    ['pdos', {}, 'The cluster serves no resource "pdos"; did you mean pods? Name it as kubectl api-resources does.'],
    ['what', {}, 'The cluster serves no resource "what"; name it as kubectl api-resources does.'],
    ['nodes', { namespace: 'shop' }, 'nodes are not namespaced: leave --namespace out.'],
    ['pods/web', {}, 'pods has no subresource "web": it has log, status.'],
    ['events/status', {}, 'events has no subresource "status": it has none.'],
  ])('%s %j is refused', (target, more, message) => {
    expect(() => read(target, more)).toThrow(message);
  });
});
