/**
 * The API servers of all clusters, for requests as a caller.
 *
 * Owns: the connections to the clusters, and the check which cluster may receive which credentials. Never: sends a request as the
 * gateway, keeps a caller's credentials, or sends a token to a cluster other than its own. Without authentication, the user of the
 * kubeconfig is the caller.
 *
 * A client serves the requests of one caller. It is cheap, because clients share the connections (src/kube/client/connection.ts).
 */
import { PortolanError } from '../base/errors.ts';
import { type ClusterOptions, type Connection, connect, type RequestSender } from '../kube/client/connection.ts';
import { RegisteredConnections } from '../kube/client/registered-connections.ts';
import { RestClient } from '../kube/client/rest-client.ts';
import type { CallerCredentials } from './caller-credentials.ts';

/** Sends every request as one caller. */
export type CallerClient = RestClient<RequestSender>;

/** Connects to these clusters. Sends nothing yet. @throws PortolanError CONFIGURATION for a missing or broken kubeconfig. */
export async function openCallerClients(clusters: readonly ClusterOptions[]): Promise<CallerClients> {
  return new CallerClients(await Promise.all(clusters.map((cluster) => connect(cluster))));
}

export class CallerClients {
  readonly #connections: ReadonlyMap<string, Connection>;
  readonly #registered = new RegisteredConnections();

  /** Takes ownership of the connections: `close` ends them. */
  constructor(connections: readonly Connection[]) {
    this.#connections = new Map(connections.map((connection) => [connection.cluster, connection]));
  }

  /**
   * A client of the cluster as the caller. Throws NOT_FOUND for an unknown cluster, FORBIDDEN for a token of another cluster, and
   * the errors of `Connection.connectAs`. The client's requests fail with ApiError: a 401 is UNAUTHENTICATED and concerns the
   * caller.
   */
  client(cluster: string, credentials: CallerCredentials): CallerClient {
    const connection = this.#connection(cluster);
    if (credentials.type === 'token' && credentials.cluster !== cluster) {
      throw new PortolanError(
        'FORBIDDEN',
        `The caller's token is for the cluster ${credentials.cluster} and is not sent to ${cluster}: send requests to ${credentials.cluster}.`,
      );
    }
    return new RestClient(credentials.type === 'local' ? connection : connection.connectAs(credentials));
  }

  /** @throws PortolanError NOT_FOUND for an unknown cluster. */
  require(cluster: string): void {
    this.#connection(cluster);
  }

  #connection(cluster: string): Connection {
    const found = this.#connections.get(cluster) ?? this.#registered.get(cluster);
    if (found !== undefined) return found;
    const known = [...this.#connections.keys(), ...this.#registered.names].join(', ');
    throw new PortolanError('NOT_FOUND', `There is no cluster ${JSON.stringify(cluster)}: choose one of ${known}.`);
  }

  /** Connects to these clusters besides those of the start. A cluster whose settings cannot be used is left out. */
  async register(clusters: readonly (ClusterOptions & { readonly name: string })[]): Promise<void> {
    await this.#registered.replace(clusters, () => {});
  }

  /** Ends all connections and the requests on them. */
  async close(): Promise<void> {
    await Promise.all([this.#registered, ...this.#connections.values()].map((each) => each.close()));
  }
}
