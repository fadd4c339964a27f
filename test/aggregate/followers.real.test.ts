/**
 * Informers follow sets through random changes, while two replicas take turns, and one of them is stopped, killed and started again:
 * client-go's with WatchList and without, and client-node's. In the end each has what GET shows of each set.
 *
 *   changes    |-----------|-----------|-----------|      in between, the other replica takes the turn at random
 *                       SIGTERM     SIGKILL               the replica in turn ends, changes go on, and it starts again
 *                                                         then the other one starts again, and this one ends
 *
 * Then they cannot connect until their version is too old: the replica has started again, or the changes that it keeps are all newer. A
 * watch from there gets 410, and each informer lists again. In the end each has what GET shows once more.
 *
 * And a watch moves away from a replica that is behind with the watch of one kind.
 *
 * PORTOLAN_SET_CHANGES is the number of changes (200), PORTOLAN_SEED their seed (1).
 */
import { join } from 'node:path';
import { KubeConfig, type KubernetesListObject, makeInformer } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import { startCutProxy } from '../kit/cut-proxy.ts';
import {
  type DoorReplicas,
  otherThan,
  type ReplicaName,
  type ReplicatedPlane,
  startReplicatedPlane,
} from '../kit/door-replicas.ts';
import { eventually } from '../kit/eventually.ts';
import { GoInformer, type GoInformerState } from '../kit/go-informer.ts';
import { buildGo, missingForGo } from '../kit/go-programs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { configMap, type ShadowObject, shownSets } from '../kit/shadow-records.ts';

const changes = Number(process.env['PORTOLAN_SET_CHANGES'] ?? 200);
const seed = Number(process.env['PORTOLAN_SEED'] ?? 1);
const group = '/apis/shadow.portolan.dev/v1alpha1';
const all = `${group}/shadowresources`;
const ofSet = (name: string): string => `${group}/namespaces/default/shadowresources/${name}`;
const ofMember = (name: string): string => `/api/v1/namespaces/default/configmaps/${name}`;
const ofRecord = (name: string): string => `/apis/portolan.dev/v1alpha1/namespaces/default/shadowrecords/${name}`;
const missing = mainServer.missing(['kubectl']) === null ? missingForGo() : null;

describeOn([mainServer], 'followers of sets', { timeout: 400_000 + changes * 2000, needs: ['kubectl'] }, (server) => {
  let replicated: ReplicatedPlane;
  let replicas: DoorReplicas;
  let client: RestClient;

  beforeAll(async () => {
    replicated = await startReplicatedPlane(server);
    ({ replicas, client } = replicated);
  }, 240_000);
  afterAll(() => replicated?.stop(), 60_000);

  /** Null for 404. */
  const get = async (path: string): Promise<ShadowObject | null> => {
    try {
      return await client.get<ShadowObject>(path);
    } catch (error) {
      if ((error as { httpStatus?: number }).httpStatus === 404) return null;
      throw error;
    }
  };

  const apply = (path: string, body: object, fieldManager: string): Promise<unknown> =>
    client.patch(path, 'apply', body, { query: { fieldManager, force: true } });

  /**
   * The first object of the events of a watch that is as wanted.
   * @param version null: begins with the present sets
   * @param errors gets the objects of ERROR events, because who calls may try again
   */
  const watchUntil = async (
    version: string | null,
    isWanted: (set: ShadowObject) => boolean,
    errors: unknown[],
  ): Promise<ShadowObject> => {
    const query = { watch: 1, ...(version === null ? {} : { resourceVersion: version }) };
    const { body } = await client.stream(all, query);
    // It is cut off.
    body.on('error', () => {});
    try {
      let rest = '';
      for await (const chunk of body) {
        const lines = `${rest}${String(chunk)}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: ShadowObject };
          if (type === 'ERROR') errors.push(object);
          else if (isWanted(object)) return object;
        }
      }
    } finally {
      body.destroy();
    }
    throw new Error('the watch has ended');
  };

  test('a watch that moves away from a replica that is behind gets what it lacks', async () => {
    const isRound = (round: number) => (set: ShadowObject) => set.metadata?.labels?.['round'] === String(round);
    const valueIn = (set: ShadowObject | null): unknown =>
      (set?.spec as { readonly flowList: readonly { readonly data?: { readonly value: string } }[] } | undefined)
        ?.flowList[0]?.data?.value;
    await eventually(() => apply(ofSet('moved'), oneMember('moved', configMap('moved', 0)), 'jane'), 60_000);
    const errors: unknown[] = [];
    for (const round of [1, 2, 3, 4]) {
      const behind: ReplicaName = round % 2 === 0 ? 'one' : 'two';
      replicas.turnTo(behind);
      await eventually(async () => expect(valueIn(await get(ofSet('moved')))).toBe(String(round - 1)), 30_000);
      const release = replicas.gate(behind).holdWatches('/configmaps');
      onTestFinished(release);
      await client.patch(ofMember('moved'), 'merge', { data: { value: String(round) } });
      await client.patch(ofRecord('moved'), 'merge', { metadata: { labels: { round: String(round) } } });
      const last = await watchUntil(null, isRound(round), errors);
      expect(valueIn(last), 'the replica is behind').toBe(String(round - 1));
      replicas.turnTo(otherThan(behind));
      const version = must(last.metadata?.resourceVersion, 'a version');
      const found = await eventually(
        () => watchUntil(version, (set) => valueIn(set) === String(round), errors),
        30_000,
      );
      expect(isRound(round)(found)).toBe(true);
      release();
    }
    expect(errors).toEqual([]);
    await client.delete(ofSet('moved'));
  });

  test.skipIf(missing !== null)(
    `each informer has what GET shows after ${changes} changes of seed ${seed}${missing === null ? '' : ` (${missing})`}`,
    async () => {
      const program = join(replicated.plane.dir, 'go-informer');
      await buildGo('informer', program);
      const resource = ['shadow.portolan.dev', 'v1alpha1', 'shadowresources'];
      const gate = await startCutProxy(Number(new URL(replicated.plane.server).port));
      onTestFinished(() => gate.close());
      const kubeconfig = replicated.kubeconfig(gate.url);
      const followers = {
        watchList: new GoInformer(program, { kubeconfig, resource, watchList: true }),
        classic: new GoInformer(program, { kubeconfig, resource, watchList: false }),
      };
      onTestFinished(() => Object.values(followers).forEach((each) => void each.close()));
      const config = new KubeConfig();
      config.loadFromFile(kubeconfig);
      let nodeLists = 0;
      const informer = makeInformer<ShadowObject>(config, all, () => {
        nodeLists += 1;
        return client.get<KubernetesListObject<ShadowObject>>(all);
      });
      onTestFinished(() => void informer.stop());
      informer.on('error', () => void setTimeout(() => void informer.start().catch(() => {}), 200));
      await informer.start();

      const random = seededRandom(seed);
      const pick = (count: number): number => Math.floor(random() * count);
      let turn: ReplicaName = 'one';
      const made = { set: 0, removed: 0, member: 0, memberGone: 0, label: 0, record: 0, turns: 0, refused: 0 };
      const change = async (step: number, isServed: boolean): Promise<void> => {
        const name = `set-${pick(6)}`;
        const member = `${name}-${pick(4)}`;
        const what = pick(isServed ? 12 : 8);
        if (what < 4) {
          made.member += 1;
          await apply(ofMember(member), configMap(member, step), 'other');
        } else if (what < 6) {
          made.memberGone += 1;
          await client.delete(ofMember(member));
        } else if (what < 7) {
          made.label += 1;
          await client.patch(ofRecord(name), 'merge', { metadata: { labels: { step: String(step) } } });
        } else if (what < 8) {
          made.record += 1;
          await client.delete(ofRecord(name));
        } else if (what < 11) {
          made.set += 1;
          const members = Array.from({ length: 1 + pick(4) }, (_, index) => configMap(`${name}-${index}`, step));
          const metadata = { name, namespace: 'default', annotations: { 'shadow.portolan.dev/adopt': 'true' } };
          const [apiVersion, kind] = ['shadow.portolan.dev/v1alpha1', 'ShadowResource'];
          await apply(ofSet(name), { apiVersion, kind, metadata, spec: { flowList: members } }, 'jane');
        } else {
          made.removed += 1;
          await client.delete(ofSet(name));
        }
      };
      const someChanges = async (from: number, to: number, isServed: boolean): Promise<void> => {
        for (let step = from; step < to; step += 1) {
          // Refused: a deletion of what is not there, and a request to a replica that has just gone.
          await change(step, isServed).catch(() => {
            made.refused += 1;
          });
          if (!isServed || pick(15) > 0) continue;
          turn = otherThan(turn);
          made.turns += 1;
          replicas.turnTo(turn);
        }
      };
      /** Resolves when each follower has a set that is made now. They try again after up to 30 s. */
      const reached = async (name: string): Promise<void> => {
        await eventually(() => apply(ofSet(name), oneMember(name, configMap(name, 1)), 'jane'), 60_000);
        await eventually(
          async () => {
            const states = await Promise.all(Object.values(followers).map((each) => each.state()));
            for (const items of [informer.list(), ...states.map((state) => state.items as readonly ShadowObject[])]) {
              expect(items.map(({ metadata }) => metadata?.name)).toContain(name);
            }
          },
          240_000,
          500,
        );
      };
      const third = Math.ceil(changes / 3);
      for (const [part, end] of [
        [0, 'stop'],
        [1, 'kill'],
        [2, null],
      ] as const) {
        await someChanges(part * third, (part + 1) * third - 10, true);
        if (end === null) break;
        await replicas[end](turn);
        await someChanges((part + 1) * third - 10, (part + 1) * third, false);
        await replicas.restart(turn);
        await reached(`reached-${part}`);
        // As in a rolling upgrade: another replica starts, this one ends, and its watches go on at the other, which has not been there yet.
        const other = otherThan(turn);
        await replicas.stop(other);
        // Nobody has submitted the label, so this is no event: the informers stay at a version from before the start of the other replica.
        await client.patch(ofMember(`reached-${part}`), 'merge', { metadata: { labels: { unseen: 'yes' } } });
        await replicas.restart(other);
        replicas.leadTo(other);
        await replicas.stop(turn);
        await replicas.restart(turn);
        turn = other;
      }
      await someChanges(3 * third - 10, 3 * third, true);

      const markers = ['reached-0', 'reached-1'];
      /** Each informer has what GET shows, once the tables have every change. */
      const expectEqual = async (marker: string): Promise<void> => {
        await reached(marker);
        markers.push(marker);
        await eventually(
          async () => {
            const names = [0, 1, 2, 3, 4, 5].map((at) => `set-${at}`).concat(markers);
            const truth = shownSets(
              (await Promise.all(names.map((name) => get(ofSet(name))))).filter((set) => set !== null),
            );
            expect(shownSets(informer.list()), 'client-node').toEqual(truth);
            for (const [name, follower] of Object.entries(followers)) {
              expect(shownSets((await follower.state()).items as readonly ShadowObject[]), name).toEqual(truth);
            }
          },
          240_000,
          500,
        );
      };
      await expectEqual('last');

      /** The answers to each informer that said 410. client-node lists only at its start and after a 410. */
      const expired = async (): Promise<readonly number[]> => [
        nodeLists - 1,
        (await followers.watchList.state()).expired,
        (await followers.classic.state()).expired,
      ];
      const makeTooOld = {
        restart: async () => {
          await replicas.stop(turn);
          await replicas.restart(turn);
        },
        // Changes are kept up to 16,000,000 characters of labels.
        forget: async () => {
          for (let step = 0; step < 26; step += 1) {
            await client.patch(ofRecord('last'), 'merge', { metadata: { labels: manyLabels(step) } });
            await eventually(async () =>
              expect((await get(ofSet('last')))?.metadata?.labels?.['step']).toBe(String(step)),
            );
          }
        },
      };
      for (const [what, make] of Object.entries(makeTooOld)) {
        // This one comes as an event of each watch. client-go lists again after a watch without an event.
        await expectEqual(`before-${what}`);
        const before = await expired();
        gate.refuse();
        await client.delete(ofSet(must(markers.shift(), 'a set')));
        await make();
        await gate.mend();
        await expectEqual(`after-${what}`);
        const after = await expired();
        expect(
          after.map((count, index) => count > must(before[index], 'a count')),
          `410 after ${what}: ${after}`,
        ).toEqual([true, true, true]);
      }
      const [watchList, classic] = [await followers.watchList.state(), await followers.classic.state()];
      const countsOf = ({ items, synced: _synced, version: _version, ...counts }: GoInformerState): object => ({
        sets: items.length,
        ...counts,
      });
      const go = { watchList: countsOf(watchList), classic: countsOf(classic), nodeLists };
      process.stdout.write(`${JSON.stringify({ test: 'followers of sets', changes, seed, ...made, ...go })}\n`);
      expect(watchList.watchLists).toBeGreaterThan(1);
      expect([classic.lists > 1, classic.watchLists]).toEqual([true, 0]);
    },
  );
});

function oneMember(name: string, member: object): object {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'shadow.portolan.dev/v1alpha1', kind: 'ShadowResource', metadata, spec: { flowList: [member] } };
}

/** About 400,000 characters of labels. */
function manyLabels(step: number): Readonly<Record<string, string>> {
  const prefix = `${'p'.repeat(60)}.${'q'.repeat(60)}.${'r'.repeat(60)}.${'s'.repeat(60)}`;
  const labels = Array.from({ length: 1100 }, (_, index) => [
    `${prefix}/${String(index).padStart(63, 'n')}`,
    'v'.repeat(63),
  ]);
  return { ...Object.fromEntries(labels), step: String(step) };
}
