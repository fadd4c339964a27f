/** Access control by the options of the command line. */
import { refuseUnlessLoopback } from '../../access/loopback.ts';
import type { AccessCells, AccessControl, AccessControlOptions, CredentialKind } from '../../auth/access-control.ts';
import { systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Config } from '../../config/options.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import type { Reader } from '../../store/types/lease.ts';
import { type AggregateConfig, aggregateCertificates } from '../options/aggregate-certificates.ts';
import { credentialKinds, refuseUnimpersonated } from '../options/credential-kinds.ts';
import { type TlsConfig, tlsPaths } from '../options/tls-paths.ts';

export type AccessConfig = Pick<
  Config,
  | 'host'
  | 'authCluster'
  | 'sameUsers'
  | 'tokenAudience'
  | 'authorizationMode'
  | 'secretData'
  | 'clusterSecrets'
  | 'impersonate'
  | 'readOnly'
> &
  TlsConfig &
  AggregateConfig;

/**
 * The kinds of credentials that callers may send; empty for a gateway without authentication.
 * @throws PortolanError CONFIGURATION for options that contradict each other, and for an address that needs authentication.
 */
export function acceptedCredentials(config: AccessConfig): readonly CredentialKind[] {
  const { host, auth, secretData, readOnly } = config;
  const accepted = credentialKinds(auth);
  refuseUnimpersonated(accepted, config);
  tlsPaths(config);
  aggregateCertificates(config);
  if (auth.length === 0) refuseUnlessLoopback(host);
  if (secretData === 'live' && accepted.length === 0) {
    throw new PortolanError(
      'CONFIGURATION',
      '--secret-data live needs --auth: the data of Secrets is fetched with the credentials of the caller, never with those of the gateway.',
    );
  }
  if (readOnly === false && auth.length > 0 && accepted.length === 0) {
    throw new PortolanError(
      'CONFIGURATION',
      '--read-only=false needs to know who writes: with --auth none, everybody would write as the gateway. Use --auth token.',
    );
  }
  return accepted;
}

/** Null for a gateway without authentication. @throws PortolanError CONFIGURATION */
export async function openAccess(
  config: AccessConfig,
  clusters: readonly ClusterOptions[],
  {
    reader,
    cells,
    log,
    changed,
    staleSince,
  }: Pick<AccessControlOptions, 'changed' | 'staleSince'> & {
    readonly reader: Reader;
    /** Of a gateway with several cells. */
    readonly cells?: Omit<AccessCells, 'served'> | undefined;
    readonly log: Logger;
  },
): Promise<AccessControl | null> {
  const accepts = acceptedCredentials(config);
  if (accepts.length === 0) {
    const isSaid = config.auth.length > 0;
    const text = 'there is no authentication: everybody who reaches this port sees everything that Portolan may read';
    if (isSaid) log.warn({ host: config.host }, text);
    else log.info({ host: config.host }, text);
    return null;
  }
  const [{ openAccessControl }, { connect }] = await Promise.all([
    import('../../auth/access-control.ts'),
    import('../../kube/client/connection.ts'),
  ]);
  const named = new Map<string, ClusterOptions>();
  for (const options of clusters) {
    const connection = await connect(options);
    named.set(connection.cluster, options);
    await connection.close();
  }
  const home = homeOf(config, named);
  const inCell = (index: number): readonly string[] =>
    [...named.keys()].filter((name) => cells?.cellOf(name) === index);
  const known = [...named].filter(([name]) => name === home[0] || config.sameUsers);
  if (!config.sameUsers && named.size > 1) {
    log.warn(
      { home: home[0] },
      'callers see nothing of the other clusters: start with --same-users if all have the same users',
    );
  }
  return openAccessControl({
    mode: config.authorizationMode,
    accepts,
    clusters: new Map([home, ...known]),
    served: servedOf(config, [...named.keys()]),
    cells: cells && { ...cells, served: cells.readers.map((_, index) => servedOf(config, inCell(index))) },
    audiences: config.tokenAudience,
    impersonate: config.impersonate,
    proxyNames: config.proxyClientName,
    reader,
    clock: systemClock,
    log,
    changed,
    staleSince,
  });
}

/** The number of clusters that are served; Infinity if more may come. */
function servedOf({ clusterSecrets }: AccessConfig, clusters: readonly string[]): number {
  return clusterSecrets === undefined ? clusters.length : Number.POSITIVE_INFINITY;
}

function homeOf(
  { authCluster }: AccessConfig,
  clusters: ReadonlyMap<string, ClusterOptions>,
): readonly [string, ClusterOptions] {
  const [only, ...others] = [...clusters];
  if (authCluster === undefined && only !== undefined && others.length === 0) return only;
  const found = authCluster === undefined ? undefined : clusters.get(authCluster);
  if (authCluster !== undefined && found !== undefined) return [authCluster, found];
  const names = [...clusters.keys()].join(', ');
  throw new PortolanError(
    'CONFIGURATION',
    authCluster === undefined
      ? `Say with --auth-cluster which cluster knows the callers: ${names}.`
      : `--auth-cluster names ${authCluster}, which is none of the clusters: ${names}.`,
  );
}
