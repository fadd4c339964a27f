/** The definition of ShadowRecord: is it there, and is it that of this version? */
import { isRecord, records } from '../../base/json.ts';
import { shadowRecordCrd } from '../../sets/record/shadow-record-crd.ts';
import type { ExaminedCluster } from './examined-cluster.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const install = 'portolan shadow install';

export async function checkDefinition(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const found = await cluster.definition();
  if (found === null) {
    if (!(await cluster.hasDoor())) return [ok('ShadowRecord is not installed: sets are not used in this cluster.')];
    return [problem('ShadowRecord is not installed, so there are no sets.', install)];
  }
  const { status } = found as { readonly status?: { readonly conditions?: unknown } };
  const refused = records(status?.conditions).find(
    ({ type, status: is }) => (type === 'Established' || type === 'NamesAccepted') && is !== 'True',
  );
  if (refused !== undefined) {
    return [problem(`ShadowRecord is installed and not served: ${String(refused['message'])}`, install)];
  }
  if (!has(found['spec'], shadowRecordCrd()['spec'])) {
    return [warning('ShadowRecord is installed as another version of Portolan defines it.', install)];
  }
  return [ok('ShadowRecord is installed, as this version of Portolan defines it.')];
}

/** Does the value have everything of the other one? An API server adds defaults. */
function has(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && value.length === wanted.length && wanted.every((each, at) => has(value[at], each));
  }
  if (!isRecord(wanted)) return value === wanted;
  return isRecord(value) && Object.entries(wanted).every(([key, each]) => has(value[key], each));
}
