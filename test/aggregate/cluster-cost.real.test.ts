/**
 * What the cluster pays while the door is well or ill: garbage collection, a new quota, the deletion of a namespace, and kubectl of other
 * kinds. Each is measured with the controller manager that runs, and with one that starts then. The table of docs/shadow.md is its output.
 *
 *   up -> killed -> its APIService is unavailable -> up -> lists hang -> discovery answers 503 -> up -> everything hangs -> up
 */
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { DoorProcess } from '../kit/door-process.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { makeSet } from '../kit/shadow-records.ts';

/** Milliseconds. */
interface Cost {
  readonly state: string;
  readonly controllers: 'running' | 'starting';
  readonly available: string;
  readonly garbageCollection: number;
  readonly newQuota: number;
  /** Null: it does not finish while this state lasts. */
  readonly namespaceDeletion: number | null;
  readonly otherKinds: number;
  /** A list of sets, and whether it was refused. */
  readonly sets: number;
  readonly setsRefused: boolean;
}

const name = 'v1alpha1.shadow.portolan.dev';
const group = '/apis/shadow.portolan.dev/v1alpha1';
/** Within which everything that finishes at all has finished: the 60 s of a request that hangs, and the start of the controllers. */
const boundMs = 120_000;

describeOn(
  [mainServer],
  'what the cluster pays',
  { timeout: 900_000, needs: ['kubectl', 'kube-controller-manager'] },
  (server) => {
    let aggregated: AggregatedPlane;
    let door: DoorProcess;
    const costs: Cost[] = [];
    /** Namespaces whose deletion waits for the door. */
    const waiting: string[] = [];
    let count = 0;
    const kubectl = (args: readonly string[], stdin?: string): Promise<string> => aggregated.plane.kubectl(args, stdin);
    const apply = (...objects: readonly object[]): Promise<string> =>
      kubectl(['apply', '--server-side', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n---\n'));

    beforeAll(async () => {
      aggregated = await startAggregatedPlane({
        server,
        controllerManager: true,
        run: async (plane, flags) => {
          door = await DoorProcess.start(plane.kubeconfigPath, flags);
          return door;
        },
      });
      await makeSet(aggregated.plane, { namespace: 'default', name: 'kept' }, [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' }, data: { a: 'b' } },
      ]);
      await eventually(() => kubectl(['get', 'shadow', 'kept']));
    }, 240_000);
    afterAll(() => aggregated?.stop(), 60_000);

    const available = (): Promise<string> =>
      kubectl([
        ...['get', 'apiservice', name, '-o'],
        `jsonpath={.status.conditions[?(@.type=="Available")].status}/{.status.conditions[?(@.type=="Available")].reason}`,
      ]);
    const becomes = (status: 'True' | 'False'): Promise<void> =>
      eventually(async () => expect(await available()).toMatch(new RegExp(`^${status}/`)), boundMs, 250);

    async function collect(): Promise<number> {
      const configMap = (named: string, owner: object = {}): object => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: named, namespace: 'default', ...owner },
      });
      const [owner, owned] = [`owner-${count}`, `owned-${count}`];
      await apply(configMap(owner));
      const uid = await kubectl(['get', 'configmap', owner, '-o', 'jsonpath={.metadata.uid}']);
      await apply(configMap(owned, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid }] }));
      const began = performance.now();
      await kubectl(['delete', 'configmap', owner, '--wait=false']);
      await eventually(async () => {
        expect(await kubectl(['get', 'configmap', owned, '--ignore-not-found', '-o', 'name'])).toBe('');
      }, boundMs);
      return elapsed(began);
    }

    async function computeQuota(): Promise<number> {
      const namespace = `quota-${count}`;
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      const began = performance.now();
      await apply({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'some', namespace },
        spec: { hard: { 'count/secrets': '10', 'count/deployments.apps': '10' } },
      });
      await eventually(async () => {
        const used = await kubectl(['get', 'resourcequota', 'some', '-n', namespace, '-o', 'jsonpath={.status.used}']);
        expect(JSON.parse(used || '{}')).toEqual({ 'count/secrets': '0', 'count/deployments.apps': '0' });
      }, boundMs);
      return elapsed(began);
    }

    /** Resolves when the namespace is gone, or waits for the door. */
    async function deleteNamespace(): Promise<number | null> {
      const namespace = `deleted-${count}`;
      await apply(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'some', namespace } },
      );
      const began = performance.now();
      await kubectl(['delete', 'namespace', namespace, '--wait=false']);
      return eventually(async () => {
        const text = await kubectl(['get', 'namespace', namespace, '--ignore-not-found', '-o', 'json']);
        if (text === '') return elapsed(began);
        const conditions: { readonly type: string; readonly status: string; readonly message: string }[] =
          JSON.parse(text).status.conditions ?? [];
        const failure = conditions.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
        expect(failure).toMatchObject({ status: 'True', message: expect.stringContaining('shadow.portolan.dev') });
        waiting.push(namespace);
        return null;
      }, boundMs);
    }

    /** kubectl that knows no kind yet. */
    async function getOthers(): Promise<number> {
      const began = performance.now();
      await kubectl(['get', 'configmaps', '-A', `--cache-dir=${join(aggregated.plane.dir, `cache-${count}`)}`]);
      return elapsed(began);
    }

    async function getSets(): Promise<Pick<Cost, 'sets' | 'setsRefused'>> {
      const began = performance.now();
      const setsRefused = await kubectl(['get', '--raw', `${group}/shadowresources`]).then(
        () => false,
        () => true,
      );
      return { sets: elapsed(began), setsRefused };
    }

    async function pay(state: string, controllers: Cost['controllers']): Promise<Cost> {
      count += 1;
      if (controllers === 'starting') await aggregated.plane.renewControllerManager();
      const before = await available();
      const [garbageCollection, newQuota, namespaceDeletion, otherKinds, sets] = await Promise.all([
        collect(),
        computeQuota(),
        deleteNamespace(),
        getOthers(),
        getSets(),
      ]);
      const cost = { state, controllers, garbageCollection, newQuota, namespaceDeletion, otherKinds, ...sets };
      const told = { ...cost, available: `${before} to ${await available()}` };
      costs.push(told);
      return told;
    }

    /** Namespaces that have waited are gone, and sets are served. */
    async function isWell(): Promise<void> {
      await becomes('True');
      await eventually(() => kubectl(['get', 'shadow', 'kept']), boundMs);
      for (const namespace of waiting.splice(0)) {
        await eventually(
          async () => expect(await kubectl(['get', 'namespace', namespace, '--ignore-not-found'])).toBe(''),
          boundMs,
        );
      }
    }

    /** The status of the discovery of the group, through kube-apiserver. */
    const discoveryStatus = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const { server: url, token } = aggregated.plane;
        const headers = { authorization: `Bearer ${token}` };
        request(`${url}${group}`, { rejectUnauthorized: false, agent: false, headers }, (answer) => {
          answer.resume();
          answer.on('end', () => resolve(answer.statusCode ?? 0));
          answer.on('error', reject);
        })
          .on('error', reject)
          .end();
      });

    test('while the door is up: nothing', async () => {
      for (const controllers of ['running', 'starting'] as const) {
        const cost = await pay('up', controllers);
        expect(cost).toMatchObject({ namespaceDeletion: expect.any(Number), setsRefused: false });
      }
    });

    test('while it is gone, no namespace is deleted; everything else is done', async () => {
      await door.kill();
      expect(await pay('killed just now', 'starting')).toMatchObject({ setsRefused: true });
      await becomes('False');
      for (const controllers of ['running', 'starting'] as const) {
        expect(await pay('gone', controllers)).toMatchObject({ namespaceDeletion: null, setsRefused: true });
      }
      await door.restart();
      await isWell();
    });

    test('while its lists hang, discovery answers 503 within 5 s, and the same is true', async () => {
      door.hangLists();
      const began = performance.now();
      await eventually(async () => expect(await discoveryStatus()).toBe(503), boundMs);
      const unavailableAfter = elapsed(began);
      expect(unavailableAfter).toBeLessThan(5000);
      process.stdout.write(`${JSON.stringify({ listHangs: { discoveryIs503AfterMs: unavailableAfter } })}\n`);
      expect(await pay('lists hang, just now', 'starting')).toMatchObject({ setsRefused: true });
      await becomes('False');
      for (const controllers of ['running', 'starting'] as const) {
        expect(await pay('lists hang', controllers)).toMatchObject({ namespaceDeletion: null, setsRefused: true });
      }
      door.answerLists();
      await isWell();
    });

    test('while it hangs wholly, the same is true', async () => {
      door.freeze();
      expect(await pay('frozen just now', 'starting')).toMatchObject({ setsRefused: true });
      await becomes('False');
      for (const controllers of ['running', 'starting'] as const) {
        expect(await pay('frozen', controllers)).toMatchObject({ namespaceDeletion: null, setsRefused: true });
      }
      door.thaw();
      await isWell();
    });

    test('the table', () => {
      expect(must(costs.at(0), 'a state').state).toBe('up');
      process.stdout.write(`${JSON.stringify({ server: server.name, costs })}\n`);
    });
  },
);

function elapsed(began: number): number {
  return Math.round(performance.now() - began);
}
