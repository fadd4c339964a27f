/**
 * A folder of somebody else as the working directory: nothing of the user leaves, nothing runs, and no other file is written. Each command
 * is once a process of its own; otherwise commands share one. A server takes the place of everything that the folder names, and counts its
 * requests.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { GatewayClient } from '../../src/cli/remote/gateway-client.ts';
import { remote, writing } from '../../src/config/table/command-sets.ts';
import { filesBeside } from '../../src/store/file/open-store.ts';
import { commandHost } from '../kit/command-host.ts';
import { commandsOf, runCommand } from '../kit/command-process.ts';
import { type LoopbackServer, startLoopbackServer } from '../kit/loopback-server.ts';
import { programs } from '../kit/programs.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const token = 'token-of-the-user';
const query = '{ __typename }';

/** The server of the attacker. */
let trap: LoopbackServer;
/** The gateway that the user names. */
let gateway: LoopbackServer;
let cluster: SimCluster;

beforeAll(async () => {
  trap = await startLoopbackServer((_request, response) => void response.end('{}'));
  gateway = await startLoopbackServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(request.url === '/readyz' ? { ready: true } : { data: { resources: [], __type: null } }),
    );
  });
  cluster = await startSimCluster({ objects: 'empty' });
});

afterAll(async () => {
  await trap?.close();
  await gateway?.close();
  await cluster?.close();
});

/** The folder of the attacker, and the home of the user. */
let folder: string;
let home: string;
let asked: number;

beforeEach(() => {
  folder = temporaryDirectory('hostile');
  home = temporaryDirectory('home');
  write(join(home, '.vault-token'), 'secret-of-the-user');
  write(join(folder, 'plugin'), `#!/bin/sh\n: > '${join(home, 'plugin-ran')}'\n`);
  chmodSync(join(folder, 'plugin'), 0o755);
  write(
    join(folder, 'kubeconfig'),
    kubeconfig(trap.url, { exec: { apiVersion, command: './plugin', interactiveMode: 'Never' } }),
  );
  asked = trap.requests.length;
});

const apiVersion = 'client.authentication.k8s.io/v1';
const pluginRan = (): boolean => existsSync(join(home, 'plugin-ran'));

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function kubeconfig(server: string, user: object, more: object = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [{ name: 'x', cluster: { server, ...more } }],
    users: [{ name: 'x', user }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  });
}

const configure = (options: object): void => write(join(folder, 'portolan.yaml'), stringify(options));

type Environment = Readonly<Record<string, string>>;

const optionsOf = (environment: Environment) => ({
  folder,
  home,
  environment: { PORTOLAN_TOKEN: token, ...environment },
});

const shared = commandHost('pipes');
const run = (args: readonly string[], environment: Environment = {}) => shared(args, optionsOf(environment));

/** In a process of its own. */
const runAlone = (args: readonly string[], environment: Environment = {}, until?: RegExp) =>
  runCommand(args, { ...optionsOf(environment), ...(until === undefined ? {} : { until }) });

/** Everything in the home of the user, with the contents. */
const homeFiles = (): readonly string[] =>
  readdirSync(home, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => `${each.name}: ${readFileSync(join(each.parentPath, each.name), 'utf8')}`);

/** How each command is run; a command without an entry fails the test below. */
const commands: Readonly<Record<string, readonly string[]>> = {
  demo: ['demo', '--port', '0', '--pods', '0', '--still'],
  serve: ['serve', '--port', '0'],
  schema: ['schema'],
  status: ['status'],
  relations: ['relations'],
  'json-schema': ['json-schema', 'Pod'],
  query: ['query', query],
  watch: ['watch', 'subscription { podChanges { phase } }'],
  logs: ['logs', 'pod/web', '-n', 'default'],
  // Standard input is empty.
  plan: ['plan', '--filename', '-'],
  apply: ['apply', '--filename', '-', '--yes'],
  delete: ['delete', 'Pod', 'web', '--yes'],
  restart: ['restart', 'Deployment', 'web', '--yes'],
  scale: ['scale', 'Deployment', 'web', '--replicas', '2', '--yes'],
  edit: ['edit', 'Deployment', 'web', '--yes'],
  revert: ['revert', 'Deployment', 'web', '--to', '-10m', '--yes'],
  rollback: ['rollback', 'Deployment', 'web', '--yes'],
  history: ['history'],
  rbac: ['rbac'],
  can: ['can', '--as', 'alice', 'list', 'pods'],
  'client-config': ['client-config', '--apollo'],
  crd: ['crd'],
  shadow: ['shadow', 'uninstall', '--yes'],
  doctor: ['doctor'],
};

test('every command has a case', async () => {
  expect((await commandsOf(folder)).toSorted()).toEqual(Object.keys(commands).toSorted());
});

describe.each(Object.entries(commands))('portolan %s', (name, args) => {
  /** Only the demo runs on. */
  const until = name === 'demo' ? /Playground: / : undefined;

  test('asks nobody whom the folder names, and runs nothing of it', async () => {
    write(join(folder, 'relations.yaml'), 'relations: []\n');
    symlinkSync(join(home, '.vault-token'), join(folder, 'tls.key'));
    configure({
      url: `${trap.url}/graphql`,
      token: 'token-of-the-attacker',
      kubeconfig: 'kubeconfig',
      relations: 'relations.yaml',
      tlsKey: 'tls.key',
      tlsCert: 'tls.key',
    });
    const before = homeFiles();
    const { err } = await runAlone(args, { PORTOLAN_URL: `${gateway.url}/graphql` }, until);
    expect(trap.requests.length).toBe(asked);
    expect(pluginRan()).toBe(false);
    expect(homeFiles()).toEqual(before);
    expect(err).not.toContain('secret-of-the-user');
    // These two read no options.
    if (name === 'client-config' || name === 'crd') expect(err).toBe('');
    else expect(err).toContain('portolan.yaml');
  });

  test('ends where portolan.yaml is a pipe', async () => {
    spawnSync('mkfifo', [join(folder, 'portolan.yaml')]);
    const environment = { PORTOLAN_URL: `${gateway.url}/graphql` };
    const { code, err } = await (until === undefined ? run(args, environment) : runAlone(args, environment, until));
    if (name !== 'serve') return;
    expect(code).toBe(1);
    expect(err).toMatch(cannotBeRead);
  });
});

const cannotBeRead = /^portolan: The configuration file portolan\.yaml [^\n]+\.\n$/;

describe('portolan serve', () => {
  test.each<[what: string, make: (path: string) => unknown]>([
    ['a link to /dev/zero', (path) => symlinkSync('/dev/zero', path)],
    ['a folder', (path) => mkdirSync(path)],
    ['16 MiB', (path) => writeFileSync(path, '#'.repeat(2 ** 24))],
    ['a link to a secret', (path) => symlinkSync(join(home, '.vault-token'), path)],
  ])('ends where portolan.yaml is %s', async (_what, make) => {
    make(join(folder, 'portolan.yaml'));
    const { code, err } = await run(['serve', '--port', '0']);
    expect(code).toBe(1);
    expect(err).toMatch(cannotBeRead);
    expect(err).not.toContain('secret-of-the-user');
  });
});

describe('a portolan.yaml that nobody named', () => {
  const inline = { token: 'token-in-the-folder' };

  test.each<[key: string, options: () => object]>([
    ['host', () => ({ host: '0.0.0.0', auth: ['token'] })],
    ['auth', () => ({ auth: ['none'] })],
    ['clientCa', () => ({ clientCa: 'ca.crt' })],
    ['proxyClientCa', () => ({ proxyClientCa: 'ca.crt' })],
    ['tokenAudience', () => ({ tokenAudience: ['other'] })],
    ['authCluster', () => ({ authCluster: 'other' })],
    ['sameUsers', () => ({ sameUsers: true })],
    ['authorizationMode', () => ({ authorizationMode: 'rbac' })],
    ['allowOrigin', () => ({ allowOrigin: ['http://localhost:5173', 'https://evil.example'] })],
    ['kubeconfig', () => ({ kubeconfig: 'inline', auth: ['token'] })],
    ['context', () => ({ context: ['shared-dev'], auth: ['token'] })],
    ['clusterSecrets', () => ({ clusterSecrets: 'shared' })],
    ['clusterSecretSelector', () => ({ clusterSecretSelector: 'a=b' })],
    ['tlsCert', () => ({ tlsCert: 'tls.crt', tlsKey: 'tls.key' })],
    ['impersonate', () => ({ impersonate: 'classic', auth: ['token'] })],
    ['readOnly', () => ({ readOnly: false })],
    ['planKeyFile', () => ({ planKeyFile: 'plan.key' })],
    ['proxyClientName', () => ({ proxyClientName: ['evil'] })],
    ['data', () => ({ data: '../portolan.db' })],
    ['data', () => ({ data: join(home, 'portolan.db') })],
    ['data', () => ({ data: 'home/portolan.db' })],
    ['data', () => ({ data: 'nowhere/portolan.db' })],
    ['auditLog', () => ({ auditLog: join(home, '.profile') })],
    ['auditLog', () => ({ auditLog: 'profile' })],
  ])('may not give this %s', async (key, options) => {
    write(join(folder, 'inline'), kubeconfig(trap.url, inline));
    symlinkSync(home, join(folder, 'home'));
    symlinkSync(join(home, 'new'), join(folder, 'nowhere'));
    symlinkSync(join(home, '.profile'), join(folder, 'profile'));
    configure({ ...options() });
    const before = homeFiles();
    const { code, out, err } = await run(['serve', '--port', '0']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      new RegExp(`^portolan: ${key} in portolan\\.yaml [^\\n]+ --config portolan\\.yaml [^\\n]+\\.\\n$`),
    );
    expect(homeFiles()).toEqual(before);
    expect(trap.requests.length).toBe(asked);
  });

  test.each<[what: string, user: () => object, cluster?: object]>([
    ['exec', () => ({ exec: { apiVersion, command: './plugin' } })],
    ['exec', () => ({ token: 'x', exec: { apiVersion, command: join(folder, 'plugin') } })],
    ['auth-provider', () => ({ 'auth-provider': { name: 'gcp', config: { 'cmd-path': join(folder, 'plugin') } } })],
    [
      'auth-provider',
      () => ({ 'auth-provider': { name: 'x', config: { exec: { apiVersion, command: './plugin' } } } }),
    ],
    ['tokenFile', () => ({ tokenFile: join(home, '.vault-token') })],
    ['client-certificate', () => ({ 'client-certificate': join(home, '.vault-token') })],
    ['certificate-authority', () => inline, { 'certificate-authority': 'tls.crt' }],
  ])('may not name a kubeconfig with %s', async (what, user, more) => {
    write(join(folder, 'kubeconfig'), kubeconfig(trap.url, user(), more));
    configure({ kubeconfig: 'kubeconfig' });
    const { code, out, err } = await run(['serve', '--port', '0', '--log-level', 'silent']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^portolan: The kubeconfig kubeconfig has [^\n]+ --kubeconfig kubeconfig [^\n]+ portolan\.yaml gives kubeconfig\.\n$/,
    );
    expect(err).toContain(`has ${what}, `);
    expect(trap.requests.length).toBe(asked);
    expect(pluginRan()).toBe(false);
  });

  test('serves what it says otherwise, and the log names it', async () => {
    write(join(folder, 'inline'), cluster.kubeconfig());
    configure({
      kubeconfig: 'inline',
      kinds: ['pods'],
      data: 'kept.db',
      allowOrigin: ['http://localhost:5173'],
      port: 0,
    });
    const { code, out, err } = await runAlone(['serve'], {}, /Playground/);
    expect([code, out]).toEqual([0, expect.stringContaining('Playground: ')]);
    const entries = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly file?: string });
    expect(entries[0]).toMatchObject({ msg: 'the configuration file is read', file: join(folder, 'portolan.yaml') });
    expect(existsSync(join(folder, 'kept.db'))).toBe(true);
  });
});

describe('what the user names is trusted', () => {
  test.each<[how: string, args: readonly string[], environment: Record<string, string>]>([
    ['--config', ['--config', 'portolan.yaml'], {}],
    ['--kubeconfig', ['--kubeconfig', 'kubeconfig'], {}],
    ['PORTOLAN_KUBECONFIG', [], { PORTOLAN_KUBECONFIG: 'kubeconfig' }],
    ['KUBECONFIG', [], { KUBECONFIG: 'kubeconfig' }],
  ])('a plugin of a kubeconfig that is named by %s runs', async (how, args, environment) => {
    if (how === '--config') configure({ kubeconfig: 'kubeconfig' });
    const { code } = await run(['can', '--as', 'alice', 'list', 'pods', ...args], environment);
    expect([code, pluginRan()]).toEqual([1, true]);
  });

  test('a file that is named gives the URL, and its relative paths are those of its own folder', async () => {
    configure({ url: `${trap.url}/graphql` });
    const own = join(home, 'conf', 'portolan.yaml');
    write(own, stringify({ url: `${gateway.url}/graphql`, kubeconfig: 'kubeconfig' }));
    write(join(home, 'conf', 'kubeconfig'), cluster.kubeconfig());
    const before = gateway.requests.length;
    expect(await run(['status', '--config', own])).toMatchObject({ code: 0 });
    const [request] = gateway.requests.slice(before);
    expect(request?.headers.authorization).toBe(`Bearer ${token}`);
    expect(await run(['can', '--as', 'a', 'list', 'pods', '--config', own])).toMatchObject({
      out: expect.stringMatching(/^no\n/),
    });
    expect([trap.requests.length, pluginRan()]).toEqual([asked, false]);
  });
});

describe('the token', () => {
  /** The exit code after an error. */
  const failed = (name: string): number => ((writing as readonly string[]).includes(name) ? 2 : 1);

  test.each(remote)('of %s follows no redirect', async (name) => {
    const forwarder = await startLoopbackServer((_request, response) => {
      response.writeHead(307, { location: `${trap.url}/graphql` }).end();
    });
    try {
      const { code, out, err } = await run([...(commands[name] ?? []), '--url', `${forwarder.url}/graphql`]);
      expect([code, out]).toEqual([failed(name), '']);
      expect(err).toMatch(/^portolan: The server at [^\n]+ redirects to [^\n]+ --url\.\n$/);
      expect(trap.requests.length).toBe(asked);
    } finally {
      await forwarder.close();
    }
  });

  test.each(remote)('of %s is not sent over plain HTTP to another machine', async (name) => {
    const { code, out, err } = await run([...(commands[name] ?? []), '--url', 'http://gateway.example:4000/graphql']);
    expect([code, out]).toEqual([failed(name), '']);
    expect(err).toContain('The token is not sent to http://gateway.example:4000/graphql');
  });

  test.each(['http://localhost:4000', 'http://127.0.0.1', 'http://[::1]:4000', 'https://gateway.example'])(
    'goes to %s',
    (url) => expect(new GatewayClient({ url, token }).headers).toEqual({ authorization: `Bearer ${token}` }),
  );

  test.each(['http://127.0.0.1.evil.example', 'http://localhost.evil.example', 'http://0.0.0.0', 'http://10.0.0.1'])(
    'does not go to %s',
    (url) => expect(() => new GatewayClient({ url, token })).toThrow('The token is not sent'),
  );

  test('without a token, plain HTTP is allowed', () => {
    expect(new GatewayClient({ url: 'http://gateway.example', token: undefined }).headers).toEqual({});
  });
});

describe('pipes and devices that are named', () => {
  test.each<[flag: string, args: readonly string[], user?: object]>([
    ['--config', ['status', '--config', 'pipe']],
    ['--kubeconfig', ['can', '--as', 'alice', 'list', 'pods', '--kubeconfig', 'pipe']],
    ['--kubeconfig', ['rbac', '--kubeconfig', 'zero']],
    ['--relations', ['schema', '--demo', '--relations', 'pipe']],
    ['--file', ['query', '--file', 'pipe']],
    ['--file', ['watch', '--file', 'zero']],
    ['--filename', ['plan', '--filename', 'pipe']],
    ['--filename', ['delete', '--yes', '--filename', 'zero']],
    ['--tls-cert', ['serve', '--port', '0', '--kubeconfig', 'plain', '--tls-cert', 'pipe', '--tls-key', 'pipe']],
    ['tokenFile', ['rbac', '--kubeconfig', 'other'], { tokenFile: 'pipe' }],
    ['client-certificate', ['rbac', '--kubeconfig', 'other'], { 'client-certificate': 'zero', 'client-key': 'pipe' }],
  ])('by %s: %j end with one sentence', async (flag, args, user = {}) => {
    spawnSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('/dev/zero', join(folder, 'zero'));
    write(join(folder, 'plain'), cluster.kubeconfig());
    write(join(folder, 'other'), kubeconfig(cluster.url, user));
    const { code, err } = await run(args, { PORTOLAN_LOG_LEVEL: 'silent' });
    expect(code).toBe(flag === '--filename' ? 2 : 1);
    expect(err).toMatch(/^portolan: [^\n]*(?:pipe is a pipe|zero is a device), no regular file[^\n]*\n$/);
  });

  test('a pipe of the shell is read', async () => {
    write(join(folder, 'kubeconfig'), cluster.kubeconfig());
    const line = `"$NODE" "$ENTRY" can --as alice list pods --kubeconfig <(cat kubeconfig)`;
    const env = { PATH: process.env['PATH'], HOME: home, NODE: process.execPath, ENTRY: programs.portolan };
    const failed = await promisify(execFile)('bash', ['-c', line], { cwd: folder, env }).catch((error) => error);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/^no\n/), stderr: '' });
  });

  test.each(filesBeside)('a symbolic link beside the store: %s', async (end) => {
    symlinkSync(join(home, '.vault-token'), join(folder, `kept.db${end}`));
    write(join(folder, 'plain'), cluster.kubeconfig());
    const before = homeFiles();
    const { code, err } = await run(['serve', '--port', '0', '--kubeconfig', 'plain', '--data', 'kept.db']);
    expect(code).toBe(1);
    expect(err).toContain(`kept.db${end} is a symbolic link`);
    expect(homeFiles()).toEqual(before);
  });
});
