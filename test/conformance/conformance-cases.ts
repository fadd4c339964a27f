/**
 * The same requests and expectations for the simulated cluster and for real API servers: the main one, which the simulator follows, and
 * an old one. A disagreement between the simulator and the main server is a defect of the simulator. Where the two real servers differ,
 * `version-differences.ts` names the difference and has the expectations for both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, asString, at, type JsonObject, parseJson } from '../../sim/objects/json.ts';
import { accessCases } from './access-cases.ts';
import {
  ConformanceClient,
  type ConformanceTarget,
  causesOf,
  namesOf,
  patchTypes,
  type Reply,
  versionOf,
} from './conformance-client.ts';
import { customDefinitionCases, customObjectCases } from './custom-object-cases.ts';
import { discoveryCases } from './discovery-cases.ts';
import { evictionCases } from './eviction-cases.ts';
import { lifecycleCases } from './lifecycle-cases.ts';
import { compactionCases, listCases } from './list-cases.ts';
import { patchCases } from './patch-cases.ts';
import { scaleCases } from './scale-cases.ts';
import { selectorCases } from './selector-cases.ts';
import { shapeCases } from './shape-cases.ts';
import { oddFieldValidation, strictUnknownField, unknownFieldWarning } from './version-differences.ts';
import { watchCases } from './watch-cases.ts';
import { writeCases } from './write-cases.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const { merge, apply } = patchTypes;
const applied = (data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data,
});

export function conformanceCases(start: () => Promise<ConformanceTarget>): void {
  let client: ConformanceClient;
  beforeAll(async () => {
    client = new ConformanceClient(await start());
  }, 120_000);
  afterAll(() => client?.target.stop(), 60_000);
  const the = (): ConformanceClient => client;

  discoveryCases(the);
  describe('requests', () => requestCases(the));
  listCases(the);
  watchCases(the);
  patchCases(the);
  selectorCases(the);
  writeCases(the);
  scaleCases(the);
  lifecycleCases(the);
  evictionCases(the);
  accessCases(the);
  shapeCases(the);
  customDefinitionCases(the);
  customObjectCases(the);
  compactionCases(the);
}

function requestCases(client: () => ConformanceClient): void {
  const send = (method: string, path: string, body?: unknown, type = 'application/json'): Promise<Reply> =>
    client().send(method, path, body, { type });

  test.each([
    [
      'creates',
      'POST',
      maps,
      { metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'v' }, bogus: 1 },
      201,
      undefined,
    ],
    ['finds a name taken', 'POST', maps, { metadata: { name: 'a' } }, 409, 'AlreadyExists'],
    ['wants a name', 'POST', maps, { metadata: {} }, 422, 'Invalid'],
    ['wants a good name', 'POST', maps, { metadata: { name: 'Bad_N' } }, 422, 'Invalid'],
    [
      'wants the namespace',
      'POST',
      '/api/v1/namespaces/nowhere/configmaps',
      { metadata: { name: 'a' } },
      404,
      'NotFound',
    ],
    [
      'wants the kind of the path',
      'POST',
      maps,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } },
      400,
      'BadRequest',
    ],
    [
      'wants the namespace of the path',
      'POST',
      maps,
      { metadata: { name: 'q', namespace: 'kube-system' } },
      400,
      'BadRequest',
    ],
    ['wants the right types', 'POST', maps, { metadata: { name: 'q' }, data: { k: 1 } }, 400, 'BadRequest'],
    ['wants no version at creation', 'POST', maps, { metadata: { name: 'q', resourceVersion: '5' } }, 500, undefined],
    ['does not find an object', 'GET', `${maps}/none`, undefined, 404, 'NotFound'],
    ['does not find a resource', 'GET', '/api/v1/things', undefined, 404, 'NotFound'],
    ['does not find a group', 'GET', '/apis/none/v1/things', undefined, 404, undefined],
    ['refuses a stale version', 'PUT', `${maps}/a`, { metadata: { name: 'a', resourceVersion: '1' } }, 409, 'Conflict'],
    ['refuses another name', 'PUT', `${maps}/a`, { metadata: { name: 'b' } }, 400, 'BadRequest'],
    ['refuses another uid', 'PUT', `${maps}/a`, { metadata: { name: 'a', uid: 'x' } }, 409, 'Conflict'],
    ['replaces without a version', 'PUT', `${maps}/a`, { metadata: { name: 'a' }, data: { k: '2' } }, 200, undefined],
    ['does not PUT a collection', 'PUT', maps, {}, 405, 'MethodNotAllowed'],
    ['does not POST over all namespaces', 'POST', '/api/v1/configmaps', {}, 405, 'MethodNotAllowed'],
    ['refuses a match without a version', 'GET', `${maps}?resourceVersionMatch=Exact`, undefined, 422, 'Invalid'],
    [
      'refuses to match zero exactly',
      'GET',
      `${maps}?resourceVersion=0&resourceVersionMatch=Exact`,
      undefined,
      422,
      'Invalid',
    ],
    ['refuses a foreign token', 'GET', `${maps}?continue=zzzz`, undefined, 400, 'BadRequest'],
    ['refuses an odd label selector', 'GET', `${maps}?labelSelector=a%20in%20b`, undefined, 400, 'BadRequest'],
    ['refuses an odd field selector', 'GET', `${maps}?fieldSelector=data.k%3Dv`, undefined, 400, 'BadRequest'],
    ['waits for a version of the future', 'GET', `${maps}?resourceVersion=99999999`, undefined, 504, 'Timeout'],
    ['refuses a false uid at deletion', 'DELETE', `${maps}/a`, { preconditions: { uid: 'x' } }, 409, 'Conflict'],
    [
      'knows no stranger',
      'POST',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { spec: { token: 'stranger' } },
      201,
      undefined,
    ],
  ])('%s', async (_what, method, path, body, code, reason) => {
    const reply = await send(method, path, body);
    expect(reply.code, reply.text).toBe(code);
    expect(reply.body.reason).toBe(reason);
    if (code >= 400 && reply.body.kind !== undefined)
      expect(reply.body).toMatchObject({ kind: 'Status', status: 'Failure', code });
  });

  test('warns of unknown fields and drops them, or refuses them where the caller asks for strict validation', async () => {
    const path = `${maps}/unknown`;
    const unknown = { metadata: { name: 'unknown' }, bogus: 1 };
    const strict = await client().expected(strictUnknownField);
    const refused = await send('POST', `${maps}?fieldValidation=Strict&dryRun=All`, unknown);
    expect(refused.code, refused.text).toBe(strict.create);
    if (strict.create === 400)
      expect(refused.body).toMatchObject({
        reason: 'BadRequest',
        message: expect.stringContaining('strict decoding error: unknown field "bogus"'),
      });
    const made = await send('POST', maps, unknown);
    expect(made.body).not.toHaveProperty('bogus');
    const warning = await client().expected(unknownFieldWarning);
    expect(made.headers['warning']).toBe(warning);
    expect((await send('PUT', `${path}?fieldValidation=Warn`, unknown)).headers['warning']).toBe(warning);
    expect((await send('PUT', `${path}?fieldValidation=Ignore`, unknown)).headers['warning']).toBeUndefined();
    for (const [type, patch] of [
      [merge, { bogus: 1 }],
      ['application/json-patch+json', [{ op: 'add', path: '/bogus', value: 1 }]],
      ['application/strategic-merge-patch+json', { bogus: 1 }],
    ] as const) {
      expect((await send('PATCH', path, patch, type)).headers['warning'], type).toBe(warning);
      const reply = await send('PATCH', `${path}?fieldValidation=Strict`, patch, type);
      expect(reply.code, reply.text).toBe(strict.patch);
      if (strict.patch === 422) expect(reply.body.message).toContain('strict decoding error: unknown field "bogus"');
    }
    const odd = await send('PUT', `${path}?fieldValidation=Odd`, unknown);
    expect(odd.code, odd.text).toBe(await client().expected(oddFieldValidation));
    if (odd.code === 422) expect(causesOf(odd)).toEqual(['fieldValidation FieldValueNotSupported']);
    const apply_ = await send('PATCH', `${path}?fieldManager=x`, { ...applied({}), ...unknown }, apply);
    expect(apply_.body).toMatchObject({
      code: 500,
      message: expect.stringContaining('.bogus: field not declared in schema'),
    });
  });

  test('gives a list that is put together on demand no version', async () => {
    const { body } = await send('GET', '/api/v1/componentstatuses');
    expect(body).toMatchObject({ kind: 'ComponentStatusList', metadata: {} });
    expect(Object.keys(asObject(body.metadata))).toEqual([]);
  });

  test('patches', async () => {
    const failing = [{ op: 'test', path: '/data/k', value: 'no' }];
    expect(await send('PATCH', `${maps}/a`, failing, 'application/json-patch+json')).toMatchObject({
      code: 422,
      body: { reason: 'Invalid' },
    });
    const stale = { metadata: { resourceVersion: '1' } };
    expect(await send('PATCH', `${maps}/a`, stale, merge)).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(await send('PATCH', `${maps}/a`, applied({}), apply)).toMatchObject({
      code: 422,
      body: { reason: 'Invalid' },
    });
    const conflict = await send('PATCH', `${maps}/a?fieldManager=z`, applied({ k: '9' }), apply);
    expect(conflict.code).toBe(409);
    expect(at(conflict.body, 'details', 'causes')).toMatchObject([
      { reason: 'FieldManagerConflict', field: '.data.k' },
    ]);
    const forced = await send('PATCH', `${maps}/a?fieldManager=z&force=true`, applied({ k: '9' }), apply);
    expect(forced).toMatchObject({ code: 200, body: { data: { k: '9' } } });
    const once = await send('PATCH', `${maps}/a`, { data: { k: '8' } }, merge);
    const again = await send('PATCH', `${maps}/a`, { data: { k: '8' } }, merge);
    expect(again.body).toEqual(once.body);
  });

  test('holds an object with finalizers until they are gone', async () => {
    await send('POST', maps, { metadata: { name: 'held', finalizers: ['example.com/a'] } });
    const marked = await send('DELETE', `${maps}/held`);
    expect(at(marked.body, 'metadata', 'deletionGracePeriodSeconds')).toBe(0);
    const more = { metadata: { finalizers: ['example.com/a', 'example.com/b'] } };
    expect(await send('PATCH', `${maps}/held`, more, merge)).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    expect((await send('PATCH', `${maps}/held`, { metadata: { finalizers: null } }, merge)).code).toBe(200);
    expect((await send('GET', `${maps}/held`)).code).toBe(404);
  });

  test('pages one moment and watches from it', async () => {
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5'])
      await send('POST', maps, { metadata: { name, labels: { page: 'yes' } } });
    const query = 'limit=2&labelSelector=page%3Dyes';
    const first = await send('GET', `${maps}?${query}`);
    expect(namesOf(first)).toEqual(['p1', 'p2']);
    expect(asArray(first.body.items)[0]).not.toHaveProperty('kind');
    await send('DELETE', `${maps}/p4`);
    await send('PATCH', `${maps}/p5`, { metadata: { labels: { page: 'no' } } }, merge);
    const token = asString(at(first.body, 'metadata', 'continue'));
    const second = await send('GET', `${maps}?${query}&continue=${encodeURIComponent(token)}`);
    expect(namesOf(second)).toEqual(['p3', 'p4']);
    expect(versionOf(second)).toBe(versionOf(first));
    const watch = await send(
      'GET',
      `${maps}?watch=1&labelSelector=page%3Dyes&timeoutSeconds=1&resourceVersion=${versionOf(first)}`,
    );
    const events = watch.text
      .trim()
      .split('\n')
      .map((line) => asObject(parseJson(line)));
    expect(events.map((event) => [event.type, at(event.object, 'metadata', 'name')])).toEqual([
      ['DELETED', 'p4'],
      ['DELETED', 'p5'],
    ]);
    expect(at(events[1]?.object, 'metadata', 'labels', 'page')).toBe('yes');
    for (const event of events)
      expect(Number(at(event.object, 'metadata', 'resourceVersion'))).toBeGreaterThan(Number(versionOf(first)));
  });

  test('separates spec and status and counts generations', async () => {
    const deployments = '/apis/apps/v1/namespaces/kube-public/deployments';
    const labels = { app: 'd' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example/c:1' }] } };
    const created = await send('POST', deployments, {
      metadata: { name: 'd' },
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    });
    expect(created.body).toMatchObject({
      metadata: { generation: 1 },
      spec: { revisionHistoryLimit: 10, strategy: { type: 'RollingUpdate' } },
    });
    const status = await send(
      'PATCH',
      `${deployments}/d/status`,
      { spec: { replicas: 7 }, status: { collisionCount: 3 } },
      merge,
    );
    expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 0 } });
    const spec = await send('PATCH', `${deployments}/d`, { spec: { paused: true } }, merge);
    expect(spec.body).toMatchObject({ metadata: { generation: 2 } });
    const sidecar = { spec: { template: { spec: { containers: [{ name: 's', image: 'example/s:1' }] } } } };
    const merged = await send('PATCH', `${deployments}/d`, sidecar, 'application/strategic-merge-patch+json');
    expect(
      asArray(at(merged.body, 'spec', 'template', 'spec', 'containers'))
        .map((item) => asObject(item).name)
        .sort(),
    ).toEqual(['c', 's']);
  });
}
