/**
 * The image of deploy/image.sh runs in a sandbox against a real API server. Its account has the rights that the image's own
 * `portolan rbac` prints, and no others. The audit log of the server tells which of them it uses.
 *
 * PORTOLAN_IMAGE names the OCI archive. With PORTOLAN_IMAGE_AGAIN=1 the image is built once more and must have the same digest. This takes
 * one to five minutes, and needs Debian's mirror and the npm registry.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { auditEvents, auditedBy } from '../kit/audit-events.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { gadgetCrd } from '../kit/gadget-crd.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { mainServer } from '../kit/real-servers.ts';
import { missingSandbox, type Sandboxed, sandboxUser } from '../kit/sandbox.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';
import { type Rule, unusedRights } from './audited-rights.ts';
import { runImage, type SandboxOptions, type UnpackedImage, unpackImage } from './sandbox.ts';

const archive = process.env['PORTOLAN_IMAGE'] ?? '';
const root = fileURLToPath(new URL('../..', import.meta.url));
const account = 'system:serviceaccount:gateway:portolan';
const accountFolder = '/run/secrets/kubernetes.io/serviceaccount';

/** Newer servers answer discovery of all groups in two requests, and have OpenAPI v3. */
const forOlderServers = ['get /api/*', 'get /apis/*', 'get /openapi/v2'];

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', users: [account] }, { level: 'None' }],
};

const missing =
  archive === ''
    ? 'PORTOLAN_IMAGE is not set'
    : (missingSandbox() ?? mainServer.missing(['kubectl', 'kube-controller-manager']));

describe.skipIf(missing !== null)(`the image (${missing ?? mainServer.name})`, { timeout: 180_000 }, () => {
  let image: UnpackedImage;
  let plane: ControlPlane;
  let folder: string;
  let auditLog: string;

  beforeAll(async () => {
    folder = sharedDirectory('image');
    image = unpackImage(archive, folder);
    process.stdout.write(`image ${image.digest}: ${(image.compressedBytes / 1e6).toFixed(1)} MB compressed\n`);
    plane = await startControlPlane({
      server: mainServer,
      controllerManager: true,
      users: [{ token: 'token-of-alice', user: 'alice', groups: [] }],
      apiServer: auditedBy(policy),
    });
    auditLog = join(plane.dir, 'audit.log');
    await prepareCluster();
  }, 300_000);
  afterAll(async () => {
    await plane?.stop();
  }, 60_000);

  async function prepareCluster(): Promise<void> {
    await plane.kubectl(['apply', '-f', '-'], JSON.stringify(gadgetCrd({ size: { type: 'integer' } })));
    for (const namespace of ['gateway', 'team-a', 'team-b']) await plane.kubectl(['create', 'namespace', namespace]);
    await plane.kubectl(['create', 'configmap', 'settings', '-n', 'team-a', '--from-literal=color=blue']);
    await plane.kubectl(['create', 'rolebinding', 'alice', '-n', 'team-a', '--clusterrole=view', '--user=alice']);
    await plane.kubectl(['create', 'serviceaccount', 'portolan', '-n', 'gateway']);
    // Kubernetes grants these to every authenticated user. The printed role must suffice without them.
    const defaults = ['system:discovery', 'system:public-info-viewer', 'system:basic-user'];
    await plane.kubectl(['delete', 'clusterrolebinding', ...defaults]);
  }

  /** A new folder of the image's user, with these files. */
  function folderWith(name: string, files: Readonly<Record<string, string>>): string {
    const path = join(folder, name);
    mkdirSync(path);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    for (const each of ['', ...Object.keys(files)]) chownSync(join(path, each), sandboxUser.uid, sandboxUser.gid);
    return path;
  }

  /** Runs a command of the image that succeeds and prints no errors. */
  async function printed(args: readonly string[], mounts: Readonly<Record<string, string>> = {}): Promise<Sandboxed> {
    const command = await runImage(image, { args, mounts });
    expect([await command.ended, command.err]).toEqual([0, []]);
    return command;
  }

  const files = (): readonly string[] =>
    readdirSync(image.rootfs, { recursive: true, encoding: 'utf8' }).map((path) => `/${path}`);

  test('it has no shell, no package manager, and no file that its user may change', () => {
    const programs = files().filter((path) => /\/(?:s?bin)\/[^/]+$/.test(path));
    expect(programs).toContain('/usr/local/bin/node');
    expect(programs.filter((path) => /\/(?:\w*sh|busybox|apt.*|dpkg.*|npm|npx|perl|tar)$/.test(path))).toEqual([]);
    const owned = execFileSync('find', [image.rootfs, '-user', String(sandboxUser.uid)], { encoding: 'utf8' });
    const owners = owned.split('\n').filter(Boolean);
    expect(owners.map((path) => path.slice(image.rootfs.length)).toSorted()).toEqual(['/data', '/home/nonroot']);
    const loose = ['(', '-perm', '-4000', '-o', '-perm', '-2000', '-o', '-perm', '-0002', ')', '!', '-type', 'l'];
    const open = execFileSync('find', [image.rootfs, ...loose], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
    expect(open.every((path) => path === join(image.rootfs, 'tmp') || path.startsWith(join(image.rootfs, 'var')))).toBe(
      true,
    );
  });

  test('it runs without rights, on a root that cannot be written', async () => {
    const program = `
      const { accessSync, constants, readFileSync } = require('node:fs');
      const writable = (path) => { try { accessSync(path, constants.W_OK); return true; } catch { return false; } };
      const [, capabilities] = /CapEff:\\s+(\\w+)/.exec(readFileSync('/proc/self/status', 'utf8'));
      const paths = ['/', '/portolan', '/usr/local/bin/node', '/home/nonroot', '/data', '/tmp'];
      console.log(JSON.stringify([process.pid, process.getuid(), process.getgid(), capabilities, paths.filter(writable)]));`;
    const entrypoint = ['/usr/local/bin/node', '-e', program];
    const run = await runImage(image, { entrypoint, args: [], mounts: { '/data': folderWith('own-data', {}) } });
    expect([await run.ended, run.err]).toEqual([0, []]);
    expect(JSON.parse(run.out[0] ?? '')).toEqual([1, 65_532, 65_532, '0000000000000000', ['/data', '/tmp']]);
  });

  test('its configuration names a user by number, the revision and the version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(image.config).toMatchObject({
      User: '65532:65532',
      WorkingDir: '/portolan',
      Labels: {
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
        'org.opencontainers.image.created': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    });
    expect((await printed(['--version'])).out).toEqual([version]);
  });

  test('its label and its annotation name the same base', () => {
    const name = 'org.opencontainers.image.base.name';
    const base = image.config.Labels[name];
    expect(base).toMatch(/^offline$|\/distroless\//);
    expect(image.annotations[name]).toBe(base?.split('@')[0]);
  });

  test('Node finds the compile cache of its modules and takes it', async () => {
    const env = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const command = await runImage(image, { args: ['serve', '--help'], env });
    expect(await command.ended).toBe(0);
    const of = (text: string): readonly string[] => command.err.filter((line) => line.includes(text));
    expect(of('bundle/main.js')).toEqual(expect.arrayContaining([expect.stringContaining('was accepted')]));
    expect(of('rejected').filter((line) => !line.includes('not rejected'))).toEqual([]);
  });

  test('its bill of materials has the packages, Node and those of the base', () => {
    const bill = JSON.parse(readFileSync(join(image.rootfs, 'portolan', 'sbom.cdx.json'), 'utf8'));
    const purls: readonly string[] = bill.components.map(({ purl }: { purl: string }) => purl);
    const starts = ['pkg:npm/graphql@17', 'pkg:npm/better-sqlite3@', 'pkg:generic/node@24', 'pkg:deb/debian/libc6@'];
    for (const start of starts) expect(purls.filter((purl) => purl.startsWith(start))).toHaveLength(1);
  });

  /** Grants the service account the role that the image prints, and gives its rules. */
  async function grantPrinted(): Promise<readonly Rule[]> {
    const admin = folderWith('admin', { 'admin.yaml': readFileSync(plane.kubeconfigPath, 'utf8') });
    const args = ['rbac', '--kubeconfig', '/etc/portolan/admin.yaml', '--auth', 'token'];
    const command = [...args, '--service-account', 'gateway/portolan'];
    const text = (await printed(command, { '/etc/portolan': admin })).out.join('\n');
    await plane.kubectl(['apply', '-f', '-'], text);
    const [role, binding, ...others] = parseAllDocuments(text).map((document) => document.toJS());
    expect([role.kind, binding.kind, others]).toEqual(['ClusterRole', 'ClusterRoleBinding', []]);
    return role.rules;
  }

  /** A Pod of the service account: its credentials, a configuration file and a volume for data. */
  async function podWith(name: string, config: object): Promise<SandboxOptions> {
    const { hostname, port } = new URL(plane.server);
    const token = (await plane.kubectl(['create', 'token', 'portolan', '-n', 'gateway'])).trim();
    const own = { token, 'ca.crt': plane.caPem(), namespace: 'gateway' };
    const text = stringify({ auth: ['token'], logLevel: 'debug', ...config });
    return {
      args: ['serve', '--host', '127.0.0.1', '--port', '0', '--data', '/data/portolan.db'],
      env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
      mounts: {
        '/data': folderWith(`${name}-data`, {}),
        '/etc/portolan': folderWith(`${name}-config`, { 'portolan.yaml': text }),
        [accountFolder]: folderWith(`${name}-account`, own),
      },
    };
  }

  /** Starts the gateway, waits for all kinds, asks as three callers, and ends it. Gives its log. */
  async function serveOnce(start: string, pod: SandboxOptions, kinds: number): Promise<readonly string[]> {
    const began = performance.now();
    const gateway = await runImage(image, pod);
    const [, url = ''] = await gateway.line(/^Playground: (\S+)$/);
    const first = '{ namespaces(first: 50) { totalCount nodes { metadata { name } } } }';
    await eventually(async () => expect(await askAs(url, plane.token, first)).not.toHaveProperty('errors'), 60_000, 5);
    process.stdout.write(`${start}: the first page after ${Math.round(performance.now() - began)} ms\n`);
    await eventually(async () => {
      const headers = { authorization: `Bearer ${plane.token}` };
      const state = await (await fetch(new URL('/readyz', url), { headers })).json();
      expect(state).toMatchObject({ status: 'ready', failing: [], resourcesTotal: kinds, resourcesSynced: kinds });
    }, 60_000);
    const settings = '{ configMaps(filter: { metadata: { name: { eq: "settings" } } }) { nodes { data } } }';
    expect(await askAs(url, 'token-of-alice', settings)).toMatchObject({
      data: { configMaps: { nodes: [{ data: { color: 'blue' } }] } },
    });
    const refused = await askAs(url, plane.nobodyToken, settings);
    expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' });
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
    return gateway.err;
  }

  test('it serves all kinds with exactly the role that it prints, and uses every right', async () => {
    const rules = await grantPrinted();
    const kinds = rules.filter(({ verbs }) => verbs[0] === 'list').flatMap(({ resources = [] }) => resources);
    const pod = await podWith('pod', {});
    const log = [
      ...(await serveOnce('the first start', pod, kinds.length)),
      ...(await serveOnce('a warm start', pod, kinds.length)),
      // The others watch from the first request on. Lists are for servers that cannot stream them, and for audits.
      ...(await serveOnce('a start with lists', await podWith('lists', { streamingLists: 'off' }), kinds.length)),
    ];
    expect(log.length).toBeGreaterThan(0);
    expect(log.filter((line) => /\b403\b|forbidden/i.test(line))).toEqual([]);
    const events = auditEvents(auditLog);
    expect(events.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
    expect(unusedRights(rules, events)).toEqual(forOlderServers);
  });

  test.skipIf(process.env['PORTOLAN_IMAGE_AGAIN'] !== '1')(
    'another build has the same digest (PORTOLAN_IMAGE_AGAIN=1)',
    { timeout: 900_000 },
    () => {
      const base = image.config.Labels['org.opencontainers.image.base.name'] ?? '';
      const out = folderWith('again', {});
      const text = execFileSync(join(root, 'deploy', 'image.sh'), ['--base', base, '--out', out], { encoding: 'utf8' });
      const { digest, sbom } = JSON.parse(text.trim().split('\n').at(-1) ?? '');
      expect(digest).toBe(image.digest);
      expect(existsSync(sbom)).toBe(true);
    },
  );
});

async function askAs(url: string, token: string, query: string): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Answer;
}
