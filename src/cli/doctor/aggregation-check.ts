/** The aggregation layer of kube-apiserver: the authority by which Portolan knows the aggregator. */
import { X509Certificate } from 'node:crypto';
import { record, text } from '../../base/json.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import { validity } from './authority-check.ts';
import type { ExaminedCluster } from './examined-cluster.ts';
import { type Finding, ok, problem } from './finding.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };
const name = 'extension-apiserver-authentication';
const flags =
  'Start kube-apiserver with --requestheader-client-ca-file, --requestheader-allowed-names, --requestheader-username-headers, --requestheader-group-headers, --requestheader-extra-headers-prefix, --proxy-client-cert-file and --proxy-client-key-file.';

export async function checkAggregation(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const found = await cluster.object(resourcePath(configMaps, 'kube-system', name));
  const pem = text(record(found?.['data'])?.['requestheader-client-ca-file']);
  if (pem === undefined) return [problem(`kube-apiserver has no aggregation layer. ${flags}`)];
  const of = `The authority of the aggregator (ConfigMap kube-system/${name})`;
  try {
    const finding = validity(of, new X509Certificate(pem), cluster.options.now(), null);
    return [finding ?? ok('The aggregation layer is configured.')];
  } catch {
    return [problem(`${of} is no certificate in PEM. ${flags}`)];
  }
}
