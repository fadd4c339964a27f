/** The certificates that Portolan makes for the door: two replicas from nothing, renewal under load, and what may be wrong. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer, type Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { OwnCertificates } from '../../src/aggregate/certificates/own-certificates.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { requireReadyDoor } from '../kit/door-replicas.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ManualClock } from '../kit/manual-clock.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { recordedLogger } from '../kit/recorded-logger.ts';

const day = 86_400_000;
const minute = 60_000;

/** The users of the tests, each with a token of its name. */
const users = ['keeper', 'stranger'].map((user) => ({ token: user, user, groups: [] }));

describeOn([mainServer], 'certificates that Portolan makes', { timeout: 120_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  let balancer: Server;
  const doors: RunningGateway[] = [];
  /** The doors' clocks are this far from that of kube-apiserver. A certificate that they make at another time must be valid now. */
  let aheadMs = -250 * day;
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + aheadMs,
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 200), signal),
  };
  const kubectl = (args: readonly string[], stdin?: string): Promise<string> => aggregated.plane.kubectl(args, stdin);

  beforeAll(async () => {
    balancer = createServer();
    aggregated = await startAggregatedPlane({
      server,
      users,
      makesCertificates: true,
      run: async ({ kubeconfigPath: kubeconfig }, flags) => {
        const start = (): Promise<RunningGateway> =>
          runGateway({ name: 'real', kubeconfig }, flags, undefined, { certificateClock: clock });
        doors.push(...(await Promise.all([start(), start()])));
        aheadMs = -69 * day;
        // A Service leads to Pods that are ready. Before its first lists, a door answers 503.
        await Promise.all(
          doors.map(({ aggregatePort }) => eventually(() => requireReadyDoor(aggregatePort ?? 0), 60_000)),
        );
        const port = await balance(balancer, doors);
        return {
          aggregatePort: port,
          close: async () => {
            balancer.close();
            await Promise.all(doors.map((door) => door.close()));
          },
        };
      },
    });
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  /** The certificate that each door serves. */
  const served = (): Promise<readonly string[]> =>
    Promise.all(doors.map(({ aggregatePort }) => servedBy(aggregatePort ?? 0)));

  /** What the Secret and the APIService have. */
  const kept = async (): Promise<{
    authorities: readonly X509Certificate[];
    server: X509Certificate;
    bundle: string;
  }> => {
    const secret = JSON.parse(await kubectl(['get', 'secret', '-n', 'portolan', 'door-certificates', '-o', 'json']));
    const bundle = await kubectl([
      ...['get', 'apiservice', 'v1alpha1.shadow.portolan.dev', '-o', 'jsonpath={.spec.caBundle}'],
    ]);
    const text = (name: string): string => Buffer.from(secret.data[name], 'base64').toString('utf8');
    expect(text('ca.crt')).toBe(Buffer.from(bundle, 'base64').toString('utf8'));
    return {
      authorities: (text('ca.crt').match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
        (pem) => new X509Certificate(pem),
      ),
      server: new X509Certificate(text('tls.crt')),
      bundle,
    };
  };

  /** Waits until the Secret, the APIService and both doors have what is wanted. */
  const settled = (
    wanted: (found: Awaited<ReturnType<typeof kept>>) => void,
  ): Promise<Awaited<ReturnType<typeof kept>>> =>
    eventually(async () => {
      const found = await kept();
      wanted(found);
      for (const fingerprint of await served()) expect(fingerprint).toBe(found.server.fingerprint256);
      return found;
    }, 30_000);

  test('both replicas serve the same certificate, of one authority that kube-apiserver trusts', async () => {
    const { authorities, server: certificate } = await settled(({ authorities: all }) => expect(all).toHaveLength(1));
    expect(certificate.checkHost('door.portolan.svc')).toBe('door.portolan.svc');
    expect(certificate.verify(must(authorities[0]).publicKey)).toBe(true);
    for (let ask = 0; ask < 4; ask += 1) expect(await kubectl(['get', 'shadowresources', '-A'])).toBe('');
  });

  test('both are renewed, and the Secret is made again, while kubectl reads: nothing fails', async () => {
    const load = reading(() => kubectl(['get', 'shadowresources', '-A']));
    onTestFinished(() => load.end().then(() => {}));
    const first = await kept();
    // Two thirds of the life of the server's certificate.
    aheadMs = -8 * day;
    const renewed = await settled((found) => expect(found.server.fingerprint256).not.toBe(first.server.fingerprint256));
    expect(renewed.bundle).toBe(first.bundle);
    // Two thirds of the life of the authority.
    aheadMs = -6 * day;
    const both = await settled((found) => expect(found.authorities).toHaveLength(2));
    expect(both.server.fingerprint256).toBe(renewed.server.fingerprint256);
    aheadMs += 11 * minute;
    const used = await settled((found) => expect(found.server.fingerprint256).not.toBe(both.server.fingerprint256));
    expect(used.authorities).toHaveLength(2);
    expect(used.server.verify(must(used.authorities[0]).publicKey)).toBe(true);
    aheadMs += 11 * minute;
    const alone = await settled((found) => expect(found.authorities).toHaveLength(1));
    expect(alone.server.fingerprint256).toBe(used.server.fingerprint256);
    // With the key of the authority, the Secret has lost what it was made of.
    await kubectl(['delete', 'secret', '-n', 'portolan', 'door-certificates']);
    const again = await settled((found) => expect(found.authorities).toHaveLength(2));
    expect(again.server.fingerprint256).toBe(alone.server.fingerprint256);
    aheadMs += 11 * minute;
    await settled((found) => expect(found.server.fingerprint256).not.toBe(again.server.fingerprint256));
    const { reads, failures } = await load.end();
    expect(failures).toEqual([]);
    expect(reads).toBeGreaterThan(5);
  });

  /** Registers the API of a Service that is only in name there. */
  const register = (name: string, annotations: Readonly<Record<string, string>> = {}): Promise<string> => {
    const spec = {
      ...{ group: `${name}.example.com`, version: 'v1', groupPriorityMinimum: 10, versionPriority: 10 },
      service: { namespace: 'portolan', name },
    };
    const metadata = { name: `v1.${name}.example.com`, annotations };
    const manifest = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata, spec };
    return kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
  };

  test('many replicas that begin at once have one authority', async () => {
    for (const name of ['one', 'two', 'three']) {
      await register(name);
      const opened = await Promise.all(Array.from({ length: 6 }, () => own('admin', name)));
      expect(new Set(opened.map(({ certificates }) => certificates.material.cert)).size).toBe(1);
    }
  });

  test('a Secret of somebody else is left alone, and cert-manager writes its APIService alone', async () => {
    const secret = ['secret', 'generic', '-n', 'portolan', 'foreign-certificates', '--from-literal=tls.key=hidden'];
    await kubectl(['create', ...secret]);
    await expect(own('admin', 'foreign')).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining('portolan/foreign-certificates'),
    });
    expect(await kubectl(['get', 'secret', '-n', 'portolan', 'foreign-certificates', '-o', 'jsonpath={.data}'])).toBe(
      '{"tls.key":"aGlkZGVu"}',
    );
    await register('injected', { 'cert-manager.io/inject-ca-from': 'portolan/door' });
    await expect(own('admin', 'injected')).rejects.toThrow('cert-manager writes the caBundle');
  });

  test('a broken Secret is made anew, with words and without keys in the log', async () => {
    const { certificates, log, clock: time } = await own('admin', 'broken');
    const former = certificates.material.cert;
    const name = ['secret', '-n', 'portolan', 'broken-certificates'];
    for (const data of [{ 'ca.key': btoa('planted key') }, { 'tls.crt': btoa('nonsense') }, { 'ca.crt': null }]) {
      await kubectl(['patch', ...name, '--type=merge', '-p', JSON.stringify({ data })]);
      await time.advance(10_000);
      await eventually(async () => {
        const found = JSON.parse(await kubectl(['get', ...name, '-o', 'json'])).data;
        const [[part, broken] = []] = Object.entries(data);
        expect(found[part ?? '']).not.toBe(broken ?? undefined);
      });
      // What is served stays: only the key of the authority is needed again.
      expect(certificates.material.cert).toBe(former);
    }
    const text = JSON.stringify(log.entries);
    expect(text).toContain('ca.key cannot be read');
    expect(text).not.toMatch(/planted|PRIVATE|nonsense/);
  });

  test('each right that is missing is named', async () => {
    const needed = [
      {
        group: '',
        resource: 'secrets',
        verbs: ['create'],
        names: [],
        text: 'create secrets in the namespace portolan',
      },
      {
        group: '',
        resource: 'secrets',
        verbs: ['get'],
        names: ['rights-certificates'],
        text: 'get the secret portolan/',
      },
      {
        group: 'apiregistration.k8s.io',
        resource: 'apiservices',
        verbs: ['get'],
        names: [],
        text: 'get the apiservice',
      },
      {
        group: 'apiregistration.k8s.io',
        resource: 'apiservices',
        verbs: ['patch'],
        names: [],
        text: 'patch the apiservice',
      },
    ] as const;
    await register('rights');
    for (const missing of [...needed, null]) {
      const rules = needed
        .filter((each) => each !== missing)
        .map(({ group, resource, verbs, names }) => ({
          apiGroups: [group],
          resources: [resource],
          verbs,
          ...(names.length === 0 ? {} : { resourceNames: names }),
        }));
      const manifests = [
        { kind: 'ClusterRole', metadata: { name: 'keeper' }, rules },
        {
          kind: 'ClusterRoleBinding',
          metadata: { name: 'keeper' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'keeper' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'keeper' }],
        },
      ].map((each) => JSON.stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', ...each }));
      await kubectl(['apply', '-f', '-'], manifests.join('\n---\n'));
      await kubectl(['delete', 'secret', '-n', 'portolan', 'rights-certificates', '--ignore-not-found']);
      const open = (): Promise<unknown> => own('keeper', 'rights');
      // RBAC takes a moment.
      if (missing === null) await eventually(open);
      else {
        await eventually(async () => {
          const refused = expect.objectContaining({
            code: 'CONFIGURATION',
            message: expect.stringContaining(`needs the right to ${missing.text}`),
          });
          await expect(open()).rejects.toEqual(refused);
          await expect(open()).rejects.toThrow('portolan rbac --aggregate');
        });
      }
    }
  });

  test('without an APIService, that is told once', async () => {
    const { certificates, log, clock: time } = await own('admin', 'late');
    await time.advance(30_000);
    await eventually(() => expect(log.entries.filter(({ level }) => level === 'warn')).toHaveLength(1));
    expect(JSON.stringify(log.entries)).toContain('there is no APIService of this name');
    expect(certificates.material.key).toContain('PRIVATE KEY');
  });

  /** Opens the certificates of a Service, with a clock of its own. */
  async function own(user: string, name: string) {
    const api = { group: `${name}.example.com`, version: 'v1' };
    const { plane } = aggregated;
    const kubeconfig = user === 'admin' ? plane.kubeconfigPath : plane.writeKubeconfig(user, { token: user });
    const connection = await connect({ env: {}, name: 'real', kubeconfig });
    onTestFinished(() => connection.close());
    const time = new ManualClock();
    const log = recordedLogger();
    const certificates = await OwnCertificates.open({
      ...{ client: new RestClient(connection), api, clock: time, log: log.logger },
      service: { namespace: 'portolan', name },
    });
    onTestFinished(() => certificates.close());
    return { certificates, log, clock: time };
  }
});

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing is there');
  return value;
}

/** Connections go to the doors in turn, as those of a Service. */
async function balance(balancer: Server, doors: readonly RunningGateway[]): Promise<number> {
  let turn = 0;
  balancer.on('connection', (client) => {
    turn += 1;
    const door = connectTcp(doors[turn % doors.length]?.aggregatePort ?? 0, '127.0.0.1');
    for (const [from, to] of [
      [client, door],
      [door, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  balancer.listen(0, 'localhost');
  await once(balancer, 'listening');
  return (balancer.address() as AddressInfo).port;
}

/** The fingerprint of the certificate that a port serves. */
async function servedBy(port: number): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Asks again and again until `end`. */
function reading(ask: () => Promise<unknown>): { end(): Promise<{ reads: number; failures: readonly string[] }> } {
  const failures: string[] = [];
  let reads = 0;
  let isEnded = false;
  const running = (async () => {
    while (!isEnded) {
      reads += 1;
      await ask().catch((error) => failures.push(String(error)));
    }
  })();
  return {
    end: async () => {
      isEnded = true;
      await running;
      return { reads, failures };
    },
  };
}
