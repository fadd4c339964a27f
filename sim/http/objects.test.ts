import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimClient } from '../../test/kit/sim-client.ts';
import { asArray, asObject, at } from '../objects/json.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';

let cluster: SimCluster;
let client: SimClient;
const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const container = { name: 'main', image: 'example/main:1' };
const deployment = (name: string): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
  },
});

beforeAll(async () => {
  cluster = await startSimCluster();
  client = new SimClient(cluster.url, { 'User-Agent': 'tester/1.0' });
});
afterAll(() => cluster.close());

describe('create', () => {
  test('fills in what the server sets and drops unknown fields', async () => {
    const { status, body } = await client.post(maps, {
      metadata: { name: 'created', labels: { a: 'b' } },
      data: { k: 'v' },
      bogus: 1,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } });
    expect(body.bogus).toBeUndefined();
    expect(body.metadata).toMatchObject({
      name: 'created',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
      resourceVersion: expect.stringMatching(/^\d+$/),
      creationTimestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      managedFields: [{ manager: 'tester', operation: 'Update', fieldsV1: { 'f:data': { 'f:k': {} } } }],
    });
    expect((await client.get(`${maps}/created`)).body).toEqual(body);
  });

  test('makes names from generateName', async () => {
    const { body } = await client.post(maps, { metadata: { generateName: 'made-' } });
    expect(at(body, 'metadata', 'name')).toMatch(/^made-[a-z0-9]{5}$/);
    // Both creates start from the same random sequence, so the second must skip the name that the first one took.
    const throws = [0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let next = 0;
    const loaded = await startSimCluster({ random: () => throws[next++ % throws.length] ?? 0 });
    try {
      const names = ['x', 'y', 'z'].map(() =>
        loaded.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } }),
      );
      expect(new Set(names.map((item) => at(item, 'metadata', 'name'))).size).toBe(3);
    } finally {
      await loaded.close();
    }
  });

  test.each([
    ['an existing name', maps, { metadata: { name: 'created' } }, 409, 'AlreadyExists'],
    ['a missing namespace', '/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } }, 404, 'NotFound'],
    ['a bad name', maps, { metadata: { name: 'Not_OK' } }, 422, 'Invalid'],
    ['no name', maps, { metadata: {} }, 422, 'Invalid'],
    ['another kind', maps, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } }, 400, 'BadRequest'],
    ['another namespace', maps, { metadata: { name: 'a', namespace: 'kube-system' } }, 400, 'BadRequest'],
    ['a wrong type', maps, { metadata: { name: 'a' }, data: { k: 1 } }, 400, 'BadRequest'],
    ['text that is not JSON', maps, '{', 400, 'BadRequest'],
  ])('refuses %s', async (_what, path, body, code, reason) => {
    const answer = await client.post(path, body);
    expect(answer.status).toBe(code);
    expect(answer.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code });
  });

  test('refuses unknown fields when asked to be strict', async () => {
    const body = { metadata: { name: 'strict' }, data: {}, bogus: 1 };
    const refused = await client.post(`${maps}?fieldValidation=Strict`, body);
    const message =
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "bogus"';
    expect(refused).toMatchObject({ status: 400, body: { message } });
    const packed = await client.send('POST', maps, 'k8s', { 'Content-Type': 'application/vnd.kubernetes.protobuf' });
    expect(packed.status).toBe(415);
  });

  test('writes nothing in a dry run', async () => {
    expect((await client.post(`${maps}?dryRun=All`, { metadata: { name: 'dry' } })).status).toBe(201);
    expect((await client.get(`${maps}/dry`)).status).toBe(404);
  });

  test('applies the defaults of built-in kinds', async () => {
    const { body } = await client.post(deployments, deployment('defaulted'));
    expect(body.spec).toMatchObject({ replicas: 1, strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10 });
    expect(at(body, 'spec', 'template', 'spec')).toMatchObject({
      restartPolicy: 'Always',
      containers: [{ ...container, imagePullPolicy: 'IfNotPresent' }],
    });
    expect(at(body, 'metadata', 'generation')).toBe(1);
  });

  test('keeps integers beyond the range of a double', async () => {
    const body = '{"metadata":{"name":"big"},"spec":{"holderIdentity":"x","leaseTransitions":9007199254740993}}';
    const answer = await fetch(`${cluster.url}/apis/coordination.k8s.io/v1/namespaces/default/leases`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    expect(await answer.text()).toContain('"leaseTransitions":9007199254740993');
  });
});

describe('update', () => {
  test('refuses a stale resourceVersion and accepts the present one', async () => {
    const { body } = await client.post(maps, { metadata: { name: 'updated' }, data: { k: '1' } });
    const next = await client.put(`${maps}/updated`, { ...body, data: { k: '2' } });
    expect(next.status).toBe(200);
    expect(Number(at(next.body, 'metadata', 'resourceVersion'))).toBeGreaterThan(
      Number(at(body, 'metadata', 'resourceVersion')),
    );
    const stale = await client.put(`${maps}/updated`, { ...body, data: { k: '3' } });
    expect(stale.status).toBe(409);
    expect(stale.body.reason).toBe('Conflict');
    expect(stale.body.message).toMatch(/the object has been modified/);
  });

  test('keeps the version when nothing changes', async () => {
    const { body } = await client.post(maps, { metadata: { name: 'same' }, data: { k: '1' } });
    const again = await client.put(`${maps}/same`, body);
    expect(again.body).toEqual(body);
  });

  test('cannot change uid or creation time', async () => {
    const { body } = await client.post(maps, { metadata: { name: 'identity' } });
    const moved = await client.put(`${maps}/identity`, {
      ...body,
      metadata: { ...asObject(body.metadata), uid: 'other' },
    });
    expect(moved.status).toBe(409);
    const late = { ...asObject(body.metadata), creationTimestamp: '2000-01-01T00:00:00Z', labels: { x: 'y' } };
    const kept = await client.put(`${maps}/identity`, { ...body, metadata: late });
    expect(at(kept.body, 'metadata', 'creationTimestamp')).toBe(at(body, 'metadata', 'creationTimestamp'));
  });

  test('separates status from the rest and counts generations of the spec only', async () => {
    const { body } = await client.post(deployments, deployment('parts'));
    const status = { replicas: 3 };
    const ignored = await client.put(`${deployments}/parts`, { ...body, status });
    expect(at(ignored.body, 'status', 'replicas')).toBeUndefined();
    const spec = { ...asObject(body.spec), replicas: 9 };
    const reported = await client.put(`${deployments}/parts/status`, { ...ignored.body, spec, status });
    expect(reported.body.status).toMatchObject(status);
    expect(at(reported.body, 'spec', 'replicas')).toBe(1);
    expect(at(reported.body, 'metadata', 'generation')).toBe(1);
    const scaled = await client.put(`${deployments}/parts`, { ...reported.body, spec });
    expect(at(scaled.body, 'metadata', 'generation')).toBe(2);
    expect(scaled.body.status).toMatchObject(status);
  });
});

describe('patch', () => {
  test('merges, also JSON patches and strategic merges', async () => {
    await client.post(deployments, deployment('patched'));
    const path = `${deployments}/patched`;
    const merged = await client.patch(path, 'merge', { metadata: { labels: { a: '1' } }, spec: { replicas: 2 } });
    expect(merged.body).toMatchObject({ metadata: { labels: { a: '1' }, generation: 2 }, spec: { replicas: 2 } });
    const json = await client.patch(path, 'json', [{ op: 'replace', path: '/spec/replicas', value: 3 }]);
    expect(at(json.body, 'spec', 'replicas')).toBe(3);
    const sidecar = { spec: { template: { spec: { containers: [{ name: 'sidecar', image: 'example/sidecar:1' }] } } } };
    const strategic = await client.patch(path, 'strategic', sidecar);
    expect(
      asArray(at(strategic.body, 'spec', 'template', 'spec', 'containers')).map((item) => asObject(item).name),
    ).toEqual(['main', 'sidecar']);
    const status = await client.patch(`${path}/status`, 'merge', { spec: { replicas: 9 }, status: { replicas: 1 } });
    expect(status.body).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 1 } });
  });

  test('refuses a stale version in the patch, an unknown type, and a missing object', async () => {
    await client.post(maps, { metadata: { name: 'guarded' } });
    expect((await client.patch(`${maps}/guarded`, 'merge', { metadata: { resourceVersion: '1' } })).status).toBe(409);
    expect((await client.send('PATCH', `${maps}/guarded`, {}, { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await client.patch(`${maps}/absent`, 'merge', {})).status).toBe(404);
  });

  test('applies: creates, merges, removes what is left out, and reports conflicts', async () => {
    const path = `${maps}/applied`;
    const config = (data: object): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'applied' },
      data,
    });
    const created = await client.patch(`${path}?fieldManager=one`, 'apply', config({ a: '1', b: '1' }));
    expect(created.status).toBe(201);
    expect(at(created.body, 'metadata', 'managedFields')).toMatchObject([{ manager: 'one', operation: 'Apply' }]);
    const smaller = await client.patch(`${path}?fieldManager=one`, 'apply', config({ a: '1' }));
    expect(smaller.body.data).toEqual({ a: '1' });
    const second = await client.patch(`${path}?fieldManager=two`, 'apply', config({ c: '3' }));
    expect(second.body.data).toEqual({ a: '1', c: '3' });
    const conflict = await client.patch(`${path}?fieldManager=two`, 'apply', config({ a: '2', c: '3' }));
    expect(conflict.status).toBe(409);
    expect(at(conflict.body, 'details', 'causes')).toMatchObject([
      { reason: 'FieldManagerConflict', field: '.data.a' },
    ]);
    const forced = await client.patch(`${path}?fieldManager=two&force=true`, 'apply', config({ a: '2', c: '3' }));
    expect(forced.body.data).toEqual({ a: '2', c: '3' });
    const again = await client.patch(`${path}?fieldManager=two&force=true`, 'apply', config({ a: '2', c: '3' }));
    expect(at(again.body, 'metadata', 'resourceVersion')).toBe(at(forced.body, 'metadata', 'resourceVersion'));
    expect((await client.patch(path, 'apply', config({}))).status).toBe(422);
  });
});

describe('scale', () => {
  test('reads and writes the number of replicas', async () => {
    await client.post(deployments, deployment('scaled'));
    const scale = await client.get(`${deployments}/scaled/scale`);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { selector: 'app=scaled' },
    });
    expect((await client.put(`${deployments}/scaled/scale`, { ...scale.body, spec: { replicas: 4 } })).status).toBe(
      200,
    );
    expect(at((await client.get(`${deployments}/scaled`)).body, 'spec', 'replicas')).toBe(4);
  });
});

describe('delete', () => {
  test('answers a Status, honours preconditions, and is not found afterwards', async () => {
    const { body } = await client.post(maps, { metadata: { name: 'deleted' } });
    const wrong = await client.delete(`${maps}/deleted`, { preconditions: { uid: 'other' } });
    expect(wrong.status).toBe(409);
    const done = await client.delete(`${maps}/deleted`);
    expect(done.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'deleted', kind: 'configmaps', uid: at(body, 'metadata', 'uid') },
    });
    expect((await client.delete(`${maps}/deleted`)).status).toBe(404);
  });

  test('waits for finalizers', async () => {
    await client.post(maps, { metadata: { name: 'held', finalizers: ['example.com/a', 'example.com/b'] } });
    const marked = await client.delete(`${maps}/held`);
    expect(at(marked.body, 'metadata', 'deletionTimestamp')).toBeTypeOf('string');
    const one = await client.patch(`${maps}/held`, 'merge', { metadata: { finalizers: ['example.com/b'] } });
    expect(one.status).toBe(200);
    await client.patch(`${maps}/held`, 'merge', { metadata: { finalizers: null } });
    expect((await client.get(`${maps}/held`)).status).toBe(404);
  });

  test('deletes a collection by selector', async () => {
    for (const name of ['c1', 'c2']) await client.post(maps, { metadata: { name, labels: { group: 'x' } } });
    await client.post(maps, { metadata: { name: 'c3', labels: { group: 'y' } } });
    const done = await client.delete(`${maps}?labelSelector=group%3Dx`);
    expect(asArray(done.body.items)).toHaveLength(2);
    expect((await client.get(`${maps}/c1`)).status).toBe(404);
    expect((await client.get(`${maps}/c3`)).status).toBe(200);
  });
});

describe('the rest of the surface', () => {
  test('answers health, version and unknown paths', async () => {
    expect((await client.get('/healthz')).body.text).toBe('ok');
    expect((await client.get('/version')).body).toMatchObject({
      major: '1',
      gitVersion: expect.stringMatching(/^v1\./),
    });
    expect(await client.get('/apis/nowhere/v1/things')).toMatchObject({
      status: 404,
      body: { text: '404 page not found\n' },
    });
    expect((await client.get('/api/v1/things')).body).toMatchObject({ kind: 'Status', code: 404 });
    expect((await client.get('/api/v1/namespaces/default/nodes')).status).toBe(404);
    expect((await client.post('/api/v1/componentstatuses', {})).status).toBe(405);
    expect((await client.get('/api/v1/componentstatuses?watch=1')).status).toBe(405);
  });

  test('answers reviews', async () => {
    const access = await client.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'list', resource: 'pods' } },
    });
    expect(access.status).toBe(201);
    expect(access.body).toMatchObject({ kind: 'SelfSubjectAccessReview', status: { allowed: true } });
    const token = await client.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 't' } });
    expect(token.body).toMatchObject({ status: { authenticated: true } });
  });

  test('serves one Event under two groups', async () => {
    const regarding = { kind: 'Pod', name: 'p', namespace: 'default' };
    const event = {
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding,
      note: 'hello',
      reason: 'Why',
      type: 'Normal',
    };
    expect((await client.post('/apis/events.k8s.io/v1/namespaces/default/events', event)).status).toBe(201);
    const core = await client.get('/api/v1/namespaces/default/events/e');
    expect(core.body).toMatchObject({ apiVersion: 'v1', involvedObject: regarding, message: 'hello' });
    const found = await client.get('/api/v1/events?fieldSelector=involvedObject.name%3Dp');
    expect(asArray(found.body.items)).toHaveLength(1);
    const modern = await client.get(
      '/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.name%3Dp',
    );
    expect(asArray(modern.body.items)).toMatchObject([{ note: 'hello' }]);
  });

  test('shows metadata alone on request', async () => {
    const accept = { Accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json' };
    const list = await client.get(maps, accept);
    expect(list.body).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
    for (const item of asArray(list.body.items))
      expect(Object.keys(asObject(item))).toEqual(['kind', 'apiVersion', 'metadata']);
  });
});
