/**
 * `portolan serve`: the gateway over real clusters. The first contact with a single cluster is made here, so that a wrong kubeconfig,
 * an unreachable server or refused credentials end the command with one sentence; later failures are retried by ingest.
 */
import { refuseUnlessLoopback } from '../access/loopback.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import { createLogger, type Logger } from '../base/log.ts';
import type { Config } from '../config/options.ts';
import type { ClusterOptions } from '../ingest/cluster-options.ts';
import { connect } from '../kube/connection.ts';
import { explainConnectionFailure } from '../kube/explain.ts';
import { RestClient } from '../kube/rest-client.ts';
import { startGateway } from './gateway.ts';
import { runUntilSignal } from './run-until-signal.ts';

/** Runs until a signal; gives the exit code. Throws when no cluster can be reached at the start. */
export async function serve(config: Config): Promise<number> {
  const log = createLogger(config.logLevel);
  const clusters = clustersOf(config);
  refuseUnlessLoopback(config.host);
  return runUntilSignal(async () => {
    await firstContact(clusters, log);
    return startGateway(config, clusters, log);
  });
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
