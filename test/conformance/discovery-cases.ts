/** A server describes itself: discovery and OpenAPI in their older and newer forms, health and version. */
import { describe, expect, test } from 'vitest';
import { asArray, asObject, asString, at } from '../../sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import type { ConformanceClient } from './conformance-client.ts';
import { aggregatedDiscovery, openApiV3 } from './version-differences.ts';

export function discoveryCases(client: () => ConformanceClient): void {
  describe('discovery', () => {
    test('names versions and groups', async () => {
      expect((await client().get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
      const groups = (await client().get('/apis')).body;
      expect(groups).toMatchObject({ kind: 'APIGroupList' });
      const apps = asArray(groups.groups).find((group) => asObject(group).name === 'apps');
      const version = { groupVersion: 'apps/v1', version: 'v1' };
      expect(apps).toMatchObject({ name: 'apps', versions: [version], preferredVersion: version });
      expect((await client().get('/apis/apps')).body).toMatchObject({ kind: 'APIGroup', ...asObject(apps) });
    });

    test('lists resources with subresources, verbs and short names', async () => {
      const { body } = await client().get('/apis/apps/v1');
      expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'apps/v1' });
      const found = new Map(asArray(body.resources).map((item) => [asString(asObject(item).name), asObject(item)]));
      expect(found.get('deployments')).toMatchObject({
        namespaced: true,
        kind: 'Deployment',
        shortNames: ['deploy'],
        categories: ['all'],
      });
      const verbs = (name: string): string[] => asArray(found.get(name)?.verbs).map(asString).sort();
      expect(verbs('deployments')).toEqual([
        'create',
        'delete',
        'deletecollection',
        'get',
        'list',
        'patch',
        'update',
        'watch',
      ]);
      expect(verbs('deployments/status')).toEqual(['get', 'patch', 'update']);
      expect(found.get('deployments/scale')).toMatchObject({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
      const core = asArray((await client().get('/api/v1')).body.resources).map(asObject);
      expect(core.find(({ name }) => name === 'nodes')).toMatchObject({ namespaced: false, shortNames: ['no'] });
      expect(core.find(({ name }) => name === 'componentstatuses')?.verbs).toEqual(['get', 'list']);
      const reviews = asArray((await client().get('/apis/authorization.k8s.io/v1')).body.resources).map(asObject);
      expect(reviews.map(({ name }) => name).sort()).toEqual([
        'localsubjectaccessreviews',
        'selfsubjectaccessreviews',
        'selfsubjectrulesreviews',
        'subjectaccessreviews',
      ]);
      for (const review of reviews) expect(review.verbs).toEqual(['create']);
    });

    test.each(['/apis/none', '/apis/apps/v9', '/api/v9', '/apis/none/v1'])('knows no %s', async (path) => {
      expect((await client().get(path)).code).toBe(404);
    });

    test('describes kinds in OpenAPI v2, and says when nothing changed', async () => {
      const reply = await client().get('/openapi/v2');
      expect(reply.code).toBe(200);
      const deployment = asObject(at(reply.body, 'definitions', 'io.k8s.api.apps.v1.Deployment'));
      expect(deployment).toMatchObject({
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
      });
      expect(Object.keys(asObject(deployment.properties)).sort()).toEqual([
        'apiVersion',
        'kind',
        'metadata',
        'spec',
        'status',
      ]);
      // It may be built anew in between, after a definition went.
      await eventually(async () => {
        const headers = { 'if-none-match': String((await client().get('/openapi/v2')).headers.etag) };
        expect((await client().get('/openapi/v2', { headers })).code).toBe(304);
      });
    });

    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

    test('names all resources in one document where the server can, else the groups', async () => {
      const kind = await client().expected(aggregatedDiscovery);
      const reply = await client().get('/apis', { accept });
      expect(reply.body.kind).toBe(kind);
      // Without the newer form in its Accept header, a client gets the older one from every server.
      const beta = accept.replace('v=v2;', 'v=v2beta1;');
      if (kind === 'APIGroupDiscoveryList')
        expect((await client().get('/apis', { accept: beta })).body.kind).not.toBe(kind);
      expect((await client().get('/apis/apps', { accept })).body.kind).toBe('APIGroup');
      expect((await client().get('/apis/apps/v1', { accept })).body.kind).toBe('APIResourceList');
    });

    test('describes each resource in that document', async ({ skip }) => {
      await client().needs(aggregatedDiscovery, skip);
      const { body, headers } = await client().get('/apis', { accept });
      expect(headers['content-type']).toBe(accept.split(',')[0]);
      const apps = asArray(body.items).find((item) => at(item, 'metadata', 'name') === 'apps');
      expect(asObject(apps).metadata).toEqual({ name: 'apps' });
      const [v1] = asArray(asObject(apps).versions).map(asObject);
      expect(v1).toMatchObject({ version: 'v1', freshness: 'Current' });
      const resources = asArray(v1?.resources).map(asObject);
      const names = resources.map(({ resource }) => asString(resource));
      expect(names).toEqual(names.toSorted());
      expect(resources.find(({ resource }) => resource === 'deployments')).toEqual({
        resource: 'deployments',
        // The group and version of the resource itself are left out.
        responseKind: { group: '', version: '', kind: 'Deployment' },
        scope: 'Namespaced',
        singularResource: 'deployment',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['deploy'],
        categories: ['all'],
        subresources: [
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: ['get', 'patch', 'update'],
          },
          {
            subresource: 'status',
            responseKind: { group: '', version: '', kind: 'Deployment' },
            verbs: ['get', 'patch', 'update'],
          },
        ],
      });
      const core = asArray((await client().get('/api', { accept })).body.items).map(asObject);
      expect(core.map(({ metadata }) => metadata)).toEqual([{}]);
    });

    test('says when that document has not changed', async ({ skip }) => {
      await client().needs(aggregatedDiscovery, skip);
      await eventually(async () => {
        const { etag } = (await client().get('/apis', { accept })).headers;
        const again = await client().get('/apis', { accept, headers: { 'if-none-match': String(etag) } });
        expect(again.code).toBe(304);
      });
    });

    test('describes kinds in OpenAPI v3, where the server can, at addresses that may be kept', async () => {
      const index = await client().get('/openapi/v3');
      const code = await client().expected(openApiV3);
      expect(index.code, index.text).toBe(code);
      if (code !== 200) return;
      const address = asString(at(index.body, 'paths', 'apis/apps/v1', 'serverRelativeURL'));
      expect(address).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
      const { body, headers } = await client().get(address);
      expect(headers['cache-control']).toBe('public, immutable');
      const schemas = asObject(at(body, 'components', 'schemas'));
      expect(at(schemas['io.k8s.api.apps.v1.Deployment'], 'properties', 'spec')).toMatchObject({
        allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec' }],
      });
      expect(at(schemas['io.k8s.api.apps.v1.DeploymentSpec'], 'properties', 'replicas')).toMatchObject({
        type: 'integer',
        format: 'int32',
      });
      const stale = await client().get('/openapi/v3/apis/apps/v1?hash=0');
      expect([stale.code, stale.headers.location]).toEqual([301, address]);
      expect((await client().get('/openapi/v3/apis/none/v1')).code).toBe(404);
    });

    test('is well, and has a version', async () => {
      for (const path of ['/healthz', '/livez', '/readyz']) expect((await client().get(path)).text).toBe('ok');
      expect((await client().get('/version')).body).toMatchObject({
        gitVersion: expect.stringMatching(/^v\d+\./),
      });
    });
  });
}
