/**
 * The suite of mutations through a whole gateway. Its expectations are the same for the simulated cluster, for the newest kube-apiserver
 * and for an old one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import type { World } from './end-to-end.ts';
import { eventually } from './eventually.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { type Answer, ask } from './graphql-client.ts';

export interface WrittenItem {
  readonly target: { readonly id: string | null; readonly name: string | null; readonly kind: string };
  readonly result: string;
  readonly before: unknown;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly object: { readonly metadata: { readonly name: string } } | null;
  readonly changes: readonly {
    path: string;
    before: unknown;
    after: unknown;
    isWithheld: boolean;
    managers: string[];
  }[];
  readonly warnings: readonly string[];
  readonly errors: readonly {
    readonly __typename: string;
    readonly code: string;
    readonly message: string;
    readonly path: string | null;
    readonly by?: string;
    readonly conflicts?: readonly { readonly manager: string; readonly path: string; readonly live?: unknown }[];
  }[];
  readonly seen: boolean;
}

export interface Written {
  readonly planId: string | null;
  readonly token: string | null;
  readonly complete: boolean;
  readonly items: readonly WrittenItem[];
}

export const writeFields = `planId token complete items {
  target { id name kind namespace apiVersion resource place } result before after object { metadata { name } }
  changes { path before after isWithheld managers } warnings seen
  errors { __typename code message path status ... on Denied { by } ... on FieldConflict { conflicts { manager path } } ... on StaleObject { conflicts { path base edited live } } }
}`;

/** A mutation with one root field, whose variables are its arguments. */
export function mutationText(verb: string, types: Readonly<Record<string, string>>): string {
  const declared = Object.entries(types).map(([name, type]) => `$${name}: ${type}`);
  const given = Object.keys(types).map((name) => `${name}: $${name}`);
  return `mutation Act(${declared.join(', ')}) { ${verb}(${given.join(', ')}) { ${writeFields} } }`;
}

const argumentTypes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apply: { docs: '[ManifestInput!]!', force: 'Boolean', options: 'WriteOptions' },
  create: { docs: '[ManifestInput!]!', options: 'WriteOptions' },
  patch: { target: 'TargetInput!', type: 'PatchType', patch: 'JSON!', subresource: 'String', options: 'WriteOptions' },
  edit: { target: 'TargetInput!', base: 'ManifestInput!', edited: 'ManifestInput!', options: 'WriteOptions' },
  revert: { target: 'TargetInput!', to: 'StateInput!', options: 'WriteOptions' },
  rollback: { target: 'TargetInput!', revision: 'Int', options: 'WriteOptions' },
  delete: { targets: 'TargetsInput!', options: 'WriteOptions' },
  scale: { targets: 'TargetsInput!', replicas: 'Int!', options: 'WriteOptions' },
  restart: { targets: 'TargetsInput!', options: 'WriteOptions' },
  cordon: { targets: 'TargetsInput!', on: 'Boolean!', options: 'WriteOptions' },
  evict: { targets: 'TargetsInput!', options: 'WriteOptions' },
  applySet: {
    set: 'SetInput!',
    docs: '[ManifestInput!]!',
    prune: 'Boolean! = true',
    adopt: 'Boolean! = false',
    force: 'Boolean! = false',
    options: 'WriteOptions',
  },
  revertSet: { set: 'SetInput!', to: 'DateTime!', force: 'Boolean! = false', options: 'WriteOptions' },
  deleteSet: { set: 'SetInput!', propagation: 'Propagation! = BACKGROUND', options: 'WriteOptions' },
};

/** The mutation of a verb; the variables are its arguments. */
export function mutationOf(verb: string): string {
  return mutationText(verb, argumentTypes[verb] ?? {});
}

/** Sends a mutation; the variables are its arguments. */
export async function send(
  url: string,
  verb: string,
  args: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Record<string, Written>>> {
  return ask(url, mutationOf(verb), args, headers);
}

export const configMap = (namespace: string, name: string, values: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: values,
});

export const deployment = (namespace: string, name: string, replicas = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'app', image: 'registry.example/app:1' }] },
    },
  },
});

/** Runs the suite against the cluster that `start` returns. */
export function describeWrites(name: string, start: () => Promise<World>): void {
  describe(`writes: ${name}`, () => {
    const namespace = 'writes';
    let world: World;
    let gateway: RunningGateway;
    let api: RestClient;
    let cluster: string;

    beforeAll(async () => {
      world = await start();
      api = new RestClient(await connect({ kubeconfig: world.kubeconfig }));
      await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
      gateway = await runGateway({ kubeconfig: world.kubeconfig }, { readOnly: 'false' });
      cluster =
        (await ask<{ clusters: { name: string }[] }>(gateway.url, '{ clusters { name } }')).data?.clusters[0]?.name ??
        '';
      await eventually(async () => {
        const found = await ask<{ namespace: unknown }>(gateway.url, `{ namespace(name: "${namespace}") { id } }`);
        expect(found.data?.namespace).not.toBeNull();
      });
    });

    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await world?.close();
    });

    const headers = () => ({ authorization: `Bearer ${new URL(gateway.page).hash.replace('#token=', '')}` });
    const write = async (verb: string, given: Record<string, unknown>): Promise<Written> => {
      // On a busy machine the watch may be late.
      const args = { ...given, options: { waitMs: 20_000, ...(given['options'] as object | undefined) } };
      const answer = await send(gateway.url, verb, args, headers());
      if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
      return answer.data?.[verb] as Written;
    };
    const one = async (verb: string, args: Record<string, unknown>): Promise<WrittenItem> => {
      const { items } = await write(verb, args);
      expect(items).toHaveLength(1);
      return items[0] as WrittenItem;
    };
    const idOf = (key: string, objectName: string, inNamespace: string | null = namespace): string =>
      encodeObjectId({ cluster, key, namespace: inNamespace, name: objectName });
    const objects = (key: string, ...names: readonly string[]) => ({
      objects: names.map((each) => ({ id: idOf(key, each) })),
    });

    test('apply creates, changes, and leaves what is already so; each write is seen', async () => {
      const docs = (values: Record<string, string>) => [{ json: configMap(namespace, 'applied', values) }];
      expect(await one('apply', { docs: docs({ a: '1' }) })).toMatchObject({
        result: 'CREATED',
        seen: true,
        object: { metadata: { name: 'applied' } },
        after: { data: { a: '1' } },
        errors: [],
      });
      expect(await one('apply', { docs: docs({ a: '2' }) })).toMatchObject({ result: 'CHANGED', seen: true });
      expect(await one('apply', { docs: docs({ a: '2' }) })).toMatchObject({ result: 'UNCHANGED', seen: true });
      expect(await api.get(`/api/v1/namespaces/${namespace}/configmaps/applied`)).toMatchObject({ data: { a: '2' } });
    });

    test('several documents of YAML in one mutation', async () => {
      const yaml = ['first', 'second']
        .map((each) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${each}}\ndata: {mode: "0644"}\n`)
        .join('---\n');
      const { items, complete, token } = await write('create', { docs: [{ yaml, namespace }] });
      expect(complete).toBe(true);
      expect(token).not.toBeNull();
      expect(items.map(({ result, target }) => [result, target.name])).toEqual([
        ['CREATED', 'first'],
        ['CREATED', 'second'],
      ]);
      const again = await write('create', { docs: [{ yaml, namespace }], options: { onError: 'CONTINUE' } });
      expect(again.items.map(({ errors }) => errors[0]?.code)).toEqual(['ALREADY_EXISTS', 'ALREADY_EXISTS']);
      expect(again.complete).toBe(false);
    });

    test('an object that is named twice is refused the second time, and nothing is written', async () => {
      const map = (value: string) => ({ json: configMap(namespace, 'named-twice', { value }) });
      for (const options of [{ dryRun: true }, {}]) {
        const { items } = await write('apply', { docs: [map('1'), map('2')], options });
        expect(items[1]).toMatchObject({
          result: 'NONE',
          errors: [{ code: 'INVALID_FIELD', message: expect.stringMatching(/configmaps named-twice in .* twice/) }],
        });
        expect(items[0]).toMatchObject(options.dryRun ? { result: 'CREATED' } : { errors: [{ code: 'SKIPPED' }] });
      }
      await one('apply', { docs: [map('1')] });
      const id = idOf('configmaps', 'named-twice');
      const removed = await write('delete', { targets: { objects: [{ id }, { id }] }, options: { dryRun: true } });
      expect(removed.items.map(({ result }) => result)).toEqual(['DELETED', 'NONE']);
    });

    test('a conflict names the manager and the field', async () => {
      const json = configMap(namespace, 'contested', { color: 'blue' });
      await one('apply', { docs: [{ json }], options: { fieldManager: 'painter' } });
      const other = configMap(namespace, 'contested', { color: 'red' });
      const conflict = await one('apply', { docs: [{ json: other }], options: { fieldManager: 'other' } });
      expect(conflict).toMatchObject({
        result: 'NONE',
        errors: [{ __typename: 'FieldConflict', code: 'FIELD_CONFLICT' }],
      });
      expect(conflict.errors[0]?.conflicts).toEqual([{ manager: 'painter', path: '.data.color' }]);
      const forced = await one('apply', { docs: [{ json: other }], force: true, options: { fieldManager: 'other' } });
      expect(forced).toMatchObject({ result: 'CHANGED', errors: [] });
    });

    test('each expected outcome is data', async () => {
      await one('create', { docs: [{ json: configMap(namespace, 'outcomes', { a: '1' }) }] });
      const id = idOf('configmaps', 'outcomes');
      const codeOf = async (verb: string, args: Record<string, unknown>) => {
        const { errors } = await one(verb, args);
        return errors.map(({ __typename, code }) => [__typename, code]);
      };
      expect(await codeOf('delete', { targets: objects('configmaps', 'missing') })).toEqual([
        ['WriteFailure', 'NOT_FOUND'],
      ]);
      expect(await codeOf('patch', { target: { id, uid: 'another' }, patch: { data: { a: '2' } } })).toEqual([
        ['StaleObject', 'STALE_OBJECT'],
      ]);
      expect(await codeOf('patch', { target: { id, resourceVersion: '1' }, patch: { data: { a: '2' } } })).toEqual([
        ['StaleObject', 'STALE_OBJECT'],
      ]);
      for (const dryRun of [true, false]) {
        const named = { target: { id, resourceVersion: 'abc' }, patch: { data: { a: '2' } }, options: { dryRun } };
        expect(await codeOf('patch', named)).toEqual([['StaleObject', 'STALE_OBJECT']]);
      }
      expect(await codeOf('delete', { targets: { objects: [{ id, uid: 'another' }] } })).toEqual([
        ['StaleObject', 'STALE_OBJECT'],
      ]);
      expect(await codeOf('patch', { target: { id }, patch: { data: 'text' } })).toEqual([
        ['InvalidField', 'INVALID_FIELD'],
      ]);
      expect(await codeOf('patch', { target: { id }, patch: { metadata: { name: 'renamed' } } })).toEqual([
        ['InvalidField', 'INVALID_FIELD'],
      ]);
      expect(await codeOf('restart', { targets: { objects: [{ id }] } })).toEqual([['WriteFailure', 'UNSUPPORTED']]);
      for (const dryRun of [true, false]) {
        const scale = { targets: { objects: [{ id }] }, replicas: 2, options: { dryRun } };
        expect(await codeOf('scale', scale)).toEqual([['WriteFailure', 'UNSUPPORTED']]);
      }
      const absent = idOf('deployments.apps', 'absent');
      expect(await codeOf('scale', { targets: { objects: [{ id: absent }] }, replicas: 2 })).toEqual([
        ['WriteFailure', 'NOT_FOUND'],
      ]);
      expect(await codeOf('patch', { target: { id }, patch: {}, subresource: 'nothing' })).toEqual([
        ['WriteFailure', 'UNSUPPORTED'],
      ]);
      const unknown = { apiVersion: 'example.com/v1', kind: 'Nothing', metadata: { name: 'a', namespace } };
      expect(await codeOf('apply', { docs: [{ json: unknown }] })).toEqual([['WriteFailure', 'NOT_FOUND']]);
      const homeless = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
      expect(await codeOf('apply', { docs: [{ json: homeless }] })).toEqual([['InvalidField', 'INVALID_FIELD']]);
      const { spec, ...rest } = deployment(namespace, 'immutable');
      await one('apply', { docs: [{ json: { ...rest, spec } }] });
      const moved = await one('patch', {
        target: { id: idOf('deployments.apps', 'immutable') },
        patch: {
          spec: { selector: { matchLabels: { app: 'other' } }, template: { metadata: { labels: { app: 'other' } } } },
        },
      });
      expect(moved.errors).toMatchObject([{ code: 'IMMUTABLE', path: 'spec.selector' }]);
      expect(await api.get(`/api/v1/namespaces/${namespace}/configmaps/outcomes`)).toMatchObject({ data: { a: '1' } });
    });

    test('a plan shows the changes and their owners, and does exactly that', async () => {
      await one('apply', { docs: [{ json: deployment(namespace, 'planned', 2) }], options: { fieldManager: 'owner' } });
      const targets = objects('deployments.apps', 'planned');
      const plan = await write('scale', { targets, replicas: 3, options: { dryRun: true } });
      expect(plan.items).toMatchObject([
        {
          result: 'CHANGED',
          errors: [],
          seen: false,
          changes: [{ path: 'spec.replicas', before: 2, after: 3, managers: ['owner'] }],
        },
      ]);
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/planned`;
      expect(await api.get(path)).toMatchObject({ spec: { replicas: 2 } });
      // The status may change between plan and apply.
      await api.patch(path, 'merge', { metadata: { annotations: { seen: 'yes' } } });
      const done = await write('scale', { targets, replicas: 3, options: { plan: plan.planId } });
      expect(done.items).toMatchObject([{ result: 'CHANGED', errors: [], seen: true }]);
      expect(await api.get(path)).toMatchObject({ spec: { replicas: 3 } });
      // A repeat finds nothing left to do.
      const again = await write('scale', { targets, replicas: 3, options: { plan: plan.planId } });
      expect(again.items).toMatchObject([{ result: 'UNCHANGED', errors: [] }]);
      await api.patch(path, 'merge', { spec: { replicas: 7 } });
      const other = await write('scale', { targets, replicas: 3, options: { plan: plan.planId } });
      expect(other.items).toMatchObject([
        { result: 'NONE', errors: [{ code: 'PLAN_CHANGED' }], changes: [{ before: 7, after: 3 }] },
      ]);
      expect(await api.get(path)).toMatchObject({ spec: { replicas: 7 } });
      const bound = await send(
        gateway.url,
        'scale',
        { targets, replicas: 4, options: { plan: plan.planId } },
        headers(),
      );
      expect(bound.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
    });

    test('a plan has the objects of a namespace that it creates, and creates them', async () => {
      const docs = [
        { json: configMap('planned-space', 'inside', { a: '1' }) },
        { json: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'planned-space' } } },
        {
          json: {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'pin', namespace: 'planned-space' },
            stringData: { pin: '4711' },
          },
        },
      ];
      const plan = await write('apply', { docs, options: { dryRun: true } });
      expect(plan.items.map(({ result, warnings }) => [result, warnings])).toEqual([
        ['CREATED', [expect.stringContaining('the namespace planned-space is created first')]],
        ['CREATED', []],
        ['CREATED', [expect.stringContaining('the namespace planned-space is created first')]],
      ]);
      expect(plan.items[0]?.changes.map(({ path, after }) => [path, after])).toContainEqual(['data', { a: '1' }]);
      expect(JSON.stringify(plan.items[2])).not.toContain('4711');
      await expect(api.get('/api/v1/namespaces/planned-space')).rejects.toMatchObject({ httpStatus: 404 });
      const done = await write('apply', { docs, options: { plan: plan.planId } });
      expect(done.items.map(({ result, errors }) => [result, errors])).toEqual(docs.map(() => ['CREATED', []]));
      // Another object of the name was not planned.
      const inside = '/api/v1/namespaces/planned-space/configmaps/inside';
      await api.patch(inside, 'merge', { data: { a: null, b: '2' } });
      const again = await write('apply', { docs, options: { plan: plan.planId, onError: 'CONTINUE' } });
      expect(again.items.map(({ errors }) => errors[0]?.code ?? null)).toEqual(['PLAN_CHANGED', null, null]);
      expect(await api.get(inside)).toMatchObject({ data: { b: '2' } });
      // In a namespace that is missing for another reason, nothing is planned.
      const elsewhere = await one('apply', {
        docs: [{ json: configMap('no-space', 'a', {}) }],
        options: { dryRun: true },
      });
      expect(elsewhere).toMatchObject({ result: 'NONE', errors: [{ code: 'NOT_FOUND' }] });
    });

    test('what a plan changes is not done if the object is gone', async () => {
      await one('apply', { docs: [{ json: deployment(namespace, 'vanishing', 2) }] });
      const targets = objects('deployments.apps', 'vanishing');
      const scale = await write('scale', { targets, replicas: 3, options: { dryRun: true } });
      const removal = await write('delete', { targets, options: { dryRun: true } });
      await one('delete', { targets });
      await eventually(() =>
        expect(api.get(`/apis/apps/v1/namespaces/${namespace}/deployments/vanishing`)).rejects.toMatchObject({
          httpStatus: 404,
        }),
      );
      expect(await one('scale', { targets, replicas: 3, options: { plan: scale.planId } })).toMatchObject({
        result: 'NONE',
        errors: [{ code: 'NOT_FOUND' }],
      });
      expect(await one('delete', { targets, options: { plan: removal.planId } })).toMatchObject({
        result: 'UNCHANGED',
        errors: [],
      });
    });

    test('the objects that manifests name as targets', async () => {
      const kept = configMap(namespace, 'named', { a: '1' });
      await one('apply', { docs: [{ json: kept }] });
      const stale = { ...kept, metadata: { ...kept.metadata, uid: 'another', resourceVersion: '1' }, data: { a: '2' } };
      const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-', namespace } };
      const docs = [{ json: made }, { json: stale }];
      const plan = await write('delete', { targets: { docs }, options: { dryRun: true } });
      expect(plan.items.map(({ result, errors }) => [result, errors[0]?.path ?? null])).toEqual([
        ['NONE', 'metadata.name'],
        ['DELETED', null],
      ]);
      const options = { plan: plan.planId, onError: 'CONTINUE' };
      expect((await write('delete', { targets: { docs }, options })).items.map(({ result }) => result)).toEqual([
        'NONE',
        'DELETED',
      ]);
    });

    test('a query as target: expect, the live object, restart', async () => {
      const names = ['queried-1', 'queried-2', 'queried-3'];
      const docs = names.map((each) => ({ json: deployment(namespace, each) }));
      expect((await write('apply', { docs })).complete).toBe(true);
      const filter = { metadata: { name: { startsWith: 'queried-' } } };
      const query = { kinds: ['Deployment'], filter, namespaces: [namespace], expect: 3 };
      const wrong = await send(gateway.url, 'restart', { targets: { query: { ...query, expect: 2 } } }, headers());
      expect(wrong.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
      const plan = await write('restart', { targets: { query }, options: { dryRun: true } });
      const isRestart = ({ path }: { path: string }) => path.startsWith('spec.template.metadata.annotations');
      expect(plan.items.map(({ changes }) => changes.filter((change) => !isRestart(change)))).toEqual(
        names.map(() => []),
      );
      expect(plan.items.every(({ changes }) => changes.length === 1)).toBe(true);
      const done = await write('restart', { targets: { query }, options: { plan: plan.planId } });
      expect(done.items.map(({ result, seen }) => [result, seen])).toEqual(names.map(() => ['CHANGED', true]));
      for (const kinds of [['*'], ['Namespace'], ['CustomResourceDefinition']]) {
        const refused = await send(gateway.url, 'delete', { targets: { query: { kinds, expect: 1 } } }, headers());
        expect(refused.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
      }
    });

    test('STOP leaves the others, CONTINUE goes on, REVERT undoes', async () => {
      const bad = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not A Name', namespace } };
      const docs = [
        { json: configMap(namespace, 'sequence-1', { a: '1' }) },
        { json: bad },
        { json: configMap(namespace, 'sequence-2', { a: '1' }) },
      ];
      const results = async (onError: string) => {
        const { items } = await write('create', { docs, options: { onError, order: 'GIVEN' } });
        return items.map(({ result, errors }) => [result, errors[0]?.code ?? null]);
      };
      expect(await results('STOP')).toEqual([
        ['CREATED', null],
        ['NONE', 'INVALID_FIELD'],
        ['NONE', 'SKIPPED'],
      ]);
      await one('delete', { targets: objects('configmaps', 'sequence-1') });
      expect(await results('REVERT')).toEqual([
        ['REVERTED', null],
        ['NONE', 'INVALID_FIELD'],
        ['NONE', 'SKIPPED'],
      ]);
      expect(await results('CONTINUE')).toEqual([
        ['CREATED', null],
        ['NONE', 'INVALID_FIELD'],
        ['CREATED', null],
      ]);
      await one('create', { docs: [{ json: configMap(namespace, 'reverted', { a: '1', b: '1' }) }] });
      const apply = await write('apply', {
        docs: [{ json: configMap(namespace, 'reverted', { a: '2' }) }, { json: bad }],
        force: true,
        options: { onError: 'REVERT', order: 'GIVEN' },
      });
      expect(apply.items.map(({ result }) => result)).toEqual(['REVERTED', 'NONE']);
      expect(await api.get(`/api/v1/namespaces/${namespace}/configmaps/reverted`)).toMatchObject({
        data: { a: '1', b: '1' },
      });
    });

    test('REVERT scales back', async () => {
      await one('apply', { docs: [{ json: deployment(namespace, 'scaled-back', 2) }] });
      const targets = objects('deployments.apps', 'scaled-back', 'missing');
      const { items } = await write('scale', { targets, replicas: 5, options: { onError: 'REVERT', order: 'GIVEN' } });
      expect(items.map(({ result }) => result)).toEqual(['REVERTED', 'NONE']);
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/scaled-back`;
      expect(await api.get(path)).toMatchObject({ spec: { replicas: 2 } });
    });

    test('no value of a Secret is shown, in plans, changes and errors', async () => {
      const secret = (pin: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'pin', namespace },
        stringData: { pin },
      });
      const answers: unknown[] = [];
      answers.push(await write('apply', { docs: [{ json: secret('4711-first') }] }));
      answers.push(await write('apply', { docs: [{ json: secret('4711-second') }], options: { dryRun: true } }));
      const id = idOf('secrets', 'pin');
      answers.push(await write('patch', { target: { id }, patch: { data: { pin: '4711-not-base64!' } } }));
      answers.push(
        await write('patch', { target: { id }, patch: { type: '4711-type', stringData: { pin: '4711-third' } } }),
      );
      const removed = await write('delete', { targets: { objects: [{ id }] }, options: { dryRun: true } });
      answers.push(removed);
      const text = JSON.stringify(answers);
      expect(text).not.toContain('4711-first');
      expect(text).not.toContain('4711-second');
      expect(text).not.toContain('4711-not');
      expect(text).not.toContain('4711-third');
      expect(text).not.toContain(Buffer.from('4711-first').toString('base64').slice(0, 10));
      expect(removed.items[0]?.changes.some(({ path, isWithheld }) => path === 'data' && isWithheld)).toBe(true);
    });

    test('a repeat with the same requestId does nothing twice', async () => {
      const requestId = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
      const generated = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-', namespace } };
      const unnamed = { code: 'INVALID_FIELD', path: 'metadata.name', message: expect.stringContaining('`create`') };
      expect(await one('apply', { docs: [{ json: generated }] })).toMatchObject({ errors: [unnamed] });
      const first = await one('create', { docs: [{ json: generated }], options: { requestId } });
      const second = await one('create', { docs: [{ json: generated }], options: { requestId } });
      expect(second).toMatchObject({ target: { name: first.target.name }, errors: [{ code: 'ALREADY_EXISTS' }] });
      await one('apply', { docs: [{ json: deployment(namespace, 'repeated') }] });
      const targets = objects('deployments.apps', 'repeated');
      expect(await one('restart', { targets, options: { requestId } })).toMatchObject({ result: 'CHANGED' });
      const generation = async () =>
        (
          await api.get<{ metadata: { generation: number } }>(
            `/apis/apps/v1/namespaces/${namespace}/deployments/repeated`,
          )
        ).metadata.generation;
      const restarted = await generation();
      // While a controller writes the status, the tables may be behind, and the result is CHANGED.
      await eventually(async () =>
        expect(await one('restart', { targets, options: { requestId } })).toMatchObject({ result: 'UNCHANGED' }),
      );
      expect(await generation()).toBe(restarted);
      const refused = await send(gateway.url, 'delete', { targets, options: { requestId } }, headers());
      expect(refused.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
    });
  });
}
