/**
 * Churn on a real control plane whose Pods run on kwok: Deployments of 300 Pods together are scaled down and up all the time, while
 * 50 subscribers follow Pods and 20 queries a second are sent. Resident memory must level off, and no subscriber may lose its stream.
 *
 * PORTOLAN_CHURN_MINUTES says how long (0.25); with it, the Pods are 1,000. The test prints one JSON line: queries (count, p50, p99, worst,
 * in milliseconds), messages to subscribers, and the resident memory of each quarter (mean, in MB).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type ControlPlane, podRunners, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, lateGrowth, startGatewayProcess } from '../kit/gateway-process.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { deployment, fakeNode, namespace } from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const given = process.env['PORTOLAN_CHURN_MINUTES'];
const minutes = Number(given ?? 0.25);
const deployments = 10;
/** Of each. A thousand Pods are for a run that is long enough to see memory level off. */
const replicas = given === undefined ? 30 : 100;
const nodes = 5;
const subscribers = 50;
const queriesPerSecond = 20;
const scaleEveryMs = 3000;

/** What consoles ask: a page, a count, a search by text, a group, one kind by owner. */
const queries = [
  '{ pods(first: 50, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]) { totalCount nodes { metadata { name } status { phase podIP } spec { nodeName } } } }',
  '{ pods(filter: { status: { phase: { eq: "Running" } } }) { totalCount } }',
  '{ deployments(first: 20, orderBy: [{ path: "metadata.name" }]) { nodes { metadata { name } spec { replicas } status { readyReplicas } } } }',
  '{ pods { aggregate { groups(by: ["spec.nodeName"]) { keys aggregate { count } } } } }',
  '{ events(first: 20, orderBy: [{ path: "lastTimestamp", direction: DESC }]) { nodes { reason message } } }',
  '{ resources(kinds: ["Pod", "ReplicaSet"]) { key objects staleSince } }',
];

const suite = {
  timeout: minutes * 60_000 + 300_000,
  needs: ['kube-controller-manager', ...podRunners],
} as const;

describeOn([mainServer], `churn of ${deployments * replicas} Pods`, suite, (server) => {
  let plane: ControlPlane;
  let gateway: GatewayProcess;
  const clients: { dispose(): unknown }[] = [];
  let messages = 0;
  const lost: unknown[] = [];

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true, runPods: true });
    const items = [
      ...Array.from({ length: nodes }, (_, index) => fakeNode(`node-${index}`)),
      namespace('churn'),
      ...Array.from({ length: deployments }, (_, index) => deployment('churn', replicas, `app-${index}`)),
    ];
    await plane.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    gateway = await startGatewayProcess(['--kubeconfig', plane.kubeconfigPath]);
    await eventually(async () => expect(await running()).toBe(deployments * replicas), 200_000, 1000);
  }, 300_000);

  afterAll(async () => {
    for (const client of clients) await client.dispose();
    await gateway?.close();
    await plane?.stop();
  }, 60_000);

  async function running(): Promise<number> {
    const filter = '{ metadata: { namespace: { eq: "churn" } }, status: { phase: { eq: "Running" } } }';
    const { pods } = await data<{ pods: { totalCount: number } }>(
      gateway.url,
      `{ pods(filter: ${filter}) { totalCount } }`,
    );
    return pods.totalCount;
  }

  /** Half of the subscribers follow all Pods of the namespace, the others those of one Deployment. */
  function subscribe(index: number): void {
    const client = createClient({
      url: gateway.url.replace(/^http/, 'ws'),
      webSocketImpl: WebSocket,
      lazy: false,
      retryAttempts: 0,
    });
    clients.push(client);
    const selector = index % 2 === 0 ? '' : `, labelSelector: "app=app-${index % deployments}"`;
    const filter = `{ metadata: { namespace: { eq: "churn" } }${selector} }`;
    const query = `subscription { podChanges(filter: ${filter}) { phase changes { type object { metadata { name } status { phase } } } } }`;
    client.subscribe(
      { query },
      {
        next: ({ errors }) => {
          messages += 1;
          if (errors !== undefined) lost.push(errors);
        },
        error: (error) => lost.push(error),
        complete: () => {},
      },
    );
  }

  test('memory levels off, and every query is answered', async () => {
    for (let index = 0; index < subscribers; index += 1) subscribe(index);
    const until = Date.now() + minutes * 60_000;
    const took: number[] = [];
    const failed: unknown[] = [];
    const resident: number[] = [];

    const scale = async (): Promise<void> => {
      for (let turn = 0; Date.now() < until; turn += 1) {
        const wanted = turn % 2 === 0 ? Math.round(replicas * 0.4) : replicas;
        const name = `app-${Math.floor(turn / 2) % deployments}`;
        await plane.kubectl(['-n', 'churn', 'scale', 'deployment', name, `--replicas=${wanted}`]);
        await sleep(scaleEveryMs);
      }
    };
    const one = async (query: string): Promise<void> => {
      const began = performance.now();
      const { errors } = await ask(gateway.url, query);
      took.push(performance.now() - began);
      if (errors !== undefined) failed.push(errors);
    };
    const question = async (): Promise<void> => {
      const open = new Set<Promise<void>>();
      for (let count = 0; Date.now() < until; count += 1) {
        const asked = one(queries[count % queries.length] ?? '').finally(() => open.delete(asked));
        open.add(asked);
        await sleep(1000 / queriesPerSecond);
      }
      await Promise.all(open);
    };
    const watchMemory = async (): Promise<void> => {
      while (Date.now() < until) {
        resident.push(gateway.resident());
        await sleep(Math.min(10_000, minutes * 2000));
      }
    };
    await Promise.all([scale(), question(), watchMemory()]);

    const sorted = took.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
    const quarter = Math.max(1, Math.floor(resident.length / 4));
    const residentMB = [0, 1, 2, 3].map((index) => {
      const part = resident.slice(index * quarter, (index + 1) * quarter);
      return Math.round(part.reduce((sum, bytes) => sum + bytes, 0) / part.length / 2 ** 20);
    });
    const growth = Math.round(lateGrowth(resident) * 1000) / 1000;
    const timing = { queries: took.length, p50Ms: at(0.25), p99Ms: at(0.99), worstMs: at(1) };
    process.stdout.write(
      `${JSON.stringify({ churn: minutes, ...timing, messages, residentMB, lateGrowth: growth })}\n`,
    );
    expect(failed).toEqual([]);
    expect(lost).toEqual([]);
    expect(messages).toBeGreaterThan(subscribers);
    if (minutes >= 30) expect(growth).toBeLessThan(0.05);
  });
});
