/** The clusters that the options name. */
import { PortolanError } from '../../base/errors.ts';
import type { Config } from '../../config/options.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';

export type ClusterConfig = Pick<Config, 'kubeconfig' | 'context' | 'inCluster'>;

/**
 * One cluster for each context, or the default of kubeconfig and environment.
 * @param isFound only a configuration file that nobody named has the kubeconfig
 * @throws PortolanError CONFIGURATION for options that contradict each other.
 */
export function clustersOf(
  { kubeconfig, context, inCluster }: ClusterConfig,
  isFound = false,
): readonly ClusterOptions[] {
  const twice = context.find((name, index) => context.indexOf(name) !== index);
  if (twice !== undefined)
    throw new PortolanError('CONFIGURATION', `--context names ${twice} twice; name each context once.`);
  const file = kubeconfig === undefined ? {} : { kubeconfig, ...(isFound ? { isFound } : {}) };
  if (inCluster) {
    if (context.length > 0) throw new PortolanError('CONFIGURATION', 'Give --in-cluster or --context, not both.');
    return [{ inCluster: true }];
  }
  return context.length === 0 ? [file] : context.map((name) => ({ ...file, context: name }));
}

/**
 * The one cluster that the options name, for a command that is about one.
 * @throws PortolanError CONFIGURATION for several.
 */
export function oneClusterOf(config: ClusterConfig, command: string): ClusterOptions {
  const [cluster, ...others] = clustersOf(config);
  if (cluster !== undefined && others.length === 0) return cluster;
  throw new PortolanError(
    'CONFIGURATION',
    `portolan ${command} is about one cluster: run it once for each --context (${config.context.join(', ')}).`,
  );
}
