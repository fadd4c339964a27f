/** Paths of --redact in a whole gateway: what an earlier start has stored goes away, also while the API server is down. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { silentLogger } from '../../src/base/log.ts';
import { startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const hidden = 'visible-redacted-value';
const redact = ['pods=spec.containers[].env', 'configmap=data.token', '*=metadata.annotations["internal"]'];

async function ask(gateway: RunningGateway, query: string) {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is the query's, which the test has beside it.
  return (await response.json()) as any;
}

/** Every value of every table, as text. */
function tables(file: string): string {
  const database = new Database(file, { readonly: true });
  const names = database
    .statement(`SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`)
    .all();
  const text = names.flatMap(([name]) => database.statement(`SELECT * FROM "${name}"`).all());
  const shown = text
    .flat()
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value));
  database.close();
  return shown.join('\n');
}

const everything = `{
  pods(filter: { namespaces: ["default"] }) {
    nodes { redacted raw yaml spec { containers { name env { value } } } value(path: "spec.containers[].env[].value") }
  }
  configMaps(filter: { metadata: { name: { eq: "settings" } } }) { nodes { redacted data metadata { annotations } } }
}`;

/** Each selects, sorts or counts by a redacted value. */
const questions = `{
  byField: pods(filter: { spec: { containers: { some: { env: { some: { value: { eq: "${hidden}" } } } } } } }) { totalCount }
  byPath: pods(filter: { path: [{ path: "metadata.annotations['internal']", eq: "${hidden}" }] }) { totalCount }
  bySearch: pods(filter: { search: "${hidden}" }) { totalCount }
  ordered: pods(orderBy: [{ path: "metadata.annotations['internal']", direction: DESC }, { path: "metadata.name" }]) {
    nodes { metadata { name } }
    aggregate { groups(by: ["metadata.annotations['internal']"]) { keys aggregate { count } } max(path: "metadata.annotations['internal']") }
    facets(paths: ["spec.containers[].env[].value"]) { values { value count } }
  }
}`;

test('values at redacted paths are never stored, found or shown, and those of an earlier start go away', async () => {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const post = async (plural: string, object: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const url = `${sim.url}/api/v1/namespaces/default/${plural}`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(object) });
    expect(response.status).toBe(201);
  };
  const annotations = { internal: hidden, kept: 'yes' };
  const pod = (name: string, annotated: object) => ({
    metadata: { name, annotations: annotated },
    spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'PASSWORD', value: hidden }] }] },
  });
  await post('pods', pod('one', annotations));
  await post('configmaps', { metadata: { name: 'settings', annotations }, data: { token: hidden, color: 'blue' } });
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const kubeconfig = folder.file('config', sim.kubeconfig());
  const data = join(temporaryDirectory('redaction'), 'portolan.db');
  const flags = {
    data,
    kinds: ['pods', 'configmaps', 'namespaces'],
    searchPaths: ['spec.containers[].env[].value'],
    promote: [`pods=metadata.annotations['internal']`],
  };
  const cluster = { name: 'east', kubeconfig };

  const first = await runGateway(cluster, flags);
  expect(JSON.stringify(await ask(first, everything))).toContain(hidden);
  await post('pods', pod('two', {}));
  await eventually(async () => expect((await ask(first, '{ pods { totalCount } }')).data.pods.totalCount).toBe(2));
  expect((await ask(first, questions)).data).toMatchObject({
    byField: { totalCount: 2 },
    byPath: { totalCount: 1 },
    bySearch: { totalCount: 2 },
  });
  await first.close();
  expect(tables(data)).toContain(hidden);

  // The API server is down: nothing is listed again, and nothing of the old values is shown.
  const down = kubeconfigFolder();
  onTestFinished(() => down.remove());
  const unreachable = { name: 'east', kubeconfig: down.write({ server: 'http://127.0.0.1:1' }) };
  const config = loadConfig({ flags: { port: '0', logLevel: 'silent', ...flags, redact }, environment: {} });
  const offline = await startGateway(config, [unreachable], silentLogger);
  expect(JSON.stringify(await ask(offline, everything))).not.toContain(hidden);
  await offline.close();

  const second = await runGateway(cluster, { ...flags, redact });
  onTestFinished(() => second.close());
  const answer = await ask(second, everything);
  expect(answer.errors).toBeUndefined();
  expect(JSON.stringify(answer)).not.toContain(hidden);
  const { pods, configMaps } = answer.data;
  expect(pods.nodes[0].redacted.toSorted()).toEqual(['metadata.annotations["internal"]', 'spec.containers[].env']);
  expect(pods.nodes[0].spec.containers).toEqual([{ name: 'c', env: null }]);
  expect(configMaps.nodes).toEqual([
    {
      redacted: ['data["token"]', 'metadata.annotations["internal"]'],
      data: { color: 'blue' },
      metadata: { annotations: { kept: 'yes' } },
    },
  ]);
  expect((await ask(second, questions)).data).toEqual({
    byField: { totalCount: 0 },
    byPath: { totalCount: 0 },
    bySearch: { totalCount: 0 },
    ordered: {
      nodes: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }],
      aggregate: { groups: [{ keys: [null], aggregate: { count: 2 } }], max: null },
      facets: [{ values: [{ value: null, count: 2 }] }],
    },
  });
  await post('pods', pod('three', annotations));
  await eventually(async () => expect((await ask(second, '{ pods { totalCount } }')).data.pods.totalCount).toBe(3));
  await eventually(async () => expect(tables(data)).not.toContain(hidden));
});
