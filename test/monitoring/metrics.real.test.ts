/** metrics.k8s.io behind a real kube-apiserver: list-only kinds, polled. Runs when KUBEBUILDER_ASSETS names one. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import * as manifests from '../kit/manifests.ts';
import { metricsManifests, startMetricsServer } from '../kit/metrics-server.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const page = readFileSync(new URL('../../docs/questions.md', import.meta.url), 'utf8');

interface Served {
  readonly resources: readonly { readonly phase: string; readonly type: string }[];
  readonly nodes: { readonly fields: readonly { readonly name: string }[] } | null;
  readonly pods: { readonly fields: readonly { readonly name: string }[] } | null;
}

const served = `{
  resources(kinds: ["pods.metrics.k8s.io", "nodes.metrics.k8s.io"]) { phase type }
  nodes: __type(name: "MetricsK8sIoNodeMetrics") { fields { name } }
  pods: __type(name: "MetricsK8sIoPodMetrics") { fields { name } }
}`;

describeOn([mainServer], 'metrics of a real cluster', { timeout: 240_000 }, () => {
  let authority: CertificateAuthority;
  let metrics: LoopbackServer;
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    authority = await createCertificateAuthority();
    metrics = await startMetricsServer(
      {
        nodes: { 'node-0': { cpu: '1500m', memory: '3Gi' } },
        pods: { 'default/web': { main: { cpu: '300m', memory: '200Mi' }, sidecar: { cpu: '20m', memory: '24Mi' } } },
      },
      await authority.issue({ names: ['DNS:localhost', 'IP:127.0.0.1'] }),
    );
    plane = await startControlPlane({ controllerManager: true });
    const connection = await connect({ kubeconfig: plane.kubeconfigPath });
    try {
      const admin = new RestClient(connection);
      await admin.post('/api/v1/nodes', manifests.fakeNode('node-0'));
      for (const { path, body } of metricsManifests(metrics.port)) await admin.post(path, body);
      await eventually(() => admin.get('/apis/metrics.k8s.io/v1beta1/nodes'), 60_000);
    } finally {
      await connection.close();
    }
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath });
  }, 240_000);

  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
    await metrics?.close();
    authority?.remove();
  });

  test('they are polled kinds with their quantities', async () => {
    // An API server serves the objects of a new APIService before it has its OpenAPI document. Until the gateway has read the document,
    // the kinds have no fields for their own data.
    await eventually(async () => {
      const { resources, nodes, pods } = await data<Served>(gateway.url, served);
      expect(resources).toEqual([
        { phase: 'POLLING', type: 'MetricsK8sIoNodeMetrics' },
        { phase: 'POLLING', type: 'MetricsK8sIoPodMetrics' },
      ]);
      expect(nodes?.fields).toContainEqual({ name: 'usage' });
      expect(pods?.fields).toContainEqual({ name: 'containers' });
    }, 180_000);
    expect(
      await data(
        gateway.url,
        `{ metricsK8sIoNodes { nodes { metadata { name uid } usage } }
           metricsK8sIoPods(filter: { containers: { some: { usage: [{ key: "cpu", gt: "0.25" }] } } }) {
             nodes { metadata { namespace name } containers { name usage } }
             aggregate { sum(path: "containers[].usage[\\"memory\\"]") { text } } } }`,
      ),
    ).toEqual({
      metricsK8sIoNodes: {
        nodes: [{ metadata: { name: 'node-0', uid: null }, usage: { cpu: '1500m', memory: '3Gi' } }],
      },
      metricsK8sIoPods: {
        nodes: [
          {
            metadata: { namespace: 'default', name: 'web' },
            containers: [
              { name: 'main', usage: { cpu: '300m', memory: '200Mi' } },
              { name: 'sidecar', usage: { cpu: '20m', memory: '24Mi' } },
            ],
          },
        ],
        aggregate: { sum: { text: '234881024' } },
      },
    });
  });

  test('the question about requests and use is answered', async () => {
    const query =
      /### What do the Pods of each namespace request, and what do they use\?\n\n```graphql\n([\s\S]*?)```/.exec(
        page,
      )?.[1];
    const answer = await data<Record<string, unknown>>(gateway.url, query ?? '');
    expect(answer).toMatchObject({
      used: {
        aggregate: { groups: [{ keys: [expect.any(String), 'default'], aggregate: { cpu: { text: '0.32' } } }] },
      },
    });
  });
});
