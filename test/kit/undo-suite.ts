/**
 * The suite of edits and reverts through a whole gateway. Its expectations are the same for the simulated cluster, for the newest
 * kube-apiserver and for an old one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import type { World } from './end-to-end.ts';
import { eventually } from './eventually.ts';
import { ask } from './graphql-client.ts';
import { configMap, deployment, type WrittenItem } from './writes-suite.ts';
import { clusterName, WritingGateway } from './writing-gateway.ts';

interface Live {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
    readonly finalizers?: readonly string[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
    };
  };
}

const namespace = 'undo';
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const secrets = `/api/v1/namespaces/${namespace}/secrets`;
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;

/** Runs the suite against the cluster that `start` returns. */
export function describeUndo(name: string, start: () => Promise<World>): void {
  describe(`edits and reverts: ${name}`, () => {
    let world: World;
    let gateway: WritingGateway;
    let api: RestClient;

    beforeAll(async () => {
      world = await start();
      api = new RestClient(await connect({ kubeconfig: world.kubeconfig }));
      await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
      gateway = await WritingGateway.start(world.kubeconfig);
      await eventually(async () => {
        const states = '{ configMaps { totalCount } secrets { totalCount } deployments { totalCount } }';
        expect((await ask(gateway.url, states, {}, gateway.headers)).errors).toBeUndefined();
      });
      // The reach of each history begins at a whole second: that of the last kind may be the next one.
      const begun = Math.ceil(Date.now() / 1000) * 1000;
      await eventually(async () => expect(Date.now()).toBeGreaterThan(begun));
    });

    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await world?.close();
    });

    const one = async (verb: string, given: Record<string, unknown>): Promise<WrittenItem> => {
      const args = { ...given, options: { waitMs: 20_000, ...(given['options'] as object | undefined) } };
      const { items } = await gateway.write(verb, args);
      expect(items).toHaveLength(1);
      return items[0] as WrittenItem;
    };
    const target = (key: string, objectName: string) => ({
      id: encodeObjectId({ cluster: clusterName, key, namespace, name: objectName }),
    });
    /** The object as an editor gets it. */
    const given = async (path: string) => ({ ...(await api.get<Live>(path)), ...headOf(path) });
    const edit = async (path: string, key: string, base: object, edited: object, options: object = {}) =>
      one('edit', {
        target: target(key, path.split('/').at(-1) ?? ''),
        base: { json: base },
        edited: { json: edited },
        options,
      });
    /** Waits until the tables have this version. */
    const seen = async (key: string, objectName: string, resourceVersion: string) => {
      await eventually(async () => {
        const text = 'query ($id: ID!) { object(id: $id) { metadata { resourceVersion } } }';
        const found = await ask<{ object: Live | null }>(gateway.url, text, target(key, objectName), gateway.headers);
        expect(found.data?.object?.metadata.resourceVersion).toBe(resourceVersion);
      });
    };
    /** The refusal of a mutation as a whole. */
    const refusal = async (verb: string, args: Record<string, unknown>): Promise<string> =>
      (await gateway.answer(verb, args)).errors?.map(({ message }) => message).join() ?? '';

    test('an edit keeps what others have changed since', async () => {
      const path = `${deployments}/edited`;
      await api.post(deployments, deployment(namespace, 'edited', 2));
      const base = await given(path);
      // A deployer adds a container and a label, an autoscaler sets the replicas, and a controller writes the status.
      await api.patch(path, 'merge', {
        metadata: { labels: { team: 'a' }, finalizers: ['example.com/theirs'] },
        spec: { replicas: 5 },
      });
      await api.patch(path, 'json', [
        {
          op: 'add',
          path: '/spec/template/spec/containers/0',
          value: { name: 'proxy', image: 'registry.example/proxy:1' },
        },
      ]);
      await api.patch(`${path}/status`, 'merge', { status: { observedGeneration: 1, replicas: 1 } });
      const edited = structuredClone(base) as unknown as {
        metadata: { annotations?: object; finalizers?: readonly string[] };
        spec: { template: { spec: { containers: { image: string }[] } } };
      };
      edited.metadata.finalizers = ['example.com/ours'];
      edited.metadata.annotations = { ...base.metadata.annotations, note: 'by hand' };
      (edited.spec.template.spec.containers[0] as { image: string }).image = 'registry.example/app:2';
      const done = await edit(path, 'deployments.apps', base, edited);
      expect(done).toMatchObject({ result: 'CHANGED', errors: [], warnings: [], seen: true });
      const now = await api.get<Live>(path);
      expect(now.metadata.labels).toEqual({ app: 'edited', team: 'a' });
      expect(now.metadata.annotations).toMatchObject({ note: 'by hand' });
      expect(now.spec?.replicas).toBe(5);
      expect(now.metadata.finalizers?.toSorted()).toEqual(['example.com/ours', 'example.com/theirs']);
      const images = now.spec?.template?.spec.containers.map(({ name: of, image }) => `${of} ${image}`);
      expect(images).toEqual(['proxy registry.example/proxy:1', 'app registry.example/app:2']);
      // The same edit again changes nothing.
      expect(await edit(path, 'deployments.apps', base, edited)).toMatchObject({ result: 'UNCHANGED', errors: [] });
    });

    test('a field that both have changed is a conflict, and nothing is written', async () => {
      const path = `${configMaps}/contested`;
      await api.post(configMaps, configMap(namespace, 'contested', { color: 'blue', size: '1' }));
      const base = await given(path);
      await api.patch(path, 'merge', { data: { color: 'red' } });
      const edited = { ...base, data: { color: 'green', size: '2' } };
      expect(await edit(path, 'configmaps', base, edited)).toMatchObject({
        result: 'NONE',
        errors: [
          {
            __typename: 'StaleObject',
            code: 'STALE_OBJECT',
            path: 'data.color',
            conflicts: [{ path: 'data.color', base: 'blue', edited: 'green', live: 'red' }],
          },
        ],
      });
      expect((await api.get<Live>(path)).data).toEqual({ color: 'red', size: '1' });
    });

    test('an edit is planned, and exactly the plan is written', async () => {
      const path = `${configMaps}/planned`;
      await api.post(configMaps, configMap(namespace, 'planned', { a: '1', b: '1' }));
      const base = await given(path);
      const edited = { ...base, data: { a: '2', b: '1' } };
      const args = { target: target('configmaps', 'planned'), base: { json: base }, edited: { json: edited } };
      const plan = await gateway.write('edit', { ...args, options: { dryRun: true } });
      expect(plan.items).toMatchObject([
        { result: 'CHANGED', errors: [], changes: [{ path: 'data.a', before: '1', after: '2' }] },
      ]);
      expect((await api.get<Live>(path)).data).toEqual({ a: '1', b: '1' });
      await api.patch(path, 'merge', { metadata: { labels: { other: 'x' } } });
      const done = await gateway.write('edit', { ...args, options: { plan: plan.planId } });
      expect(done.items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
      const now = await api.get<Live>(path);
      expect([now.data, now.metadata.labels]).toEqual([{ a: '2', b: '1' }, { other: 'x' }]);
      const again = await gateway.write('edit', { ...args, options: { plan: plan.planId } });
      expect(again.items).toMatchObject([{ result: 'UNCHANGED', errors: [] }]);
    });

    test('values that were never shown stay, or are set', async () => {
      const path = `${secrets}/pin`;
      await api.post(secrets, {
        metadata: { name: 'pin' },
        type: 'Opaque',
        data: { pin: btoa('1'), other: btoa('o') },
      });
      const { data: _data, ...base } = await given(path);
      const edited = { ...base, metadata: { ...base.metadata, labels: { team: 'a' } }, data: { pin: btoa('2') } };
      const done = await edit(path, 'secrets', base, edited);
      expect(done).toMatchObject({ result: 'CHANGED', errors: [] });
      expect(JSON.stringify(done)).not.toContain(btoa('o'));
      const now = await api.get<Live>(path);
      expect([now.data, now.metadata.labels]).toEqual([{ pin: btoa('2'), other: btoa('o') }, { team: 'a' }]);
      // A value of the base is the base: others have changed it since.
      const stale = { ...base, data: { pin: btoa('0') } };
      const conflict = await edit(path, 'secrets', stale, { ...base, data: { pin: btoa('3') } });
      expect(conflict.errors).toMatchObject([{ code: 'STALE_OBJECT', conflicts: [{ path: 'data.pin', live: null }] }]);
      expect(JSON.stringify(conflict)).not.toContain(btoa('2'));
    });

    test('an edit is of one object, and of what can be edited', async () => {
      const path = `${configMaps}/same`;
      await api.post(configMaps, configMap(namespace, 'same', { a: '1' }));
      const base = await given(path);
      const codes = async (before: object, after: object) => {
        const { errors } = await edit(path, 'configmaps', before, after);
        return errors.map(({ code, path: at }) => [code, at]);
      };
      expect(await codes(base, { ...base, kind: 'Secret' })).toEqual([['IMMUTABLE', 'kind']]);
      const renamed = { ...base, metadata: { ...base.metadata, name: 'other' } };
      expect(await codes(base, renamed)).toEqual([['IMMUTABLE', 'metadata.name']]);
      expect(await codes(renamed, renamed)).toEqual([['STALE_OBJECT', 'metadata.name']]);
      const former = { ...base, metadata: { ...base.metadata, uid: 'former' } };
      expect(await codes(former, former)).toEqual([['STALE_OBJECT', 'metadata.uid']]);
      expect(await codes(base, { ...base, data: { a: 5 } })).toEqual([['INVALID_FIELD', expect.anything()]]);
      const many = [{ ...base }, { ...base }];
      const args = {
        target: target('configmaps', 'same'),
        base: { json: base },
        edited: { json: { kind: 'List', apiVersion: 'v1', items: many } },
      };
      expect(await refusal('edit', args)).toContain('`edited` has 2 objects');
      expect(await refusal('edit', { ...args, edited: {} })).toContain(
        '`edited` needs exactly one of `json` and `yaml`',
      );
      const gone = { ...base, metadata: { name: 'gone', namespace } };
      const missing = await one('edit', {
        target: target('configmaps', 'gone'),
        base: { json: gone },
        edited: { json: gone },
      });
      expect(missing.errors).toMatchObject([{ code: 'NOT_FOUND' }]);
      expect((await api.get<Live>(path)).data).toEqual({ a: '1' });
    });

    test('YAML is edited as well, with integers beyond 2^53', async () => {
      const path = `${configMaps}/yaml`;
      await api.post(configMaps, configMap(namespace, 'yaml', { a: '1' }));
      const yaml = (value: string) =>
        `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: yaml }\ndata:\n  a: "${value}"\n`;
      const done = await one('edit', {
        target: target('configmaps', 'yaml'),
        base: { yaml: yaml('1') },
        edited: { yaml: yaml('9007199254740993') },
      });
      expect(done).toMatchObject({ result: 'CHANGED', errors: [] });
      expect((await api.get<Live>(path)).data).toEqual({ a: '9007199254740993' });
      // The audit names what was written, and not what was handed in.
      const line = { verb: 'edit', stage: 'outcome', outcome: 'OK', changedPaths: ['/data/a'] };
      expect(gateway.audit().at(-1)).toMatchObject(line);
    });

    test('an object becomes what it was, in each of its versions', async () => {
      const path = `${configMaps}/versions`;
      const states = [await api.post<Live>(configMaps, configMap(namespace, 'versions', { a: '1' }))];
      await seen('configmaps', 'versions', (states[0] as Live).metadata.resourceVersion);
      for (const patch of [
        { data: { b: '2' }, metadata: { labels: { x: '1' }, annotations: { note: 'n' } } },
        { data: { a: null, c: '3' }, metadata: { labels: { x: '2' } } },
        { data: { c: '4' }, metadata: { labels: null, finalizers: ['example.com/later'] } },
      ]) {
        const now = await api.patch<Live>(path, 'merge', patch);
        states.push(now);
        await seen('configmaps', 'versions', now.metadata.resourceVersion);
      }
      for (const state of [...states, ...states.toReversed()]) {
        const to = { resourceVersion: state.metadata.resourceVersion };
        const done = await one('revert', { target: target('configmaps', 'versions'), to });
        expect(done.errors).toEqual([]);
        const now = await api.get<Live>(path);
        const shown = ({ data, metadata: { labels, annotations } }: Live) => [
          data ?? {},
          labels ?? {},
          annotations ?? {},
        ];
        expect(shown(now)).toEqual(shown(state));
        // Finalizers are not what a revert is about.
        expect(now.metadata.finalizers).toEqual(['example.com/later']);
        await seen('configmaps', 'versions', now.metadata.resourceVersion);
      }
      const unknown = { target: target('configmaps', 'versions'), to: { resourceVersion: '1' } };
      expect(await refusal('revert', unknown)).toContain('with the resourceVersion 1 is recorded');
      await api.patch(path, 'merge', { metadata: { finalizers: null } });
    });

    test('a revert to a time is planned, and written as planned', async () => {
      const path = `${configMaps}/timed`;
      const first = await api.post<Live>(configMaps, configMap(namespace, 'timed', { a: '1' }));
      await seen('configmaps', 'timed', first.metadata.resourceVersion);
      const time = new Date(Date.now() + 5).toISOString();
      await eventually(async () => expect(Date.now()).toBeGreaterThan(Date.parse(time)));
      const second = await api.patch<Live>(path, 'merge', { data: { a: '2' } });
      await seen('configmaps', 'timed', second.metadata.resourceVersion);
      const args = { target: target('configmaps', 'timed'), to: { time } };
      const plan = await gateway.write('revert', { ...args, options: { dryRun: true } });
      expect(plan.items).toMatchObject([{ result: 'CHANGED', changes: [{ path: 'data.a', before: '2', after: '1' }] }]);
      const done = await gateway.write('revert', { ...args, options: { plan: plan.planId } });
      expect(done.items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
      expect((await api.get<Live>(path)).data).toEqual({ a: '1' });
      const before = await refusal('revert', { ...args, to: { time: '1999-01-01T00:00:00Z' } });
      expect(before).toContain('history');
      for (const future of ['2099-01-01T00:00:00Z', '+5m']) {
        expect(await refusal('revert', { ...args, to: { time: future } })).toContain('is in the future');
      }
    });

    test('a plan of a revert to a relative time is written as the state that it showed', async () => {
      const path = `${configMaps}/relative`;
      await api.post(configMaps, configMap(namespace, 'relative', { a: '1' }));
      const args = { target: target('configmaps', 'relative'), to: { time: '-8s' } };
      const planned = async (result: string) => {
        const plan = await gateway.write('revert', { ...args, options: { dryRun: true } });
        expect(plan.items).toMatchObject([{ result, errors: [] }]);
        return plan;
      };
      await eventually(() => planned('UNCHANGED'), 30_000);
      const second = await api.patch<Live>(path, 'merge', { data: { a: '2' } });
      await seen('configmaps', 'relative', second.metadata.resourceVersion);
      const plan = await planned('CHANGED');
      // The same words mean the present state by now.
      await eventually(() => planned('UNCHANGED'), 30_000);
      const done = await gateway.write('revert', { ...args, options: { plan: plan.planId } });
      expect(done.items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
      expect((await api.get<Live>(path)).data).toEqual({ a: '1' });
    });

    test('a repeat needs a state that stays the same', async () => {
      const made = await api.post<Live>(configMaps, configMap(namespace, 'repeated', { a: '1' }));
      await seen('configmaps', 'repeated', made.metadata.resourceVersion);
      const options = { requestId: 'again' };
      const to = { time: '-0s' };
      const relative = await refusal('revert', { target: target('configmaps', 'repeated'), to, options });
      expect(relative).toContain('a time that is not relative to now');
      await api.post(deployments, deployment(namespace, 'repeated', 1));
      const newest = await refusal('rollback', { target: target('deployments.apps', 'repeated'), options });
      expect(newest).toContain('needs a `revision`');
    });

    test('a deleted object comes back, without owners that are gone', async () => {
      const owner = await api.post<Live>(configMaps, configMap(namespace, 'owner', {}));
      const other = await api.post<Live>(configMaps, configMap(namespace, 'former-owner', {}));
      const reference = (name: string, { metadata: { uid } }: Live) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid,
      });
      const made = await api.post<Live>(deployments, {
        ...deployment(namespace, 'deleted', 3),
        metadata: {
          name: 'deleted',
          labels: { app: 'deleted' },
          ownerReferences: [reference('owner', owner), reference('former-owner', other)],
        },
      });
      await eventually(async () => {
        const text = 'query ($id: ID!) { object(id: $id) { id } }';
        const found = await ask<{ object: object | null }>(
          gateway.url,
          text,
          target('deployments.apps', 'deleted'),
          gateway.headers,
        );
        expect(found.data?.object).not.toBeNull();
      });
      // The state before the deletion.
      const last = await api.get<Live>(`${deployments}/deleted`);
      await seen('deployments.apps', 'deleted', last.metadata.resourceVersion);
      await api.delete(`${configMaps}/former-owner`);
      await api.delete(`${deployments}/deleted`);
      await eventually(async () => {
        const text = '{ changes(since: "-10m", kinds: ["Deployment"]) { nodes { type name } } }';
        const answer = await ask<{ changes: { nodes: object[] } }>(gateway.url, text, {}, gateway.headers);
        expect(answer.data?.changes.nodes).toContainEqual({ type: 'DELETED', name: 'deleted' });
      });
      const to = { resourceVersion: last.metadata.resourceVersion };
      const done = await one('revert', { target: target('deployments.apps', 'deleted'), to });
      expect(done).toMatchObject({ result: 'CREATED', errors: [], seen: true });
      expect(done.warnings).toEqual([expect.stringContaining('former-owner')]);
      const now = await api.get<Live>(`${deployments}/deleted`);
      expect(now.metadata.uid).not.toBe(made.metadata.uid);
      expect(now.metadata.ownerReferences).toEqual([reference('owner', owner)]);
      expect([now.metadata.labels, now.spec?.replicas]).toEqual([{ app: 'deleted' }, 3]);
    });

    test('a revert is of the object and the version that are named', async () => {
      const made = await api.post<Live>(configMaps, configMap(namespace, 'named', { a: '1' }));
      await seen('configmaps', 'named', made.metadata.resourceVersion);
      const to = { resourceVersion: made.metadata.resourceVersion };
      const codes = async (named: object) => {
        const { result, errors } = await one('revert', { target: { ...target('configmaps', 'named'), ...named }, to });
        return [result, ...errors.map(({ code }) => code)];
      };
      expect(await codes({ uid: 'other' })).toEqual(['NONE', 'STALE_OBJECT']);
      expect(await codes({ resourceVersion: '1' })).toEqual(['NONE', 'STALE_OBJECT']);
      await api.delete(`${configMaps}/named`);
      expect(await codes({ uid: 'other' })).toEqual(['NONE', 'STALE_OBJECT']);
      expect(await codes({ resourceVersion: made.metadata.resourceVersion })).toEqual(['NONE', 'NOT_FOUND']);
      expect(await codes({ uid: made.metadata.uid })).toEqual(['CREATED']);
    });

    test('a state whose values are not held is refused with their paths', async () => {
      const first = await api.post<Live>(secrets, { metadata: { name: 'withheld' }, data: { pin: btoa('1') } });
      await seen('secrets', 'withheld', first.metadata.resourceVersion);
      const to = { resourceVersion: first.metadata.resourceVersion };
      const same = await one('revert', { target: target('secrets', 'withheld'), to });
      expect(same).toMatchObject({ result: 'UNCHANGED', errors: [] });
      const second = await api.patch<Live>(`${secrets}/withheld`, 'merge', { data: { pin: btoa('2') } });
      await seen('secrets', 'withheld', second.metadata.resourceVersion);
      const done = await one('revert', { target: target('secrets', 'withheld'), to });
      expect(done.errors).toMatchObject([{ code: 'DATA_WITHHELD', path: 'data' }]);
      await api.delete(`${secrets}/withheld`);
      const gone = await one('revert', { target: target('secrets', 'withheld'), to });
      expect(gone.errors).toMatchObject([{ code: 'DATA_WITHHELD', path: 'data' }]);
    });
  });
}

/** API servers leave apiVersion and kind out of nothing but lists; a client of the API may. */
function headOf(path: string): { readonly apiVersion: string; readonly kind: string } {
  if (path.startsWith(deployments)) return { apiVersion: 'apps/v1', kind: 'Deployment' };
  return { apiVersion: 'v1', kind: path.startsWith(secrets) ? 'Secret' : 'ConfigMap' };
}
