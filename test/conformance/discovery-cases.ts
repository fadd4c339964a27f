/** What a server says of itself: discovery in the old form, OpenAPI v2, health and version. */
import { describe, expect, test } from 'vitest';
import { asArray, asObject, asString, at } from '../../src/sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import type { ConformanceClient } from './conformance-client.ts';

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

    test('is well, and has a version', async () => {
      for (const path of ['/healthz', '/livez', '/readyz']) expect((await client().get(path)).text).toBe('ok');
      expect((await client().get('/version')).body).toMatchObject({
        gitVersion: expect.stringMatching(/^v\d+\./),
      });
    });
  });
}
