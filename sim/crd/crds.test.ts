import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimClient } from '../../test/kit/sim-client.ts';
import { asArray, asObject, at, cloneJson, type JsonObject } from '../objects/json.ts';
import { mysqlCrd, redisCrd } from '../sample/app-store-crds.ts';
import { platformCrds } from '../sample/platform-crds.ts';
import { fooCrd } from '../sample/sample-crds.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const foos = '/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos';
const redises = '/apis/cache.portolan.example/v1/namespaces/default/redises';
const apiVersion = 'samplecontroller.k8s.io/v1alpha1';
const foo = (name: string, spec: JsonObject = { deploymentName: 'd', replicas: 1 }): JsonObject => ({
  apiVersion,
  kind: 'Foo',
  metadata: { name },
  spec,
});
const redis = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'cache.portolan.example/v1',
  kind: 'Redis',
  metadata: { name },
  spec: { version: '7', memory: '1Gi', ...spec },
});

let cluster: SimCluster;
let client: SimClient;
beforeEach(async () => {
  cluster = await startSimCluster();
  client = new SimClient(cluster.url);
});
afterEach(() => cluster.close());

/** The Foo definition with its one version changed. */
function fooWith(change: (version: JsonObject, spec: JsonObject) => void): JsonObject {
  const crd = cloneJson(fooCrd);
  const spec = asObject(crd.spec);
  change(asObject(asArray(spec.versions)[0]), spec);
  return crd;
}

describe('a definition', () => {
  test('serves its resource at once and says so in its status', async () => {
    expect((await client.get(foos)).status).toBe(404);
    expect((await client.post(crds, fooCrd)).status).toBe(201);
    const { body } = await client.get(`${crds}/foos.samplecontroller.k8s.io`);
    const conditions = asArray(at(body, 'status', 'conditions')).map(asObject);
    expect(conditions.map((item) => [item.type, item.status])).toEqual([
      ['NamesAccepted', 'True'],
      ['Established', 'True'],
    ]);
    expect(at(body, 'status', 'storedVersions')).toEqual(['v1alpha1']);
    expect(at(body, 'status', 'acceptedNames', 'kind')).toBe('Foo');
    expect((await client.post(foos, foo('a'))).status).toBe(201);
    const list = await client.get(foos);
    expect(list.body).toMatchObject({
      kind: 'FooList',
      apiVersion,
      items: [{ kind: 'Foo', apiVersion, metadata: { generation: 1 } }],
    });
  });

  test('is refused when it cannot be served', async () => {
    const untyped = fooWith((version) => {
      asObject(asObject(version.schema).openAPIV3Schema).properties = { spec: { properties: {} } };
    });
    const answer = await client.post(crds, untyped);
    expect(answer.body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(at(answer.body, 'details', 'causes')).toMatchObject([
      { field: 'spec.validation.openAPIV3Schema.properties[spec].type' },
    ]);
    const misnamed = { ...cloneJson(fooCrd), metadata: { name: 'bars.samplecontroller.k8s.io' } };
    const refused = await client.post(crds, misnamed);
    expect(asArray(at(refused.body, 'details', 'causes')).map((cause) => asObject(cause).field)).toEqual([
      'metadata.name',
      'metadata.annotations[api-approved.kubernetes.io]',
    ]);
  });

  test('does not take a kind that another one has', async () => {
    await client.post(crds, fooCrd);
    const other = fooWith((_version, spec) => {
      spec.names = { kind: 'Foo', plural: 'foes', singular: 'foe' };
    });
    other.metadata = { ...asObject(other.metadata), name: 'foes.samplecontroller.k8s.io' };
    await client.post(crds, other);
    const { body } = await client.get(`${crds}/foes.samplecontroller.k8s.io`);
    expect(asArray(at(body, 'status', 'conditions')).map((item) => asObject(item).status)).toEqual(['False', 'False']);
    expect((await client.get('/apis/samplecontroller.k8s.io/v1alpha1/foes')).status).toBe(404);
  });

  test('changes what is served when it changes, and ends the watches', async () => {
    await client.post(crds, fooCrd);
    await client.post(foos, foo('a'));
    const before = await client.get('/openapi/v3');
    const watch = await client.watch(
      `${foos}?watch=1&resourceVersion=${String(at((await client.get(foos)).body, 'metadata', 'resourceVersion'))}`,
    );
    const path = `${crds}/foos.samplecontroller.k8s.io`;
    const { body } = await client.get(path);
    const next = cloneJson(body);
    const version = asObject(asArray(at(next, 'spec', 'versions'))[0]);
    const spec = asObject(at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties'));
    spec.color = { type: 'string', default: 'blue' };
    expect((await client.put(path, next)).status).toBe(200);
    expect(await watch.next()).toBeUndefined();
    expect(at((await client.get(`${foos}/a`)).body, 'spec', 'color')).toBe('blue');
    const after = await client.get('/openapi/v3');
    const hash = (answer: JsonObject, name: string): unknown => at(answer, 'paths', name, 'serverRelativeURL');
    expect(hash(after.body, 'apis/samplecontroller.k8s.io/v1alpha1')).not.toBe(
      hash(before.body, 'apis/samplecontroller.k8s.io/v1alpha1'),
    );
    expect(hash(after.body, 'apis/apps/v1')).toBe(hash(before.body, 'apis/apps/v1'));
  });

  test('takes its objects along when it is deleted, after their finalizers', async () => {
    await client.post(crds, fooCrd);
    await client.post(foos, foo('plain'));
    await client.post(foos, { ...foo('held'), metadata: { name: 'held', finalizers: ['example.com/wait'] } });
    const watch = await client.watch(
      `${foos}?watch=1&resourceVersion=${String(at((await client.get(foos)).body, 'metadata', 'resourceVersion'))}`,
    );
    const path = `${crds}/foos.samplecontroller.k8s.io`;
    await client.delete(path);
    expect(at((await client.get(path)).body, 'metadata', 'deletionTimestamp')).toBeTypeOf('string');
    await client.patch(`${foos}/held`, 'merge', { metadata: { finalizers: null } });
    const types: string[] = [];
    for (let event = await watch.next(); event; event = await watch.next())
      types.push(`${event.type} ${String(at(event.object, 'metadata', 'name'))}`);
    expect([...types].sort()).toEqual(['DELETED held', 'DELETED plain', 'MODIFIED held']);
    expect((await client.get(path)).status).toBe(404);
    expect((await client.get(foos)).status).toBe(404);
    expect((await client.get('/apis/samplecontroller.k8s.io')).status).toBe(404);
    expect((await client.post(crds, fooCrd)).status).toBe(201);
    expect(asArray((await client.get(foos)).body.items)).toEqual([]);
  });
});

describe('custom objects', () => {
  beforeEach(async () => {
    for (const crd of [fooCrd, redisCrd, mysqlCrd, ...platformCrds]) await client.post(crds, crd);
  });

  test('are validated with one cause for each fault', async () => {
    const bad = await client.post(foos, foo('bad', { replicas: 0, deploymentName: 3 }));
    expect(bad.body).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringMatching(/^Foo\.samplecontroller\.k8s\.io "bad" is invalid: \[/),
    });
    const causes = asArray(at(bad.body, 'details', 'causes')).map(asObject);
    expect(causes.map((cause) => [cause.reason, cause.field]).sort()).toEqual([
      ['FieldValueInvalid', 'spec.replicas'],
      ['FieldValueTypeInvalid', 'spec.deploymentName'],
    ]);
    expect((await client.post(foos, foo('missing', {}))).status).toBe(422);
    expect((await client.post(redises, redis('r', { mode: 'moon' }))).body.message).toMatch(
      /Unsupported value: "moon"/,
    );
    expect((await client.post(redises, redis('r', { version: 'BAD' }))).status).toBe(422);
  });

  test('are pruned and defaulted, but free JSON is kept', async () => {
    const modules = { any: { thing: [1, null, 'x'] } };
    const { status, body } = await client.post(redises, redis('r', { gone: 1, modules, port: 'redis' }));
    expect(status).toBe(201);
    expect(body.spec).toEqual({
      version: '7',
      mode: 'standalone',
      replicas: 1,
      memory: '1Gi',
      port: 'redis',
      persistent: true,
      modules,
    });
    const database = {
      apiVersion: 'db.portolan.example/v1',
      kind: 'MySQL',
      metadata: { name: 'm' },
      spec: { image: { tag: '8' }, storage: { size: 10 }, backup: {} },
    };
    const stored = await client.post('/apis/db.portolan.example/v1/namespaces/default/mysqls', database);
    expect(stored.body.spec).toEqual({ ...database.spec, instances: 1, backup: { keep: 7 } });
  });

  test('keep status apart, count generations, and scale', async () => {
    const { body } = await client.post(redises, { ...redis('r', {}), status: { phase: 'Ignored' } });
    expect(body.status).toBeUndefined();
    const reported = await client.patch(`${redises}/r/status`, 'merge', {
      status: { phase: 'Running' },
      spec: { version: '9' },
    });
    expect(reported.body).toMatchObject({
      metadata: { generation: 1 },
      spec: { version: '7' },
      status: { phase: 'Running' },
    });
    const changed = await client.patch(`${redises}/r`, 'merge', {
      spec: { version: '2' },
      status: { phase: 'Ignored' },
    });
    expect(changed.body).toMatchObject({ metadata: { generation: 2 }, status: { phase: 'Running' } });
    const scale = await client.get(`${redises}/r/scale`);
    expect((await client.put(`${redises}/r/scale`, { ...scale.body, spec: { replicas: 5 } })).status).toBe(200);
    expect(at((await client.get(`${redises}/r`)).body, 'spec', 'replicas')).toBe(5);
  });

  test('need a resourceVersion to be replaced, and refuse strategic merges', async () => {
    await client.post(foos, foo('a'));
    expect((await client.put(`${foos}/a`, foo('a'))).status).toBe(422);
    expect((await client.patch(`${foos}/a`, 'strategic', {})).status).toBe(415);
  });

  test('can be applied, with list maps merged by key', async () => {
    const project = (members: JsonObject[]): JsonObject => ({
      apiVersion: 'platform.portolan.example/v1',
      kind: 'Project',
      metadata: { name: 'p' },
      spec: { displayName: 'P', owner: { name: 'o' }, members },
    });
    const path = '/apis/platform.portolan.example/v1/projects/p';
    await client.patch(`${path}?fieldManager=one`, 'apply', project([{ user: 'a', role: 'admin' }]));
    const other = { ...project([{ user: 'b', role: 'viewer' }]) };
    const merged = await client.patch(`${path}?fieldManager=two`, 'apply', other);
    expect(at(merged.body, 'spec', 'members')).toEqual([
      { user: 'a', role: 'admin' },
      { user: 'b', role: 'viewer' },
    ]);
    const left = await client.patch(`${path}?fieldManager=one`, 'apply', project([]));
    expect(at(left.body, 'spec', 'members')).toEqual([{ user: 'b', role: 'viewer' }]);
  });

  test('are the same object in every version', async () => {
    const templates = (version: string): string =>
      `/apis/platform.portolan.example/${version}/namespaces/default/templates`;
    const body = {
      apiVersion: 'platform.portolan.example/v1',
      kind: 'Template',
      metadata: { name: 't' },
      spec: { title: 'T', engine: 'helm', maintainers: ['m'] },
    };
    await client.post(templates('v1'), body);
    const beta = await client.get(`${templates('v1beta1')}/t`);
    expect(beta.body).toMatchObject({ apiVersion: 'platform.portolan.example/v1beta1', spec: { title: 'T' } });
    expect(at(beta.body, 'spec', 'maintainers')).toBeUndefined();
    expect(at((await client.get(`${templates('v1')}/t`)).body, 'spec', 'maintainers')).toEqual(['m']);
    const group = await client.get('/apis/platform.portolan.example');
    expect(at(group.body, 'preferredVersion', 'version')).toBe('v1');
  });

  test('are found by selectable fields only', async () => {
    await client.post(redises, redis('a', { mode: 'standalone' }));
    await client.post(redises, redis('b', { mode: 'sentinel' }));
    const found = await client.get(`${redises}?fieldSelector=spec.mode%3Dsentinel`);
    expect(asArray(found.body.items).map((item) => at(item, 'metadata', 'name'))).toEqual(['b']);
    expect((await client.get(`${redises}?fieldSelector=spec.version%3D7`)).status).toBe(400);
  });
});
