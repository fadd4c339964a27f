/**
 * Access control of a gateway: the identity of callers, and the rows that callers may see.
 *
 * Owns: the connection to the API server that reviews tokens, as the gateway. Never: sends a caller's token to another cluster, or as a
 * credential of its own.
 */
import type { Authenticate, Caller, Credentials } from '../access/caller.ts';
import { type Rights, rightsOfCells } from '../access/rights.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { must } from '../base/must.ts';
import { type ClusterOptions, connect } from '../kube/client/connection.ts';
import { RegisteredConnections } from '../kube/client/registered-connections.ts';
import { RestClient } from '../kube/client/rest-client.ts';
import type { CommittedChanges } from '../store/types/change.ts';
import type { Reader } from '../store/types/lease.ts';
import type { CallerCredentials } from '../upstream/caller-credentials.ts';
import { type AuthenticatorOptions, createAuthenticate, presentedBy } from './identity/authenticator.ts';
import type { ImpersonationMode } from './identity/impersonated-user.ts';
import { ServerVersions } from './identity/server-versions.ts';
import { TokenReviews } from './identity/token-reviews.ts';
import { type UpstreamIdentities, upstreamCredentials } from './identity/upstream-credentials.ts';
import { AccessReviews } from './rights/access-reviews.ts';
import { DeletedNamespaces } from './rights/deleted-namespaces.ts';
import { ReviewedRights } from './rights/reviewed-rights.ts';
import { RightsCheck } from './rights/rights-check.ts';
import { StoredRights } from './rights/stored-rights.ts';

/** A kind of credentials that callers may send. */
export type CredentialKind = 'token' | 'proxy' | 'certificate';

/**
 * Who decides what callers see. `auto`: roles and bindings, and the API server for the rest. `rbac`: roles and bindings alone. `review`:
 * the API server alone.
 */
type AuthorizationMode = 'auto' | 'rbac' | 'review';

export interface AccessControlOptions {
  readonly mode: AuthorizationMode;
  readonly accepts: readonly CredentialKind[];
  /** The clusters whose users the callers are, by name. The first one knows the callers: it reviews their tokens. */
  readonly clusters: ReadonlyMap<string, ClusterOptions>;
  /** The number of clusters of the gateway; Infinity if more may come. */
  readonly served: number;
  /** Several cells: their readers, and the cell of each cluster. `reader` is that of the first one. */
  readonly cells?: AccessCells | undefined;
  /** The audiences of which a token must have one; empty for those of the API server. */
  readonly audiences: readonly string[];
  /** Whether the gateway's credentials may be used in the name of a caller, and by which rights. */
  readonly impersonate: ImpersonationMode | 'off';
  /** The common names of proxies' certificates; empty for any. */
  readonly proxyNames: readonly string[];
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after the rights of some caller may have changed. */
  readonly changed: () => void;
  /** See StoredRightsOptions. */
  readonly staleSince?: ((cluster: string) => number | null) | undefined;
}

/** The cells of a gateway that has several. */
export interface AccessCells {
  readonly readers: readonly Reader[];
  /** The number of clusters of each cell at the start; Infinity if more may come. */
  readonly served: readonly number[];
  /** The index of the cell that has the cluster. */
  cellOf(cluster: string): number;
}

export interface AccessControl {
  readonly authenticate: Authenticate;
  /** In all cells. */
  readonly rights: Rights;
  /** By cell. */
  readonly rightsOfCells: readonly Rights[];
  /** The cluster that knows the callers. */
  readonly home: string;
  /** The samples of what roles grant that were compared with the API server; null where none are. */
  readonly checks: Pick<RightsCheck, 'checked' | 'alarmed'> | null;
  /** The credentials for requests to this cluster as the caller of a request with these credentials. See `upstreamCredentials`. */
  upstreamCredentials(credentials: Credentials, cluster: string): Promise<CallerCredentials>;
  /** The credentials for requests to this cluster as a caller whom this process has authenticated in another way. See `upstreamCredentials`. */
  credentialsAs(caller: Caller, cluster: string): Promise<CallerCredentials>;
  /** May the caller read metrics and details of the gateway? Those who may get the path /metrics of the API server. */
  mayObserve(caller: Caller): Promise<boolean>;
  /** Callers have rights in these clusters too, besides those of the start. The former registered ones end. */
  register(clusters: readonly (ClusterOptions & { readonly name: string })[]): Promise<void>;
  /** Notes a commit in a cell; default: the first one. Call it before the subscribers learn of the commit. */
  wake(committed?: CommittedChanges, cell?: number): void;
  close(): Promise<void>;
}

/** @throws PortolanError CONFIGURATION for a missing or broken kubeconfig of the home cluster. */
export async function openAccessControl(options: AccessControlOptions): Promise<AccessControl> {
  const { accepts, audiences, proxyNames, clock, log } = options;
  const connections = await Promise.all([...options.clusters.values()].map((cluster) => connect(cluster)));
  const clients = new Map(connections.map((connection) => [connection.cluster, new RestClient(connection)]));
  const [home] = clients.values();
  const registered = new RegisteredConnections();
  const tokens =
    accepts.includes('token') && home !== undefined ? new TokenReviews({ client: home, audiences, clock, log }) : null;
  // The parts below read this list at each use: `register` changes it.
  const clusters = [...options.clusters.keys()];
  const first = clusters.length;
  const reviews = options.mode === 'rbac' ? null : new AccessReviews({ clients, clock, log });
  const changed = (): void => {
    reviews?.rolesChanged();
    options.changed();
  };
  const { readers, served, cellOf } = options.cells ?? {
    readers: [options.reader],
    served: [options.served],
    cellOf: () => 0,
  };
  const cells = readers.map((reader, index) =>
    rightsOfCell(
      { ...options, reader, served: must(served[index], 'the clusters of a cell') },
      clusters.filter((cluster) => cellOf(cluster) === index),
      { reviews, changed },
    ),
  );
  const cellRights = cells.map(({ rights }) => rights);
  const [only, ...others] = cellRights;
  const rights =
    only !== undefined && others.length === 0
      ? only
      : rightsOfCells(cellRights, (cluster) => must(cellRights[cellOf(cluster)], 'the rights of a cell'));
  const authenticator: AuthenticatorOptions = {
    tokens: tokens === null ? null : (token, span) => tokens.callerOf(token, span),
    proxies: accepts.includes('proxy') ? proxyNames : null,
    certificates: accepts.includes('certificate'),
  };
  const versions = new ServerVersions(clock);
  // Without audiences, those of the API server count.
  const own =
    audiences.length === 0 || home === undefined ? null : new TokenReviews({ client: home, audiences: [], clock, log });
  const callerClusters = new Set(clusters);
  const identities: UpstreamIdentities = {
    home: must(clusters[0], 'the home cluster'),
    known: callerClusters,
    impersonate: options.impersonate,
    isForApiServer: async (token) => own === null || isTaken(own, token),
    callerOf: (token) => must(tokens, 'tokens are accepted').callerOf(token),
    minorOf: (cluster) => versions.minorOf(must(clients.get(cluster), 'the client of a cluster of the callers')),
  };
  return {
    home: identities.home,
    authenticate: createAuthenticate(authenticator),
    upstreamCredentials: async (credentials, cluster) =>
      upstreamCredentials(presentedBy(authenticator, credentials), cluster, identities),
    credentialsAs: async (caller, cluster) => upstreamCredentials({ type: 'named', caller }, cluster, identities),
    rights,
    rightsOfCells: cellRights,
    checks: checksOf(cells.flatMap(({ check }) => check ?? [])),
    mayObserve: async (caller) =>
      (await rights.allows(caller, clusters[0] ?? '', { verb: 'get', path: '/metrics' })) === true,
    async register(clustersNow) {
      const isChanged = await registered.replace(clustersNow, (cluster, error) => {
        const text = 'callers see nothing of a registered cluster, because its settings cannot be used';
        log.warn({ cluster, error: messageOf(error) }, text);
      });
      if (!isChanged) return;
      for (const name of clusters.splice(first)) {
        clients.delete(name);
        callerClusters.delete(name);
      }
      for (const name of registered.names) {
        const connection = must(registered.get(name), 'an open connection');
        clusters.push(name);
        clients.set(name, new RestClient(connection));
        callerClusters.add(name);
      }
      for (const [index, cell] of cells.entries()) {
        cell.replace(clusters.filter((cluster) => cellOf(cluster) === index));
      }
      changed();
    },
    wake(committed, cell = 0) {
      cells[cell]?.wake(committed);
    },
    async close() {
      for (const cell of cells) cell.close();
      await Promise.all([registered, ...connections].map((each) => each.close()));
    },
  };
}

/** The rights in the clusters of one cell. */
interface CellRights {
  readonly rights: Rights;
  readonly check: RightsCheck | null;
  /** The clusters of the cell from now on. */
  replace(clusters: readonly string[]): void;
  wake(committed: CommittedChanges | undefined): void;
  close(): void;
}

function rightsOfCell(
  options: AccessControlOptions,
  first: readonly string[],
  { reviews, changed }: { readonly reviews: AccessReviews | null; readonly changed: () => void },
): CellRights {
  const { reader, clock, log } = options;
  // The parts below read this list at each use.
  const clusters = [...first];
  const deleted =
    reviews === null
      ? null
      : new DeletedNamespaces({
          reader,
          log,
          gone: (cluster, namespace) => {
            reviews.namespaceDeleted(cluster, namespace);
            options.changed();
          },
          lost: changed,
        });
  deleted?.wake();
  const granted = options.mode === 'review' ? null : new StoredRights({ ...options, clusters, changed });
  const check =
    reviews === null || granted === null ? null : new RightsCheck({ reviews, clock, log, alarm: options.changed });
  const reviewed = reviews === null ? null : new ReviewedRights({ ...options, clusters, granted, reviews, check });
  return {
    rights: reviewed ?? must(granted, 'the rights by roles'),
    check,
    replace(now) {
      clusters.splice(0, clusters.length, ...now);
      reviewed?.clustersChanged();
    },
    wake(committed) {
      granted?.wake(committed);
      deleted?.wake(committed);
    },
    close: () => granted?.close(),
  };
}

/** Of all cells; null where none are checked. */
function checksOf(checks: readonly RightsCheck[]): AccessControl['checks'] {
  const [only, ...others] = checks;
  if (only === undefined || others.length === 0) return only ?? null;
  return {
    get checked() {
      return checks.reduce((sum, { checked }) => sum + checked, 0);
    },
    get alarmed() {
      return checks.some(({ alarmed }) => alarmed);
    },
  };
}

async function isTaken(reviews: TokenReviews, token: string): Promise<boolean> {
  try {
    await reviews.callerOf(token);
    return true;
  } catch (error) {
    if (codeOf(error) === 'UNAUTHENTICATED') return false;
    throw error;
  }
}
