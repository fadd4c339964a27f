/** A gateway over the demo world, for the tests of a file. */
import { afterAll, beforeAll } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { demoConfig } from '../../src/cli/declaration-files.ts';
import { demoWorld } from '../../src/cli/options/demo-cluster.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { kubeconfigFolder } from './kubeconfig-file.ts';

/** The options that `portolan demo` sets. */
export const demoFlags = demoConfig({ abstractKinds: undefined, relationAnnotations: false });

/** Starts the gateway before the tests and closes it after them. It is there when the first test begins. */
export function demoGateway(
  options: { readonly pods: number; readonly churn: boolean },
  flags: Readonly<Record<string, unknown>> = {},
): Pick<RunningGateway, 'url' | 'page'> {
  const folder = kubeconfigFolder();
  let cluster: SimCluster;
  let gateway: RunningGateway;
  beforeAll(async () => {
    cluster = await startSimCluster({ ...demoWorld(), ...options });
    // The name that portolan demo gives its cluster.
    const clusters = { name: 'demo', kubeconfig: folder.file('config', cluster.kubeconfig()) };
    gateway = await runGateway(clusters, { ...demoFlags, ...flags });
  });
  afterAll(async () => {
    await gateway?.close();
    await cluster?.close();
    folder.remove();
  });
  return {
    get url() {
      return gateway.url;
    },
    get page() {
      return gateway.page;
    },
  };
}
