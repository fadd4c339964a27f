/** The readiness of the aggregated API server: /readyz names why it cannot answer lists. Everybody may read it. */
import { request } from 'node:https';
import { messageOf } from '../../base/errors.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { ExaminedCluster, ServiceReference } from './examined-cluster.ts';
import { type Finding, notSeen, ok, problem } from './finding.ts';
import { restartOf } from './service-check.ts';

const withinMs = 5000;

export async function checkReadiness(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const service = await cluster.serviceReference();
  if (service === null) return [notSeen('No APIService names a Service.')];
  const { address } = cluster.options;
  let answer: string;
  try {
    answer = await (address === null ? throughApiServer(cluster, service) : directly(address));
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 403) {
      return [notSeen(`Portolan cannot be asked through the API server: ${error.message}`)];
    }
    return [problem(`Portolan does not say that it is ready: ${messageOf(error)}`, await restart(cluster, service))];
  }
  if (answer === 'ok') return [ok('Portolan says that it is ready.')];
  return [problem(`Portolan is ${answer}`, await restart(cluster, service))];
}

/** Null also where the Service may not be read. */
function restart(cluster: ExaminedCluster, service: ServiceReference): Promise<string | null> {
  return restartOf(cluster, service).catch(() => null);
}

/** By the proxy of the API server to Services, which checks no certificate. */
function throughApiServer({ options: { client } }: ExaminedCluster, service: ServiceReference): Promise<string> {
  const { namespace, name, port } = service;
  return client.text(`/api/v1/namespaces/${namespace}/services/https:${name}:${port}/proxy/readyz`, { accept: '*/*' });
}

/** Another check is about the server's certificate. */
function directly({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host, port, path: '/readyz', agent: false, rejectUnauthorized: false, timeout: withinMs };
    const asked = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text = `${text}${chunk}`.slice(0, 1000);
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${withinMs} ms`)));
    asked.on('error', reject);
    asked.end();
  });
}
