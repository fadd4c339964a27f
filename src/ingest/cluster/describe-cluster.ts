/** Everything that a cluster serves, described: for those who want its schema and not its objects. */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { describeResources, type Problem } from './describe-resources.ts';
import { takeInventory } from './inventory.ts';

/** Throws when the cluster cannot be asked; what it cannot tell of single kinds stands in `problems`. */
export async function describeCluster(
  client: RestClient,
  cluster: string,
  signal?: AbortSignal,
): Promise<{ readonly described: readonly DescribedResource[]; readonly problems: readonly Problem[] }> {
  const { chosen, problems } = await takeInventory(client, signal);
  const found = await describeResources(client, cluster, chosen, signal);
  return {
    described: found.described,
    problems: [...problems.map((message) => ({ resource: message.split(':')[0] ?? '', message })), ...found.problems],
  };
}
