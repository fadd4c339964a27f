/** Serves the clusters that Secrets register: ingest, and those who serve callers, learn of each change. */
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Config } from '../../config/options.ts';
import type { IngestHandle } from '../../ingest/thread/start-ingest.ts';
import { type ClusterOptions, connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import { ClusterSecrets } from '../../kube/discovery/cluster-secrets.ts';
import { credentialKinds } from '../options/credential-kinds.ts';
import type { Shutdown } from '../parts/shutdown.ts';

export type RegistrationConfig = Pick<
  Config,
  'auth' | 'authCluster' | 'clusterSecrets' | 'clusterSecretSelector' | 'sameUsers'
>;

/** Milliseconds that the start waits for the first list of the Secrets. */
const patienceMs = 5000;

interface Learning {
  readonly ingest: Pick<IngestHandle, 'register'>;
  /** Learns the clusters for requests as callers, and for their rights. */
  readonly learn: (clusters: readonly RegisteredCluster[]) => Promise<void>;
  readonly shutdown: Shutdown;
  readonly log: Logger;
  /** Milliseconds between two looks at the Secrets; default 5 s. */
  readonly everyMs?: number | undefined;
}

/**
 * Reads the Secrets, then watches them until the shutdown. Null where no cluster could hold them.
 * @throws PortolanError CONFIGURATION for a broken kubeconfig.
 */
export async function registerClusters(
  { auth, authCluster, clusterSecrets = '', clusterSecretSelector, sameUsers }: RegistrationConfig,
  clusters: readonly ClusterOptions[],
  { ingest, learn, shutdown, log, everyMs }: Learning,
): Promise<Pick<ClusterSecrets, 'refused'> | null> {
  const connections = await Promise.all(clusters.map((cluster) => connect(cluster)));
  const started = connections.map(({ cluster }) => cluster);
  const home = connections.find(({ cluster }) => cluster === authCluster) ?? connections[0];
  if (home === undefined) return null;
  shutdown.add(() => home.close());
  await Promise.all(connections.filter((each) => each !== home).map((each) => each.close()));
  if (credentialKinds(auth).length > 0 && !sameUsers) {
    log.warn({}, 'callers see nothing of registered clusters: start with --same-users if all have the same users');
  }
  let learning: Promise<void> = Promise.resolve();
  let isFirst = true;
  const secrets = new ClusterSecrets({
    client: new RestClient(home),
    namespace: clusterSecrets,
    selector: clusterSecretSelector,
    reserved: new Set(started),
    everyMs,
    clock: systemClock,
    log,
    changed(registered) {
      // One change after the other. Rights are known before there are rows.
      learning = learning
        .then(async () => {
          // The store may have objects of an earlier process, of another server under this name. They must not be shown by its rights.
          if (isFirst) await ingest.register(registered, started);
          await learn(registered);
          if (!isFirst) await ingest.register(registered, started);
          isFirst = false;
        })
        .catch((error: unknown) => log.error({ error: messageOf(error) }, 'registered clusters cannot be changed'));
    },
  });
  shutdown.add(() => secrets.close());
  // The gateway is not ready before it knows the clusters. It does not wait for ever: the API server with the Secrets may be down.
  await Promise.race([secrets.look(), systemClock.sleep(patienceMs)]);
  await learning;
  if (!secrets.isKnown) void ingest.register(null, started);
  secrets.start();
  return secrets;
}
