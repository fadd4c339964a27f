/** The bundle of `npm run build` is a complete gateway: its threads start, and the files that it reads exist. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, writeBundle } from '../../deploy/bundle.ts';
import { data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from '../kit/loopback-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A folder inside the project, so that the bundle finds the one package that it does not contain. */
const cache = join(root, 'node_modules', '.cache');

let folder: string;
let entry: string;
let bundle: Bundle;

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'bundle-test-'));
  entry = join(folder, 'out', 'src', 'portolan.js');
  bundle = await writeBundle(join(folder, 'out'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const output = async (way: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [way, ...args], { cwd: folder })).stdout;

test('it prints what the sources print', async () => {
  const source = join(root, 'src', 'portolan.js');
  for (const args of [['--version'], ['serve', '--help'], ['client-config', '--urql']]) {
    expect(await output(entry, ...args)).toBe(await output(source, ...args));
  }
});

test('it has the kubectl plugin', async () => {
  const plugin = join(folder, 'out', 'src', 'kubectl-portolan.js');
  expect(await output(plugin, '--help')).toContain('Usage: kubectl portolan');
  expect(await output(plugin, '--version')).toBe(await output(entry, '--version'));
  const { bin, engines } = JSON.parse(readFileSync(join(folder, 'out', 'package.json'), 'utf8'));
  expect(engines).toEqual({ node: '>=24.0.0' });
  for (const file of Object.values<string>(bin)) expect(existsSync(join(folder, 'out', file))).toBe(true);
});

test('it tells the packages of the gateway, and those of the playground', () => {
  const names = bundle.packages.map((each) => each.replace(/@[^@]+$/, ''));
  expect(names).toEqual(
    expect.arrayContaining(['better-sqlite3', 'graphql-yoga', 'graphiql', 'monaco-editor', 'prettier', 'react']),
  );
});

test("of client-node, it has the authenticators alone, each in a file that no thread's start loads", () => {
  const files = join(folder, 'out', 'src', 'bundle');
  const names = readdirSync(files).filter((name) => name.endsWith('.js'));
  const source = (name: string): string => readFileSync(join(files, name), 'utf8');
  const withText = (text: string): readonly string[] => names.filter((name) => source(name).includes(text));
  for (const text of ['KubeConfig = class', 'ObjectSerializer = class', 'V1PodSpec = class'])
    expect(withText(text)).toEqual([]);

  const started = new Set(names.filter((name) => name === 'main.js' || name.endsWith('.worker.js')));
  for (const name of started) {
    for (const [, imported = ''] of source(name).matchAll(/^(?:import|export)[^;]*?"\.\/([^"]+)";/gm))
      started.add(imported);
  }
  expect(started.size).toBeGreaterThan(20);
  for (const text of [
    'ExecAuth = class',
    'OpenIDConnectAuth = class',
    'AzureAuth = class',
    'function refreshTokenGrantRequest',
  ]) {
    const holders = withText(text);
    expect(
      holders.filter((name) => !started.has(name)),
      text,
    ).toHaveLength(1);
    expect(holders, text).toHaveLength(1);
  }
});

test('it sends the credentials that a plugin or a provider gives', async () => {
  const kubeconfigs = kubeconfigFolder();
  const sent: (string | undefined)[] = [];
  const issued = `e30.${Buffer.from(JSON.stringify({ exp: 32_472_144_000 })).toString('base64url')}.c2ln`;
  const server = await startLoopbackServer((request, response) => {
    if (request.url === '/.well-known/openid-configuration') {
      return sendJson(response, 200, { token_endpoint: `${server.url}/token` });
    }
    if (request.url === '/token') return sendJson(response, 200, { id_token: issued });
    sent.push(request.headers.authorization);
    sendJson(response, 403, { kind: 'Status', status: 'Failure', code: 403 });
  });
  try {
    const print = `console.log(JSON.stringify({ status: { token: 'from-plugin' } }))`;
    const oidc = { 'idp-issuer-url': server.url, 'client-id': 'a', 'refresh-token': 'b' };
    const users = {
      'from-plugin': {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          interactiveMode: 'Never',
          command: process.execPath,
          args: ['--eval', print],
        },
      },
      [issued]: { 'auth-provider': { name: 'oidc', config: oidc } },
      'from-gcp': { 'auth-provider': { name: 'gcp', config: { 'access-token': 'from-gcp' } } },
    };
    for (const [token, user] of Object.entries(users)) {
      sent.length = 0;
      const kubeconfig = kubeconfigs.write({ server: server.url }, user);
      await output(entry, 'schema', '--kubeconfig', kubeconfig).catch(() => '');
      expect(new Set(sent)).toEqual(new Set([`Bearer ${token}`]));
    }
  } finally {
    await server.close();
    kubeconfigs.remove();
  }
});

test('it is a program of its own, started with the options that the npm scripts have', async () => {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const { stdout } = await promisify(execFile)(entry, ['--version'], { cwd: folder, env });
  expect(stdout).toBe(await output(entry, '--version'));
  const [first = ''] = readFileSync(entry, 'utf8').split('\n');
  const options = first.replace('#!/usr/bin/env -S node ', '');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of ['start', 'portolan']) expect(scripts[name]).toContain(`node.sh ${options} src/portolan.js`);
  expect(scripts['demo']).toMatch(
    /node\.sh --v8-pool-size=1 --max-semi-space-size=4 --memory-saver-mode src\/portolan\.js demo$/,
  );
});

test('the demo runs from it, with every thread, and ends on a signal', async () => {
  const demo = spawn(process.execPath, [entry, 'demo', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: demo.stdout })[Symbol.asyncIterator]();
    const url = String((await lines.next()).value).slice('Playground: '.length);
    await expect.poll(async () => (await fetch(new URL('/readyz', url))).status, { timeout: 30_000 }).toBe(200);
    const { pods } = await data<{ pods: { totalCount: number } }>(url, '{ pods(first: 1) { totalCount } }');
    expect(pods.totalCount).toBeGreaterThan(0);
    const { __schema } = await data<{ __schema: { types: readonly { name: string }[] } }>(
      url,
      '{ __schema { types { name } } }',
    );
    expect(__schema.types.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['PodConnection', 'AppInstanceConnection']),
    );
    const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: long, namespace: default}\ndata: {a: ${'x'.repeat(20_000)}}`;
    const { apply } = await data<{ apply: { items: readonly { result: string }[] } }>(
      url,
      'mutation ($yaml: String!) { apply(docs: [{ yaml: $yaml }], options: { dryRun: true }) { items { result } } }',
      { yaml },
    );
    expect(apply.items).toEqual([{ result: 'CREATED' }]);
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('query WaitingPods');
    expect((await fetch(`${url}?playground=graphiql.js`)).status).toBe(200);
  } finally {
    const ended = once(demo, 'exit');
    demo.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
});

test('it replaces an earlier bundle, and nothing else', async () => {
  const other = join(folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'kept'), '');
  await expect(writeBundle(other)).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining(other),
  });
  await writeBundle(join(folder, 'out'));
  expect(await output(entry, '--version')).toMatch(/^\d/);
});
