/**
 * The world of bench/join.ts: Pods with Nodes, ServiceAccounts and Services, in a store file.
 *
 *   namespace big          20,000 Pods of one ServiceAccount, and a Service that selects all of them
 *   99 other namespaces    the other Pods, 100 for each Service
 *   every Pod              the label all=true, and one of the Nodes, which have about 110 Pods
 *   Nodes                  pool=rare on one of 100, pool=single on one of them
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimCluster } from '../sim/sim-cluster.ts';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import { describeCluster } from '../src/ingest/cluster/describe-cluster.ts';
import { connect } from '../src/kube/client/connection.ts';
import { RestClient } from '../src/kube/client/rest-client.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { shippedRelations } from './support/shipped-relations.ts';

const cluster = 'bench';
export const bigNamespace = 'big';
const podsOfNode = 110;
const podsOfService = 100;
const otherNamespaces = 99;

export interface World {
  /** Milliseconds to write the objects, and then to read their references. */
  readonly storedMs: number;
  readonly relatedMs: number;
  readonly nodes: number;
  readonly services: number;
}

/** The kinds of a cluster, with the relations that Portolan ships. */
async function describedKinds(directory: string, keys: readonly string[]): Promise<readonly DescribedResource[]> {
  const sim = await startSimCluster({ objects: 'empty' });
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, sim.kubeconfig(), { mode: 0o600 });
  const connection = await connect({ name: cluster, kubeconfig });
  try {
    const { described } = await describeCluster(new RestClient(connection), cluster, { relations: shippedRelations() });
    return described.filter(({ resource }) => keys.includes(resource.plural));
  } finally {
    await connection.close();
    await sim.close();
  }
}

/** Writes the objects and their references. @param directory takes the kubeconfig of a simulated cluster, which describes the kinds. */
export async function fillWorld(file: string, directory: string, pods: number): Promise<World> {
  const big = Math.round(pods / 5);
  const nodes = Math.ceil(pods / podsOfNode);
  const services = Math.ceil((pods - big) / podsOfService);
  const objects: Readonly<Record<string, readonly string[]>> = {
    nodes: Array.from({ length: nodes }, (_, index) => node(index)),
    serviceaccounts: [serviceAccount()],
    services: [
      service('all', bigNamespace, { all: 'true' }),
      ...Array.from({ length: services }, (_, app) => serviceOf(app)),
    ],
    pods: Array.from({ length: pods }, (_, index) => pod(index, big, nodes)),
  };
  const described = await describedKinds(directory, Object.keys(objects));
  const writer = openWriter(file);
  writer.openCluster(cluster, cluster);
  const began = performance.now();
  for (const each of described) {
    const replace = writer.replace(writer.declare(each));
    replace.put((objects[each.resource.plural] ?? []).map((text) => ({ text })));
    await replace.commit('1');
  }
  const stored = performance.now();
  while (writer.maintain() && writer.relationsPending());
  const related = performance.now();
  while (writer.maintain());
  writer.close();
  return { storedMs: stored - began, relatedMs: related - stored, nodes, services };
}

function namespaceOf(app: number): string {
  return `team-${app % otherNamespaces}`;
}

function meta(name: string, namespace: string | null, labels: Readonly<Record<string, string>> = {}): object {
  const scope = namespace === null ? {} : { namespace };
  return {
    name,
    ...scope,
    uid: `${namespace}-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2026-01-31T12:00:00Z',
    labels,
  };
}

function node(index: number): string {
  const pool = index === 0 ? 'single' : index % 100 === 1 ? 'rare' : 'common';
  return JSON.stringify({
    metadata: meta(`node-${index}`, null, { pool, zone: `zone-${index % 3}` }),
    status: { nodeInfo: { kubeletVersion: `v1.37.${index % 7}` }, capacity: { cpu: String(8 + (index % 5)) } },
  });
}

function serviceAccount(): string {
  return JSON.stringify({ metadata: meta('worker', bigNamespace) });
}

function service(name: string, namespace: string, selector: Readonly<Record<string, string>>): string {
  return JSON.stringify({ metadata: meta(name, namespace), spec: { selector, ports: [{ port: 80 }] } });
}

function serviceOf(app: number): string {
  return service(`app-${app}`, namespaceOf(app), { app: `app-${app}` });
}

function pod(index: number, big: number, nodes: number): string {
  const app = index < big ? null : Math.floor((index - big) / podsOfService);
  const namespace = app === null ? bigNamespace : namespaceOf(app);
  const name = `pod-${((index * 2_654_435_761) % 4_294_967_296).toString(36)}-${index}`;
  return JSON.stringify({
    metadata: meta(name, namespace, { all: 'true', app: app === null ? bigNamespace : `app-${app}` }),
    spec: {
      nodeName: `node-${index % nodes}`,
      serviceAccountName: app === null ? 'worker' : `app-${app}`,
      containers: [
        { name: 'main', image: 'registry.example.io/main:1.4.2', env: [{ name: 'A', value: 'x'.repeat(500) }] },
      ],
    },
    status: { phase: 'Running', podIP: '10.0.0.1' },
  });
}
