/** `portolan rbac`: the roles that the gateway's own account needs in a cluster, as YAML. */
import { callerRoles, doorRoles, memberRules } from '../../access/door-rules.ts';
import { gatewayRoles, type NeededRole } from '../../access/gateway-rules.ts';
import { certificatesSecret } from '../../aggregate/certificates/own-certificates.ts';
import { PortolanError } from '../../base/errors.ts';
import { standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import type { Config } from '../../config/options.ts';
import { type Inventory, takeInventory } from '../../ingest/cluster/inventory.ts';
import { selects } from '../../ingest/context/selection.ts';
import { type ClusterOptions, connect } from '../../kube/client/connection.ts';
import { explainConnectionFailure } from '../../kube/client/explain.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { apiServiceName } from '../../kube/http/api-service.ts';
import { refusalOfKind } from '../../sets/members/member-kinds.ts';
import { type AggregateConfig, doorService } from '../options/aggregate-certificates.ts';
import { credentialKinds, refuseUnimpersonated, requiredKeys } from '../options/credential-kinds.ts';
import { onOneCluster } from '../options/demo-cluster.ts';
import { refuseUnmatched } from '../options/refuse-unmatched.ts';
import { roleManifests } from './role-manifests.ts';

type RbacConfig = Pick<
  Config,
  | 'kubeconfig'
  | 'context'
  | 'inCluster'
  | 'kinds'
  | 'exclude'
  | 'namespaces'
  | 'auth'
  | 'authCluster'
  | 'sameUsers'
  | 'authorizationMode'
  | 'abstractKindObjects'
  | 'secretData'
  | 'impersonate'
  | 'clusterSecrets'
  | 'wildcards'
  | 'serviceAccount'
  | 'name'
  | 'setKinds'
> &
  Pick<AggregateConfig, 'aggregate' | 'aggregateGroup' | 'aggregateVersion' | 'aggregateService'> &
  Partial<Pick<Config, 'demo'>>;

interface Outputs {
  readonly out: { write(text: string): unknown };
  /** For what the roles may lack. */
  readonly notes: { write(text: string): unknown };
}

/**
 * Prints the roles for the kinds that the cluster serves now.
 * @throws PortolanError CONFIGURATION for options that contradict each other; NOT_FOUND when --kinds and --exclude select nothing.
 */
export async function rbac(
  config: RbacConfig,
  { out, notes }: Outputs = { out: standardOutput, notes: standardError },
): Promise<number> {
  const accepts = credentialKinds(config.auth);
  refuseUnimpersonated(accepts, config);
  if (config.aggregateService !== undefined && !config.aggregate) {
    throw new PortolanError('CONFIGURATION', '--aggregate-service needs --aggregate.');
  }
  if (config.wildcards && config.kinds.length + config.exclude.length > 0) {
    throw new PortolanError(
      'CONFIGURATION',
      '--wildcards grants every resource, and RBAC cannot leave some out: leave out --wildcards, or --kinds and --exclude.',
    );
  }
  const { name, inventory } = await onOneCluster(config, 'rbac', inventoryOf);
  for (const { groupVersion, message } of inventory.unread) {
    const lacking = `the roles may lack kinds of a group that cannot be read now: ${groupVersion}: ${message}`;
    notes.write(`${oneLine(`portolan: ${lacking}`)}\n`);
  }
  const hasCallers = accepts.length > 0;
  const isHome = config.authCluster === undefined || config.authCluster === name;
  const resources = selected(inventory, config, requiredKeys(accepts, config));
  const members = resources.filter((resource) => refusalOfKind(resource, config.setKinds) === null);
  const isDoor = config.aggregate && isHome;
  const roles = gatewayRoles({
    resources,
    namespaces: config.namespaces,
    wildcards: config.wildcards,
    reviewsTokens: accepts.includes('token') && isHome,
    reviewsAccess: hasCallers && (isHome || config.sameUsers) && config.authorizationMode !== 'rbac',
    clusterSecrets: isHome ? (config.clusterSecrets ?? null) : null,
    impersonates: config.impersonate !== 'off' && (isHome || config.sameUsers) ? config.impersonate : null,
    ...(isDoor && !config.wildcards ? { onBehalf: memberRules(members) } : {}),
  });
  out.write(
    roleManifests(isDoor ? [...roles, ...rolesOfDoor(config)] : roles, {
      name: config.name,
      account: config.serviceAccount ?? null,
      header: headerOf(name, config),
    }),
  );
  return 0;
}

function rolesOfDoor(config: RbacConfig): readonly NeededRole[] {
  const service = config.aggregateService === undefined ? null : doorService(config.aggregateService);
  const api = { group: config.aggregateGroup, version: config.aggregateVersion };
  const certificates =
    service === null
      ? null
      : {
          namespace: service.namespace,
          secret: certificatesSecret(service),
          apiService: apiServiceName(api.group, api.version),
        };
  return [...doorRoles({ namespaces: config.namespaces, certificates }), ...callerRoles(api.group)];
}

async function inventoryOf(cluster: ClusterOptions): Promise<{ readonly name: string; readonly inventory: Inventory }> {
  const connection = await connect(cluster);
  try {
    return { name: connection.cluster, inventory: await takeInventory(new RestClient(connection)) };
  } catch (error) {
    throw explainConnectionFailure(error, connection);
  } finally {
    await connection.close();
  }
}

/** The resources that ingest reads with this configuration. */
function selected({ chosen }: Inventory, config: RbacConfig, required: readonly string[]): readonly Resource[] {
  refuseUnmatched(chosen, config);
  const selection = { include: config.kinds, exclude: config.exclude, required };
  const found = chosen.filter((resource) => selects(resource, selection));
  if (found.length > 0) return found;
  throw new PortolanError(
    'NOT_FOUND',
    'No resource matches --kinds and --exclude; name them as kubectl api-resources does.',
  );
}

function headerOf(cluster: string, { wildcards }: RbacConfig): string {
  const lines = [`The rights of Portolan's own account in the cluster ${oneLine(cluster)}, by portolan rbac.`];
  if (!wildcards)
    lines.push('Print them again when the cluster serves other kinds. The gateway parks kinds that it may not read.');
  return lines.join('\n');
}
