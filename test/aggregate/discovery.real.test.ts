/** kubectl finds the aggregated kind: its group, its resource, its documentation and the rights to it. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

describeOn([mainServer, oldServer], 'discovery of sets', { timeout: 60_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  const kubectl = (...args: readonly string[]): Promise<string> => aggregated.plane.kubectl(args);

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({ server, group: 'apis.abc.com', version: 'v1' });
    // An old server finds the group available before it leads requests to it.
    await eventually(() => kubectl('get', 'shadowresources', '-A'));
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('api-resources and api-versions', async () => {
    const lines = (await kubectl('api-resources', '--api-group=apis.abc.com', '-o', 'wide')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]?.split(/\s+/)).toEqual([
      'shadowresources',
      'shadow',
      'apis.abc.com/v1',
      'true',
      'ShadowResource',
      'create,get,list,patch,update,watch',
    ]);
    expect((await kubectl('api-versions')).split('\n')).toContain('apis.abc.com/v1');
  });

  test('explain, also of a member and recursive', async () => {
    if (server === oldServer) {
      // It has no OpenAPI v3, and asks for v2 alone.
      await expect(kubectl('explain', 'shadowresources')).rejects.toThrow("couldn't find resource");
      return;
    }
    // The aggregator reads the document some time after the APIService is available.
    const whole = await eventually(() => kubectl('explain', 'shadowresources'), 50_000, 500);
    expect(whole).toContain('GROUP:      apis.abc.com');
    expect(whole).toContain('Several objects that are submitted, shown and deleted as one.');
    expect(await kubectl('explain', 'shadowresource.status.members.state')).toMatch(/Missing: it is gone/);
    expect(await kubectl('explain', 'shadow', '--recursive')).toMatch(/flowList\s+<\[\]Object>/);
  });

  test('auth can-i knows the resource', async () => {
    expect((await kubectl('auth', 'can-i', 'list', 'shadowresources')).trim()).toBe('yes');
    await expect(kubectl('auth', 'can-i', 'list', 'shadowresources', '--as=nobody')).rejects.toThrow();
  });

  test('a gateway with all kinds does not ingest the kind that Portolan itself serves', async () => {
    const gateway = await runGateway({ name: 'real', kubeconfig: aggregated.plane.kubeconfigPath });
    onTestFinished(() => gateway.close());
    await eventually(async () => {
      const { resources } = await data<{ resources: readonly { readonly kind: string; readonly synced: boolean }[] }>(
        gateway.url,
        '{ resources { kind synced } }',
      );
      expect(resources).toContainEqual({ kind: 'APIService', synced: true });
      expect(resources).toContainEqual({ kind: 'ShadowRecord', synced: true });
      expect(resources.map(({ kind }) => kind)).not.toContain('ShadowResource');
    });
  });

  test('the APIService answers by the aggregator alone', async () => {
    const status = await kubectl('get', '--raw', '/apis/apis.abc.com/v1');
    expect(JSON.parse(status)).toMatchObject({ kind: 'APIResourceList', groupVersion: 'apis.abc.com/v1' });
  });
});
