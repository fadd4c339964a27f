/** The cluster of a command that is about one: that of the options, or a simulated one for the time of the command. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSimCluster } from '../../../sim/spawn-sim.ts';
import { temporaryFolder } from '../../base/temporary-folder.ts';
import type { Config } from '../../config/options.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import { shadowRecordCrd } from '../../sets/record/shadow-record-crd.ts';
import { type ClusterConfig, oneClusterOf } from './clusters-of.ts';

/** The simulated cluster of the demo, with the definition that sets need. */
export const demoWorld = (): { readonly objects: 'demo'; readonly crds: readonly unknown[] } => ({
  objects: 'demo',
  crds: [shadowRecordCrd()],
});

/** @throws PortolanError CONFIGURATION for several clusters, and what `work` throws. */
export async function onOneCluster<T>(
  config: ClusterConfig & Partial<Pick<Config, 'demo'>>,
  command: string,
  work: (cluster: ClusterOptions) => Promise<T>,
): Promise<T> {
  return config.demo === true ? onDemoCluster(work) : work(oneClusterOf(config, command));
}

/** A demo world without Pods of its own, in which nothing happens by itself. It ends with `work`. */
export async function onDemoCluster<T>(work: (cluster: ClusterOptions) => Promise<T>): Promise<T> {
  const cluster = await spawnSimCluster({ ...demoWorld(), pods: 0, churn: false });
  const folder = temporaryFolder('portolan-demo-');
  try {
    const kubeconfig = join(folder.path, 'kubeconfig.yaml');
    writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    return await work({ name: 'demo', kubeconfig });
  } finally {
    folder.remove();
    await cluster.close();
  }
}
