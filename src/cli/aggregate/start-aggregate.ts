/** The composition of the aggregated API server: whom it trusts, what it reads, and how it ends. */

import type { Caller } from '../../access/caller.ts';
import { Admission } from '../../admission/admission.ts';
import type { AuditLog } from '../../admission/audit.ts';
import type { CallerBounds } from '../../admission/caller-limits.ts';
import { type RunningAggregateServer, startAggregateServer } from '../../aggregate/aggregate-server.ts';
import { OwnCertificates } from '../../aggregate/certificates/own-certificates.ts';
import type { ServedApi } from '../../aggregate/protocol/served-api.ts';
import { SetRequests } from '../../aggregate/set-requests.ts';
import type { SetPlace } from '../../aggregate/sets/member-states.ts';
import { SetCache } from '../../aggregate/sets/set-cache.ts';
import { SetChanges } from '../../aggregate/sets/set-changes.ts';
import { SetReads } from '../../aggregate/sets/set-reads.ts';
import { doorTls } from '../../aggregate/trust/door-tls.ts';
import { ExtensionAuthentication } from '../../aggregate/trust/extension-authentication.ts';
import { Watchdog } from '../../aggregate/watchdog.ts';
import { WriteRequests } from '../../aggregate/write-requests.ts';
import { SetEvents } from '../../aggregate/writes/set-events.ts';
import { SetWrites } from '../../aggregate/writes/set-writes.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Config } from '../../config/options.ts';
import { type ClusterOptions, connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { type OperationSource, sourceAt, withWrites } from '../../operation/operation-source.ts';
import type { WriteAccess } from '../../operation/write-access.ts';
import { Drain } from '../../server/connections/drain.ts';
import type { SetMetrics } from '../../server/health/set-metrics.ts';
import { TlsFiles } from '../../server/negotiation/tls-files.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { CallerClient, CallerClients } from '../../upstream/caller-clients.ts';
import type { AggregateCertificates } from '../options/aggregate-certificates.ts';

interface AggregateParts {
  readonly access: Pick<AccessControl, 'home' | 'rights' | 'credentialsAs'>;
  readonly clusters: readonly ClusterOptions[];
  readonly source: OperationSource;
  /** Clients that act as callers. */
  readonly clients: () => Promise<CallerClients>;
  readonly bounds: CallerBounds;
  /** Were the first lists of all kinds read? Before, members would seem unknown. */
  readonly isSynced: () => boolean;
  readonly audit?: AuditLog;
  /** Other processes listen on the port too. Default: false. */
  readonly sharesPort?: boolean;
  readonly metrics: SetMetrics;
  /** The version of Portolan. */
  readonly version: string;
  readonly shutdown: Shutdown;
  /** The time of certificates that Portolan makes; default: that of the machine. */
  readonly certificateClock?: Clock;
  readonly log: Logger;
}

export type RunningAggregate = RunningAggregateServer & {
  /** Notes a commit. */
  wake(committed?: CommittedChanges): void;
};

/** Ends what was started, the last first. */
interface Shutdown {
  add(stop: () => unknown): void;
}

/**
 * Resolves when it listens.
 * @throws PortolanError CONFIGURATION for certificates that cannot be used or made, a port in use, and a cluster whose authority cannot be
 * read.
 */
export async function startAggregate(
  config: Pick<Config, 'host' | 'aggregateHost' | 'aggregatePort' | 'aggregateGroup' | 'aggregateVersion'>,
  certificates: AggregateCertificates,
  parts: AggregateParts,
): Promise<RunningAggregate> {
  const { access, clusters, clients, bounds, isSynced, audit, metrics, version, shutdown, log } = parts;
  // Sets and their members are of one cluster.
  const source = sourceAt(parts.source, access.home);
  const { trust, client } = await openHome(access.home, clusters, shutdown, log);
  const api = { group: config.aggregateGroup, version: config.aggregateVersion };
  const own = await openCertificates(certificates, api, client, parts);
  shutdown.add(() => own.close());
  const cache = new SetCache();
  const place = (): SetPlace => ({ kinds: source.generation(), cluster: access.home, cache });
  const changes = new SetChanges({ reader: source.reader, api, place, clock: systemClock, log });
  shutdown.add(() => changes.close());
  const clientOf = async (caller: Caller): Promise<CallerClient> =>
    (await clients()).client(access.home, await access.credentialsAs(caller, access.home));
  const { writes } = source;
  const admission = new Admission(
    writes === null ? source : writingSource(source, writes, { trust, clients, access }),
    trust.authenticate,
    null,
    bounds,
    audit,
  );
  const reads = new SetReads({
    ...{ api, place, changes, clientOf },
    membersRead: (count) => metrics.membersRead(count),
  });
  const setParts = { api, admission, rights: access.rights, cluster: access.home, reads, random: Math.random };
  const events = new SetEvents({ api, client, clock: systemClock, random: Math.random, log });
  shutdown.add(() => events.close());
  const setWrites = new SetWrites({ api, cluster: access.home, reads, client, events, now: () => systemClock.now() });
  const drain = new Drain(systemClock, Math.random);
  const sets = new SetRequests({
    ...setParts,
    changes,
    writes:
      writes === null
        ? null
        : new WriteRequests({ ...setParts, writes: setWrites, longManifests: writes.longManifests }),
    drain,
    watchOpened: () => metrics.watchOpened(),
    clock: systemClock,
  });
  const probe = async (signal: AbortSignal): Promise<void> => {
    if (!isSynced()) throw new Error('the first lists of the kinds of members are not complete');
    await sets.probe(signal);
  };
  const watchdog = new Watchdog({ probe, clock: systemClock });
  watchdog.start();
  shutdown.add(() => watchdog.close());
  const server = await startAggregateServer({
    host: config.aggregateHost ?? config.host,
    port: config.aggregatePort,
    ...(parts.sharesPort === undefined ? {} : { sharesPort: parts.sharesPort }),
    tls: doorTls(own, trust),
    api,
    version,
    admission,
    watchdog,
    sets,
    requested: (verb) => metrics.requested(verb),
    drain,
    log,
  });
  shutdown.add(() => server.close());
  log.info({ port: server.port, group: config.aggregateGroup }, 'the aggregated API server listens');
  return Object.assign(server, { wake: (committed?: CommittedChanges) => changes.wake(committed) });
}

function openCertificates(
  certificates: AggregateCertificates,
  api: ServedApi,
  client: RestClient,
  { certificateClock: clock = systemClock, log }: Pick<AggregateParts, 'certificateClock' | 'log'>,
): Promise<TlsFiles | OwnCertificates> {
  if ('service' in certificates) {
    return OwnCertificates.open({ client, service: certificates.service, api, clock, log });
  }
  return TlsFiles.open({ ...certificates, flags: ['--aggregate-cert', '--aggregate-key'] }, log);
}

/** The source of the callers of the aggregator. Their writes use impersonation, because they have no credential of their own. */
function writingSource(
  source: OperationSource,
  writes: WriteAccess,
  { trust, clients, access }: Pick<AggregateParts, 'clients' | 'access'> & { readonly trust: ExtensionAuthentication },
): OperationSource {
  return withWrites(source, {
    ...writes,
    client: async (cluster, credentials) =>
      (await clients()).client(cluster, await access.credentialsAs(await trust.authenticate(credentials), cluster)),
  });
}

/** The connection to the cluster whose aggregator sends requests, with Portolan's own account. */
async function openHome(
  home: string,
  clusters: readonly ClusterOptions[],
  shutdown: Shutdown,
  log: Logger,
): Promise<{ readonly trust: ExtensionAuthentication; readonly client: RestClient }> {
  for (const options of clusters) {
    const connection = await connect(options);
    if (connection.cluster !== home) {
      await connection.close();
      continue;
    }
    shutdown.add(() => connection.close());
    const client = new RestClient(connection);
    const trust = await ExtensionAuthentication.open({ client, clock: systemClock, log });
    shutdown.add(() => trust.close());
    return { trust, client };
  }
  throw new Error(`invariant broken: ${home} is one of the clusters`);
}
