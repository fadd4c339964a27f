/** From creation to the end: generated names, dry runs, preconditions, subresources, finalizers, owners, namespaces. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, asString, at, type JsonObject } from '../../sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import {
  type ConformanceClient,
  causesOf,
  makeNamespace,
  namesOf,
  type Reply,
  versionOf,
} from './conformance-client.ts';
import { incompleteOwnerCause } from './version-differences.ts';

const patience = 40_000;

export function lifecycleCases(client: () => ConformanceClient): void {
  let maps = '';
  const make = (name: string, metadata: JsonObject = {}) => client().post(maps, { metadata: { name, ...metadata } });
  const gone = async (path: string): Promise<void> => {
    await eventually(async () => expect((await client().get(path)).code).toBe(404), patience);
  };

  describe('objects', () => {
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-objects')}/configmaps`;
    });

    test('get the metadata that the server alone sets', async () => {
      const made = await make('set', {
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        generation: 7,
        selfLink: '/x',
      });
      const metadata = asObject(made.body.metadata);
      expect(metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(metadata.creationTimestamp).toMatch(/^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(metadata.namespace).toBe('c-objects');
      expect(metadata.resourceVersion).toMatch(/^\d+$/);
    });

    test('get a generated name', async () => {
      const made = await client().post(maps, { metadata: { generateName: 'gen-' } });
      expect(made.body.metadata).toMatchObject({
        generateName: 'gen-',
        name: expect.stringMatching(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
      });
      const both = await client().post(maps, { metadata: { generateName: 'gen-', name: 'given' } });
      expect(both.body.metadata).toMatchObject({ generateName: 'gen-', name: 'given' });
      expect((await client().post(maps, { metadata: { generateName: 'Bad_' } })).code).toBe(422);
    });

    test('are not written by dry runs', async () => {
      const dry = '?dryRun=All';
      expect((await client().post(maps + dry, { metadata: { name: 'dry' } })).code).toBe(201);
      expect((await client().get(`${maps}/dry`)).code).toBe(404);
      const made = await make('wet', { labels: { dry: 'no' } });
      const put = await client().put(`${maps}/wet${dry}`, { metadata: { name: 'wet' }, data: { a: '1' } });
      expect([put.code, put.body.data]).toEqual([200, { a: '1' }]);
      expect((await client().patch(`${maps}/wet${dry}`, 'merge', { data: { b: '1' } })).body.data).toEqual({ b: '1' });
      expect((await client().delete(`${maps}/wet${dry}`)).code).toBe(200);
      expect((await client().delete(`${maps}${dry}&labelSelector=dry%3Dno`)).code).toBe(200);
      expect((await client().get(`${maps}/wet`)).body).toEqual(made.body);
      const odd = await client().post(`${maps}?dryRun=Some`, { metadata: { name: 'odd' } });
      expect(odd.body).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(causesOf(odd)).toEqual(['dryRun FieldValueNotSupported']);
    });

    test('are deleted only as they are meant', async () => {
      const made = await make('meant');
      const uid = asString(at(made.body, 'metadata', 'uid'));
      const newer = await client().patch(`${maps}/meant`, 'merge', { data: { a: '1' } });
      const stale = await client().delete(`${maps}/meant`, { preconditions: { resourceVersion: versionOf(made) } });
      expect(stale.body).toMatchObject({ code: 409, reason: 'Conflict' });
      expect((await client().delete(`${maps}/meant`, { preconditions: { uid: 'other' } })).code).toBe(409);
      const right = { preconditions: { uid, resourceVersion: versionOf(newer) } };
      const done = await client().delete(`${maps}/meant`, right);
      expect(done.body).toMatchObject({
        kind: 'Status',
        status: 'Success',
        details: { name: 'meant', kind: 'configmaps', uid },
      });
      const again = await client().delete(`${maps}/meant`);
      expect(again.body).toMatchObject({
        kind: 'Status',
        status: 'Failure',
        message: 'configmaps "meant" not found',
        reason: 'NotFound',
        details: { name: 'meant', kind: 'configmaps' },
        code: 404,
      });
    });

    test('are deleted as a collection, by selector', async () => {
      for (const name of ['x1', 'x2']) await make(name, { labels: { set: 'x' } });
      await make('y1', { labels: { set: 'y' } });
      const done = await client().delete(`${maps}?labelSelector=set%3Dx`);
      expect(done.body).toMatchObject({ kind: 'ConfigMapList' });
      expect(namesOf(done).sort()).toEqual(['x1', 'x2']);
      expect(namesOf(await client().get(`${maps}?labelSelector=set`))).toEqual(['y1']);
      expect((await client().delete('/api/v1/configmaps')).code).toBe(405);
    });

    test('with a status have it under its own path', async () => {
      const pods = maps.replace('configmaps', 'pods');
      const spec = { containers: [{ name: 'c', image: 'example/c:1' }] };
      const made = await client().post(pods, { metadata: { name: 'p' }, spec, status: { message: 'mine' } });
      expect(made.body.status).toMatchObject({ phase: 'Pending' });
      expect(at(made.body, 'status', 'message')).toBeUndefined();
      const changed = {
        containers: [{ ...asObject(asArray(at(made.body, 'spec', 'containers'))[0]), image: 'example/c:2' }],
      };
      const put = await client().put(`${pods}/p/status`, {
        ...made.body,
        metadata: { name: 'p' },
        spec: { ...asObject(made.body.spec), ...changed },
        status: { ...asObject(made.body.status), message: 'told' },
      });
      expect(put.body).toMatchObject({ spec, status: { message: 'told' } });
      expect((await client().get(`${pods}/p/status`)).body.kind).toBe('Pod');
      const patched = await client().patch(`${pods}/p`, 'strategic', {
        spec: { containers: [{ name: 'c', image: 'example/c:3' }] },
        status: { message: 'no' },
      });
      expect(patched.body).toMatchObject({
        spec: { containers: [{ image: 'example/c:3' }] },
        status: { message: 'told' },
      });
      expect((await client().get(`${maps}/y1/status`)).code).toBe(404);
      expect((await client().get(`${maps}/y1/none`)).code).toBe(404);
    });

    test('with finalizers stay, and are not made anew meanwhile', async () => {
      expect((await make('unqualified', { finalizers: ['none'] })).code).toBe(422);
      await make('held', { finalizers: ['example.com/a', 'example.com/b'] });
      const first = await client().delete(`${maps}/held`);
      const marked = at(first.body, 'metadata', 'deletionTimestamp');
      expect(marked).toBeTypeOf('string');
      const second = await client().delete(`${maps}/held`);
      expect(at(second.body, 'metadata', 'deletionTimestamp')).toBe(marked);
      expect((await make('held')).body).toMatchObject({ code: 409, reason: 'AlreadyExists' });
      await client().patch(`${maps}/held`, 'merge', { metadata: { finalizers: ['example.com/b'] } });
      expect((await client().get(`${maps}/held`)).code).toBe(200);
      const last = await client().patch(`${maps}/held`, 'merge', { metadata: { finalizers: [] } });
      expect(last.code).toBe(200);
      expect((await client().get(`${maps}/held`)).code).toBe(404);
    });

    test.each([
      ['POST over an object', 'POST', '/y1', {}, 405],
      ['PATCH over a collection', 'PATCH', '', {}, 405],
      ['an odd type', 'POST', '', 'x', 415],
      ['no object', 'POST', '', '[]', 400],
      ['half an object', 'POST', '', '{"metadata":', 400],
      ['another apiVersion', 'POST', '', { apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'v' } }, 400],
    ])('refuse %s', async (_what, method, path, body, code) => {
      const type =
        code === 415 ? 'text/plain' : method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const reply = await client().send(method, maps + path, body, { type });
      expect(reply.body, reply.text).toMatchObject({ kind: 'Status', status: 'Failure', code });
    });

    test('are refused with causes that name fields', async () => {
      const labels = { app: 'd' };
      const deployment = (spec: JsonObject): Promise<Reply> =>
        client().post('/apis/apps/v1/namespaces/c-objects/deployments', { metadata: { name: 'bad' }, spec });
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example/c:1' }] } };
      const unselected = await deployment({ selector: { matchLabels: { app: 'x' } }, template });
      expect(unselected.body).toMatchObject({
        code: 422,
        reason: 'Invalid',
        details: { name: 'bad', group: 'apps', kind: 'Deployment' },
      });
      expect(causesOf(unselected)).toEqual(['spec.template.metadata.labels FieldValueInvalid']);
      const empty = await deployment({
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [] } },
      });
      expect(causesOf(empty)).toEqual(['spec.template.spec.containers FieldValueRequired']);
      const label = await make('label', { labels: { a: 'not valid' } });
      expect(causesOf(label)).toEqual(['metadata.labels FieldValueInvalid']);
      const key = await client().post(maps, { metadata: { name: 'key' }, data: { 'not valid': '1' } });
      expect(causesOf(key)).toEqual(['data[not valid] FieldValueInvalid']);
      const name = await make('x'.repeat(300));
      expect(causesOf(name)).toEqual(['metadata.name FieldValueInvalid']);
    });
  });

  describe('owners', () => {
    let namespace = '';
    beforeAll(async () => {
      namespace = await makeNamespace(client(), 'c-owners');
      maps = `${namespace}/configmaps`;
    });
    const family = async (owner: string, children: readonly string[]): Promise<void> => {
      const made = await make(owner);
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: at(made.body, 'metadata', 'uid') };
      for (const child of children)
        await make(child, { ownerReferences: [{ ...reference, blockOwnerDeletion: true }] });
    };

    test('that go in the background take what they own with them', async () => {
      await family('back', ['back-1', 'back-2']);
      expect((await client().delete(`${maps}/back`, { propagationPolicy: 'Background' })).body.kind).toBe('Status');
      expect((await client().get(`${maps}/back`)).code).toBe(404);
      await gone(`${maps}/back-1`);
      await gone(`${maps}/back-2`);
    });

    test('that go in the foreground wait for what they own', async () => {
      await family('fore', ['fore-1']);
      await client().patch(`${maps}/fore-1`, 'merge', { metadata: { finalizers: ['example.com/wait'] } });
      const marked = await client().delete(`${maps}/fore`, { propagationPolicy: 'Foreground' });
      expect(marked.body.metadata).toMatchObject({
        finalizers: ['foregroundDeletion'],
        deletionTimestamp: expect.any(String),
      });
      await eventually(async () => {
        const child = await client().get(`${maps}/fore-1`);
        expect(at(child.body, 'metadata', 'deletionTimestamp')).toBeTypeOf('string');
      }, patience);
      expect((await client().get(`${maps}/fore`)).code).toBe(200);
      await client().patch(`${maps}/fore-1`, 'merge', { metadata: { finalizers: null } });
      await gone(`${maps}/fore-1`);
      await gone(`${maps}/fore`);
    });

    test('that leave orphans leave them without owner', async () => {
      await family('left', ['left-1']);
      await client().delete(`${maps}/left`, { propagationPolicy: 'Orphan' });
      await gone(`${maps}/left`);
      const child = await client().get(`${maps}/left-1`);
      expect(child.code).toBe(200);
      expect(at(child.body, 'metadata', 'ownerReferences')).toBeUndefined();
    });

    test('that were never there let nothing stay', async () => {
      const nobody = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'nobody',
        uid: '11111111-2222-4333-8444-555555555555',
      };
      await make('dangling', { ownerReferences: [nobody] });
      await gone(`${maps}/dangling`);
    });

    test('are one of two: what another one owns stays', async () => {
      await make('first');
      const second = await make('second');
      const reference = async (name: string): Promise<JsonObject> => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid: at((await client().get(`${maps}/${name}`)).body, 'metadata', 'uid'),
      });
      await make('shared', { ownerReferences: [await reference('first'), await reference('second')] });
      await client().delete(`${maps}/first`);
      await eventually(async () => {
        const shared = await client().get(`${maps}/shared`);
        expect(asArray(at(shared.body, 'metadata', 'ownerReferences')).map((owner) => asObject(owner).uid)).toEqual([
          at(second.body, 'metadata', 'uid'),
        ]);
      }, patience);
    });

    test.each([
      ['Sometimes', { propagationPolicy: 'Sometimes' }],
      ['two policies', { propagationPolicy: 'Orphan', orphanDependents: true }],
    ])('are not deleted by %s', async (_what, options) => {
      await make('kept');
      expect((await client().delete(`${maps}/kept`, options)).body).toMatchObject({ code: 422, reason: 'Invalid' });
    });

    test('need a whole reference', async () => {
      const reply = await make('unowned', {
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '' }],
      });
      expect(reply.code).toBe(422);
      expect(causesOf(reply)).toEqual([await client().expected(incompleteOwnerCause)]);
    });
  });

  describe('namespaces', () => {
    test('end with what is in them, and take nothing new meanwhile', async () => {
      const path = await makeNamespace(client(), 'c-ending');
      expect((await client().get(path)).body).toMatchObject({
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      });
      const held = { metadata: { name: 'held', finalizers: ['example.com/a'] } };
      await client().post(`${path}/configmaps`, held);
      await client().post(`${path}/configmaps`, { metadata: { name: 'free' } });
      const ending = await client().delete(path);
      expect(ending.code).toBe(200);
      expect((await client().get(path)).body).toMatchObject({ status: { phase: 'Terminating' } });
      const refused = await client().post(`${path}/configmaps`, { metadata: { name: 'late' } });
      expect(refused.body).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(causesOf(refused)).toEqual(['metadata.namespace NamespaceTerminating']);
      await gone(`${path}/configmaps/free`);
      await eventually(async () => {
        const last = await client().get(`${path}/configmaps/held`);
        expect(at(last.body, 'metadata', 'deletionTimestamp')).toBeTypeOf('string');
      }, patience);
      expect((await client().get(path)).code).toBe(200);
      await client().patch(`${path}/configmaps/held`, 'merge', { metadata: { finalizers: null } });
      await gone(path);
      expect((await client().post(`${path}/configmaps`, { metadata: { name: 'late' } })).code).toBe(404);
    });

    test('are not deleted as a collection, and some not at all', async () => {
      expect((await client().delete('/api/v1/namespaces')).code).toBe(405);
      expect((await client().delete('/api/v1/namespaces/default')).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
      });
    });
  });
}
