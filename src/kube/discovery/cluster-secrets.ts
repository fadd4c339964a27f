/**
 * The clusters that Secrets of one namespace register.
 *
 * `look` lists the Secrets once, and `start` lists them every `everyMs`. Then:
 *
 *   a Secret is new, changed or gone            `changed` is called with all clusters
 *   a known name has another API server         the cluster goes away; it comes back at the next list
 *   a Secret cannot be used                     its former cluster stays; one error in the log; counted in `refused`
 *   the list fails                              all clusters stay; one warning in the log
 *
 * A short list of one namespace costs an API server little, and needs no right but `list`.
 * Invariants: a cluster goes away only when a complete list shows that its Secret is gone, or that it names another API server. A Secret
 * never takes the name of a cluster that another Secret registers, or registers again at the next list.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RestClient } from '../client/rest-client.ts';
import { type ClusterSecret, clusterOfSecret, type RegisteredCluster } from './cluster-secret.ts';

interface ClusterSecretsOptions {
  readonly client: Pick<RestClient, 'get'>;
  readonly namespace: string;
  /** Label selector of the Secrets. */
  readonly selector: string;
  /** Names that Secrets may not use: those of the other clusters. */
  readonly reserved: ReadonlySet<string>;
  readonly changed: (clusters: readonly RegisteredCluster[]) => void;
  /** Milliseconds between two looks; default 5 s. */
  readonly everyMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

interface SecretList {
  readonly items: readonly ClusterSecret[];
}

export class ClusterSecrets {
  readonly #options: ClusterSecretsOptions;
  readonly #stop = new AbortController();
  /** By the name of the Secret. */
  #clusters: ReadonlyMap<string, RegisteredCluster> = new Map();
  /** Names of Secrets whose cluster comes at the next list. */
  #waiting: ReadonlySet<string> = new Set();
  /** The fault of a Secret, by its name; each is logged once. */
  #problems: ReadonlyMap<string, string> = new Map();
  #failure: string | null = null;
  #isKnown = false;

  constructor(options: ClusterSecretsOptions) {
    this.#options = options;
  }

  /** Has a list been read? */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Secrets of the last list that cannot be used. */
  get refused(): number {
    return this.#problems.size;
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#stop.abort();
  }

  /** Reads the Secrets once. Never rejects. */
  async look(): Promise<void> {
    const { client, log, namespace, selector } = this.#options;
    try {
      const list = await client.get<SecretList>(`/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`, {
        query: { labelSelector: selector },
        signal: this.#stop.signal,
      });
      this.#failure = null;
      this.#take(list.items);
    } catch (error) {
      const failure = messageOf(error);
      if (this.#stop.signal.aborted || failure === this.#failure) return;
      this.#failure = failure;
      log.warn({ namespace, error: failure }, 'the Secrets that register clusters cannot be listed; the clusters stay');
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, everyMs = 5000 } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal).catch(() => {});
      await this.look();
    }
  }

  #take(secrets: readonly ClusterSecret[]): void {
    const { changed, log, reserved } = this.#options;
    const clusters = new Map<string, RegisteredCluster>();
    const problems = new Map<string, string>();
    const waiting = new Set<string>();
    const names = new Set(reserved);
    const servers = new Map([...this.#clusters.values()].map(({ name, serverId }) => [name, serverId]));
    const known = ({ metadata: { name } }: ClusterSecret): number =>
      this.#clusters.has(name) || this.#waiting.has(name) ? 0 : 1;
    const byName = (a: ClusterSecret, b: ClusterSecret): number => (a.metadata.name < b.metadata.name ? -1 : 1);
    // Secrets that register a cluster already keep its name.
    for (const secret of secrets.toSorted((a, b) => known(a) - known(b) || byName(a, b))) {
      const { name } = secret.metadata;
      try {
        const cluster = clusterOfSecret(secret);
        if (names.has(cluster.name))
          throw new PortolanError(
            'CONFIGURATION',
            `The name ${cluster.name} is taken by another cluster; give this one another \`name\`.`,
          );
        names.add(cluster.name);
        // Data of the former API server may not be shown as the new one's.
        if ((servers.get(cluster.name) ?? cluster.serverId) === cluster.serverId) clusters.set(name, cluster);
        else waiting.add(name);
      } catch (error) {
        const problem = messageOf(error);
        problems.set(name, problem);
        if (this.#problems.get(name) !== problem)
          log.error({ secret: name, error: problem }, 'a Secret registers no cluster');
        const former = this.#clusters.get(name);
        if (former !== undefined && !names.has(former.name)) {
          names.add(former.name);
          clusters.set(name, former);
        }
      }
    }
    this.#problems = problems;
    this.#waiting = waiting;
    // The first list is reported in any case: it may lack clusters that the store has.
    const isSame = this.#isKnown && JSON.stringify([...clusters]) === JSON.stringify([...this.#clusters]);
    this.#isKnown = true;
    this.#clusters = clusters;
    if (!isSame) changed([...clusters.values()]);
  }
}
