/**
 * The supervisors of clusters that are registered after the start.
 *
 *   replace: supervisors of clusters that are gone or changed stop -> the data of those that are gone is dropped -> new ones start
 *
 * Calls run one after the other.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import type { Writer } from '../../store/types/writer.ts';
import type { ClusterSupervisor } from '../cluster/supervisor.ts';

interface Running {
  /** JSON of the cluster's settings. */
  readonly settings: string;
  readonly supervisor: ClusterSupervisor;
}

interface RegisteredSupervisorsOptions {
  readonly supervise: (cluster: RegisteredCluster) => ClusterSupervisor;
  /** The name of a supervisor that has stopped can be used again. */
  readonly released: (name: string) => void;
  readonly changed: () => void;
  readonly writer: Pick<Writer, 'registerClusters'>;
  readonly stop: AbortSignal;
  readonly log: Logger;
}

export class RegisteredSupervisors {
  readonly #options: RegisteredSupervisorsOptions;
  readonly #running = new Map<string, Running>();
  #replacing: Promise<void> = Promise.resolve();

  constructor(options: RegisteredSupervisorsOptions) {
    this.#options = options;
  }

  all(): readonly ClusterSupervisor[] {
    return [...this.#running.values()].map(({ supervisor }) => supervisor);
  }

  /** All registered clusters are these now. Never rejects. @param started names of the clusters of the start */
  replace(clusters: readonly RegisteredCluster[], started: readonly string[]): Promise<void> {
    this.#replacing = this.#replacing
      .then(() => this.#replace(clusters, new Set(started)))
      .catch((error: unknown) => {
        this.#options.log.error({ error: messageOf(error) }, 'the registered clusters could not be changed');
      });
    return this.#replacing;
  }

  async #replace(clusters: readonly RegisteredCluster[], started: ReadonlySet<string>): Promise<void> {
    const { changed, log, released, stop, supervise, writer } = this.#options;
    const wanted = new Map(clusters.map((cluster) => [cluster.name, JSON.stringify(cluster)]));
    for (const [name, { settings, supervisor }] of [...this.#running]) {
      if (wanted.get(name) === settings) continue;
      await supervisor.stop();
      this.#running.delete(name);
      released(name);
      if (!wanted.has(name)) log.info({ cluster: name }, 'a cluster is no longer registered; its data is dropped');
    }
    if (stop.aborted) return;
    writer.registerClusters(new Map(clusters.map(({ name, serverId }) => [name, serverId])), started);
    for (const cluster of clusters) {
      const { name } = cluster;
      if (this.#running.has(name)) continue;
      const supervisor = supervise(cluster);
      this.#running.set(name, { settings: JSON.stringify(cluster), supervisor });
      supervisor.start();
      log.info({ cluster: name }, 'a cluster is registered');
    }
    changed();
  }
}
