/**
 * The kubectl plugin against gateways on loopback. A port-forward needs a kubelet, so a small program in the PATH takes the place of
 * kubectl: it answers `get services`, prints the line of `port-forward`, and notes its arguments and its end.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { createCertificateAuthority } from '../kit/certificates.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { programs } from '../kit/programs.ts';

const plugin = programs['kubectl-portolan'];
const token = 'token-of-admin';
const count = '{ nodes { totalCount } }';
const folder = kubeconfigFolder();
const bin = join(folder.dir, 'bin');
const notes = join(folder.dir, 'notes');
let cluster: SimCluster;
let gateway: RunningGateway;
let secured: RunningGateway;

/** The Services of the cluster, as kubectl prints them. */
function services(...items: readonly { name: string; clusterIP?: string; scheme?: string; port?: string }[]): void {
  const shown = items.map(({ name, clusterIP = '10.0.0.1', scheme = 'http', port = 'http' }) => ({
    metadata: { name, namespace: 'gateways' },
    spec: { clusterIP, ports: [{ name: port, port: 4000, appProtocol: scheme }] },
  }));
  writeFileSync(join(folder.dir, 'services.json'), JSON.stringify({ items: shown }));
}

/** Where the port-forward leads: a port, or the failure of kubectl. */
function forwards(to: string | { readonly failure: string }): void {
  const body =
    typeof to === 'string'
      ? `echo "Forwarding from 127.0.0.1:${new URL(to).port} -> 4000"
while :; do sleep 0.05; done`
      : `echo "${to.failure}" >&2; exit 1`;
  // Who reads that it was asked may end it.
  const program = `#!/bin/sh
[ "$1" = get ] || trap 'echo ended >> ${notes}; exit 0' TERM
echo "$*" >> ${notes}
if [ "$2" = namespace ]; then [ "$3" = gateways ] && exit 0; echo "Error from server (NotFound): namespaces \\"$3\\" not found" >&2; exit 1; fi
if [ "$1" = get ]; then exec cat ${join(folder.dir, 'services.json')}; fi
${body}
`;
  writeFileSync(join(bin, 'kubectl'), program);
  chmodSync(join(bin, 'kubectl'), 0o755);
}

beforeAll(async () => {
  const users = [{ token, user: 'admin', groups: ['system:masters'] }];
  cluster = await startSimCluster({ objects: 'empty', features: { users } });
  const clusters = { name: 'east', kubeconfig: folder.file('config', cluster.kubeconfig()) };
  gateway = await runGateway(clusters, { auth: ['token'] });
  const authority = await createCertificateAuthority();
  const { cert, key } = await authority.issue({ names: ['DNS:portolan.gateways.svc'], commonName: 'portolan' });
  const files = { tlsCert: folder.file('tls.crt', cert), tlsKey: folder.file('tls.key', key) };
  secured = await runGateway(clusters, { auth: ['token'], ...files });
  authority.remove();
  mkdirSync(bin);
});

afterAll(async () => {
  await gateway?.close();
  await secured?.close();
  await cluster?.close();
  folder.remove();
});

beforeEach(() => {
  rmSync(notes, { force: true });
  services({ name: 'portolan' }, { name: 'portolan-headless', clusterIP: 'None' });
  forwards(gateway.url);
});

function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const node = dirname(process.execPath);
  return spawn(process.execPath, [plugin, ...args], {
    cwd: folder.dir,
    env: {
      PATH: `${bin}:${node}:/usr/bin:/bin`,
      HOME: folder.dir,
      KUBECONFIG: join(folder.dir, 'config'),
      ...environment,
    },
  });
}

async function run(args: readonly string[], environment?: Readonly<Record<string, string>>) {
  const child = start(args, environment);
  child.stdin.end();
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
}

/** What kubectl was asked, and whether it was ended. */
const asked = (): readonly string[] => readFileSync(notes, 'utf8').trim().split('\n');

describe('kubectl portolan', () => {
  test('asks the gateway of the Service with the label, with the token of the kubeconfig, and ends the port-forward', async () => {
    const { code, out, err } = await run(['query', count]);
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({ data: { nodes: { totalCount: expect.any(Number) } } });
    expect(code).toBe(0);
    expect(asked()).toEqual([
      'get services --selector app.kubernetes.io/name=portolan --output json',
      'port-forward --namespace gateways --address 127.0.0.1 service/portolan :4000',
      'ended',
    ]);
  });

  test('passes the exit code of the command on', async () => {
    expect(await run(['query', '{ nothing }'])).toMatchObject({ code: 1, err: '' });
    expect(await run(['status'])).toMatchObject({ code: 0, out: expect.stringContaining('0 failing; ready') });
    expect(asked().filter((line) => line === 'ended')).toHaveLength(2);
  });

  test('passes its own flags to kubectl, wherever they are, and all others to the command', async () => {
    const kubeconfig = join(folder.dir, 'config');
    const { code, out } = await run(
      [
        '-n',
        'gateways',
        'status',
        '--json',
        '--kubeconfig',
        kubeconfig,
        '--context=simulated',
        '--service',
        'portolan',
      ],
      { KUBECONFIG: 'none' },
    );
    expect(JSON.parse(out === '' ? '{}' : out)).toMatchObject({ ready: true });
    expect(code).toBe(0);
    const where = `--context simulated --kubeconfig ${kubeconfig}`;
    expect(asked()).toEqual([
      `get services --namespace gateways ${where} --field-selector=metadata.name=portolan --output json`,
      `port-forward --namespace gateways ${where} --address 127.0.0.1 service/portolan :4000`,
      'ended',
    ]);
  });

  test('after a command that writes, the namespace belongs to the command', async () => {
    const manifest = folder.file('banner.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: banner}\n');
    const plan = await run(['-n', 'gateways', 'plan', '-f', manifest, '-n', 'default', '--token', token]);
    expect(plan).toMatchObject({ code: 1, err: '' });
    expect(plan.out).toContain('+++ configmap/banner in default\n');
    expect(asked()).toContain('port-forward --namespace gateways --address 127.0.0.1 service/portolan :4000');
    const applied = await run(['apply', '--namespace=default', '-f', manifest, '--yes']);
    expect(applied).toMatchObject({ code: 0, out: expect.stringMatching(/\nconfigmap\/banner created\n$/) });
    expect(await run(['plan', '-f', manifest, '-n', 'default'])).toMatchObject({ code: 0 });
  });

  test('errors of a command that writes have the exit code 2', async () => {
    expect(await run(['plan'])).toMatchObject({ code: 2 });
    expect(await run(['plan', '--context'])).toMatchObject({ code: 2, err: expect.stringContaining('needs a value') });
    forwards({ failure: 'no' });
    expect(await run(['apply', '-f', '-', '--yes'])).toMatchObject({ code: 2 });
  });

  test('reaches a gateway with TLS, whose certificate does not name loopback', async () => {
    services({ name: 'portolan', scheme: 'https' });
    forwards(secured.url);
    expect(await run(['query', count])).toMatchObject({ code: 0, err: '' });
  });

  test.each([
    ['--token', ['--token', 'wrong'], {}],
    ['PORTOLAN_TOKEN', [], { PORTOLAN_TOKEN: 'wrong' }],
  ])('sends the token of %s instead of that of the kubeconfig', async (_what, flags, environment) => {
    const { code, err } = await run(['query', count, ...flags], environment);
    expect(code).toBe(1);
    expect(err).toContain('needs a valid token');
  });

  test('with --url there is no port-forward, and the token of the kubeconfig stays here', async () => {
    expect(await run(['query', count, '--url', gateway.url])).toMatchObject({
      code: 1,
      err: expect.stringContaining('needs a valid token'),
    });
    expect(await run(['query', count, '--url', gateway.url, '--token', token])).toMatchObject({ code: 0 });
    expect(asked).toThrow('ENOENT');
  });

  test('ends the port-forward when it is ended itself', async () => {
    // It waits for a document on standard input.
    const waiting = start(['query']);
    await eventually(() => expect(asked()).toHaveLength(2));
    waiting.kill('SIGTERM');
    expect(await once(waiting, 'exit')).toEqual([143, null]);
    await eventually(() => expect(asked()[2]).toBe('ended'));
  });
});

describe('kubectl portolan watch', () => {
  const phases = (out: string): readonly string[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).phase);

  test('prints messages until a signal, and ends the port-forward', async () => {
    const child = start(['watch', 'namespaces']);
    let out = '';
    child.stdout.on('data', (part) => (out += part));
    const err = text(child.stderr);
    await eventually(() => expect(phases(out)).toEqual(['SNAPSHOT', 'SYNCED']));
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await err).toBe('');
    expect(asked().at(-1)).toBe('ended');
  });

  test('opens the port-forward again on the same port when kubectl ends', async () => {
    const child = start(['watch', 'namespaces']);
    let out = '';
    child.stdout.on('data', (part) => (out += part));
    await eventually(() => expect(phases(out)).toEqual(['SNAPSHOT', 'SYNCED']));
    const [kubectl = ''] = execFileSync('pgrep', ['-P', String(child.pid), '-f', 'port-forward'], { encoding: 'utf8' })
      .trim()
      .split('\n');
    process.kill(Number(kubectl), 'SIGTERM');
    const { port } = new URL(gateway.url);
    const line = `port-forward --namespace gateways --address 127.0.0.1 service/portolan ${port}:4000`;
    await eventually(() => expect(asked()).toContain(line));
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(asked().filter((each) => each === 'ended')).toHaveLength(2);
  });
});

describe('one sentence says what to do', () => {
  test.each([
    ['there is no Service', [], [], 'There is no Service with the label app.kubernetes.io/name=portolan'],
    ['the namespace is not there', [], ['-n', 'nope'], 'There is no namespace nope in the cluster'],
    [
      'there is no Service in the namespace',
      [],
      ['-n', 'gateways'],
      'in the namespace gateways: name that of the gateway',
    ],
    ['there are several', [{ name: 'a' }, { name: 'b' }], [], 'choose one with --service (a, b)'],
    ['a flag has no value', [], ['-n'], '-n needs a value'],
  ])('%s', async (_what, found, flags, message) => {
    services(...found);
    const { code, out, err } = await run(['status', ...flags]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^portolan: [^\n]+\.\n$/);
    expect(err).toContain(message);
  });

  test('the port-forward fails', async () => {
    forwards({ failure: 'error: unable to forward port because pod is not running.' });
    const { code, err } = await run(['status']);
    expect(code).toBe(1);
    expect(err).toBe(
      'portolan: kubectl port-forward failed: error: unable to forward port because pod is not running.\n',
    );
  });

  test('there is no kubectl', async () => {
    rmSync(join(bin, 'kubectl'));
    const { code, err } = await run(['status'], { PATH: bin });
    expect(code).toBe(1);
    expect(err).toContain('kubectl is not on the PATH');
  });

  test('a command that needs no gateway', async () => {
    expect(await run(['serve'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('it runs status, relations, json-schema, query, watch'),
    });
  });
});

test('help and version need no cluster', async () => {
  expect(await run([])).toMatchObject({ code: 1, out: expect.stringContaining('Usage: kubectl portolan') });
  expect(await run(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--service') });
  expect(await run(['query', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--variables') });
  expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(asked).toThrow('ENOENT');
});

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const kubectl = [join(assets, 'kubectl'), 'kubectl'].find(
  (each) => spawnSync(each, ['version', '--client']).status === 0,
);

test.skipIf(kubectl === undefined)('the real kubectl finds it; needs kubectl in KUBEBUILDER_ASSETS or on PATH', () => {
  const path = join(folder.dir, 'plugins');
  mkdirSync(path);
  symlinkSync(plugin, join(path, 'kubectl-portolan'));
  const env = { PATH: `${path}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder.dir };
  const of = (...args: readonly string[]) => execFileSync(kubectl ?? '', args, { env, encoding: 'utf8' });
  expect(of('plugin', 'list')).toContain(join(path, 'kubectl-portolan'));
  expect(of('portolan', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
});
