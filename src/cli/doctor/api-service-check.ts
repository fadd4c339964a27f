/** The APIService that leads kube-apiserver to the aggregated API server, what kube-apiserver says of it, and whether its discovery answers. */
import { messageOf } from '../../base/errors.ts';
import { record, records, textOr } from '../../base/json.ts';
import type { ExaminedCluster, Json } from './examined-cluster.ts';
import { commandOf, type Finding, ok, problem, warning } from './finding.ts';

export async function checkApiService(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const { apiServiceName: name } = cluster;
  const found = await cluster.apiService();
  if (found === null) {
    if (!cluster.options.isExpected) return [ok(`There is no APIService ${name}: kubectl does not know sets here.`)];
    return [problem(`There is no APIService ${name}, so kubectl does not know sets. docs/shadow.md has its manifest.`)];
  }
  const spec = record(found['spec']) ?? {};
  if (spec['service'] === undefined || spec['service'] === null) {
    return [
      problem(
        `The APIService ${name} names no Service, so kube-apiserver serves the group itself, without sets.`,
        commandOf`kubectl delete apiservice ${name}`,
      ),
    ];
  }
  const conditions = records(record(found['status'])?.['conditions']);
  const available = conditions.find(({ type }) => type === 'Available');
  const trusts =
    spec['insecureSkipTLSVerify'] === true
      ? [
          warning(
            `The APIService ${name} has insecureSkipTLSVerify: whoever can answer for its Service gets the requests of all users. Give it the authority of the certificate instead, from the file ca.crt:`,
            commandOf`kubectl patch apiservice ${name} --type=json -p '[{"op":"remove","path":"/spec/insecureSkipTLSVerify"},{"op":"add","path":"/spec/caBundle","value":"'"$(base64 < ca.crt | tr -d '\\n')"'"}]'`,
          ),
        ]
      : [];
  if (available?.['status'] === 'True') return [await discoveryOf(cluster), ...trusts];
  const why = available === undefined ? 'it was not tried yet' : textOr(available['message']);
  return [
    problem(
      `The APIService ${name} is not available: ${why} Until it is, or until it is deleted, no namespace finishes its deletion. This deletes it; sets and their members stay:`,
      commandOf`kubectl delete apiservice ${name}`,
    ),
    ...trusts,
  ];
}

/** Does the group answer now? The condition is up to 30 seconds old. */
async function discoveryOf(cluster: ExaminedCluster): Promise<Finding> {
  const { client, api } = cluster.options;
  const name = cluster.apiServiceName;
  try {
    const { resources } = await client.get<Json>(`/apis/${api.group}/${api.version}`);
    const isThere = records(resources).some((each) => each['name'] === 'shadowresources');
    if (isThere) return ok(`The APIService ${name} is available, and its discovery answers.`);
    return problem(
      `The server behind the APIService ${name} has no shadowresources: it is not Portolan. Delete the APIService, or correct its Service:`,
      commandOf`kubectl delete apiservice ${name}`,
    );
  } catch (error) {
    return problem(
      `The discovery of ${api.group} does not answer: ${messageOf(error)} If this lasts, no namespace finishes its deletion. This deletes the APIService; sets and their members stay:`,
      commandOf`kubectl delete apiservice ${name}`,
    );
  }
}
