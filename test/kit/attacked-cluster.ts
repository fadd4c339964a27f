/** What attacks on mutations are tried on: a simulated cluster behind a proxy that records every request. */
import { type SimCluster, type SimOptions, startSimCluster } from '../../sim/sim-cluster.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import type { Answer } from './graphql-client.ts';
import type { LoopbackServer } from './loopback-server.ts';
import { startRecordingProxy } from './recording-proxy.ts';
import { configMap } from './writes-suite.ts';
import { clusterName } from './writing-gateway.ts';

/** The namespace in which attacks write. */
export const attacked = 'attacked';

export interface AttackedCluster {
  readonly sim: SimCluster;
  readonly proxy: LoopbackServer;
}

/** Starts one with the namespace. */
export async function startAttackedCluster(
  features: NonNullable<SimOptions['features']> = {},
): Promise<AttackedCluster> {
  const sim = await startSimCluster({ objects: 'empty', controllers: false, features });
  sim.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: attacked } });
  return { sim, proxy: await startRecordingProxy({ url: sim.url }) };
}

/** The requests that write; reviews of rights and tokens are none. */
export function writesOf({ requests }: LoopbackServer): LoopbackServer['requests'] {
  return requests.filter(({ method, url }) => method !== 'GET' && !/reviews(\?|$)/.test(url ?? ''));
}

export function idOf(key: string, name: string, inNamespace: string | null = attacked): string {
  return encodeObjectId({ cluster: clusterName, key, namespace: inNamespace, name });
}

/** The codes of the errors of a whole answer. */
export function codesOf({ errors }: Answer<unknown>): readonly unknown[] | undefined {
  return errors?.map(({ extensions }) => extensions?.['code']);
}

/** The arguments of a mutation that creates a ConfigMap. */
export function created(name: string) {
  return { docs: [{ json: configMap(attacked, name, { a: '1' }) }] };
}
