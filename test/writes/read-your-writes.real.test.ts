/**
 * Read your writes, on a real API server: what a mutation has written is in every answer after it, at the same gateway, and with the
 * token of the mutation at another one.
 *
 *   random writes of twenty kinds at one of two gateways -> seen -> at both: the object, a list with its count, and a relation
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf } from '../../src/base/errors.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { type VariedKind, variedKinds } from '../kit/varied-manifests.ts';
import type { Written, WrittenItem } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const steps = Number(process.env['PORTOLAN_READ_YOUR_WRITES'] ?? randomRuns(30, 100));
const seed = Number(process.env['PORTOLAN_SEED'] ?? '1');
const namespace = 'read-your-writes';
/** Names of one kind: few enough that writes meet the same object again. */
const names = ['a', 'b'];

const document = /* GraphQL */ `
  query ($id: ID!, $kinds: [String!]!, $namespaces: [String!]!, $name: String!, $root: ID!, $one: Boolean!, $list: Boolean!, $relation: Boolean!) {
    object(id: $id) @include(if: $one) { metadata { resourceVersion } }
    objects(kinds: $kinds, filter: { namespaces: $namespaces, metadata: { name: { eq: $name } } }) @include(if: $list) {
      totalCount
      nodes { metadata { resourceVersion } }
    }
    root: object(id: $root) @include(if: $relation) { owned(kinds: $kinds) { nodes { id metadata { resourceVersion } } } }
  }
`;

function versionOf(item: WrittenItem | undefined): string | undefined {
  const metadata = item?.after?.['metadata'] as { readonly resourceVersion: string } | undefined;
  return metadata?.resourceVersion;
}

interface Shown {
  readonly object?: { readonly metadata: { readonly resourceVersion: string } } | null;
  readonly objects?: { readonly totalCount: number; readonly nodes: readonly NonNullable<Shown['object']>[] };
  readonly root?: { readonly owned: { readonly nodes: readonly (NonNullable<Shown['object']> & { id: string })[] } };
}

describeOn([mainServer], 'read your writes', { timeout: 1_200_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;
  let gateways: readonly [WritingGateway, WritingGateway];
  let rootUid: string;

  const idOf = ({ key }: Pick<VariedKind, 'key'>, name: string): string =>
    encodeObjectId({ cluster: clusterName, key, namespace, name });

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const root = await api.post<{ metadata: { uid: string } }>(`/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'root' },
    });
    rootUid = root.metadata.uid;
    gateways = [await WritingGateway.start(plane.kubeconfigPath), await WritingGateway.start(plane.kubeconfigPath)];
  });
  afterAll(async () => {
    for (const gateway of gateways ?? []) await gateway.close();
    await api?.connection.close();
    await plane?.stop();
  });

  /** The versions of the object that the three answers show. @param after the token of a mutation */
  async function versionsShown(gateway: WritingGateway, kind: VariedKind, name: string, after: string | null) {
    const id = idOf(kind, name);
    const asked = { id, kinds: [kind.key], namespaces: [namespace], name, root: idOf({ key: 'configmaps' }, 'root') };
    const none = { one: false, list: false, relation: false };
    const answers: Shown[] = [];
    for (const part of ['one', 'list', 'relation']) {
      const response = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          query: document,
          variables: { ...asked, ...none, [part]: true },
          ...(after === null ? {} : { extensions: { portolan: { after } } }),
        }),
      });
      const { data, errors } = (await response.json()) as { data?: Shown; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      answers.push(data ?? {});
    }
    const [one, list, relation] = answers;
    const related = relation?.root?.owned.nodes.find((each) => each.id === id);
    return {
      one: one?.object?.metadata.resourceVersion ?? null,
      count: list?.objects?.totalCount,
      list: list?.objects?.nodes[0]?.metadata.resourceVersion ?? null,
      relation: related?.metadata.resourceVersion ?? null,
    };
  }

  /** As the API server has it. A claim waits for a finalizer after its deletion. */
  async function liveVersion({ key, head: { apiVersion } }: VariedKind, name: string): Promise<string | null> {
    const [plural] = key.split('.');
    const path = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;
    try {
      const { metadata } = await api.get<{ metadata: { resourceVersion: string } }>(path);
      return metadata.resourceVersion;
    } catch (error) {
      if (codeOf(error) === 'NOT_FOUND') return null;
      throw error;
    }
  }

  const manifestOf = (dice: Dice, { head, body }: VariedKind, name: string) => ({
    ...head,
    metadata: {
      name,
      namespace,
      labels: { turn: `${dice.below(1_000_000)}` },
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'root', uid: rootUid }],
    },
    ...body,
  });

  test('random writes are in every answer after them, at both gateways', async () => {
    const dice = new Dice(seed);
    const there = new Set<string>();
    for (let step = 0; step < steps; step += 1) {
      const targets = dice.sample(variedKinds, dice.between(1, 3)).map((kind) => ({ kind, name: dice.pick(names) }));
      const isThere = ({ kind, name }: (typeof targets)[number]): boolean => there.has(idOf(kind, name));
      const present = targets.filter(isThere);
      const [writer, reader] = dice.chance(0.5) ? gateways : [gateways[1], gateways[0]];
      const objects = present.map(({ kind, name }) => ({ id: idOf(kind, name) }));
      const docs = targets.map(({ kind, name }) => ({ json: manifestOf(dice, kind, name) }));
      const verb = present.length === 0 ? 'apply' : dice.pick(['apply', 'patch', 'delete'] as const);
      const patch = { metadata: { labels: { turn: `${step}` } } };
      const args = {
        apply: { docs, force: true },
        patch: { target: objects[0], patch },
        delete: { targets: { objects } },
      }[verb];
      const written: Written = await writer.write(verb, { ...args, options: { waitMs: 30_000 } });
      const done = verb === 'apply' ? targets : verb === 'patch' ? present.slice(0, 1) : present;
      const outcomes = written.items.map(({ target, seen, errors }) => [target.kind, seen, errors]);
      expect(outcomes).toEqual(done.map(({ kind }) => [kind.head.kind, true, []]));
      for (const [index, { kind, name }] of done.entries()) {
        const version = await liveVersion(kind, name);
        if (version === null) there.delete(idOf(kind, name));
        else there.add(idOf(kind, name));
        if (verb !== 'delete') expect(version).toBe(versionOf(written.items[index]));
        const expected = { one: version, count: version === null ? 0 : 1, list: version, relation: version };
        const place = `step ${step}: ${verb} of ${kind.key} ${name}`;
        expect([place, await versionsShown(writer, kind, name, null)]).toEqual([place, expected]);
        expect([place, await versionsShown(reader, kind, name, written.token)]).toEqual([place, expected]);
      }
    }
  });

  test('the answer of a mutation itself shows what was written, and what a later field of it writes', async () => {
    const [gateway] = gateways;
    const text = /* GraphQL */ `
      mutation ($first: [ManifestInput!]!, $second: [ManifestInput!]!) {
        first: apply(docs: $first) { items { after object { metadata { resourceVersion labels } } } }
        second: apply(docs: $second) { items { after object { metadata { resourceVersion labels } } } }
      }
    `;
    const doc = (turn: string) => [
      { json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'twice', namespace, labels: { turn } } } },
    ];
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...gateway.headers },
      body: JSON.stringify({ query: text, variables: { first: doc('1'), second: doc('2') } }),
    });
    expect(await response.json()).toMatchObject({
      data: {
        first: { items: [{ object: { metadata: { labels: { turn: '1' } } } }] },
        second: { items: [{ object: { metadata: { labels: { turn: '2' } } } }] },
      },
    });
  });

  // Less time than the mutation may wait: one that waits fails.
  test('a kind that is not ingested is not waited for', { timeout: 25_000 }, async () => {
    const blind = await WritingGateway.start(plane.kubeconfigPath, { exclude: ['configmaps'] });
    try {
      const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unseen', namespace } };
      const id = idOf({ key: 'configmaps' }, 'unseen');
      const options = { waitMs: 30_000 };
      const made = await blind.write('apply', { docs: [{ json }], options });
      expect(made.items).toMatchObject([{ result: 'CREATED', seen: false, object: null, errors: [] }]);
      const [sighted] = gateways;
      const kind = variedKinds[0] as VariedKind;
      const { one } = await versionsShown(sighted, kind, 'unseen', made.token);
      expect(one).toBe(versionOf(made.items[0]));
      const gone = await blind.write('delete', { targets: { objects: [{ id }] }, options });
      expect(gone.items).toMatchObject([{ result: 'DELETED', seen: false, errors: [] }]);
      expect(await versionsShown(sighted, kind, 'unseen', gone.token)).toMatchObject({ one: null, count: 0 });
    } finally {
      await blind.close();
    }
  });
});
