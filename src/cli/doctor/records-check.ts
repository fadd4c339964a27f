/** Finds records of sets that cannot be read, whose deletion was not finished, or whose group no APIService serves. */
import { messageOf } from '../../base/errors.ts';
import { parsedJson, record, text, textOr } from '../../base/json.ts';
import { apiServiceName } from '../../kube/http/api-service.ts';
import { installedSets } from '../../sets/definition.ts';
import { membersFinalizer, readSetRecord, type SetRecord } from '../../sets/record/set-record.ts';
import type { ExaminedCluster, Json } from './examined-cluster.ts';
import { commandOf, type Finding, ok, problem, warning } from './finding.ts';

/** Milliseconds that a deletion may take. */
const patienceMs = 60_000;
/** Findings of one sort. */
const most = 10;

export async function checkRecords(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const found = await installedSets(cluster.options.client);
  if (found === null) return [ok('There are no sets.')];
  const findings: Finding[] = [];
  const groups = new Map<string, number>();
  for (const object of found) {
    const set = readable(object, findings);
    if (set === null) continue;
    const unfinished = unfinishedDeletion(cluster, set);
    if (unfinished !== null) findings.push(unfinished);
    const version = text(record(parsedJson(set.lastApplied ?? 'null'))?.['apiVersion']);
    if (version !== undefined) groups.set(version, (groups.get(version) ?? 0) + 1);
  }
  for (const [apiVersion, count] of groups) {
    const [group = '', version = ''] = apiVersion.split('/');
    if (await isServed(cluster, group, version)) continue;
    findings.push(
      warning(
        `${count} of the sets were submitted as ${apiVersion}, and no APIService leads there. Start Portolan with --aggregate-group ${group} --aggregate-version ${version}, or submit the sets again in another group.`,
      ),
    );
  }
  if (findings.length === 0) return [ok(`All records of sets can be read (${found.length}).`)];
  const left = findings.slice(most);
  if (left.length === 0) return findings;
  const verdict = left.some((each) => each.verdict === 'problem') ? problem : warning;
  return [...findings.slice(0, most), verdict(`${left.length} more records have such problems.`)];
}

function readable(object: Json, findings: Finding[]): SetRecord | null {
  try {
    return readSetRecord(object);
  } catch (error) {
    const { namespace, name } = record(object['metadata']) ?? {};
    const command = commandOf`kubectl delete shadowrecord ${textOr(name)} --namespace=${textOr(namespace)}`;
    findings.push(problem(messageOf(error), command));
    return null;
  }
}

function unfinishedDeletion({ options }: ExaminedCluster, set: SetRecord): Finding | null {
  const { namespace, name, deletionTimestamp, finalizers } = set;
  if (deletionTimestamp === null || options.now() - Date.parse(deletionTimestamp) < patienceMs) return null;
  if (!finalizers.includes(membersFinalizer)) return null;
  return problem(
    `The deletion of the set ${namespace}/${name} began at ${deletionTimestamp} and was not finished. Delete it again where sets are served. Otherwise this ends it, and the members are deleted with the record:`,
    commandOf`kubectl patch shadowrecord ${name} --namespace=${namespace} --type=merge -p '{"metadata":{"finalizers":null}}'`,
  );
}

async function isServed(cluster: ExaminedCluster, group: string, version: string): Promise<boolean> {
  if (!/^[a-z0-9.-]+$/.test(group) || !/^[a-z0-9]+$/.test(version)) return true;
  return (await cluster.apiService(apiServiceName(group, version))) !== null;
}
