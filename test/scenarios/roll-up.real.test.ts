/**
 * The rolled-up health of applications on a real API server, beside a plain computation over kubectl's JSON. Applications own random trees of
 * objects; then healths, owners and objects change while lists are asked for.
 *
 * PORTOLAN_APPLICATIONS sets how many applications there are, and PORTOLAN_SEED what is random.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { type Collected, data, subscribe } from '../kit/graphql-client.ts';
import { namespace as namespaceOf } from '../kit/manifests.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { type Item, ownersOf } from './kubectl-facts.ts';

const applications = Number(process.env['PORTOLAN_APPLICATIONS'] ?? randomRuns(40, 100));
const random = seededRandom(Number(process.env['PORTOLAN_SEED'] ?? '1'));
const rounds = 4;
const group = 'rollup.example.com';
const namespace = 'applications';
const kinds = { App: 'apps', Part: 'parts', Piece: 'pieces' } as const;
type Kind = keyof typeof kinds;

/** The words of status.phase, from the best to the worst, with their health. */
const phases = [
  ['Ready', 'Current'],
  ['Paused', 'Suspended'],
  ['Pending', 'InProgress'],
  ['Odd', 'Unknown'],
  ['Failed', 'Failed'],
] as const;
const severities = { Current: 0, Suspended: 1, Terminating: 2, InProgress: 3, Unknown: 4, Failed: 5 } as const;
type Status = keyof typeof severities;

const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)] as T;
const someStatus = () => ({ phase: random() < 0.7 ? 'Ready' : pick(phases)[0] });

const definitions = (Object.entries(kinds) as [Kind, string][]).map(([kind, plural]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { status: { type: 'object', properties: { phase: { type: 'string' } } } },
          },
        },
      },
    ],
  },
}));

interface RolledUp {
  readonly status: Status;
  /** Kind and name. */
  readonly culprit: string | null;
}

/** The worst of the application and of all that it owns; of equal ones the one with the most steps, then the first by kind and name. */
function rolledUp(app: Item, byOwner: ReadonlyMap<string, readonly Item[]>): RolledUp {
  const found: { readonly item: Item; readonly steps: number }[] = [{ item: app, steps: 0 }];
  const seen = new Set([app.metadata.uid]);
  for (const { item, steps } of found) {
    if (steps === 8) continue;
    for (const owned of byOwner.get(item.metadata.uid) ?? []) {
      if (seen.has(owned.metadata.uid)) continue;
      seen.add(owned.metadata.uid);
      found.push({ item: owned, steps: steps + 1 });
    }
  }
  const keyOf = ({ kind, metadata }: Item): string => `${kinds[kind as Kind]} ${metadata.name}`;
  const [worst] = found.toSorted(
    (a, b) =>
      severities[statusOf(b.item)] - severities[statusOf(a.item)] ||
      b.steps - a.steps ||
      (keyOf(a.item) < keyOf(b.item) ? -1 : 1),
  );
  const item = worst?.item ?? app;
  const status = statusOf(item);
  const isOwn = item === app || status === 'Current';
  return { status, culprit: isOwn ? null : `${item.kind} ${item.metadata.name}` };
}

function statusOf({ status }: Item): Status {
  const { phase } = status as { readonly phase: string };
  return phases.find(([word]) => word === phase)?.[1] ?? 'Unknown';
}

interface Node {
  readonly metadata: { readonly name: string };
  readonly health: {
    readonly status: Status;
    readonly culprit: { readonly kind: string; readonly metadata: { readonly name: string } } | null;
  };
}

interface List {
  readonly apps: {
    readonly totalCount: number;
    readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
    readonly nodes: readonly Node[];
  };
}

const listOf = (filter: string): string => `query Worst($after: String) {
  apps: rollupExampleComApps(first: 200, after: $after, filter: ${filter}, orderBy: [{ path: "health.rollUp.severity", direction: DESC }]) {
    totalCount
    pageInfo { endCursor hasNextPage }
    nodes { metadata { name } health(rollUp: OWNED) { status culprit { kind metadata { name } } } }
  }
}`;
const groupsOf = `{ apps: rollupExampleComApps { aggregate { groups(by: ["health.rollUp.status"], first: 10) { keys aggregate { count } } } } }`;
const failedLive = `query Failed @live { apps: rollupExampleComApps(filter: { health: { rollUp: { status: { eq: Failed } } } }) { totalCount } }`;

describeOn(
  [mainServer],
  'the rolled-up health of applications',
  { timeout: 1_200_000, needs: ['kubectl'] },
  (server) => {
    let plane: ControlPlane;
    let gateway: GatewayProcess;
    let client: RestClient;
    let live: Collected<number> | undefined;
    let made = 0;

    const pathOf = (kind: Kind): string => `/apis/${group}/v1/namespaces/${namespace}/${kinds[kind]}`;

    async function create(kind: Kind, owners: readonly Item[]): Promise<Item> {
      made += 1;
      return client.post<Item>(pathOf(kind), {
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name: `${kind.toLowerCase()}-${made}`, ownerReferences: owners.map(ownerReference) },
        status: someStatus(),
      });
    }

    const ownerReference = ({ apiVersion, kind, metadata: { name, uid } }: Item) => ({ apiVersion, kind, name, uid });

    /** An application and its tree: each object is owned by an earlier one, some by two. */
    async function createTree(): Promise<void> {
      const items = [await create('App', [])];
      const size = Math.floor(random() * 12);
      for (let each = 0; each < size; each += 1) {
        const owners = new Set(random() < 0.15 ? [pick(items), pick(items)] : [pick(items)]);
        items.push(await create(pick(['Part', 'Piece'] as const), [...owners]));
      }
    }

    async function atOnce<T>(work: readonly T[], run: (each: T) => Promise<unknown>): Promise<void> {
      const left = work.values();
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (const each of left) await run(each);
        }),
      );
    }

    async function kubectlItems(): Promise<readonly Item[]> {
      const text = await plane.kubectl([
        'get',
        Object.values(kinds)
          .map((plural) => `${plural}.${group}`)
          .join(),
        '-n',
        namespace,
        '-o',
        'json',
      ]);
      return (JSON.parse(text) as { items: readonly Item[] }).items;
    }

    /** All pages, in their order. */
    async function walk(
      filter: string,
    ): Promise<{ readonly nodes: readonly Node[]; readonly counts: readonly number[] }> {
      const nodes: Node[] = [];
      const counts: number[] = [];
      for (let after: string | null = null; ; ) {
        const { apps }: List = await data<List>(gateway.url, listOf(filter), { after });
        nodes.push(...apps.nodes);
        counts.push(apps.totalCount);
        if (!apps.pageInfo.hasNextPage) return { nodes, counts };
        after = apps.pageInfo.endCursor;
      }
    }

    async function agree(): Promise<void> {
      const items = await kubectlItems();
      const byOwner = new Map<string, Item[]>();
      for (const item of items) {
        for (const uid of new Set(ownersOf(item))) byOwner.set(uid, [...(byOwner.get(uid) ?? []), item]);
      }
      const expected = new Map(
        items.filter(({ kind }) => kind === 'App').map((app) => [app.metadata.name, rolledUp(app, byOwner)]),
      );
      const shown = ({ metadata, health: { status, culprit } }: Node) =>
        [
          metadata.name,
          { status, culprit: culprit === null ? null : `${culprit.kind} ${culprit.metadata.name}` },
        ] as const;
      const { nodes, counts } = await walk('{}');
      expect(new Map(nodes.map(shown))).toEqual(expected);
      expect(new Set(counts)).toEqual(new Set([expected.size]));
      const order = nodes.map(({ health }) => severities[health.status]);
      expect(order).toEqual(order.toSorted((a, b) => b - a));
      const bad = [...expected].filter(([, { status }]) => status !== 'Current');
      const found = await walk('{ health: { rollUp: { status: { ne: Current } } } }');
      expect(new Map(found.nodes.map(shown))).toEqual(new Map(bad));
      expect(new Set(found.counts)).toEqual(new Set([bad.length]));
      const { apps } = await data<{
        apps: { aggregate: { groups: readonly { keys: readonly string[]; aggregate: { count: number } }[] } };
      }>(gateway.url, groupsOf);
      const sizes = Map.groupBy(expected.values(), ({ status }) => status);
      expect(new Map(apps.aggregate.groups.map(({ keys, aggregate }) => [keys[0], aggregate.count]))).toEqual(
        new Map([...sizes].map(([status, some]) => [status, some.length])),
      );
      const failed = bad.filter(([, { status }]) => status === 'Failed').length;
      expect(live?.messages.at(-1)).toBe(failed);
    }

    /** Healths and owners change, objects come and go, while lists are asked for. */
    async function change(): Promise<void> {
      const items = await kubectlItems();
      const some = items.filter(() => random() < 0.2);
      let isOver = false;
      const asking = (async () => {
        while (!isOver) await walk('{ health: { rollUp: { status: { ne: Current } } } }');
      })();
      await atOnce(some, async (item) => {
        const path = `${pathOf(item.kind as Kind)}/${item.metadata.name}`;
        const dice = random();
        if (dice < 0.1) await client.delete(path);
        else if (dice < 0.2 && item.kind !== 'App') {
          await client.patch(path, 'merge', { metadata: { ownerReferences: [ownerReference(pick(items))] } });
        } else if (dice < 0.3) await create(pick(['Part', 'Piece'] as const), [item]);
        else await client.patch(path, 'merge', { status: someStatus() });
      });
      isOver = true;
      await asking;
    }

    beforeAll(async () => {
      plane = await startControlPlane({ server });
      client = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {}, name: 'test' }));
      const items = [namespaceOf(namespace), ...definitions];
      await plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      await eventually(() => create('App', []), 30_000);
      await atOnce(Array.from({ length: applications - 1 }), createTree);
      gateway = await startGatewayProcess(['--kubeconfig', plane.kubeconfigPath]);
      await eventually(() => data(gateway.url, groupsOf), 60_000);
      live = subscribe(gateway.url, failedLive, {}, ({ apps }) => (apps as { totalCount: number }).totalCount);
    }, 1_200_000);

    afterAll(async () => {
      await live?.stop();
      await gateway?.close();
      await plane?.stop();
    }, 60_000);

    test('is that of a plain computation over the JSON of kubectl, in lists, pages, counts and groups, and live', async () => {
      await eventually(agree, 60_000, 500);
      for (let round = 0; round < rounds; round += 1) {
        await change();
        await eventually(agree, 60_000, 500);
      }
    });
  },
);
