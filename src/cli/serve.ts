/**
 * `portolan serve`: the gateway over real clusters.
 *
 * Before a store is made, the clusters are asked here, so that a wrong kubeconfig, an unreachable server or refused credentials end
 * the command with one sentence. A store that is there is served at once, and ingest makes the first contact: a gateway that is
 * started again while an API server is down goes on with what it has, and failures are retried.
 */
import { existsSync } from 'node:fs';
import { refuseUnlessLoopback } from '../access/loopback.ts';
import { createLogger } from '../base/create-logger.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/options.ts';
import type { ClusterOptions } from '../ingest/context/cluster-options.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { runUntilSignal } from './run-until-signal.ts';

/** Runs until a signal; gives the exit code. Throws when no cluster can be reached at the start. */
export async function serve(config: Config): Promise<number> {
  const log = createLogger(config.logLevel);
  const clusters = clustersOf(config);
  refuseUnlessLoopback(config.host);
  return runUntilSignal(async () => {
    if (config.data !== undefined && existsSync(config.data)) {
      return refuseUnknown(await startGateway(config, clusters, log));
    }
    await firstContact(clusters, log);
    return startGateway(config, clusters, log);
  });
}

/** What is in a store of other clusters is nothing to go on with. */
async function refuseUnknown(gateway: Gateway): Promise<Gateway> {
  const { clusters, failing } = gateway.progress();
  const failed = failing.filter(({ resource }) => resource === 'everything');
  const [first] = failed;
  if (
    first === undefined ||
    failed.length < clusters.length ||
    clusters.some(({ known, remembered }) => known || remembered)
  )
    return gateway;
  await gateway.close();
  throw new PortolanError('UPSTREAM_UNAVAILABLE', first.error);
}

/** The clusters that the options name: one for each context, or the one that kubeconfig and environment mean. */
export function clustersOf({
  kubeconfig,
  context,
  inCluster,
}: Pick<Config, 'kubeconfig' | 'context' | 'inCluster'>): readonly ClusterOptions[] {
  const twice = context.find((name, index) => context.indexOf(name) !== index);
  if (twice !== undefined)
    throw new PortolanError('CONFIGURATION', `--context names ${twice} twice; name each context once.`);
  const file = kubeconfig === undefined ? {} : { kubeconfig };
  if (inCluster) {
    if (context.length > 0) throw new PortolanError('CONFIGURATION', 'Give --in-cluster or --context, not both.');
    return [{ inCluster: true }];
  }
  return context.length === 0 ? [file] : context.map((name) => ({ ...file, context: name }));
}

async function firstContact(clusters: readonly ClusterOptions[], log: Logger): Promise<void> {
  const [{ connect }, { explainConnectionFailure }, { RestClient }] = await Promise.all([
    import('../kube/client/connection.ts'),
    import('../kube/client/explain.ts'),
    import('../kube/client/rest-client.ts'),
  ]);
  const failures: { readonly cluster: string; readonly failure: PortolanError }[] = [];
  for (const options of clusters) {
    const connection = await connect(options);
    try {
      await new RestClient(connection).get('/apis');
    } catch (error) {
      failures.push({ cluster: connection.cluster, failure: explainConnectionFailure(error, connection) });
    } finally {
      await connection.close();
    }
  }
  const [first] = failures;
  if (first !== undefined && failures.length === clusters.length) throw first.failure;
  for (const { cluster, failure } of failures) {
    log.warn({ cluster, error: messageOf(failure) }, 'a cluster cannot be reached yet');
  }
}
