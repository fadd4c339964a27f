/** The Service of the aggregated API server: its port, and whether a Pod is ready behind it. */
import { list, record, records, text } from '../../base/json.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import type { ExaminedCluster, Json, ServiceReference } from './examined-cluster.ts';
import { commandOf, type Finding, notSeen, ok, problem } from './finding.ts';

const slices = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespaced: true };
const endpoints = { group: '', version: 'v1', plural: 'endpoints', namespaced: true };

export async function checkService(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const reference = await cluster.serviceReference();
  if (reference === null) return [notSeen('No APIService names a Service.')];
  const { namespace, name, port } = reference;
  const own = `The Service ${namespace}/${name} of the APIService ${cluster.apiServiceName}`;
  const found = await cluster.service(reference);
  const remove = commandOf`kubectl delete apiservice ${cluster.apiServiceName}`;
  if (found === null) {
    return [problem(`${own} is not there: install Portolan again, or delete the APIService:`, remove)];
  }
  const spec = record(found['spec']) ?? {};
  if (spec['type'] === 'ExternalName') return [ok(`${own} is the name ${String(spec['externalName'])}.`)];
  const ports = records(spec['ports']).map(({ port: each }) => Number(each));
  const [first] = ports;
  if (first !== undefined && !ports.includes(port)) {
    return [
      problem(
        `${own} has no port ${port}. It has ${ports.join(', ')}:`,
        commandOf`kubectl patch apiservice ${cluster.apiServiceName} --type=merge -p '{"spec":{"service":{"port":${first}}}}'`,
      ),
    ];
  }
  const ready = await readyEndpoints(cluster, reference);
  if (ready > 0) return [ok(`${own} has ${ready} ready ${ready === 1 ? 'endpoint' : 'endpoints'}.`)];
  return [
    problem(
      `${own} has no ready endpoint: no Pod that it selects is ready. Look at the Pods and their logs. This starts them again:`,
      await restartOf(cluster, reference),
    ),
  ];
}

/** Starts the Pods behind the Service again; null if the Service selects none. */
export async function restartOf(cluster: ExaminedCluster, service: ServiceReference): Promise<string | null> {
  const selector = record(record((await cluster.service(service))?.['spec'])?.['selector']) ?? {};
  const labels = Object.entries(selector).map(([key, value]) => `${key}=${String(value)}`);
  const { namespace } = service;
  if (labels.length === 0) return null;
  return commandOf`kubectl rollout restart deployment --namespace=${namespace} --selector=${labels.join(',')}`;
}

async function readyEndpoints({ options: { client } }: ExaminedCluster, service: ServiceReference): Promise<number> {
  const query = { labelSelector: `kubernetes.io/service-name=${service.name}` };
  try {
    const found = await client.get<Json>(resourcePath(slices, service.namespace), { query });
    const each = records(found['items']).flatMap(({ endpoints: some }) => records(some));
    // Absent is to be read as ready.
    return each.filter(({ conditions }) => record(conditions)?.['ready'] !== false).length;
  } catch (error) {
    // Servers before 1.21.
    if (!(error instanceof ApiError) || error.httpStatus !== 404) throw error;
  }
  const path = resourcePath(endpoints, service.namespace, service.name);
  const { subsets } = await client.get<Json>(path).catch((): Json => ({}));
  return records(subsets)
    .flatMap(({ addresses }) => list(addresses))
    .filter((each) => text(record(each)?.['ip'])).length;
}
