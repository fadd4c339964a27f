/**
 * A replica of the door is killed by SIGKILL at a random write of a create, an update or a deletion of a set with 20 members. The other
 * replica, or the killed one after its restart, carries out the next apply or deletion. Then the cluster has what was submitted, and
 * nothing else.
 *
 * PORTOLAN_KILL_ROUNDS is the number of kills (6), PORTOLAN_SEED the seed of their moments (1).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import { ApiError } from '../../src/kube/http/api-error.ts';
import {
  type DoorReplicas,
  otherThan,
  type ReplicaName,
  type ReplicatedPlane,
  startReplicatedPlane,
} from '../kit/door-replicas.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { killMoments } from '../kit/write-gate.ts';

const rounds = Number(process.env['PORTOLAN_KILL_ROUNDS'] ?? randomRuns(6, 12));
const seed = Number(process.env['PORTOLAN_SEED'] ?? 1);
const namespace = 'default';
const memberCount = 20;
const operations = ['create', 'update', 'delete'] as const;

interface LiveObject {
  /** The objects of a list have none. */
  readonly kind?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string; readonly kind: string }[];
  };
}

interface Member {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly value: string;
}

/** Is it the error of a request whose door is killed, or whose door kube-apiserver does not reach? */
function isCutOff(error: unknown): boolean {
  return error instanceof ApiError && (error.httpStatus === 503 || error.httpStatus === 0);
}

describeOn([mainServer], 'kills of the door', { timeout: 60_000 + rounds * 60_000, needs: ['kubectl'] }, (server) => {
  let replicated: ReplicatedPlane;
  let replicas: DoorReplicas;
  let client: RestClient;
  /** A list of the namespace. */
  const listed = async (resource: string): Promise<readonly LiveObject[]> =>
    (await client.get<{ readonly items: readonly LiveObject[] }>(resource)).items;

  beforeAll(async () => {
    replicated = await startReplicatedPlane(server);
    ({ replicas, client } = replicated);
  }, 240_000);
  afterAll(() => replicated?.stop(), 60_000);

  test(`${rounds} rounds of seed ${seed}: the next apply or deletion finishes, and no member is lost, doubled or without a record`, async () => {
    const random = seededRandom(seed);
    const pick = (count: number): number => Math.floor(random() * count);
    const one = <T>(values: readonly T[]): T => must(values[pick(values.length)], 'a value');
    const tally = { create: 0, update: 0, delete: 0, byTheOther: 0, finishedBefore: 0, refusedWhileDeleting: 0 };
    let victim: ReplicaName = 'one';
    for (let round = 0; round < rounds; round += 1) {
      const set = `set-${round}`;
      const flowList = (change: number): readonly Member[] =>
        Array.from({ length: memberCount }, (_, index) => ({
          kind: index % 5 === 4 ? ('Secret' as const) : ('ConfigMap' as const),
          // About a quarter of the members leave, and as many come, in a new order.
          name: `${set}-${(index + (change === 0 ? 0 : pick(7))).toString().padStart(2, '0')}-${index % 5 === 4 ? 's' : 'c'}`,
          value: `${change === 0 || random() < 0.5 ? 'same' : `changed-${change}`}`,
        })).filter((member, index, all) => all.findIndex(({ name }) => name === member.name) === index);
      const apply = (members: readonly Member[]): Promise<LiveObject> =>
        client.patch<LiveObject>(pathOf(set), 'apply', submitted(set, members), {
          query: { fieldManager: 'kubectl', force: true },
        });
      const remove = (): Promise<unknown> => client.delete(pathOf(set));
      const operation = must(operations[round % operations.length], 'an operation');
      tally[operation] += 1;
      const [first, second, third] = [flowList(0), flowList(1), flowList(2)];
      const survivor = otherThan(victim);
      replicas.turnTo(victim);
      if (operation !== 'create') await settled(() => apply(first));
      const wanted = operation === 'update' ? second : first;

      const gate = replicas.gate(victim);
      const dead = Promise.withResolvers<void>();
      const moment = one(killMoments);
      // One or two writes of the record before the members, and one after them.
      const at = 1 + pick(operation === 'update' ? 30 : memberCount + 3);
      let isKilled = false;
      const kill = (): void => {
        isKilled = true;
        replicas.kill(victim).then(dead.resolve, dead.reject);
      };
      gate.arm(at, moment, kill);
      const what = `round ${round}: ${operation}, killed ${moment} at write ${at}`;
      const ended = await settled(
        () => (operation === 'delete' ? remove() : apply(wanted)),
        () => !isKilled,
      ).then(
        () => null,
        (error: unknown) => error,
      );
      gate.disarm();
      if (ended === null) {
        tally.finishedBefore += 1;
        kill();
      } else if (!isCutOff(ended)) throw new Error(what, { cause: ended });
      await dead.promise;
      const restarted = replicas.restart(victim);
      replicas.turnTo(survivor);
      const finisher = one([survivor, victim]);
      if (finisher === victim) await restarted;
      else tally.byTheOther += 1;
      replicas.turnTo(finisher);

      const next = one(['same', 'other', 'delete'] as const);
      if (next === 'delete') {
        await settled(remove).catch(allowing(/not found/));
        await expectGone(set, what);
      } else {
        const members = next === 'same' ? wanted : third;
        const dying = await settled(() => apply(members)).then(
          // An apply that changes nothing is no error, and its answer says that the set is being deleted: as for every object.
          ({ metadata: { deletionTimestamp } }) => (deletionTimestamp === undefined ? null : 'being deleted'),
          (error: Error) => error.message,
        );
        if (dying !== null) {
          // The deletion had begun, so it has to be finished first.
          expect([operation, dying], what).toEqual(['delete', expect.stringContaining('being deleted')]);
          tally.refusedWhileDeleting += 1;
          await settled(remove);
          await expectGone(set, what);
          await settled(() => apply(members));
        }
        await expectApplied(set, members, what);
        await settled(remove);
        await expectGone(set, what);
      }
      await restarted;
      victim = survivor;
    }
    process.stdout.write(`${JSON.stringify({ test: 'kills of the door', rounds, seed, ...tally })}\n`);
  });

  /** Asks again while kube-apiserver cannot reach the door. */
  async function settled<T>(ask: () => Promise<T>, mayRepeat = () => true): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask();
      } catch (error) {
        if (attempt === 600 || !mayRepeat() || !isCutOff(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** The objects of a set, by `kind name`, without its record; and the record. */
  async function liveObjects(set: string) {
    const isOwn = ({ metadata: { name } }: LiveObject): boolean => name.startsWith(`${set}-`);
    const ofKind = async (kind: Member['kind'], plural: string) =>
      (await listed(`/api/v1/namespaces/${namespace}/${plural}`)).filter(isOwn).map((object) => ({ ...object, kind }));
    const records = await listed(`/apis/portolan.dev/v1alpha1/namespaces/${namespace}/shadowrecords`);
    return {
      members: [...(await ofKind('ConfigMap', 'configmaps')), ...(await ofKind('Secret', 'secrets'))],
      record: records.find(({ metadata: { name } }) => name === set) ?? null,
    };
  }

  async function expectGone(set: string, what: string): Promise<void> {
    const { members, record } = await liveObjects(set);
    expect([members.map(({ metadata }) => metadata.name), record], what).toEqual([[], null]);
  }

  async function expectApplied(set: string, wanted: readonly Member[], what: string): Promise<void> {
    const { members, record } = await liveObjects(set);
    const { uid, finalizers = [] } = must(record, `${what}: a record`).metadata;
    const spec = record?.spec as {
      readonly phase: string;
      readonly members: readonly { kind: string; name: string; uid: string; leaves?: boolean; fields?: object }[];
    };
    expect([spec.phase, finalizers], what).toEqual(['Applied', []]);
    const live = new Map(members.map((member) => [`${member.kind} ${member.metadata.name}`, member]));
    expect([...live.keys()].toSorted(), what).toEqual(wanted.map(({ kind, name }) => `${kind} ${name}`).toSorted());
    expect(
      spec.members.map(({ kind, name, uid: of, leaves = false }) => ({ kind, name, uid: of, leaves })),
      what,
    ).toEqual(
      wanted.map(({ kind, name }) => ({ kind, name, uid: live.get(`${kind} ${name}`)?.metadata.uid, leaves: false })),
    );
    for (const { kind, name, value } of wanted) {
      const { data, metadata } = must(live.get(`${kind} ${name}`), 'a live member');
      expect(
        [
          data?.['value'],
          metadata.ownerReferences?.map((owner) => [owner.kind, owner.uid]),
          metadata.deletionTimestamp,
        ],
        `${what}: ${name}`,
      ).toEqual([kind === 'Secret' ? btoa(value) : value, [['ShadowRecord', uid]], undefined]);
      expect(metadata.labels?.['applyset.kubernetes.io/part-of'], `${what}: ${name}`).toMatch(/^applyset-.*-v1$/);
    }
    const shown = await client.get<LiveObject>(pathOf(set));
    expect(shown.spec, what).toEqual(submitted(set, wanted).spec);
  }
});

function pathOf(set: string): string {
  return `/apis/shadow.portolan.dev/v1alpha1/namespaces/${namespace}/shadowresources/${set}`;
}

function submitted(set: string, members: readonly Member[]) {
  const flowList = members.map(({ kind, name, value }) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace },
    data: { value: kind === 'Secret' ? btoa(value) : value },
  }));
  const metadata = { name: set, namespace };
  return { apiVersion: 'shadow.portolan.dev/v1alpha1', kind: 'ShadowResource', metadata, spec: { flowList } };
}

function allowing(pattern: RegExp) {
  return (error: Error): void => {
    if (!pattern.test(error.message)) throw error;
  };
}
