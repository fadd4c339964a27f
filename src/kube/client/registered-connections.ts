/**
 * Connections to clusters that are registered after the start.
 *
 * A connection stays open while the settings of its cluster are the same: requests on it are not disturbed by other clusters.
 */
import { type ClusterOptions, type Connection, connect } from './connection.ts';

interface Open {
  /** JSON of the cluster's settings. */
  readonly settings: string;
  readonly connection: Connection;
}

export class RegisteredConnections {
  readonly #open = new Map<string, Open>();
  #replacing: Promise<unknown> = Promise.resolve();
  #closed = false;

  get(cluster: string): Connection | undefined {
    return this.#open.get(cluster)?.connection;
  }

  get names(): readonly string[] {
    return [...this.#open.keys()];
  }

  /**
   * All registered clusters are these now. Calls run one after the other.
   * @param failed is told of clusters whose settings cannot be used; they are left out.
   * @returns true if a connection was opened or closed
   */
  replace(
    clusters: readonly (ClusterOptions & { readonly name: string })[],
    failed: (name: string, error: unknown) => void,
  ): Promise<boolean> {
    const replaced = this.#replacing.then(() => this.#replace(clusters, failed));
    this.#replacing = replaced.catch(() => {});
    return replaced;
  }

  async #replace(
    clusters: readonly (ClusterOptions & { readonly name: string })[],
    failed: (name: string, error: unknown) => void,
  ): Promise<boolean> {
    const wanted = new Map(clusters.map((cluster) => [cluster.name, JSON.stringify(cluster)]));
    let changed = false;
    for (const [name, { settings, connection }] of [...this.#open]) {
      if (wanted.get(name) === settings) continue;
      this.#open.delete(name);
      changed = true;
      await connection.close();
    }
    for (const cluster of clusters) {
      const { name } = cluster;
      if (this.#closed || this.#open.has(name)) continue;
      try {
        this.#open.set(name, { settings: JSON.stringify(cluster), connection: await connect(cluster) });
        changed = true;
      } catch (error) {
        failed(name, error);
      }
    }
    return changed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.replace([], () => {});
  }
}
