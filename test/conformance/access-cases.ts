/** Who may do what: RBAC, and the reviews that tell of it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, at, type JsonObject } from '../../sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import { type ConformanceClient, makeNamespace } from './conformance-client.ts';
import { selfSubjectReview } from './version-differences.ts';

const authorization = '/apis/authorization.k8s.io/v1';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

export function accessCases(client: () => ConformanceClient): void {
  describe('access', () => {
    let maps = '';
    const nobody = (): string => client().target.nobodyToken;
    const role = (rules: readonly JsonObject[], name: string): JsonObject => ({ metadata: { name }, rules });
    const bound = (kind: string, name: string, subject: JsonObject): JsonObject => ({
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
    });
    beforeAll(async () => {
      const namespace = await makeNamespace(client(), 'c-access');
      maps = `${namespace}/configmaps`;
      await client().post(maps, { metadata: { name: 'a' } });
      const inside = `${rbac}/namespaces/c-access`;
      const reader = [
        { apiGroups: [''], resources: ['configmaps', 'pods/log'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['apps'], resources: ['*'], verbs: ['*'], resourceNames: ['web'] },
      ];
      await client().post(`${inside}/roles`, role(reader, 'reader'));
      await client().post(`${inside}/rolebindings`, bound('Role', 'reader', { kind: 'User', name: 'reader' }));
      const wide = [
        { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
        { nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] },
      ];
      await client().post(`${rbac}/clusterroles`, role(wide, 'c-wide'));
      await client().post(
        `${rbac}/clusterrolebindings`,
        bound('ClusterRole', 'c-wide', { kind: 'Group', name: 'wide' }),
      );
    });
    const review = async (spec: JsonObject): Promise<unknown> => {
      const reply = await client().post(`${authorization}/subjectaccessreviews`, { spec });
      expect(reply.code, reply.text).toBe(201);
      expect(reply.body).toMatchObject({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' });
      return at(reply.body, 'status', 'allowed');
    };
    const may = (
      user: string,
      resource: string,
      more: JsonObject = {},
      groups: readonly string[] = [],
    ): Promise<unknown> =>
      review({
        user,
        ...(groups.length > 0 ? { groups: [...groups] } : {}),
        resourceAttributes: { verb: 'list', resource, namespace: 'c-access', ...more },
      });

    test('is reviewed for anybody', async () => {
      expect(await may('admin', 'configmaps', {}, ['system:masters'])).toBe(true);
      expect(await may('stranger', 'configmaps')).toBe(false);
      expect(await may('reader', 'configmaps')).toBe(true);
      expect(await may('reader', 'configmaps', { namespace: 'default' })).toBe(false);
      expect(await may('reader', 'configmaps', { namespace: '' })).toBe(false);
      expect(await may('reader', 'configmaps', { verb: 'delete' })).toBe(false);
      expect(await may('reader', 'pods')).toBe(false);
      expect(await may('reader', 'pods', { subresource: 'log', verb: 'get' })).toBe(true);
      const apps = { group: 'apps', verb: 'patch', name: 'web' };
      expect(await may('reader', 'deployments', apps)).toBe(true);
      expect(await may('reader', 'deployments', { ...apps, name: 'other' })).toBe(false);
      expect(await may('reader', 'deployments', { ...apps, group: 'batch' })).toBe(false);
      expect(await may('anybody', 'nodes', { namespace: '' }, ['wide'])).toBe(true);
      expect(await may('anybody', 'nodes', { namespace: '', verb: 'get' }, ['wide'])).toBe(false);
      const paths = (path: string, verb = 'get'): Promise<unknown> =>
        review({ user: 'anybody', groups: ['wide'], nonResourceAttributes: { path, verb } });
      expect(await paths('/metrics')).toBe(true);
      expect(await paths('/logs/x')).toBe(true);
      expect(await paths('/logs')).toBe(false);
      expect(await paths('/metrics', 'post')).toBe(false);
    });

    test('is reviewed for service accounts', async () => {
      const subject = { apiGroup: '', kind: 'ServiceAccount', name: 'robot', namespace: 'c-access' };
      await client().post(`${rbac}/namespaces/c-access/rolebindings`, {
        ...bound('Role', 'reader', subject),
        metadata: { name: 'robot' },
      });
      expect(await may('system:serviceaccount:c-access:robot', 'configmaps')).toBe(true);
      expect(await may('system:serviceaccount:default:robot', 'configmaps')).toBe(false);
    });

    test('is reviewed for oneself', async () => {
      const own = async (token: string, resource: string): Promise<unknown> => {
        const body = { spec: { resourceAttributes: { verb: 'list', resource, namespace: 'c-access' } } };
        const reply = await client().post(`${authorization}/selfsubjectaccessreviews`, body, { token });
        expect(reply.code, reply.text).toBe(201);
        return at(reply.body, 'status', 'allowed');
      };
      expect(await own(client().target.token, 'configmaps')).toBe(true);
      expect(await own(nobody(), 'configmaps')).toBe(false);
      const local = await client().post(`${authorization}/namespaces/c-access/localsubjectaccessreviews`, {
        metadata: { namespace: 'c-access' },
        spec: { user: 'reader', resourceAttributes: { verb: 'list', resource: 'configmaps', namespace: 'c-access' } },
      });
      expect(local.body).toMatchObject({ kind: 'LocalSubjectAccessReview', status: { allowed: true } });
    });

    test.each([
      ['about nothing', { user: 'a' }],
      ['about two things', { user: 'a', resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/' } }],
      ['for nobody', { resourceAttributes: { verb: 'get', resource: 'pods' } }],
    ])('is not reviewed %s', async (_what, spec) => {
      const reply = await client().post(`${authorization}/subjectaccessreviews`, { spec });
      expect(reply.body, reply.text).toMatchObject({ code: 422, reason: 'Invalid' });
    });

    test('is what the server grants', async () => {
      const token = nobody();
      const refused = await client().get(maps, { token });
      expect(refused.body).toMatchObject({
        kind: 'Status',
        code: 403,
        reason: 'Forbidden',
        details: { kind: 'configmaps' },
        message:
          'configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace "c-access"',
      });
      const named = await client().send('DELETE', `${maps}/a`, undefined, { token });
      expect(named.body).toMatchObject({
        message:
          'configmaps "a" is forbidden: User "nobody" cannot delete resource "configmaps" in API group "" in the namespace "c-access"',
        details: { name: 'a', kind: 'configmaps' },
      });
      const wide = await client().get('/apis/apps/v1/deployments', { token });
      expect(wide.body.message).toBe(
        'deployments.apps is forbidden: User "nobody" cannot list resource "deployments" in API group "apps" at the cluster scope',
      );
      await client().post(`${rbac}/namespaces/c-access/rolebindings`, {
        ...bound('Role', 'reader', { kind: 'User', name: 'nobody' }),
        metadata: { name: 'nobody' },
      });
      // A server hears of the binding by its own watch.
      await eventually(async () => expect((await client().get(maps, { token })).code).toBe(200));
      expect((await client().get(`${maps}?watch=1&timeoutSeconds=1`, { token })).code).toBe(200);
      expect((await client().get('/api/v1/configmaps', { token })).code).toBe(403);
      expect((await client().post(maps, { metadata: { name: 'b' } }, { token })).code).toBe(403);
      const rules = await client().post(
        `${authorization}/selfsubjectrulesreviews`,
        { spec: { namespace: 'c-access' } },
        { token },
      );
      expect(asArray(at(rules.body, 'status', 'resourceRules')).map(asObject)).toContainEqual({
        verbs: ['get', 'list', 'watch'],
        apiGroups: [''],
        resources: ['configmaps', 'pods/log'],
      });
      expect(at(rules.body, 'status', 'incomplete')).toBe(false);
      await client().delete(`${rbac}/namespaces/c-access/rolebindings/nobody`);
      expect((await client().get(maps, { token })).code).toBe(403);
    });

    test('is asked by a caller about itself', async () => {
      const review = (token: string | null) =>
        client().post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { token });
      const reply = await review(client().target.token);
      const code = await client().expected(selfSubjectReview);
      expect(reply.code, reply.text).toBe(code);
      expect((await review(null)).code).toBe(403);
      if (code !== 201) return;
      expect(reply.body).toMatchObject({ kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' });
      expect(at(reply.body, 'status', 'userInfo')).toMatchObject({
        username: 'admin',
        groups: ['system:masters', 'system:authenticated'],
      });
      expect(at((await review(nobody())).body, 'status', 'userInfo', 'username')).toBe('nobody');
    });

    test('begins with who one is', async () => {
      const tokens = async (token: string): Promise<JsonObject> => {
        const reply = await client().post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
        expect(reply.code).toBe(201);
        return asObject(reply.body.status);
      };
      expect(await tokens(nobody())).toMatchObject({ authenticated: true, user: { username: 'nobody' } });
      expect(asArray(at(await tokens(client().target.token), 'user', 'groups'))).toContain('system:masters');
      expect((await tokens('stranger')).authenticated).toBeUndefined();
      const stranger = await client().get(maps, { token: 'stranger' });
      expect(stranger.body).toMatchObject({
        kind: 'Status',
        code: 401,
        reason: 'Unauthorized',
        message: 'Unauthorized',
      });
      const anonymous = await client().get(maps, { token: null });
      expect(anonymous.body).toMatchObject({
        code: 403,
        message: expect.stringContaining('User "system:anonymous" cannot list resource "configmaps"'),
      });
      expect((await client().get('/readyz', { token: null })).code).toBe(200);
      expect((await client().get('/api', { token: nobody() })).code).toBe(200);
    });
  });
}
