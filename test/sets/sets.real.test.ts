/** Sets on real API servers: applied again, pruned, adopted, refused as a whole, and finished after an end at each step. */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shadow } from '../../src/cli/sets/shadow.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { readSetRecord, type SetRecord } from '../../src/sets/record/set-record.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import { configMap, deployment, type Written } from '../kit/writes-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

type Json = Readonly<Record<string, unknown>>;

describeOn([mainServer, oldServer], 'sets', { timeout: 120_000 }, (server) => {
  const folder = kubeconfigFolder();
  let plane: ControlPlane;
  let api: RestClient;
  let proxy: LoopbackServer;
  let gateway: WritingGateway;
  /** Requests that write for real until the gateway is cut off; null: it is not. */
  let left: number | null = null;
  let count = 0;

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await plane.kubectl(['apply', '-f', '-'], shadowRecordCrdText());
    await eventually(() => api.get('/apis/portolan.dev/v1alpha1/shadowrecords'));
    proxy = await startRecordingProxy(
      { url: plane.server, token: plane.token, ca: plane.caPem() },
      ({ method, url = '' }, response) => {
        // The dry run of a deletion says so in its body, and counts.
        if (left === null || method === 'GET' || url.includes('dryRun=All')) return false;
        if (left > 0) left -= 1;
        else response.destroy();
        return response.destroyed;
      },
    );
    gateway = await WritingGateway.start(folder.write({ server: proxy.url }));
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await api?.connection.close();
    await plane?.stop();
    folder.remove();
  });

  /** A namespace of its own for each test. */
  async function place(): Promise<string> {
    count += 1;
    const name = `sets-${count}`;
    await api.post('/api/v1/namespaces', { metadata: { name } });
    return name;
  }
  const records = (namespace: string) => `/apis/portolan.dev/v1alpha1/namespaces/${namespace}/shadowrecords`;
  const recordOf = async (namespace: string, name = 'web'): Promise<SetRecord | null> => {
    const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(records(namespace));
    const found = items.find(({ metadata }) => metadata.name === name);
    return found === undefined ? null : readSetRecord(found);
  };
  const namesIn = async (namespace: string, plural = 'configmaps', prefix = '/api/v1') =>
    (await api.get<{ items: { metadata: { name: string } }[] }>(`${prefix}/namespaces/${namespace}/${plural}`)).items
      .map(({ metadata: { name } }) => name)
      .filter((name) => name !== 'kube-root-ca.crt');
  const apply = (namespace: string, manifests: readonly object[], more: Json = {}): Promise<Written> => {
    const { options, ...args } = more;
    const set = { namespace, name: 'web' };
    const docs = manifests.map((json) => ({ json }));
    return gateway.write('applySet', {
      set,
      docs,
      ...args,
      options: { waitMs: 0, ...(options as object | undefined) },
    });
  };
  const remove = (namespace: string, more: Json = {}): Promise<Written> => {
    const { options, ...args } = more;
    const set = { namespace, name: 'web' };
    return gateway.write('deleteSet', { set, ...args, options: { waitMs: 0, ...(options as object | undefined) } });
  };
  const results = ({ items }: Written) =>
    items.map(({ target, result, errors }) => [target.name, errors[0]?.code ?? result].join(' '));
  const one = (namespace: string, name: string, value = '1') => configMap(namespace, name, { a: value });

  test('is applied, changed, left alone, pruned and deleted', async () => {
    const at = await place();
    const first = await apply(at, [one(at, 'a'), deployment(at, 'd')]);
    expect(results(first)).toEqual(['a CREATED', 'd CREATED', 'web CREATED']);
    const record = await recordOf(at);
    expect(record).toMatchObject({ generation: 1, phase: 'Applied' });
    expect(record?.members.map(({ kind, name, uid }) => [kind, name, uid === null])).toEqual([
      ['ConfigMap', 'a', false],
      ['Deployment', 'd', false],
    ]);
    expect(record?.members[0]?.fields).toEqual({ 'f:metadata': { 'f:namespace': {} }, 'f:data': { 'f:a': {} } });
    const member = await api.get<Json>(`/api/v1/namespaces/${at}/configmaps/a`);
    expect(member).toMatchObject({
      metadata: {
        labels: { 'applyset.kubernetes.io/part-of': record?.labels['applyset.kubernetes.io/id'] },
        ownerReferences: [{ kind: 'ShadowRecord', name: 'web', uid: record?.uid }],
      },
    });
    const same = await apply(at, [one(at, 'a'), deployment(at, 'd')]);
    expect(results(same)).toEqual(['a UNCHANGED', 'd UNCHANGED', 'web UNCHANGED']);
    expect((await recordOf(at))?.resourceVersion).toBe(record?.resourceVersion);
    const plan = await apply(at, [one(at, 'a', '2')], { options: { dryRun: true } });
    expect(results(plan)).toEqual(['a CHANGED', 'd DELETED', 'web CHANGED']);
    expect(plan.items[0]?.changes).toMatchObject([
      { path: 'data.a', before: '1', after: '2', managers: [`shadow:${at}/web`] },
    ]);
    const kept = await apply(at, [one(at, 'a', '2')], { prune: false });
    expect(results(kept)).toEqual(['a CHANGED', 'web CHANGED']);
    expect((await recordOf(at))?.members.map(({ name }) => name)).toEqual(['a', 'd']);
    const pruned = await apply(at, [one(at, 'a', '2'), one(at, 'b')]);
    expect(results(pruned)).toEqual(['a UNCHANGED', 'b CREATED', 'd DELETED', 'web CHANGED']);
    expect(await namesIn(at, 'deployments', '/apis/apps/v1')).toEqual([]);
    expect(results(await remove(at, { options: { dryRun: true } }))).toEqual(['a DELETED', 'b DELETED', 'web DELETED']);
    expect(results(await remove(at))).toEqual(['a DELETED', 'b DELETED', 'web DELETED']);
    expect([await namesIn(at), await recordOf(at)]).toEqual([[], null]);
    expect(results(await remove(at))).toEqual(['web NOT_FOUND']);
  });

  test('a plan is carried out exactly, or refused', async () => {
    const at = await place();
    const docs = [one(at, 'a'), one(at, 'b')];
    const plan = await apply(at, docs, { options: { dryRun: true } });
    expect([results(plan), await namesIn(at)]).toEqual([['a CREATED', 'b CREATED', 'web CREATED'], []]);
    expect(results(await apply(at, docs, { options: { plan: plan.planId } }))).toEqual(results(plan));
    expect(results(await apply(at, docs, { options: { plan: plan.planId } }))).toEqual([
      'a UNCHANGED',
      'b UNCHANGED',
      'web UNCHANGED',
    ]);
    const other = [one(at, 'a', '2')];
    const second = await apply(at, other, { force: true, options: { dryRun: true } });
    await api.patch(`/api/v1/namespaces/${at}/configmaps/a`, 'merge', { data: { a: '7' } });
    const refused = await apply(at, other, { force: true, options: { plan: second.planId } });
    expect(results(refused)).toEqual(['a PLAN_CHANGED', 'b SKIPPED', 'web SKIPPED']);
    expect(await namesIn(at)).toEqual(['a', 'b']);
    const removal = await remove(at, { options: { dryRun: true } });
    expect(results(await remove(at, { options: { plan: removal.planId } }))).toEqual(results(removal));
    expect(await namesIn(at)).toEqual([]);
  });

  test('an object that exists is adopted only if that is asked, and never from another set', async () => {
    const at = await place();
    await api.patch(`/api/v1/namespaces/${at}/configmaps/a`, 'apply', one(at, 'a'), {
      query: { fieldManager: 'other' },
    });
    expect(results(await apply(at, [one(at, 'a', '2'), one(at, 'b')]))).toEqual([
      'a ALREADY_EXISTS',
      'b SKIPPED',
      'web SKIPPED',
    ]);
    expect([await recordOf(at), await namesIn(at)]).toEqual([null, ['a']]);
    const adopted = await apply(at, [one(at, 'a', '2'), one(at, 'b')], { adopt: true });
    expect(results(adopted)).toEqual(['a CHANGED', 'b CREATED', 'web CREATED']);
    expect(adopted.items[0]?.warnings).toEqual(['It is adopted. Fields taken from other managers: data.a (other).']);
    const set = { namespace: at, name: 'other' };
    const theft = await gateway.write('applySet', { set, docs: [{ json: one(at, 'b') }], adopt: true });
    expect(results(theft)).toEqual(['b ALREADY_EXISTS', 'other SKIPPED']);
    expect(theft.items[0]?.errors[0]?.message).toMatch(/another set/);
    // Without the marks, the uid in the other record still decides.
    await api.patch(`/api/v1/namespaces/${at}/configmaps/b`, 'merge', {
      metadata: { labels: { 'applyset.kubernetes.io/part-of': null }, ownerReferences: null },
    });
    const again = await gateway.write('applySet', { set, docs: [{ json: one(at, 'b') }], adopt: true });
    expect(results(again)).toEqual(['b ALREADY_EXISTS', 'other SKIPPED']);
    expect(results(await apply(at, [one(at, 'a', '2'), one(at, 'b')]))).toEqual([
      'a UNCHANGED',
      'b CHANGED',
      'web CHANGED',
    ]);
  });

  test('ORPHAN leaves the members to nobody', async () => {
    const at = await place();
    await apply(at, [one(at, 'a')]);
    expect(results(await remove(at, { propagation: 'ORPHAN' }))).toEqual(['a CHANGED', 'web DELETED']);
    const { metadata } = await api.get<{ metadata: Json }>(`/api/v1/namespaces/${at}/configmaps/a`);
    expect([metadata['labels'], metadata['ownerReferences'], await recordOf(at)]).toEqual([undefined, undefined, null]);
    expect(JSON.stringify(metadata['managedFields'])).toContain(`shadow:${at}/web`);
  });

  test('a member that is deleted, made again or changed by somebody else', async () => {
    const at = await place();
    const path = `/api/v1/namespaces/${at}/configmaps`;
    const docs = [one(at, 'a'), one(at, 'b'), one(at, 'c')];
    await apply(at, docs);
    await api.delete(`${path}/a`);
    await api.delete(`${path}/b`);
    await api.post(path, one(at, 'b', '9'));
    await api.patch(`${path}/c`, 'merge', { data: { a: '9' } });
    expect(results(await apply(at, docs))).toEqual(
      ['a SKIPPED', 'b ALREADY_EXISTS', 'c SKIPPED', 'web SKIPPED'].map((each) =>
        each === 'c SKIPPED' ? 'c FIELD_CONFLICT' : each,
      ),
    );
    expect(results(await apply(at, docs, { force: true, adopt: true }))).toEqual([
      'a CREATED',
      'b CHANGED',
      'c CHANGED',
      'web CHANGED',
    ]);
    await api.delete(`${path}/a`);
    await api.delete(`${path}/b`);
    await api.post(path, one(at, 'b', '9'));
    // What is another object now is no member: it stays.
    expect(results(await remove(at))).toEqual(['a UNCHANGED', 'b UNCHANGED', 'c DELETED', 'web DELETED']);
    expect(await namesIn(at)).toEqual(['b']);
  });

  test('a quota lets the dry runs pass: the record has all members, and the next apply goes on', async () => {
    const at = await place();
    await api.post(`/api/v1/namespaces/${at}/resourcequotas`, {
      metadata: { name: 'few' },
      spec: { hard: { 'count/configmaps': '3' } },
    });
    await eventually(async () =>
      expect(await api.get(`/api/v1/namespaces/${at}/resourcequotas/few`)).toHaveProperty('status.hard'),
    );
    const docs = ['a', 'b', 'c', 'd', 'e'].map((name) => one(at, name));
    const failed = await apply(at, docs, { options: { onError: 'CONTINUE' } });
    expect(failed.complete).toBe(false);
    expect(failed.items.some(({ errors }) => errors[0]?.code === 'DENIED')).toBe(true);
    expect(await recordOf(at)).toMatchObject({
      phase: 'Applying',
      members: docs.map(({ metadata: { name } }) => ({ name })),
    });
    await api.delete(`/api/v1/namespaces/${at}/resourcequotas/few`);
    await eventually(async () => expect((await apply(at, docs)).complete).toBe(true));
    expect(await recordOf(at)).toMatchObject({ phase: 'Applied' });
    expect(await namesIn(at)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('REVERT undoes an apply that fails', async () => {
    const at = await place();
    await apply(at, [one(at, 'a'), one(at, 'old')]);
    const before = await recordOf(at);
    const names = await namesIn(at);
    await api.post(`/api/v1/namespaces/${at}/resourcequotas`, {
      metadata: { name: 'few' },
      spec: { hard: { 'count/configmaps': String(names.length + 2) } },
    });
    await eventually(async () =>
      expect(await api.get(`/api/v1/namespaces/${at}/resourcequotas/few`)).toHaveProperty('status.used'),
    );
    const docs = [one(at, 'a', '2'), one(at, 'b'), one(at, 'c'), one(at, 'd')];
    const undone = await apply(at, docs, { options: { onError: 'REVERT', order: 'GIVEN' } });
    expect(results(undone).slice(0, 2)).toEqual(['a REVERTED', 'b REVERTED']);
    expect(await namesIn(at)).toEqual(['a', 'old']);
    const after = await recordOf(at);
    expect(after).toMatchObject({ phase: 'Applied', members: before?.members });
    expect(results(await apply(at, [one(at, 'a'), one(at, 'old')]))).toEqual([
      'a UNCHANGED',
      'old UNCHANGED',
      'web UNCHANGED',
    ]);
  });

  test('of two applies at once, the later one is refused', async () => {
    const at = await place();
    await apply(at, [one(at, 'a')]);
    const both = await Promise.all(['2', '3'].map((value) => apply(at, [one(at, 'a', value)])));
    const done = both.filter(({ complete }) => complete);
    expect(done.length).toBeGreaterThanOrEqual(1);
    for (const each of both.filter(({ complete }) => !complete)) {
      expect(each.items.at(-1)?.errors).toMatchObject([{ code: 'STALE_OBJECT' }]);
    }
    expect((await recordOf(at))?.members).toHaveLength(1);
  });

  test('a record that is deleted directly takes its members along', async () => {
    const at = await place();
    await apply(at, [one(at, 'a'), one(at, 'b')]);
    await api.delete(`${records(at)}/web`);
    // The garbage collector looks for new kinds every 30 seconds.
    await eventually(async () => expect(await namesIn(at)).toEqual([]), 90_000);
  });

  test('the record shows its members as they are now, and each object shows its sets', async () => {
    const at = await place();
    await apply(at, [one(at, 'a'), one(at, 'b'), one(at, 'c')], { options: { waitMs: 20_000 } });
    const path = `/api/v1/namespaces/${at}/configmaps`;
    const document = `query Sets($at: [String!]) {
      shadowRecords: sets(filter: { namespaces: $at }) { nodes {
        members { name kind state manifest object { metadata { name } } } setHealth { status reason message }
      } }
      configMaps(filter: { namespaces: $at, metadata: { name: { ne: "kube-root-ca.crt" } } }) {
        nodes { metadata { name } memberOf { kind metadata { name } } }
      }
    }`;
    const read = async () => {
      const answer = await ask<Json>(gateway.url, document, { at: [at] }, gateway.headers);
      return answer.data ?? answer.errors;
    };
    const member = (name: string, value: string | null, state: string) => ({
      name,
      kind: 'ConfigMap',
      state,
      manifest: value === null ? null : JSON.parse(JSON.stringify(one(at, name, value))),
      object: value === null ? null : { metadata: { name } },
    });
    const sets = [{ kind: 'ShadowRecord', metadata: { name: 'web' } }];
    const object = (name: string, memberOf: unknown) => ({ metadata: { name }, memberOf });
    await eventually(async () =>
      expect(await read()).toEqual({
        shadowRecords: {
          nodes: [
            {
              members: ['a', 'b', 'c'].map((name) => member(name, '1', 'PRESENT')),
              setHealth: { status: 'Current', reason: null, message: null },
            },
          ],
        },
        configMaps: { nodes: ['a', 'b', 'c'].map((name) => object(name, sets)) },
      }),
    );
    await api.patch(`${path}/a`, 'merge', { data: { a: '7', more: 'x' } });
    await api.delete(`${path}/b`);
    await api.delete(`${path}/c`);
    await api.post(path, one(at, 'c'));
    await eventually(async () =>
      expect(await read()).toEqual({
        shadowRecords: {
          nodes: [
            {
              members: [member('a', '7', 'PRESENT'), member('b', null, 'MISSING'), member('c', null, 'REPLACED')],
              setHealth: { status: 'Failed', reason: 'Missing', message: 'ConfigMap b does not exist.' },
            },
          ],
        },
        configMaps: { nodes: [object('a', sets), object('c', [])] },
      }),
    );
  });

  test('documents that cannot be members are refused, and nothing is written', async () => {
    const at = await place();
    const cases: readonly (readonly [object, string])[] = [
      [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } }, 'UNSUPPORTED'],
      [one('default', 'a'), 'INVALID_FIELD'],
      [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } }, 'INVALID_FIELD'],
      [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'a' }, rules: [] }, 'UNSUPPORTED'],
      [{ apiVersion: 'portolan.dev/v1alpha1', kind: 'ShadowRecord', metadata: { name: 'a' } }, 'UNSUPPORTED'],
      [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels: 'none' } }, 'INVALID_FIELD'],
    ];
    for (const [wrong, code] of cases) {
      const { items } = await apply(at, [wrong, one(at, 'b')]);
      expect(items.map(({ errors }) => errors[0]?.code)).toEqual([code, 'SKIPPED', 'SKIPPED']);
    }
    expect(results(await apply(at, [one(at, 'a'), one(at, 'a', '2')]))).toEqual([
      'a SKIPPED',
      'a INVALID_FIELD',
      'web SKIPPED',
    ]);
    const yaml = Array.from({ length: 1001 }, (_, index) => JSON.stringify(one(at, `m-${index}`))).join('\n---\n');
    const tooMany = await gateway.answer('applySet', { set: { namespace: at, name: 'web' }, docs: [{ yaml }] });
    expect(tooMany.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
    for (const name of ['', '../a', 'A', '__proto__', 'x'.repeat(254)]) {
      const answer = await gateway.answer('applySet', { set: { namespace: at, name }, docs: [] });
      expect(answer.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
    }
    expect([await namesIn(at), await recordOf(at)]).toEqual([[], null]);
  });

  test('an object that a forged record names is not deleted', async () => {
    const at = await place();
    const { metadata } = await api.post<{ metadata: { uid: string } }>(
      `/api/v1/namespaces/${at}/configmaps`,
      one(at, 'victim'),
    );
    const forged = {
      version: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespace: at,
      name: 'victim',
    };
    await api.post(records(at), {
      apiVersion: 'portolan.dev/v1alpha1',
      kind: 'ShadowRecord',
      metadata: { name: 'web' },
      spec: { generation: 1, phase: 'Applied', members: [{ ...forged, uid: metadata.uid }] },
    });
    expect(results(await apply(at, [one(at, 'a')]))).toEqual(['a CREATED', 'victim UNCHANGED', 'web CHANGED']);
    expect(await namesIn(at)).toEqual(['a', 'victim']);
  });

  test('no value of a Secret is told', async () => {
    const at = await place();
    const secret = (pin: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: at },
      stringData: { pin },
    });
    await apply(at, [secret('a-pin-first')]);
    await apply(at, [secret('a-pin-second')], { options: { dryRun: true } });
    await apply(at, [{ ...secret('a-pin-third'), type: 'kubernetes.io/tls' }]);
    const record = JSON.stringify(await recordOf(at));
    for (const text of [gateway.said(), record]) {
      // Not of hexadecimal digits alone: a uid may have them by chance.
      expect(text).not.toMatch(/a-pin-/);
      expect(text).not.toContain(Buffer.from('a-pin-').toString('base64').slice(0, 6));
    }
    // A key that is not submitted any more is removed, although it came as stringData.
    const { metadata, ...rest } = secret('a-pin-last');
    await apply(at, [{ ...rest, metadata, stringData: { other: 'x' } }]);
    const { data } = await api.get<{ data: Json }>(`/api/v1/namespaces/${at}/secrets/s`);
    expect(Object.keys(data)).toEqual(['other']);
  });

  test('an apply or a deletion that ends at any step is finished by the next one', async () => {
    const before = ['a', 'b', 'old'];
    const after = ['b', 'c', 'd'];
    for (let steps = 0; steps < 12; steps += 1) {
      const at = await place();
      const docs = after.map((name) => one(at, name, '2'));
      await apply(
        at,
        before.map((name) => one(at, name)),
      );
      left = steps;
      const ended = await apply(at, docs).finally(() => {
        left = null;
      });
      const record = await recordOf(at);
      const live = await namesIn(at);
      const known = record?.members.map(({ name }) => name) ?? [];
      expect(live.filter((name) => !known.includes(name))).toEqual([]);
      if (steps % 2 === 0) {
        const finished = await apply(at, docs);
        expect([finished.complete, await namesIn(at)]).toEqual([true, after]);
        expect(await recordOf(at)).toMatchObject({ phase: 'Applied', members: after.map((name) => ({ name })) });
      }
      left = Math.floor(steps / 2);
      await remove(at).finally(() => {
        left = null;
      });
      if ((await recordOf(at)) !== null) expect((await remove(at)).complete).toBe(true);
      expect([await namesIn(at), await recordOf(at), ended.items.length > 0]).toEqual([[], null, true]);
    }
  });

  test('shadow uninstall leaves the members, shadow install is repeatable', async () => {
    const at = await place();
    const told: string[] = [];
    const streams = (answer: string | null) => ({
      input: Object.assign(Readable.from(answer === null ? [] : [answer]), { isTTY: answer !== null }),
      output: { write: (text: string) => told.push(text) },
      errors: { write: (text: string) => told.push(text) },
    });
    const config = { kubeconfig: plane.kubeconfigPath, context: [], inCluster: false };
    const run = (action: string, answer: string | null, flags = { print: false, yes: false }) =>
      shadow(config, { action, ...flags }, streams(answer));
    expect(await run('install', null)).toBe(0);
    // The kind may be new to the gateway.
    await eventually(() => apply(at, [one(at, 'a'), deployment(at, 'd')]));
    await api.patch(`${records(at)}/web`, 'merge', { metadata: { finalizers: ['portolan.dev/members'] } });
    await expect(run('uninstall', null)).rejects.toMatchObject({ code: 'CONFIGURATION' });
    expect(await run('uninstall', 'no\n')).toBe(1);
    expect((await recordOf(at))?.members).toHaveLength(2);
    expect(await run('uninstall', null, { print: false, yes: true })).toBe(0);
    expect(told.join('')).toContain(`${at}/web`);
    await eventually(async () =>
      expect(await plane.kubectl(['get', 'crd', '-o', 'name'])).not.toContain('shadowrecords'),
    );
    const { metadata } = await api.get<{ metadata: Json }>(`/api/v1/namespaces/${at}/configmaps/a`);
    expect([metadata['ownerReferences'], metadata['labels']]).toEqual([undefined, undefined]);
    expect(await namesIn(at, 'deployments', '/apis/apps/v1')).toEqual(['d']);
    const missing = await gateway.answer('applySet', {
      set: { namespace: at, name: 'web' },
      docs: [{ json: one(at, 'a') }],
    });
    expect(JSON.stringify(missing)).toContain('portolan shadow install');
    expect(await run('uninstall', null, { print: false, yes: true })).toBe(0);
    told.length = 0;
    expect(await run('install', null, { print: true, yes: false })).toBe(0);
    expect(told.join('')).toBe(shadowRecordCrdText());
  });
});
