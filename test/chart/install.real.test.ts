/**
 * deploy/install.yaml and the chart on Kubernetes 1.37. The namespaces enforce the Pod Security level `restricted`. kwok plays the kubelets,
 * so no image is pulled: Pods become ready without a gateway. A gateway outside of the cluster has the account and the configuration of the
 * manifest, and the API server must refuse nothing to it.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { chartFolder } from '../../deploy/chart-source/chart-files.ts';
import { installPath } from '../../deploy/chart-source/install-manifest.ts';
import type { PolicyRule } from '../../src/access/policy-rule.ts';
import {
  caseNames,
  describeWithHelm,
  helmPath,
  type Manifest,
  manifestOf,
  manifestsOf,
  portolanYaml,
  renderCase,
} from '../kit/chart.ts';
import { type ControlPlane, podRunners, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { gadgetCrd } from '../kit/gadget-crd.ts';
import { startGatewayProcess } from '../kit/gateway-process.ts';
import { fakeNode } from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

interface AuditedRequest {
  readonly responseStatus?: { readonly code: number };
  readonly objectRef?: { readonly resource: string; readonly apiGroup?: string };
}

const run = promisify(execFile);
const folder = sharedDirectory('chart-install');
const restricted = Object.fromEntries(
  ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
);
const needs = ['kube-controller-manager', 'kubectl', ...podRunners] as const;

describeOn([mainServer], 'an installation', { timeout: 180_000, needs }, (server) => {
  let plane: ControlPlane;
  const requestLog = join(folder, 'requests.log');

  beforeAll(async () => {
    const policyFile = join(folder, 'audit-policy.json');
    const rules = [{ level: 'Metadata', users: ['system:serviceaccount:portolan:portolan'] }, { level: 'None' }];
    writeFileSync(policyFile, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
    const apiServer = { audit: { policyFile, logFile: requestLog } };
    plane = await startControlPlane({ server, controllerManager: true, runPods: true, apiServer });
    const names = ['team-a', 'team-b', 'argocd', 'demo'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: restricted },
    }));
    await apply([fakeNode('one'), fakeNode('two'), ...names, gadgetCrd({})]);
  }, 180_000);
  afterAll(async () => {
    await plane?.stop();
  }, 60_000);

  /** Rejects for a warning, an unknown field and a conflict. */
  function apply(objects: readonly object[], ...args: readonly string[]): Promise<string> {
    const text = objects.map((object) => JSON.stringify(object)).join('\n---\n');
    return plane.kubectl(
      ['apply', '--server-side', '--warnings-as-errors', '--validate=strict', ...args, '-f', '-'],
      text,
    );
  }

  function helm(...args: readonly string[]): Promise<{ readonly stdout: string }> {
    const home = { HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
    return run(helmPath(), [...args, '--kubeconfig', plane.kubeconfigPath], { env: { ...process.env, ...home } });
  }

  async function readyReplicas(namespace: string, name: string): Promise<number> {
    const { status } = JSON.parse(await plane.kubectl(['get', 'statefulset', name, '-n', namespace, '-o', 'json'])) as {
      status: { readyReplicas?: number };
    };
    return status.readyReplicas ?? 0;
  }

  test('by kubectl has no warnings, and its Pod becomes ready in a restricted namespace', async () => {
    const output = await plane.kubectl(['apply', '--server-side', '--warnings-as-errors', '-f', installPath]);
    const objects = manifestsOf(readFileSync(installPath, 'utf8'));
    expect(output.trim().split('\n')).toHaveLength(objects.length);
    await eventually(async () => expect(await readyReplicas('portolan', 'portolan')).toBe(1), 90_000);
    const { spec } = JSON.parse(await plane.kubectl(['get', 'pod', 'portolan-0', '-n', 'portolan', '-o', 'json'])) as {
      spec: { nodeName: string };
    };
    expect(['one', 'two']).toContain(spec.nodeName);
    const privileged = { containers: [{ name: 'c', image: 'c', securityContext: { privileged: true } }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'open', namespace: 'portolan' }, spec: privileged };
    await expect(apply([pod])).rejects.toThrow('violates PodSecurity "restricted:latest"');
  });

  test('gives the gateway the rights that its configuration needs, and no others', async () => {
    const token = (await plane.kubectl(['create', 'token', 'portolan', '-n', 'portolan'])).trim();
    const kubeconfig = plane.writeKubeconfig('portolan', { token });
    const { inCluster, ...config } = parse(portolanYaml(readFileSync(installPath, 'utf8'))) as Readonly<
      Record<string, unknown>
    >;
    expect(inCluster).toBe(true);
    const file = join(folder, 'portolan.yaml');
    const own = {
      kubeconfig,
      host: '127.0.0.1',
      data: join(folder, 'portolan.db'),
      auditLog: join(folder, 'audit.log'),
    };
    writeFileSync(file, stringify({ ...config, ...own }));
    const gateway = await startGatewayProcess(['--config', file]);
    onTestFinished(() => gateway.close());
    const asAdmin = { headers: { authorization: `Bearer ${plane.token}` } };
    await eventually(async () => {
      const answer = await fetch(gateway.url.replace('/graphql', '/readyz'), asAdmin);
      const kinds = (config['kinds'] as readonly string[]).length;
      expect(await answer.json()).toMatchObject({ status: 'ready', failing: [], resourcesSynced: kinds });
    }, 90_000);
    const requests = readFileSync(requestLog, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditedRequest);
    const codes = requests.map(({ responseStatus }) => responseStatus?.code);
    expect(codes).toContain(200);
    expect(codes).not.toContain(403);
    const rules = manifestOf(readFileSync(installPath, 'utf8'), 'ClusterRole')[
      'rules'
    ] as readonly Partial<PolicyRule>[];
    const granted = rules.flatMap(({ apiGroups = [], resources = [] }) =>
      apiGroups.flatMap((apiGroup) => resources.map((resource) => `${resource}.${apiGroup}`)),
    );
    const used = new Set(requests.map(({ objectRef: { resource, apiGroup = '' } = {} }) => `${resource}.${apiGroup}`));
    expect(granted.filter((each) => !used.has(each))).toEqual([]);
  });

  describeWithHelm('with helm', () => {
    // The first test: a later one installs the definitions.
    test('refuses a ServiceMonitor in a cluster that does not serve it', async () => {
      const args = ['install', 'demo', fileURLToPath(chartFolder), '-n', 'demo', '--dry-run=server'];
      await expect(helm(...args, '--set', 'serviceMonitor.enabled=true')).rejects.toThrow(
        'serviceMonitor needs the Prometheus operator',
      );
      expect((await helm(...args)).stdout).toContain('kind: StatefulSet');
    });

    test.each(caseNames)('of the case %s is accepted as it is', async (name) => {
      const installed = new Set(await customKinds(plane));
      const known = (manifest: Manifest) =>
        !/coreos|gateway|cert-manager/.test(manifest.apiVersion) || installed.has(manifest.kind);
      const objects = manifestsOf(await renderCase(name, { namespace: 'demo' })).filter(known);
      expect(objects.length).toBeGreaterThan(3);
      const output = await apply(objects, '--dry-run=server');
      expect(output.trim().split('\n')).toHaveLength(objects.length);
    });

    test('looks up the groups of custom resources', async () => {
      const args = ['template', 'demo', fileURLToPath(chartFolder), '-n', 'demo', '--dry-run=server'];
      const { stdout } = await helm(...args, '--set', 'fullnameOverride=portolan');
      const rule = { apiGroups: ['two.portolan.example'], resources: ['*'], verbs: ['list', 'watch'] };
      expect(manifestOf(stdout, 'ClusterRole')['rules']).toContainEqual(
        expect.objectContaining({ apiGroups: expect.arrayContaining(rule.apiGroups) }),
      );
      const config = parse(portolanYaml(stdout)) as Readonly<Record<string, readonly string[]>>;
      expect(config['kinds']).toContain('*.two.portolan.example');
      expect(config['exclude']).toContain('*.*.two.portolan.example');
      const some = await helm(...args, '--set', 'config.kinds={pods}');
      expect(some.stdout).not.toContain('two.portolan.example');
      const without = await helm(...args, '--set', 'rbac.customResources.lookup=false');
      expect(without.stdout).not.toContain('two.portolan.example');
      const parted = await helm(...args, '--set', 'config.namespaces={team-a}', '--set', 'rbac.secrets=true');
      expect(manifestOf(parted.stdout, 'ClusterRole')['rules']).not.toContainEqual(
        expect.objectContaining({ apiGroups: rule.apiGroups }),
      );
      expect(manifestOf(parted.stdout, 'Role')['rules']).toContainEqual(expect.objectContaining({ resources: ['*'] }));
    });

    test('comes, changes and goes', async () => {
      const chart = fileURLToPath(chartFolder);
      const { stdout } = await helm('install', 'demo', chart, '-n', 'demo', '--wait', '--timeout', '90s');
      expect(stdout).toContain('kubectl --namespace demo port-forward service/demo-portolan 4000:4000');
      await helm('upgrade', 'demo', chart, '-n', 'demo', '--set', 'replicas=2', '--wait', '--timeout', '90s');
      await eventually(async () => expect(await readyReplicas('demo', 'demo-portolan')).toBe(2), 90_000);
      await helm('uninstall', 'demo', '-n', 'demo', '--wait', '--timeout', '90s');
      const left = await plane.kubectl([
        'get',
        'statefulset,service,configmap,poddisruptionbudget',
        '-n',
        'demo',
        '-l',
        'app.kubernetes.io/instance=demo',
        '-o',
        'name',
      ]);
      expect(left).toBe('');
    });
  });
});

/** Kinds of the definitions in PORTOLAN_CRDS that the chart may use. They are installed at the first call. */
async function customKinds(plane: ControlPlane): Promise<readonly string[]> {
  const root = process.env['PORTOLAN_CRDS'] ?? '';
  if (root === '') return [];
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(servicemonitors|prometheusrules|httproutes)\.yaml$/.test(file),
  );
  const crds = files.map(
    (file) => parse(readFileSync(join(root, file), 'utf8')) as { spec: { names: { kind: string } } },
  );
  const names = files.map((file) => join(root, file));
  await plane.kubectl(['apply', '--server-side', ...names.flatMap((name) => ['-f', name])]);
  await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  return crds.map(({ spec }) => spec.names.kind);
}
