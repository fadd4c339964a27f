/** Namespaces whose deletion waits for sets: for the discovery of their group, or for a record with a finalizer. */
import { record, records, text, textOr } from '../../base/json.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import { recordResource } from '../../sets/record/set-record.ts';
import type { ExaminedCluster, Json } from './examined-cluster.ts';
import { commandOf, type Finding, ok, problem } from './finding.ts';

const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };

export async function checkNamespaces(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const { client, api } = cluster.options;
  const { items } = await client.get<Json>(resourcePath(namespaces));
  const leaving = records(items).filter(({ metadata }) => record(metadata)?.['deletionTimestamp'] !== undefined);
  const findings = leaving.flatMap(({ metadata, status }): readonly Finding[] => {
    const name = textOr(record(metadata)?.['name']);
    const holds = records(record(status)?.['conditions']).filter((condition) => condition['status'] === 'True');
    const messageOf = (type: string): string => text(holds.find((each) => each['type'] === type)?.['message']) ?? '';
    if (messageOf('NamespaceDeletionDiscoveryFailure').includes(api.group)) {
      return [
        problem(
          `The deletion of the namespace ${name} waits, because the group ${api.group} does not answer. Start Portolan again, or delete the APIService. The sets and their members stay:`,
          commandOf`kubectl delete apiservice ${cluster.apiServiceName}`,
        ),
      ];
    }
    if (!messageOf('NamespaceContentRemaining').includes(`${recordResource.plural}.${recordResource.group}`)) return [];
    return [
      problem(
        `The deletion of the namespace ${name} waits for records of sets with a finalizer. This takes the finalizers off:`,
        commandOf`kubectl get shadowrecords --namespace=${name} -o name | xargs -r kubectl patch --namespace=${name} --type=merge -p '{"metadata":{"finalizers":null}}'`,
      ),
    ];
  });
  return findings.length > 0 ? findings : [ok('No namespace waits for sets in its deletion.')];
}
