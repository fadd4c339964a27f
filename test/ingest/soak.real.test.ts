/**
 * Random writes to a real control plane in which Pods run, while it is killed, cut off, compacted and given new tokens.
 *
 * Afterwards the tables of every kind equal the lists of the API server. Followers of the change log and of subscriptions hold the same.
 *
 * Two clusters are one API server reached in two ways: with a token file and with a credential plugin. Each round of the mistreatment
 *   kills the API server, which comes back without a watch cache, so that watches go on from etcd's memory;
 *   cuts the gateway off, writes, and compacts etcd: what the gateway remembers is gone (410), and it must list by difference;
 *   kills the API server again and takes the gateway's token away: another one is in the file and comes from the plugin.
 * PORTOLAN_SOAK_WRITES says how many writes (200), PORTOLAN_SOAK_ROUNDS how many rounds (1), PORTOLAN_SEED which ones.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type ControlPlane, podRunners, startControlPlane } from '../kit/control-plane.ts';
import { type CutProxy, startCutProxy } from '../kit/cut-proxy.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type Collected, data, subscribe } from '../kit/graphql-client.ts';
import { Follower, leaseOn } from '../kit/log-follower.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { prepareWrites, randomWrite } from '../kit/random-writes.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { differences } from '../kit/table-difference.ts';

const writes = Number(process.env['PORTOLAN_SOAK_WRITES'] ?? randomRuns(200, 600));
const rounds = Number(process.env['PORTOLAN_SOAK_ROUNDS'] ?? 1);
const random = seededRandom(Number(process.env['PORTOLAN_SEED'] ?? 20_261_121));
const lanes = 8;
/** Milliseconds for the gateway to notice a fault and to recover. */
const patience = 90_000;

/** Kinds with a subscription: some that only the test writes, and some that parts of the control plane write. */
const followedKinds = ['configMap', 'pod', 'replicaSet', 'endpointSlice', 'event', 'lease'];

/** Resources that only controllers, the scheduler, kubelets and servers write. */
const writtenByOthers = ['endpointslices.discovery.k8s.io', 'events', 'leases.coordination.k8s.io', 'replicasets.apps'];

/** Deployments, and the Pods of Deployments that run. */
const workloads = `{
  deployments(first: 500) { nodes { spec { replicas } status { availableReplicas } } }
  running: pods(filter: { labelSelector: "pod-template-hash", status: { phase: { eq: "Running" } } }) { totalCount }
}`;

interface Workload {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly availableReplicas: number | null };
}

interface Message {
  readonly reset: boolean;
  readonly removedIds: readonly string[];
  readonly changes: readonly { readonly type: string; readonly id: string; readonly object: Versioned | null }[];
}

interface Versioned {
  readonly id: string;
  readonly metadata: { readonly resourceVersion: string };
}

const suite = { timeout: 1_800_000, needs: ['kube-controller-manager', ...podRunners] } as const;

describeOn([mainServer], 'random writes to a control plane that is treated badly', suite, (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-soak-'));
  const file = join(folder, 'store.db');
  const tokenFile = join(folder, 'token');
  const pluginRuns = join(folder, 'plugin-runs');
  let plane: ControlPlane;
  let proxy: CutProxy;
  let api: RestClient;
  let gateway: RunningGateway;
  let turn = 0;
  /** Settled while writing is possible. */
  let open: Promise<void> = Promise.resolve();
  let written = 0;
  /** How many writes the mistreatment waits for. */
  let wanted = 0;
  let refused = 0;
  let over = false;

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true, runPods: true });
    proxy = await startCutProxy(Number(new URL(plane.server).port));
    await restart(true, takeTokenAway);
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {} }));
    await prepareWrites(api);
    const answer = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}`;
    const script = `echo run >> '${pluginRuns}'; printf '${answer}' "$(cat '${tokenFile}')"`;
    const version = { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' };
    const exec = { ...version, command: '/bin/sh', args: ['-c', script] };
    gateway = await runGateway(
      [
        { name: 'file', kubeconfig: plane.writeKubeconfig('file', { tokenFile }, proxy.url) },
        { name: 'plugin', kubeconfig: plane.writeKubeconfig('plugin', { exec }, proxy.url) },
      ],
      // Leases are left out unless they are named.
      { data: file, kinds: '*,leases' },
    );
  });

  afterAll(async () => {
    await gateway?.close();
    await api?.connection.close();
    await proxy?.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Until now the gateway had one token; from the next start of the API server on it is another. */
  function takeTokenAway(): string {
    const token = `soak-token-${turn++}`;
    plane.setTokens([{ token, user: 'portolan', groups: ['system:masters'] }]);
    writeFileSync(tokenFile, token, { mode: 0o600 });
    return token;
  }

  async function restart(watchCache: boolean, meanwhile = (): unknown => null): Promise<void> {
    await plane.killApiServer('SIGKILL');
    meanwhile();
    open = plane.startApiServer({ watchCache });
    await open;
  }

  /** Lets this many writes happen. */
  async function pass(count: number): Promise<void> {
    wanted = written + count;
    await eventually(() => expect(written).toBeGreaterThanOrEqual(wanted), 300_000);
  }

  async function lane(): Promise<void> {
    while (!over || written < writes) {
      await open;
      if (written >= Math.max(writes, wanted)) {
        await eventually(() => expect(over || written < wanted).toBe(true), 300_000);
        continue;
      }
      try {
        await randomWrite(api, random);
        written += 1;
      } catch {
        // Names that are taken or missing, and whatever is lost with the server: the tables must follow what did happen.
        refused += 1;
      }
    }
  }

  /** How often lists and watches began again, by cluster and reason. */
  async function restarts(): Promise<Readonly<Record<string, number>>> {
    const { resources } = await data<{
      resources: readonly { cluster: string; restarts: readonly { reason: string; count: number }[] }[];
    }>(gateway.url, '{ resources { cluster restarts { reason count } } }');
    const sums: Record<string, number> = {};
    for (const { cluster, restarts } of resources)
      for (const { reason, count } of restarts)
        sums[`${cluster} ${reason}`] = (sums[`${cluster} ${reason}`] ?? 0) + count;
    return sums;
  }

  async function everythingWatches(): Promise<void> {
    const { resources } = await data<{ resources: readonly { key: string; cluster: string; phase: string }[] }>(
      gateway.url,
      '{ resources { key cluster phase } }',
    );
    expect(resources.filter(({ phase }) => phase !== 'WATCHING' && phase !== 'POLLING')).toEqual([]);
  }

  /** In the gateway's tables, the Pods of all Deployments run, as many as are wanted. */
  async function workloadsRun(): Promise<void> {
    const { deployments, running } = await data<{
      deployments: { nodes: readonly Workload[] };
      running: { totalCount: number };
    }>(gateway.url, workloads);
    const wanted = deployments.nodes.reduce((sum, { spec }) => sum + spec.replicas, 0);
    const available = deployments.nodes.reduce((sum, { status }) => sum + (status.availableReplicas ?? 0), 0);
    expect([available, running.totalCount]).toEqual([wanted, wanted]);
    expect(wanted).toBeGreaterThan(0);
  }

  async function cutOffAndCompacted(): Promise<void> {
    const before = await restarts();
    proxy.cut();
    await pass(20 + Math.floor(random() * 30));
    await plane.compactEtcd();
    await pass(5);
    await proxy.mend();
    await eventually(async () => {
      const after = await restarts();
      for (const cluster of ['file', 'plugin'])
        expect(after[`${cluster} expired`] ?? 0).toBeGreaterThan(before[`${cluster} expired`] ?? 0);
    }, patience);
  }

  async function rotated(): Promise<void> {
    const old = readFileSync(tokenFile, 'utf8');
    await restart(true, takeTokenAway);
    const stale = await connect({ kubeconfig: plane.writeKubeconfig('stale', { token: old }), env: {} });
    await expect(new RestClient(stale).get('/api')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await stale.close();
  }

  test(`the tables are right after ${writes} writes and ${rounds} rounds`, async () => {
    const follower = new Follower(file);
    await follower.follow();
    const resets = await resetsIn(file);
    const lists = followedKinds.map((kind) => ({ kind, live: follow(gateway.url, kind) }));
    const step = writes / (3 * rounds + 1);
    const told: string[] = [];
    const mistreat = async (): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        for (const [what, done] of [
          ['killed', () => restart(false)],
          ['cut off and compacted', cutOffAndCompacted],
          ['killed, with a new token', rotated],
        ] as const) {
          await pass(Math.floor(step * random()));
          await done();
          await eventually(everythingWatches, patience);
          await follower.follow();
          told.push(`${what} after ${written} writes`);
        }
      }
      over = true;
    };
    await Promise.all([mistreat(), ...Array.from({ length: lanes }, lane)]);
    await eventually(workloadsRun, patience);
    await eventually(async () => expect(await differences(api, gateway.url)).toEqual([]), patience);
    await follower.follow();

    const sums = await restarts();
    const changes = await changesByResource(file);
    expect([...changes.keys()]).toEqual(expect.arrayContaining(writtenByOthers));
    const lines = [
      `${written} writes, ${refused} more refused or lost with the server`,
      ...told,
      `${follower.table.size} objects in two clusters, ${follower.at} changes`,
      `changes by resource: ${JSON.stringify(Object.fromEntries(changes))}`,
      `restarts: ${JSON.stringify(sums)}`,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    // A set that expired was replaced by its difference, never thrown away.
    expect(await resetsIn(file)).toEqual(resets);
    // One run of the plugin at first and one for each token that was refused, however many requests were.
    expect(readFileSync(pluginRuns, 'utf8').trim().split('\n')).toHaveLength(1 + rounds);
    for (const { kind, live } of lists) {
      // Read anew for each attempt: Leases are renewed for as long as their holders run.
      await eventually(async () => expect(held(live.messages)).toEqual(await allOf(gateway.url, kind)), patience);
      await live.stop();
    }
  });
});

/** The number of changed objects in the change log for each resource, by its key. */
async function changesByResource(file: string): Promise<ReadonlyMap<string, number>> {
  const lease = leaseOn(file);
  try {
    const sql = `SELECT k.key, count(*) FROM change c JOIN kind k ON k.id = c.kind WHERE c.type <> 'RESET' GROUP BY 1 ORDER BY 2 DESC, 1`;
    return new Map((await lease.all({ sql, params: [] })).map(([key, count]) => [String(key), Number(count)]));
  } finally {
    lease.end();
  }
}

/** Sequence numbers at which followers must read a table anew. */
async function resetsIn(file: string): Promise<readonly number[]> {
  const lease = leaseOn(file);
  try {
    const rows = await lease.all({ sql: `SELECT seq FROM change WHERE type = 'RESET' ORDER BY seq`, params: [] });
    return rows.map(([seq]) => Number(seq));
  } finally {
    lease.end();
  }
}

function follow(url: string, kind: string): Collected<Message> {
  const document = `subscription { ${kind}Changes { reset removedIds changes { type id object { id metadata { resourceVersion } } } } }`;
  return subscribe(url, document, {}, (found) => found[`${kind}Changes`] as Message);
}

/** What a client holds after these messages: resourceVersions by id. */
function held(messages: readonly Message[]): ReadonlyMap<string, string> {
  const objects = new Map<string, string>();
  for (const { reset, removedIds, changes } of messages) {
    if (reset) objects.clear();
    for (const id of removedIds) objects.delete(id);
    for (const { id, object } of changes) if (object !== null) objects.set(id, object.metadata.resourceVersion);
  }
  return new Map([...objects].sort());
}

async function allOf(url: string, kind: string): Promise<ReadonlyMap<string, string>> {
  const objects = new Map<string, string>();
  for (let after: string | null = null; ; ) {
    const { list }: { list: { nodes: Versioned[]; pageInfo: { hasNextPage: boolean; endCursor: string } } } =
      await data(
        url,
        `query ($after: String) { list: ${kind}s(first: 500, after: $after) { nodes { id metadata { resourceVersion } } pageInfo { hasNextPage endCursor } } }`,
        { after },
      );
    for (const { id, metadata } of list.nodes) objects.set(id, metadata.resourceVersion);
    if (!list.pageInfo.hasNextPage) return new Map([...objects].sort());
    after = list.pageInfo.endCursor;
  }
}
