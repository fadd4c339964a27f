import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, sendStatus, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { connect } from '../client/connection.ts';
import { RestClient } from '../client/rest-client.ts';
import { discover } from './discovery.ts';

const folder = kubeconfigFolder();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => folder.remove());

/** A server with fixed answers by path. A number is a Status with that code. */
async function serving(answers: Record<string, unknown>): Promise<{ api: RestClient; server: LoopbackServer }> {
  const server = await startLoopbackServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? 404;
    if (typeof answer === 'number') sendStatus(response, answer, 'Because', `it is ${answer}`);
    else sendJson(response, 200, answer);
  });
  closing.push(() => server.close());
  const connection = await connect({ env: {}, kubeconfig: folder.write({ server: server.url }) });
  closing.push(() => connection.close());
  return { api: new RestClient(connection), server };
}

const verbs = ['get', 'list', 'watch'];
const pod = {
  name: 'pods',
  singularName: '',
  namespaced: true,
  kind: 'Pod',
  verbs,
  shortNames: ['po'],
  categories: ['all'],
};
const widget = { name: 'widgets', singularName: 'widget', namespaced: false, kind: 'Widget', verbs };

const legacy = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'example.com',
        versions: [{ version: 'v1alpha1' }, { version: 'v1' }, { version: 'v2beta1' }],
        preferredVersion: { groupVersion: 'example.com/v1', version: 'v1' },
      },
      { name: 'broken.io', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    ],
  },
  '/api/v1': {
    kind: 'APIResourceList',
    resources: [
      { ...pod, name: 'pods/log', kind: 'Pod' },
      pod,
      { ...pod, name: 'pods/status', kind: 'Pod' },
      { name: 'podtemplates/only', kind: 'X' },
    ],
  },
  '/apis/example.com/v1': { resources: [widget] },
  '/apis/example.com/v1alpha1': { resources: [widget, { ...widget, name: 'gadgets', kind: 'Gadget' }] },
  '/apis/example.com/v2beta1': { resources: [widget, { ...widget, name: 'gadgets', kind: 'Gadget' }] },
  '/apis/broken.io/v1': 503,
};

const short = (found: Awaited<ReturnType<typeof discover>>): string[] =>
  found.resources.map((each) => `${each.group}/${each.version}/${each.plural}${each.preferred ? ' *' : ''}`);

describe('the form of one request per group version', () => {
  test('gives all versions, the preferred first, and reports the group version that fails', async () => {
    const { api } = await serving(legacy);
    const found = await discover(api);
    expect(short(found)).toEqual([
      '/v1/pods *',
      'example.com/v1/widgets *',
      'example.com/v1alpha1/widgets',
      'example.com/v1alpha1/gadgets *',
      'example.com/v2beta1/widgets',
      'example.com/v2beta1/gadgets',
    ]);
    expect(found.resources[0]).toEqual({
      group: '',
      version: 'v1',
      plural: 'pods',
      singular: 'pod',
      kind: 'Pod',
      namespaced: true,
      verbs,
      shortNames: ['po'],
      categories: ['all'],
      subresources: ['log', 'status'],
      preferred: true,
    });
    expect(found.failures).toEqual([{ groupVersion: 'broken.io/v1', message: expect.stringContaining('it is 503') }]);
  });

  test('asks for no more than eight group versions at a time', async () => {
    const groups = Array.from({ length: 40 }, (_, i) => ({ name: `g${i}.io`, versions: [{ version: 'v1' }] }));
    let running = 0;
    let most = 0;
    const server = await startLoopbackServer(async (request, response) => {
      if (request.url === '/api') return sendJson(response, 200, { versions: [] });
      if (request.url === '/apis') return sendJson(response, 200, { groups });
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      sendJson(response, 200, { resources: [widget] });
    });
    closing.push(() => server.close());
    const connection = await connect({ env: {}, kubeconfig: folder.write({ server: server.url }) });
    closing.push(() => connection.close());
    const found = await discover(new RestClient(connection));
    expect(found.resources.map((each) => each.group)).toEqual(groups.map((group) => group.name));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  test('serves without a core group, and fails where a root or the caller is refused', async () => {
    const { api } = await serving({ ...legacy, '/api': 404 });
    expect(short(await discover(api))[0]).toBe('example.com/v1/widgets *');
    await expect(discover((await serving({ ...legacy, '/apis': 403 })).api)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const refused = await serving({ ...legacy, '/apis/broken.io/v1': 401 });
    await expect(discover(refused.api)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('stops when it is told to', async () => {
    const { api } = await serving(legacy);
    const reason = new Error('enough');
    await expect(discover(api, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('the aggregated form', () => {
  const resource = (plural: string, kind: string) => ({
    resource: plural,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    singularResource: kind.toLowerCase(),
    verbs,
    shortNames: ['x'],
    categories: ['all'],
    subresources: [{ subresource: 'status', responseKind: { kind }, verbs: ['get'] }],
  });
  const aggregatedGroups = {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'example.com' },
        versions: [
          { version: 'v1', freshness: 'Current', resources: [resource('widgets', 'Widget'), { resource: 'tokens' }] },
          {
            version: 'v1alpha1',
            freshness: 'Current',
            resources: [resource('widgets', 'Widget'), resource('gadgets', 'Gadget')],
          },
        ],
      },
      { metadata: { name: 'stale.io' }, versions: [{ version: 'v1', freshness: 'Stale', resources: [] }] },
    ],
  };

  test('is asked for first, takes two requests, and tells what is stale', async () => {
    const core = {
      kind: 'APIGroupDiscoveryList',
      items: [{ metadata: {}, versions: [{ version: 'v1', resources: [resource('pods', 'Pod')] }] }],
    };
    const { api, server } = await serving({ '/api': core, '/apis': aggregatedGroups });
    const found = await discover(api);
    expect(short(found)).toEqual([
      '/v1/pods *',
      'example.com/v1/widgets *',
      'example.com/v1alpha1/widgets',
      'example.com/v1alpha1/gadgets *',
    ]);
    expect(found.resources[1]).toMatchObject({
      kind: 'Widget',
      singular: 'widget',
      namespaced: true,
      subresources: ['status'],
    });
    expect(found.failures).toEqual([
      { groupVersion: 'stale.io/v1', message: expect.stringContaining('did not answer') },
    ]);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[0]?.headers.accept?.split(',')).toEqual([
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
      'application/json',
    ]);
  });

  test('goes together with the old form, where only one root has it', async () => {
    const { api } = await serving({ ...legacy, '/apis': aggregatedGroups });
    expect(short(await discover(api)).slice(0, 2)).toEqual(['/v1/pods *', 'example.com/v1/widgets *']);
  });
});
