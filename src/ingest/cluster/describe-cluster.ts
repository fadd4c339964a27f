/** Describes all resources of a cluster that can be ingested, for callers that need its schema but not its objects. */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { declaredRelations, type RelationTexts } from '../context/declared-relations.ts';
import { describeResources, type Problem } from './describe-resources.ts';
import { takeInventory } from './inventory.ts';

/** Rejects if the cluster cannot be read. Failures of single kinds or group versions are returned in `problems`. */
export async function describeCluster(
  client: RestClient,
  cluster: string,
  { relations, signal }: { readonly relations?: RelationTexts; readonly signal?: AbortSignal } = {},
): Promise<{ readonly described: readonly DescribedResource[]; readonly problems: readonly Problem[] }> {
  const { chosen, unread: failures } = await takeInventory(client, signal);
  const declared = relations === undefined ? undefined : declaredRelations(relations);
  const found = await describeResources(client, cluster, chosen, { relations: declared?.set, signal });
  const unread = failures.map(({ groupVersion, message }) => ({ resource: groupVersion, message, kinds: [] }));
  const wrong = (declared?.problems ?? []).map((message) => ({ resource: 'relations', message, kinds: [] }));
  return { described: found.described, problems: [...wrong, ...unread, ...found.problems] };
}
