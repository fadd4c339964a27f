/**
 * `portolan serve`: the gateway over real clusters.
 *
 *   in both cases:   a port that is taken ends the command at once
 *   without a store: request /apis from every cluster -> all fail: one sentence, exit code 1 -> else start the gateway
 *   with a store:    start the gateway at once; ingest contacts the clusters and retries failures
 *
 * The first case reports a wrong kubeconfig, an unreachable server or refused credentials before a store is created. In the second, a
 * gateway that restarts while an API server is down serves the objects of its store. If the store knows none of the clusters and all of
 * them fail, the command ends as in the first case.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/create-logger.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { LiveConfig } from '../config/live-config.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { ClusterOptions } from '../kube/client/connection.ts';
import { refuseTakenPort } from '../server/listen.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { clustersOf } from './options/clusters-of.ts';
import { saveMemory } from './parts/memory-saver.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { acceptedCredentials } from './serving/access.ts';

/**
 * Runs until a signal and returns the exit code.
 * @throws PortolanError with the first cluster's failure, when no cluster can be reached at the start.
 */
export async function serve(loaded: LoadedConfig): Promise<number> {
  const log = createLogger(loaded.config.logLevel);
  const live = new LiveConfig(loaded, log);
  const { config } = live;
  const { file } = loaded;
  if (file !== null) log.info({ file: resolve(file.path), isNamed: file.isNamed }, 'the configuration file is read');
  const clusters = clustersOf(config, file?.isNamed === false && file.keys.includes('kubeconfig'));
  acceptedCredentials(config);
  live.watch();
  const over = new AbortController();
  const start = async (signal: AbortSignal): Promise<Gateway> => {
    await refuseTakenPort(config);
    if (config.data !== undefined && existsSync(config.data)) {
      return refuseUnknown(await startGateway(config, clusters, log, { signal, live }));
    }
    await firstContact(clusters, log);
    signal.throwIfAborted();
    return startGateway(config, clusters, log, { signal, live });
  };
  return runUntilSignal(
    async (signal) => {
      const gateway = await start(signal);
      void saveMemory(systemClock, over.signal, log, gateway.synced);
      return gateway;
    },
    log,
    {
      drainMs: () => config.drain,
      release: async () => {
        over.abort();
        live.close();
      },
    },
  );
}

/** Ends the gateway when all clusters fail and the store holds only other clusters' objects. */
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
