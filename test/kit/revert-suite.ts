/** Reverts of sets, against any API server: what comes back, what leaves, what cannot be reverted, and the plan of it. */
import { expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import { nullIfAbsent } from '../../src/kube/http/api-error.ts';
import { eventually } from './eventually.ts';
import { ask } from './graphql-client.ts';
import type { WritingGateway } from './writing-gateway.ts';

type Json = Readonly<Record<string, unknown>>;

interface Item {
  readonly target: { readonly kind: string; readonly name: string };
  readonly result: string;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[];
}

interface Written {
  readonly planId: string | null;
  readonly complete: boolean;
  readonly items: readonly Item[];
}

interface Change {
  readonly at: string;
  readonly type: string;
  readonly kind: string;
  readonly name: string;
  readonly changedPaths: readonly string[] | null;
}

export interface RevertPlace {
  readonly gateway: WritingGateway;
  readonly api: RestClient;
}

const configMap = (name: string, data: Json) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const secret = (name: string, pin: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { pin },
});

/** The tests, in namespaces of their own. */
export function testReverts(placeOf: () => RevertPlace): void {
  let count = 0;

  async function begin() {
    const { gateway, api } = placeOf();
    count += 1;
    const namespace = `revert-${count}`;
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const fields =
      'planId complete items { target { kind name } result errors { code message } changes { path before after } }';
    const set = `set: { namespace: "${namespace}", name: "app" }`;
    const mutate = async (field: string, variables: Json = {}): Promise<Written> => {
      const types = 'docs' in variables ? '($docs: [ManifestInput!]!)' : '';
      const { data, errors } = await ask<{ done: Written }>(
        gateway.url,
        `mutation${types} { done: ${field} { ${fields} } }`,
        variables,
        gateway.headers,
      );
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return must(data, 'the mutation answers').done;
    };
    const apply = (...objects: readonly Json[]) =>
      mutate(`applySet(${set}, force: true, docs: $docs)`, { docs: objects.map((json) => ({ json })) });
    const revert = (to: string, more = '') => mutate(`revertSet(${set}, to: "${to}"${more})`);
    await eventually(() =>
      expect(revert(new Date().toISOString(), ', options: { dryRun: true }')).rejects.toThrow('There was no set app'),
    );
    // The reach of each history begins at a whole second: that of another kind may be the next one.
    const begun = Math.ceil(Date.now() / 1000) * 1000;
    await eventually(async () => expect(Date.now()).toBeGreaterThan(begun));
    const path = (name: string, plural = 'configmaps') => `/api/v1/namespaces/${namespace}/${plural}/${name}`;
    const dataOf = async (name: string, plural = 'configmaps') => {
      const found = await api.get<{ data?: Json }>(path(name, plural)).catch(nullIfAbsent);
      return found === null ? null : (found.data ?? {});
    };
    /** A time after everything that the tables have. Resolves when later changes have a later time. */
    const now = async (): Promise<string> => {
      const at = new Date().toISOString();
      await eventually(async () => expect(Date.now()).toBeGreaterThan(Date.parse(at) + 1));
      return at;
    };
    return { namespace, gateway, api, mutate, apply, revert, path, dataOf, now, set };
  }

  const results = ({ items }: Written) =>
    items.map(({ target, result, errors }) => `${target.name} ${errors[0]?.code ?? result}`);

  test('members are as they were, those since added leave, and those since deleted come back', async () => {
    const { apply, revert, dataOf, now, api, path } = await begin();
    await apply(
      configMap('kept', { size: '1' }),
      configMap('changed', { size: '1', more: 'x' }),
      configMap('gone', { a: 'b' }),
    );
    const then = await now();
    await apply(configMap('kept', { size: '1' }), configMap('changed', { size: '2' }), configMap('added', { c: 'd' }));
    await api.patch(path('changed'), 'merge', { data: { byHand: 'stays' } });

    const plan = await revert(then, ', options: { dryRun: true }');
    expect(results(plan)).toEqual([
      'kept UNCHANGED',
      'changed CHANGED',
      'gone CREATED',
      'added DELETED',
      'app CHANGED',
    ]);
    expect(plan.items[1]?.changes.map(({ path: at, before, after }) => [at, before, after])).toEqual(
      expect.arrayContaining([
        ['data.size', '2', '1'],
        ['data.more', null, 'x'],
      ]),
    );
    expect([await dataOf('added'), await dataOf('gone')]).toEqual([{ c: 'd' }, null]);

    const done = await revert(then, `, options: { plan: "${plan.planId}" }`);
    expect(results(done)).toEqual(results(plan));
    expect(await Promise.all(['kept', 'changed', 'gone', 'added'].map((name) => dataOf(name)))).toEqual([
      { size: '1' },
      { size: '1', more: 'x', byHand: 'stays' },
      { a: 'b' },
      null,
    ]);
    // And forward again: a revert is a change like others.
    expect(results(await revert(await now()))).toEqual([
      'kept UNCHANGED',
      'changed UNCHANGED',
      'gone UNCHANGED',
      'app UNCHANGED',
    ]);
  });

  test('a value that somebody changed by hand goes back, with force', async () => {
    const { apply, revert, dataOf, now, api, path } = await begin();
    await apply(configMap('banner', { text: 'hello' }));
    const then = await now();
    await api.patch(path('banner'), 'merge', { data: { text: 'broken' } }, { query: { fieldManager: 'somebody' } });
    await eventually(async () => expect(results(await revert(then))).toEqual(['banner FIELD_CONFLICT', 'app SKIPPED']));
    expect(results(await revert(then, ', force: true'))).toEqual(['banner CHANGED', 'app CHANGED']);
    expect(await dataOf('banner')).toEqual({ text: 'hello' });
  });

  test('a Secret that is as it was stays; one that has changed is withheld, and nothing is written', async () => {
    const { apply, revert, dataOf, now } = await begin();
    await apply(configMap('banner', { text: 'one' }), secret('pin', '1111'));
    const then = await now();
    await apply(configMap('banner', { text: 'two' }), secret('pin', '1111'));
    expect(results(await revert(then))).toEqual(['banner CHANGED', 'pin UNCHANGED', 'app CHANGED']);
    expect(await dataOf('pin', 'secrets')).toEqual({ pin: Buffer.from('1111').toString('base64') });

    await apply(configMap('banner', { text: 'three' }), secret('pin', '2222'));
    const refused = await eventually(async () => {
      const found = await revert(then);
      expect(results(found)).toEqual(['banner SKIPPED', 'pin DATA_WITHHELD', 'app SKIPPED']);
      return found;
    });
    expect(refused.items[1]?.errors[0]?.message).toContain('The Secret pin cannot be as it was');
    expect([await dataOf('banner'), await dataOf('pin', 'secrets')]).toEqual([
      { text: 'three' },
      { pin: Buffer.from('2222').toString('base64') },
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/1111|2222|MTExMQ|MjIyMg/);
  });

  test('the history of a set has the changes of its record and of all its members in one order', async () => {
    const { apply, mutate, set, gateway, namespace, api, path } = await begin();
    await api.post(path('').replace(/\/$/, ''), configMap('bystander', {}));
    await apply(configMap('one', { n: '1' }), configMap('two', { n: '1' }));
    await apply(configMap('one', { n: '2' }));
    const asked = (page: string) =>
      `{ sets(filter: { namespaces: ["${namespace}"] }) { nodes { setHistory(${page}) {
        nodes { at type kind name changedPaths } pageInfo { hasNextPage endCursor } reaches { kind } } } } }`;
    interface History {
      readonly nodes: readonly Change[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
      readonly reaches: readonly { readonly kind: string }[];
    }
    const historyOf = async (page: string): Promise<History> => {
      const { data, errors } = await ask<{ sets: { nodes: readonly { setHistory: History }[] } }>(
        gateway.url,
        asked(page),
      );
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return must(data?.sets.nodes[0], 'the set').setHistory;
    };
    const whole = await eventually(async () => {
      const found = await historyOf('first: 50');
      const members = found.nodes.filter(({ kind }) => kind === 'ConfigMap').map(({ type, name }) => `${type} ${name}`);
      // Other changes, such as of managedFields alone, may stand between them.
      expect(members.filter((each) => !each.startsWith('MODIFIED')).toSorted()).toEqual([
        'ADDED one',
        'ADDED two',
        'DELETED two',
      ]);
      expect(members).toContain('MODIFIED one');
      expect(
        found.nodes.some(({ kind, changedPaths }) => kind === 'ShadowRecord' && changedPaths?.includes('spec.phase')),
      ).toBe(true);
      return found;
    });
    expect(whole.nodes.map(({ at }) => at)).toEqual(
      whole.nodes
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(whole.nodes.at(-1)?.type).toBe('ADDED');
    expect(whole.reaches.map(({ kind }) => kind).toSorted()).toEqual(['ConfigMap', 'ShadowRecord']);
    const paged: Change[] = [];
    for (let after = ''; ; ) {
      const { nodes, pageInfo } = await historyOf(`first: 2${after}`);
      paged.push(...nodes);
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(paged).toEqual(whole.nodes);
    await mutate(`deleteSet(${set})`);
  });

  test('a deleted set comes back whole', async () => {
    const { apply, revert, dataOf, now, mutate, set } = await begin();
    await apply(configMap('one', { n: '1' }), configMap('two', { n: '2' }));
    const then = await now();
    await mutate(`deleteSet(${set})`);
    await eventually(async () =>
      expect(results(await revert(then))).toEqual(['one CREATED', 'two CREATED', 'app CREATED']),
    );
    expect([await dataOf('one'), await dataOf('two')]).toEqual([{ n: '1' }, { n: '2' }]);
  });

  test('times without a set, and before the history, are refused', async () => {
    const { apply, revert, now } = await begin();
    const before = await now();
    await apply(configMap('one', { n: '1' }));
    await expect(revert(before)).rejects.toThrow('There was no set app');
    await expect(revert('2001-01-01T00:00:00Z')).rejects.toThrow(
      /The history of shadowrecords.portolan.dev .* begins at/,
    );
    await expect(revert('yesterday')).rejects.toThrow('BAD_USER_INPUT');
  });
}
