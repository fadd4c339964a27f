/**
 * Many objects in one mutation, on a real API server: the answer, the cluster and the audit agree item by item, and a mutation that is
 * repeated at another gateway does nothing twice.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { ask } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { deployment, send, type Written } from '../kit/writes-suite.ts';
import { type WriteLine, WritingGateway, writeLines } from '../kit/writing-gateway.ts';

const count = Number(process.env['PORTOLAN_BULK'] ?? '60');
const restartedAt = 'kubectl.kubernetes.io/restartedAt';
const requestId = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const others = { query: { fieldManager: 'others' } };

interface ReadDeployment {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

/** What happens to a Deployment between plan and apply: one in ten, one in twenty, one in twenty. */
function fateOf(index: number): 'denied' | 'changed' | 'unmatched' | 'done' {
  if (index % 10 === 3) return 'denied';
  if (index % 20 === 5) return 'changed';
  return index % 20 === 16 ? 'unmatched' : 'done';
}

describeOn([mainServer], 'many objects in one mutation', { timeout: 1_200_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
  });
  afterAll(async () => {
    await api?.connection.close();
    await plane?.stop();
  });

  const names = Array.from({ length: count }, (_, index) => `d-${String(index).padStart(3, '0')}`);
  const path = (namespace: string, name = '') => `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;

  /** Creates the Deployments in a namespace of their own, and waits until the gateways show them. */
  async function prepare(namespace: string, urls: readonly string[]): Promise<void> {
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    for (const name of names) {
      const made = deployment(namespace, name);
      const labels = { wanted: 'yes', name };
      await api.post(path(namespace), { ...made, metadata: { ...made.metadata, labels } }, others);
    }
    const text = `{ deployments(filter: { namespaces: ["${namespace}"] }) { totalCount } }`;
    for (const url of urls) {
      await eventually(async () => expect((await ask(url, text)).data).toEqual({ deployments: { totalCount: count } }));
    }
  }

  async function read(namespace: string): Promise<ReadonlyMap<string, ReadDeployment>> {
    const { items } = await api.get<{ items: ReadDeployment[] }>(path(namespace).replace(/\/$/, ''));
    return new Map(items.map((item) => [item.metadata.name, item]));
  }

  const restarts = (namespace: string) => ({
    targets: {
      query: { kinds: ['Deployment'], namespaces: [namespace], filter: { labelSelector: 'wanted=yes' }, expect: count },
    },
  });

  /** No update of these Deployments is allowed from now on. */
  async function deny(namespace: string, denied: readonly string[]): Promise<void> {
    const admission = '/apis/admissionregistration.k8s.io/v1';
    const policyName = 'no-restarts';
    const resourceRules = [
      { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] },
    ];
    await api.post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name: policyName },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules },
        validations: [{ expression: `!(object.metadata.name in ${JSON.stringify(denied)})`, message: 'not today' }],
      },
    });
    await api.post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name: policyName },
      spec: {
        policyName,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
      },
    });
    const tried = path(namespace, denied[0]);
    await eventually(async () => {
      const dry = api.patch(tried, 'merge', { metadata: { labels: { tried: 'yes' } } }, { query: { dryRun: 'All' } });
      await expect(dry).rejects.toThrow('not today');
    });
  }

  test('answer, cluster and audit agree item by item', async () => {
    const namespace = 'bulk';
    const gateway = await WritingGateway.start(plane.kubeconfigPath);
    onTestFinished(() => gateway.close());
    await prepare(namespace, [gateway.url]);
    const plan = await gateway.write('restart', { ...restarts(namespace), options: { dryRun: true } });
    expect(plan.items.map(({ target, result }) => [target.name, result])).toEqual(
      names.map((name) => [name, 'CHANGED']),
    );
    await deny(
      namespace,
      names.filter((_, index) => fateOf(index) === 'denied'),
    );
    for (const [index, name] of names.entries()) {
      const fate = fateOf(index);
      const annotations = { [restartedAt]: '2020-01-01T00:00:00Z' };
      if (fate === 'changed') {
        await api.patch(path(namespace, name), 'merge', { spec: { template: { metadata: { annotations } } } }, others);
      }
      if (fate === 'unmatched') {
        await api.patch(path(namespace, name), 'merge', { metadata: { labels: { wanted: 'no' } } }, others);
      }
    }
    const options = { plan: plan.planId, requestId, onError: 'CONTINUE' };
    const done = await gateway.write('restart', { ...restarts(namespace), options });
    const found = await read(namespace);
    const planned = plan.items[0]?.changes[0]?.after as Record<string, string>;
    const audit = Map.groupBy(gateway.audit(), ({ name }) => name);
    const told = done.items.map(({ target: { name }, result, seen, errors }) => {
      const { metadata, spec } = found.get(name ?? '') as ReadDeployment;
      const at = spec.template.metadata.annotations?.[restartedAt] ?? null;
      return [name, result, errors[0]?.code ?? null, seen, metadata.generation, at, endOf(audit.get(name) ?? [])];
    });
    const at = planned[restartedAt];
    const expected = {
      done: ['CHANGED', null, true, 2, at, 'OK'],
      denied: ['NONE', 'DENIED', false, 1, null, 'DENIED'],
      changed: ['NONE', 'PLAN_CHANGED', false, 2, '2020-01-01T00:00:00Z', 'STALE_OBJECT'],
      unmatched: ['NONE', 'SKIPPED', false, 1, null, 'STALE_OBJECT'],
    };
    expect(told).toEqual(names.map((name, index) => [name, ...expected[fateOf(index)]]));
    expect(done.complete).toBe(false);
    // The plan of the same arguments has nothing left for those that were done.
    const again = await gateway.write('restart', { ...restarts(namespace), options });
    expect(again.items.map(({ result }) => result)).toEqual(
      names.map((_, index) => (fateOf(index) === 'done' ? 'UNCHANGED' : 'NONE')),
    );
    expect(await generations(namespace)).toEqual(names.map((name) => found.get(name)?.metadata.generation));
  });

  async function generations(namespace: string): Promise<readonly (number | undefined)[]> {
    const found = await read(namespace);
    return names.map((name) => found.get(name)?.metadata.generation);
  }

  test('a mutation that is repeated at another gateway, after the first one was killed, does nothing twice', async () => {
    const namespace = 'killed';
    const dir = temporaryDirectory('bulk');
    const keyFile = join(dir, 'plan.key');
    writeFileSync(keyFile, randomBytes(32));
    const logs = ['first', 'second'].map((name) => join(dir, `${name}.jsonl`));
    const [first, second] = (await Promise.all(
      logs.map((log) =>
        startGatewayProcess([
          ...[
            '--kubeconfig',
            plane.kubeconfigPath,
            '--read-only=false',
            '--plan-key-file',
            keyFile,
            '--audit-log',
            log,
          ],
        ]),
      ),
    )) as [GatewayProcess, GatewayProcess];
    onTestFinished(() => second.close());
    await prepare(namespace, [first.url, second.url]);
    const restart = async ({ url }: GatewayProcess, options: object): Promise<Written> => {
      const headers = { authorization: `Bearer ${new URL(url).hash.replace('#token=', '')}` };
      const answer = await send(url, 'restart', { ...restarts(namespace), options }, headers);
      if (answer.data?.['restart'] === undefined) throw new Error(JSON.stringify(answer));
      return answer.data['restart'];
    };
    const { planId, items } = await restart(first, { dryRun: true });
    expect(items.every(({ result }) => result === 'CHANGED')).toBe(true);
    // One after the other, so that there is a middle.
    const options = { plan: planId, requestId, order: 'GIVEN' };
    const cut = restart(first, options).then(
      () => 'answered',
      () => 'cut',
    );
    await eventually(() => expect(writeLines(logs[0] ?? '').length).toBeGreaterThan(count / 2), 60_000, 1);
    await first.kill();
    expect(await cut).toBe('cut');
    const early = (await generations(namespace)).filter((generation) => generation === 2).length;
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan(count);
    const done = await restart(second, options);
    expect(done.items.map(({ result, errors }) => [result, errors])).toEqual(
      names.map((_, index) => [index < early ? 'UNCHANGED' : 'CHANGED', []]),
    );
    expect(await generations(namespace)).toEqual(names.map(() => 2));
    const audit = Map.groupBy(logs.flatMap(writeLines), ({ name }) => name);
    for (const name of names) {
      const lines = audit.get(name) ?? [];
      expect(lines.filter(({ outcome }) => outcome === 'OK').length).toBeLessThanOrEqual(1);
      expect(lines.filter(({ stage }) => stage === 'intended').length).toBeGreaterThanOrEqual(1);
    }
    const third = await restart(second, options);
    expect(third.items.every(({ result }) => result === 'UNCHANGED')).toBe(true);
    expect(await generations(namespace)).toEqual(names.map(() => 2));
  });
});

/** The outcome of the last request; null if there is none, or if a line is missing. */
function endOf(lines: readonly WriteLine[]): string | null {
  const stages = lines.map(({ stage }) => stage);
  const isWhole = stages.every((stage, index) => stage === (index % 2 === 0 ? 'intended' : 'outcome'));
  return isWhole && stages.length % 2 === 0 ? (lines.at(-1)?.outcome ?? null) : null;
}
