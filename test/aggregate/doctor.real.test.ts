/** `portolan doctor` on real servers: each finding is made to happen, its command is run, and the finding is gone. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doctor } from '../../src/cli/doctor/doctor.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { createCertificateAuthority } from '../kit/certificates.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from '../kit/loopback-server.ts';
import { programs } from '../kit/programs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { handMadeRecord } from '../kit/shadow-records.ts';
import { readPage } from '../kit/written-page.ts';

const dayMs = 86_400_000;
const apiService = 'v1alpha1.shadow.portolan.dev';

type Named = Finding & { readonly check: string };
interface Examination {
  readonly code: number;
  readonly findings: readonly Named[];
  /** The findings of a check that are not ok. */
  of(check: string): readonly Named[];
}

interface Examined {
  readonly kubeconfig: string;
  readonly isExpected?: boolean;
  readonly impersonate?: 'off' | 'constrained' | 'classic';
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly setKinds?: string[];
  readonly address?: string;
  /** Milliseconds by which the clock of this machine is ahead. */
  readonly ahead?: number;
}

async function examine({
  kubeconfig,
  isExpected = false,
  impersonate = 'off',
  ahead = 0,
  serviceAccount,
  setKinds = [],
  ...flags
}: Examined): Promise<Examination> {
  let text = '';
  const config = {
    ...{ kubeconfig, context: [], inCluster: false, aggregate: isExpected, impersonate },
    ...{ aggregateGroup: 'shadow.portolan.dev', aggregateVersion: 'v1alpha1', serviceAccount, setKinds },
  };
  const output = { write: (some: string) => (text += some) };
  const code = await doctor(config, { output: 'json', ...flags }, { output, now: () => Date.now() + ahead });
  const { findings } = JSON.parse(text) as { readonly findings: readonly Named[] };
  return { code, findings, of: (name) => findings.filter(({ check, verdict }) => check === name && verdict !== 'ok') };
}

describeOn(
  [mainServer],
  'portolan doctor',
  { timeout: 120_000, needs: ['kubectl', 'kube-controller-manager'] },
  (server) => {
    let aggregated: AggregatedPlane;
    let plane: ControlPlane;
    /** The folder in which commands are run. */
    let folder: string;
    const kubectl = (...args: readonly string[]): Promise<string> => plane.kubectl(args);
    const apply = (...objects: readonly object[]): Promise<string> =>
      plane.kubectl(['apply', '--server-side', '-f', '-'], objects.map((each) => JSON.stringify(each)).join('\n---\n'));
    const look = (more: Partial<Examined> = {}): Promise<Examination> =>
      examine({
        kubeconfig: plane.kubeconfigPath,
        address: `127.0.0.1:${aggregated.gateway.aggregatePort}`,
        serviceAccount: { namespace: 'portolan', name: 'door' },
        impersonate: 'constrained',
        ...more,
      });

    /** Runs the command of a finding as a person would. */
    async function mend({ command }: Pick<Finding, 'command'>): Promise<void> {
      const PATH = `${join(folder, 'bin')}:${dirname(server.assets.path('kubectl'))}:${process.env['PATH']}`;
      const env = { PATH, KUBECONFIG: plane.kubeconfigPath, HOME: folder, TMPDIR: folder };
      await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command ?? 'false'], { cwd: folder, env });
    }

    /** The only finding of a check that is not ok. */
    async function only(check: string, more: Partial<Examined> = {}): Promise<Named> {
      const found = (await look(more)).of(check);
      expect(found).toHaveLength(1);
      return found[0] as Named;
    }
    const isGone = (check: string, more: Partial<Examined> = {}): Promise<void> =>
      eventually(async () => expect((await look(more)).of(check)).toEqual([]), 60_000, 500);

    beforeAll(async () => {
      aggregated = await startAggregatedPlane({ server, controllerManager: true });
      ({ plane } = aggregated);
      folder = join(plane.dir, 'commands');
      mkdirSync(join(folder, 'bin'), { recursive: true });
      writeFileSync(
        join(folder, 'bin', 'portolan'),
        `#!/bin/sh\nexec '${process.execPath}' '${programs.portolan}' "$@"\n`,
      );
      chmodSync(join(folder, 'bin', 'portolan'), 0o755);
      writeFileSync(join(folder, 'ca.crt'), aggregated.authority.ca);
    }, 240_000);
    afterAll(() => aggregated?.stop(), 60_000);

    test('the rights of the account are missing, are granted, and all is well', async () => {
      const { code, of } = await look();
      expect([code, of('account').map(({ verdict }) => verdict)]).toEqual([
        1,
        ['problem', 'problem', 'problem', 'problem'],
      ]);
      expect(of('account').map(({ message }) => message)).toEqual([
        'system:serviceaccount:portolan:door may not get configmaps in kube-system, by which it knows the aggregator.',
        expect.stringMatching(
          /may not get shadowrecords\.portolan\.dev, .*delete shadowrecords\.portolan\.dev, which are/,
        ),
        'system:serviceaccount:portolan:door may not create events, by which kubectl describe shows what writes of sets have done.',
        expect.stringMatching(
          /may not impersonate:user-info users\.authentication\.k8s\.io, .*impersonate-on:user-info:patch/,
        ),
      ]);
      const ofServices = (await look({ setKinds: ['services'] })).of('account').at(-1)?.message;
      expect(ofServices).toContain('impersonate-on:user-info:patch services');
      expect(ofServices).not.toContain('configmaps');
      // The command grants what the kinds of members need, and no more.
      const narrow = { setKinds: ['servic*', 'deployments.apps'] };
      for (const each of (await look(narrow)).of('account')) await mend(each);
      expect((await look(narrow)).of('account')).toEqual([]);
      const left = (await look()).of('account');
      expect(left.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /^\S+ may not impersonate-on:user-info:\w+ configmaps, .*, to write members as the caller\.$/,
        ),
      ]);
      for (const each of left) await mend(each);
      const after = await look();
      expect(after.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
      expect(after.code).toBe(0);
      const checks = [...new Set(after.findings.map(({ check }) => check))];
      const page = readPage('docs/doctor.md');
      expect(checks.filter((check) => !page.includes(`\n| ${check} | `))).toEqual([]);
      expect(checks).toHaveLength(13);
      expect((await look({ impersonate: 'classic' })).of('account')).toMatchObject([
        { verdict: 'problem', message: expect.stringContaining('may not impersonate users, impersonate groups') },
      ]);
    });

    test('the clocks differ', async () => {
      expect(await only('clock', { ahead: 30_000 })).toMatchObject({
        verdict: 'warning',
        message: expect.stringMatching(/^The clock of the API server is (29|30) seconds behind/),
      });
      expect(await only('clock', { ahead: -600_000 })).toMatchObject({
        verdict: 'problem',
        message: expect.stringContaining('seconds ahead of'),
        command: 'timedatectl set-ntp true',
      });
    });

    test('a user without rights: what it may not see is said, and the rights to read are granted', async () => {
      const kubeconfig = plane.kubeconfigFor('nobody');
      const { findings } = await look({ kubeconfig });
      const verdicts = Object.fromEntries(findings.map(({ check, verdict }) => [check, verdict]));
      expect(verdicts).toMatchObject({
        ...{ server: 'ok', kinds: 'warning', definition: 'not seen', records: 'not seen', apiservice: 'not seen' },
        ...{ namespaces: 'not seen', account: 'not seen' },
      });
      const kinds = findings.find(({ check }) => check === 'kinds');
      expect(kinds?.message).toMatch(/^You may not list and watch \d+ of \d+ kinds in all namespaces: /);
      await mend(kinds as Named);
      expect((await look({ kubeconfig })).of('kinds')).toEqual([]);
    });

    test('the definition is that of another version', async () => {
      const patch = [{ op: 'remove', path: '/spec/versions/0/additionalPrinterColumns/1' }];
      await kubectl('patch', 'crd', 'shadowrecords.portolan.dev', '--type=json', `-p=${JSON.stringify(patch)}`);
      const found = await only('definition');
      expect(found).toMatchObject({ verdict: 'warning', command: 'portolan shadow install' });
      await mend(found);
      await isGone('definition');
    });

    test('the definition is not there: Portolan is not ready, and its discovery says so', async () => {
      await kubectl('delete', 'crd', 'shadowrecords.portolan.dev');
      const told = await eventually(() => only('readiness'), 60_000, 500);
      expect(told).toMatchObject({
        ...{ verdict: 'problem', message: expect.stringMatching(/^Portolan is not ready: /) },
        // The Service has no selector: nothing says which Pods are Portolan's.
        command: null,
      });
      expect(await only('apiservice')).toMatchObject({
        verdict: 'problem',
        message: expect.stringMatching(/The sets cannot be listed now|is not available/),
      });
      const missing = await only('definition');
      expect(missing.message).toContain('ShadowRecord is not installed');
      await mend(missing);
      await isGone('definition');
      await isGone('readiness');
      await isGone('apiservice');
    });

    test('a record cannot be read, the deletion of another was not finished, and a third is of another group', async () => {
      const strange = handMadeRecord({ namespace: 'default', name: 'strange' }, []) as { spec: object };
      const member = { version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespace: 'other', name: 'a' };
      await apply({ ...strange, spec: { ...strange.spec, members: [member] } });
      const unreadable = await only('records');
      expect(unreadable).toMatchObject({
        verdict: 'problem',
        message: expect.stringContaining('default/strange cannot be read'),
      });
      await mend(unreadable);
      await isGone('records');

      await apply(held('default', 'leaving'));
      await kubectl('delete', 'shadowrecord', 'leaving', '--wait=false');
      expect((await look()).of('records')).toEqual([]);
      const later = { ahead: 120_000 };
      const unfinished = await only('records', later);
      expect(unfinished.message).toMatch(
        /^The deletion of the set default\/leaving began at \S+ and was not finished\./,
      );
      await mend(unfinished);
      await isGone('records', later);

      const foreign = handMadeRecord({ namespace: 'default', name: 'foreign' }, []) as { spec: object };
      const lastApplied = JSON.stringify({ apiVersion: 'apis.abc.com/v1', kind: 'ShadowResource' });
      await apply({ ...foreign, spec: { ...foreign.spec, lastApplied } });
      expect(await only('records')).toMatchObject({
        verdict: 'warning',
        message: expect.stringContaining(
          '1 of the sets were submitted as apis.abc.com/v1, and no APIService leads there.',
        ),
      });
      await kubectl('delete', 'shadowrecord', 'foreign');
    });

    test('a namespace waits for a record', async () => {
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'waits' } });
      await apply(held('waits', 'held'));
      await kubectl('delete', 'namespace', 'waits', '--wait=false');
      const found = await eventually(() => only('namespaces'), 60_000, 500);
      expect(found.message).toContain(
        'The deletion of the namespace waits waits for records of sets with a finalizer.',
      );
      await mend(found);
      await isGone('namespaces');
    });

    test('authorities: none, of another, not checked, soon over', async () => {
      const patched = (spec: object): Promise<string> =>
        kubectl('patch', 'apiservice', apiService, '--type=merge', `-p=${JSON.stringify({ spec })}`);
      await patched({ caBundle: null });
      const none = await only('authority');
      expect(none.message).toMatch(/^The APIService has no caBundle/);
      await mend(none);
      await isGone('authority');

      const other = await createCertificateAuthority('Other');
      await patched({ caBundle: Buffer.from(other.ca).toString('base64') });
      other.remove();
      const foreign = await only('certificate');
      expect(foreign.message).toMatch(
        /^The certificate of door\.portolan\.svc is not signed by an authority in the caBundle/,
      );
      await mend(foreign);
      await isGone('certificate');

      await patched({ caBundle: null, insecureSkipTLSVerify: true });
      const unchecked = await eventually(() => only('apiservice'), 60_000, 500);
      expect(unchecked).toMatchObject({
        verdict: 'warning',
        message: expect.stringContaining('insecureSkipTLSVerify'),
      });
      expect(await only('certificate')).toMatchObject({ verdict: 'not seen', command: null });
      await mend(unchecked);
      await isGone('apiservice');
      await isGone('authority');

      const soon = { ahead: 20 * dayMs };
      expect(await only('authority', soon)).toMatchObject({
        verdict: 'warning',
        message: expect.stringMatching(/ends in 9 days/),
      });
      expect(await only('aggregation', soon)).toMatchObject({ verdict: 'warning' });
      expect(await only('certificate', { ahead: 40 * dayMs })).toMatchObject({
        verdict: 'problem',
        message: expect.stringMatching(/^The certificate of door\.portolan\.svc ended on /),
      });
    });

    test('the certificate has ended, or is for another name', async () => {
      const { authority } = aggregated;
      const use = async (at: string, certificate: { readonly cert: string; readonly key: string }): Promise<void> => {
        writeFileSync(join(at, at === folder ? 'tls.key' : 'door.key'), certificate.key);
        writeFileSync(join(at, at === folder ? 'tls.crt' : 'door.crt'), certificate.cert);
      };
      const good = await authority.issue({ names: ['DNS:door.portolan.svc'], commonName: 'door' });
      await use(folder, good);
      const bad = [
        { names: ['DNS:other.portolan.svc'], message: 'is for other names (DNS:other.portolan.svc)' },
        { names: ['DNS:door.portolan.svc'], fromDays: -9, untilDays: -1, message: 'ended on ' },
        { names: ['DNS:door.portolan.svc'], fromDays: 1, message: 'is valid from ' },
      ];
      for (const { message, ...options } of bad) {
        await use(plane.dir, await authority.issue({ ...options, commonName: 'door' }));
        const found = await eventually(async () => {
          const one = await only('certificate');
          expect(one.message).toContain(message);
          return one;
        });
        await mend(found);
        expect(await kubectl('get', 'secret', 'door-tls', '-n', 'portolan', '-o', 'name')).toBe('secret/door-tls\n');
      }
      // The volume of a Pod would bring the Secret.
      await use(plane.dir, good);
      await isGone('certificate');
      expect((await look({ address: '127.0.0.1:1' })).of('certificate')).toMatchObject([{ verdict: 'problem' }]);
      const { address: _address, ...elsewhere } = { kubeconfig: plane.kubeconfigPath, address: '' };
      expect((await examine(elsewhere)).of('certificate')).toMatchObject([
        {
          verdict: 'not seen',
          command: expect.stringMatching(/^kubectl port-forward --namespace=portolan service\/door 4443:\d+$/),
        },
      ]);
    });

    test('Portolan does not answer: the APIService is not available, a namespace waits, and its command lets it go', async () => {
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'stuck' } });
      await aggregated.gateway.close();
      const found = await eventually(() => only('apiservice'), 60_000, 500);
      expect(found.verdict).toBe('problem');
      await eventually(
        async () => expect((await only('apiservice')).message).toMatch(/is not available: /),
        60_000,
        500,
      );
      await kubectl('delete', 'namespace', 'stuck', '--wait=false');
      const waits = await eventually(() => only('namespaces'), 60_000, 500);
      expect(waits).toMatchObject({
        message: expect.stringMatching(
          /^The deletion of the namespace stuck waits, because the group shadow\.portolan\.dev/,
        ),
        command: `kubectl delete apiservice ${apiService}`,
      });
      const text = await kubectl('get', 'apiservice', apiService, '-o', 'json');
      await mend(waits);
      await isGone('namespaces');
      expect((await look()).of('apiservice')).toEqual([]);
      expect(await only('apiservice', { isExpected: true })).toMatchObject({ verdict: 'problem', command: null });
      const { metadata, spec } = JSON.parse(text);
      await apply({
        ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
        ...{ metadata: { name: metadata.name }, spec: { ...spec, service: { ...spec.service, port: 9999 } } },
      });
    });

    test('the Service: another port, no endpoint, none at all', async () => {
      await kubectl('delete', 'service', 'door', '-n', 'portolan');
      await kubectl('create', 'service', 'clusterip', 'door', '-n', 'portolan', '--tcp=443:4443');
      await kubectl('create', 'deployment', 'door', '-n', 'portolan', '--image=portolan');
      const port = await only('service');
      expect(port.message).toContain('has no port 9999. It has 443:');
      await mend(port);
      const none = await only('service');
      expect(none.message).toContain('has no ready endpoint');
      expect(none.command).toBe('kubectl rollout restart deployment --namespace=portolan --selector=app=door');
      await mend(none);
      await apply({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'by-hand', namespace: 'portolan', labels: { 'kubernetes.io/service-name': 'door' } },
        addressType: 'IPv4',
        ports: [{ port: 4443 }],
        endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
      });
      await isGone('service');
      await kubectl('delete', 'service', 'door', '-n', 'portolan');
      const gone = await only('service');
      expect(gone.message).toContain('is not there');
      await mend(gone);
      expect((await look()).findings.filter(({ check }) => check === 'service')).toEqual([]);
    });

    test('an APIService that names no Service', async () => {
      await apply({
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: apiService },
        spec: { group: 'shadow.portolan.dev', version: 'v1alpha1', groupPriorityMinimum: 1000, versionPriority: 15 },
      });
      const local = await only('apiservice');
      expect(local.message).toContain('names no Service');
      await mend(local);
      await isGone('apiservice');
      await kubectl('delete', 'crd', 'shadowrecords.portolan.dev');
      expect((await look()).of('definition')).toEqual([]);
    });
  },
);

describeOn([oldServer], 'portolan doctor', { timeout: 60_000 }, (server) => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ server });
  }, 120_000);
  afterAll(() => plane?.stop(), 60_000);

  test('an old server without an aggregation layer', async () => {
    const { code, of } = await examine({ kubeconfig: plane.kubeconfigPath, isExpected: true });
    expect(code).toBe(1);
    expect(of('server')).toMatchObject([
      { verdict: 'not seen', message: expect.stringContaining('does not say who you are') },
    ]);
    expect(of('aggregation')).toMatchObject([
      { verdict: 'problem', message: expect.stringMatching(/^kube-apiserver has no aggregation layer\. Start/) },
    ]);
    expect(of('kinds')).toEqual([]);
    expect((await examine({ kubeconfig: plane.kubeconfigPath })).code).toBe(0);
  });
});

describe('portolan doctor', () => {
  test('a server that is too old', async () => {
    const folder = kubeconfigFolder();
    const api = await startLoopbackServer(({ url }, response) => {
      if (url === '/version') sendJson(response, 200, { gitVersion: 'v1.19.16' });
      else sendJson(response, 404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' });
    });
    const kubeconfig = folder.write({ server: api.url }, { token: 'x' });
    const { of } = await examine({ kubeconfig, impersonate: 'constrained' });
    await api.close();
    folder.remove();
    expect(of('server').map(({ verdict, message }) => [verdict, message])).toEqual([
      ['warning', 'Kubernetes v1.19.16 is older than 1.20, with which Portolan is tested.'],
      ['problem', expect.stringMatching(/^Kubernetes v1\.19\.16 has no constrained impersonation/)],
      ['not seen', 'The API server is older than 1.28 and does not say who you are.'],
    ]);
  });

  test('without a server, the reason is the only finding', async () => {
    const folder = kubeconfigFolder();
    const kubeconfig = folder.write({ server: 'https://127.0.0.1:1' }, { token: 'x' });
    const { code, findings } = await examine({ kubeconfig });
    folder.remove();
    expect([code, findings]).toEqual([
      1,
      [
        {
          ...{ check: 'server', verdict: 'problem', command: 'kubectl config view --minify' },
          message: expect.stringContaining('Nothing listens at the address of the API server'),
        },
      ],
    ]);
  });
});

/** A record with the finalizer of a deletion. */
function held(namespace: string, name: string): object {
  const made = handMadeRecord({ namespace, name }, []) as { readonly metadata: object };
  return { ...made, metadata: { ...made.metadata, finalizers: ['portolan.dev/members'] } };
}
