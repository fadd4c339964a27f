/** docs/shadow-emergency.md: each command is run on a real server, in the state that it is for, and helps. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { programs } from '../kit/programs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { handMadeRecord, makeSet } from '../kit/shadow-records.ts';
import { blocksOf, readPage, sectionOf } from '../kit/written-page.ts';

const page = readPage('docs/shadow-emergency.md');
const name = 'v1alpha1.shadow.portolan.dev';

describeOn(
  [mainServer],
  'the emergency page',
  { timeout: 120_000, needs: ['kubectl', 'kube-controller-manager'] },
  (server) => {
    let aggregated: AggregatedPlane;
    let folder: string;
    const ran = new Set<string>();
    const kubectl = (...args: readonly string[]): Promise<string> => aggregated.plane.kubectl(args);
    const apply = (object: object): Promise<string> =>
      aggregated.plane.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object));
    const isAvailable = (): Promise<unknown> =>
      eventually(() => kubectl('wait', '--for=condition=Available', `apiservice/${name}`, '--timeout=5s'), 60_000);
    const isGone = (...what: readonly string[]): Promise<void> =>
      eventually(async () => expect(await kubectl('get', ...what, '--ignore-not-found')).toBe(''), 60_000, 250);

    /** Runs the block of a section as a person would, and gives its output. */
    async function run(section: string, block = 0): Promise<string> {
      const text = blocksOf(sectionOf(page, section), 'sh')[block];
      expect(text, section).toBeDefined();
      ran.add(String(text));
      const PATH = `${join(folder, 'bin')}:${dirname(server.assets.path('kubectl'))}:${process.env['PATH']}`;
      const env = { PATH, KUBECONFIG: aggregated.plane.kubeconfigPath, HOME: folder, TMPDIR: folder };
      const command = ['-eo', 'pipefail', '-c', String(text)];
      return (await promisify(execFile)('bash', command, { cwd: folder, env })).stdout;
    }

    beforeAll(async () => {
      aggregated = await startAggregatedPlane({ server, controllerManager: true });
      folder = join(aggregated.plane.dir, 'commands');
      mkdirSync(join(folder, 'bin'), { recursive: true });
      writeFileSync(
        join(folder, 'bin', 'portolan'),
        `#!/bin/sh\nexec '${process.execPath}' '${programs.portolan}' "$@"\n`,
      );
      chmodSync(join(folder, 'bin', 'portolan'), 0o755);
      writeFileSync(join(folder, 'ca.crt'), aggregated.authority.ca);
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    }, 240_000);
    afterAll(() => aggregated?.stop(), 60_000);

    test('the APIService is deleted, and brought back', async () => {
      await run('First', 0);
      await isGone('apiservice', name);
      await run('First', 1);
      await isAvailable();
    });

    test('a certificate of another authority', async () => {
      await kubectl('patch', 'apiservice', name, '--type=merge', '-p={"spec":{"caBundle":null}}');
      await eventually(async () => expect(await run('kubectl get hangs')).toContain('x509'), 60_000, 250);
      await run('A certificate has ended');
      await isAvailable();
    });

    test('a record that cannot be deleted', async () => {
      await apply(held('web'));
      await run('A record cannot be deleted');
      await isGone('shadowrecord', 'web', '-n', 'shop');
    });

    test('a namespace that waits for a record, and for Portolan', async () => {
      await apply(held('web'));
      await kubectl('delete', 'namespace', 'shop', '--wait=false');
      await eventually(async () => {
        const told = await run('A namespace hangs in deletion', 0);
        expect(told).toMatch(/^NAME +STATUS +AGE\nshop +Terminating /);
        expect(told).toMatch(/\nNamespaceContentRemaining: .*shadowrecords\.portolan\.dev/);
      }, 60_000);
      await run('A namespace hangs in deletion', 1);
      await isGone('namespace', 'shop');

      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
      await aggregated.gateway.close();
      await eventually(async () => expect(await run('Quotas are not computed')).toBe(`${name} False\n`), 60_000, 250);
      await kubectl('delete', 'namespace', 'shop', '--wait=false');
      await eventually(async () => {
        const told = await run('A namespace hangs in deletion', 0);
        expect(told).toMatch(/\nNamespaceDeletionDiscoveryFailure: .*shadow\.portolan\.dev/);
      }, 60_000);
      await run('First', 0);
      await isGone('namespace', 'shop');
    });

    test('everything is removed, and the members stay', async () => {
      const member = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } };
      await makeSet(aggregated.plane, { namespace: 'default', name: 'web' }, [{ ...member, data: { a: 'b' } }]);
      await run('Remove everything');
      await isGone('crd', 'shadowrecords.portolan.dev');
      const kept = JSON.parse(await kubectl('get', 'configmap', 'kept', '-o', 'json'));
      expect([kept.data, kept.metadata.ownerReferences]).toEqual([{ a: 'b' }, undefined]);
    });

    test('no command of the page was left out', () => {
      expect([...ran].toSorted()).toEqual(blocksOf(page, 'sh').toSorted());
    });
  },
);

/** A record with the finalizer of a deletion. */
function held(set: string): object {
  const made = handMadeRecord({ namespace: 'shop', name: set }, []) as { readonly metadata: object };
  return { ...made, metadata: { ...made.metadata, finalizers: ['portolan.dev/members'] } };
}
