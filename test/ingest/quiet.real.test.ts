/**
 * Quiet clusters: nobody writes but the control planes themselves. A gateway over two clusters, and one whose account may read half of
 * the kinds, log no warning after the start, have no stale resource, and use no more memory from quarter to quarter.
 *
 * PORTOLAN_QUIET_MINUTES says how long (1). The test prints one JSON line for each gateway.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, lateGrowth, samples, startGatewayProcess } from '../kit/gateway-process.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const minutes = Number(process.env['PORTOLAN_QUIET_MINUTES'] ?? 1);
const sampleMs = 15_000;
/** A polled resource is as old as its last list, which is made each minute. */
const staleSeconds = 90;

/** About half of the kinds, of different groups; the others are refused. */
const readable = [
  { apiGroups: [''], resources: ['pods', 'services', 'namespaces', 'configmaps', 'events', 'serviceaccounts'] },
  { apiGroups: ['apps'], resources: ['*'] },
  { apiGroups: ['batch', 'autoscaling', 'policy', 'networking.k8s.io', 'discovery.k8s.io'], resources: ['*'] },
].map((rule) => ({ ...rule, verbs: ['get', 'list', 'watch'] }));

const suite = { timeout: minutes * 60_000 + 300_000, needs: ['kube-controller-manager'] } as const;

describeOn([mainServer], 'quiet clusters', suite, (server) => {
  let planes: ControlPlane[] = [];
  let gateways: { readonly name: string; readonly process: GatewayProcess }[] = [];

  beforeAll(async () => {
    planes = [];
    for (let count = 0; count < 2; count += 1) {
      planes.push(await startControlPlane({ server, controllerManager: true }));
    }
    const [first, second] = planes as [ControlPlane, ControlPlane];
    await first.kubectl(
      ['apply', '-f', '-'],
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRole',
            metadata: { name: 'half' },
            rules: readable,
          },
          {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRoleBinding',
            metadata: { name: 'half' },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'half' },
            subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nobody' }],
          },
        ],
      }),
    );
    const both = merged([first, second]);
    gateways = [
      {
        name: 'two clusters',
        process: await startGatewayProcess(['--kubeconfig', both, '--context', 'a', '--context', 'b']),
      },
      { name: 'half', process: await startGatewayProcess(['--kubeconfig', first.kubeconfigFor('nobody')]) },
    ];
  }, 300_000);

  /** A kubeconfig with the clusters as contexts `a` and `b`. */
  function merged([first, second]: readonly [ControlPlane, ControlPlane]): string {
    const file = join(first.dir, 'both.yaml');
    const each = [
      { name: 'a', plane: first },
      { name: 'b', plane: second },
    ];
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: each.map(({ name, plane }) => ({
          name,
          cluster: {
            server: plane.server,
            'certificate-authority-data': Buffer.from(plane.caPem()).toString('base64'),
          },
        })),
        users: each.map(({ name, plane }) => ({ name, user: { token: plane.token } })),
        contexts: each.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
      }),
      { mode: 0o600 },
    );
    return file;
  }

  afterAll(async () => {
    for (const { process } of gateways) await process.close();
    for (const plane of planes) await plane.stop();
  }, 60_000);

  test('no warning, no stale resource, flat memory', async () => {
    for (const { process } of gateways) {
      await eventually(
        () => expect(process.log.map(({ msg }) => msg)).toContain('the first sync is complete'),
        120_000,
      );
    }
    // What the first sync found out is in the log by then.
    await sleep(5000);
    const began = Date.now();
    const seen = gateways.map(() => ({ resident: [] as number[], stalest: 0, stalestOf: '' }));
    while (Date.now() - began < minutes * 60_000) {
      await sleep(sampleMs);
      for (const [index, { process }] of gateways.entries()) {
        const state = seen[index];
        if (state === undefined) continue;
        state.resident.push(process.resident());
        for (const { labels, value } of samples(await process.metrics(), 'portolan_resource_stale_seconds')) {
          if (value > state.stalest) Object.assign(state, { stalest: value, stalestOf: labels });
        }
      }
    }
    for (const [index, { name, process: gateway }] of gateways.entries()) {
      const { resident, stalest, stalestOf } = seen[index] ?? { resident: [], stalest: 0, stalestOf: '' };
      const warnings = gateway.log.filter(({ level, time }) => level >= 40 && time > began);
      const growth = lateGrowth(resident);
      const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
      const line = {
        quiet: name,
        minutes,
        warnings: warnings.length,
        stalestSeconds: Math.round(stalest),
        residentMB: [Math.min(...resident), resident.at(-1) ?? 0, Math.max(...resident)].map(megabytes),
        lateGrowth: Math.round(growth * 1000) / 1000,
      };
      process.stdout.write(`${JSON.stringify(line)}\n`);
      expect(warnings).toEqual([]);
      expect(stalest, stalestOf).toBeLessThan(staleSeconds);
      if (minutes >= 30) expect(growth).toBeLessThan(0.05);
    }
    const half = gateways.find(({ name }) => name === 'half')?.process.log ?? [];
    const complete = half.find(({ msg }) => msg === 'the first sync is complete');
    expect(complete).toMatchObject({ failing: expect.any(Number) });
    expect(Number(complete?.['failing'])).toBeGreaterThan(10);
    expect(half.filter(({ level }) => level >= 40).length).toBeLessThan(4);
  });
});
