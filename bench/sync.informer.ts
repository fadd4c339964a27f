/**
 * The informer beside which bench/sync.ts is measured: that of @kubernetes/client-node over the same server, its list read in the
 * same pages.
 *
 *   argv: kubeconfig -> message: SyncedProcess
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod, type V1PodList } from '@kubernetes/client-node';
import { watchResident } from './support/resident.ts';
import type { SyncedProcess } from './sync.ts';

const [kubeconfig = ''] = process.argv.slice(2);
const resolutionMs = 5;
const limit = 500;

const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const { clusters, contexts, currentContext, users } = config;
// It takes plain HTTP only where it need not verify anybody.
config.loadFromOptions({
  clusters: clusters.map((cluster) => ({ ...cluster, skipTLSVerify: true })),
  contexts,
  currentContext,
  users,
});
const api = config.makeApiClient(CoreV1Api);

/** The whole list: the informer keeps all of it anyway, and one answer of this size does not fit into a string. */
async function listAll(): Promise<V1PodList> {
  const items: V1Pod[] = [];
  let whole: V1PodList;
  let token: string | undefined;
  do {
    whole = await api.listPodForAllNamespaces({ limit, ...(token === undefined ? {} : { _continue: token }) });
    items.push(...whole.items);
    token = whole.metadata?._continue;
  } while (token !== undefined && token !== '');
  whole.items = items;
  return whole;
}

const peak = watchResident(50);
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();
const informer = makeInformer(config, '/api/v1/pods', listAll);
informer.on('error', (error: unknown) => {
  throw error;
});
const cpu = process.cpuUsage();
await informer.start();
const { user, system } = process.cpuUsage(cpu);
delay.disable();
const figures: SyncedProcess = {
  objects: informer.list().length,
  cpuSeconds: (user + system) / 1e6,
  rssMb: peak(),
  loopP99Ms: Math.max(0, delay.percentile(99) / 1e6 - resolutionMs),
};
// Its stop rejects a promise that has no handler, so the process ends here.
process.send?.(figures, () => process.exit(0));
