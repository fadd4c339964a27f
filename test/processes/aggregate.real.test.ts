/**
 * The aggregated API server of a gateway with two serve processes: kube-apiserver's connections go to any of them. Sets are written and read
 * while one process after the other is killed. Then SIGTERM ends the gateway in order.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { ApiError } from '../../src/kube/http/api-error.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import type { GatewayProcess } from '../kit/gateway-process.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { childrenOf, isRunning } from '../kit/serve-processes.ts';
import { flagArguments, startDoor } from '../kit/start-door.ts';

const token = 'token-of-jane';
const path = '/apis/shadow.portolan.dev/v1alpha1/namespaces/default/shadowresources';

describeOn([mainServer], 'the door of two processes', { timeout: 300_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  let gateway: GatewayProcess;
  let client: RestClient;

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      flags: { impersonate: 'constrained', processes: '2', logLevel: 'info' },
      users: [{ token, user: 'jane', groups: ['devs'] }],
      prepare: async (plane) => {
        await plane.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
      },
      run: async (plane, flags) => {
        const door = await startDoor(['--kubeconfig', plane.kubeconfigPath, ...flagArguments(flags)], {});
        gateway = door.process;
        const close = async (): Promise<void> => {
          if (isRunning(gateway.pid)) await gateway.kill();
        };
        return { aggregatePort: door.port, close };
      },
    });
    const kubeconfig = aggregated.plane.writeKubeconfig('jane', { token });
    client = new RestClient(await connect({ env: {}, name: 'jane', kubeconfig }));
  }, 240_000);
  afterAll(async () => {
    await client?.connection.close();
    await aggregated?.stop();
  }, 60_000);

  test('sets are written and read while processes are killed, and SIGTERM ends all in order', async () => {
    const values: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const value = `round ${round}`;
      await settled(() => client.patch(`${path}/app`, 'apply', setOf(value), { query: applied }));
      values.push(await shown());
      const pids = childrenOf(gateway.pid);
      const victim = must(pids[round % pids.length], 'a serve process');
      process.kill(victim, 'SIGKILL');
      values.push(await shown());
      await eventually(() => {
        const now = childrenOf(gateway.pid);
        expect(now).toHaveLength(2);
        expect(now).not.toContain(victim);
      }, 60_000);
    }
    expect(values).toEqual([0, 0, 1, 1, 2, 2, 3, 3].map((round) => `round ${round}`));
    const pids = childrenOf(gateway.pid);
    // Rejects unless the exit code is 0.
    await gateway.close();
    expect(pids.filter(isRunning)).toEqual([]);
    expect(gateway.log.filter(({ msg }) => msg === 'the gateway ends')).toHaveLength(1);
  });

  /** The value of the set's member, as the list of sets shows it. */
  async function shown(): Promise<string> {
    const { items } = await settled(() => client.get<List>(path));
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['app']);
    return items[0]?.spec.flowList[0]?.data.value ?? '';
  }

  /** Asks again while kube-apiserver cannot reach the door, or its connection ended with a process. */
  async function settled<T>(ask: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask();
      } catch (error) {
        if (attempt === 300 || !(error instanceof ApiError && [0, 503].includes(error.httpStatus))) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
});

interface List {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly flowList: readonly { readonly data: { readonly value: string } }[] };
  }[];
}

const applied = { fieldManager: 'kubectl', force: true };

function setOf(value: string) {
  const member = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'app', namespace: 'default' },
    data: { value },
  };
  return {
    apiVersion: 'shadow.portolan.dev/v1alpha1',
    kind: 'ShadowResource',
    metadata: { name: 'app', namespace: 'default' },
    spec: { flowList: [member] },
  };
}
