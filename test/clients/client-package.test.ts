/** The npm package @portolan/client: packed, installed into an application, and used against a gateway. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { clientPackage, writeClient } from '../../deploy/write-client.ts';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = kubeconfigFolder();
const packed = join(folder.dir, 'package');
const application = join(folder.dir, 'application');
const readme = readFileSync(join(root, 'web/client/README.md'), 'utf8');
const [plain = '', apollo = '', urql = ''] = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);
let cluster: SimCluster;
let gateway: RunningGateway;

/** The packages beside @portolan/client, as the repository has them. */
const others = ['@apollo/client', '@urql/core', '@urql/exchange-graphcache', 'graphql', 'graphql-ws', 'rxjs', 'ws'];

beforeAll(async () => {
  writeClient(packed);
  const npm = (...args: readonly string[]) => execFileSync('npm', args, { cwd: application, encoding: 'utf8' });
  mkdirSync(application);
  writeFileSync(join(application, 'package.json'), '{ "name": "application", "type": "module" }');
  const [{ filename }] = JSON.parse(npm('pack', packed, '--json', '--loglevel=error'));
  npm('install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', `./${filename}`);
  for (const name of others) {
    const link = join(application, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  cluster = await startSimCluster();
  gateway = await runGateway(
    { name: 'east', kubeconfig: folder.file('config', cluster.kubeconfig()) },
    { kinds: ['pods'] },
  );
});
afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  folder.remove();
});

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'web', image: 'web' }] },
  status: { phase: 'Pending' },
});

/** What the applications print after each result: `name phase` of each Pod, sorted. */
const preamble = `
  const show = (pods) =>
    console.log(JSON.stringify(pods.map(({ metadata, status }) => metadata.name + ' ' + status?.phase).sort()));
  const list = 'query Pods { pods(first: 50) { changesCursor nodes { id metadata { namespace name } status { phase } } } }';
  const changes = \`subscription Changes($since: String) {
    podChanges(since: $since) {
      phase reset cursor removedIds
      changes { type id object { id metadata { namespace name } status { phase } } }
    }
  }\`;`;

const applications: Readonly<Record<string, string>> = {
  'graphql-ws': `${preamble.split('const list')[0]}\n${plain}`,
  'Apollo Client': `
    import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
    import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
    import { createClient } from 'graphql-ws';
    import { applyChanges } from '@portolan/client/apollo';
    ${apollo}
    ${preamble}
    client.watchQuery({ query: gql(list) }).subscribe(({ data }) => data?.pods && show(data.pods.nodes));
    const { data } = await client.query({ query: gql(list) });
    client.subscribe({ query: gql(changes), variables: { since: data.pods.changesCursor } }).subscribe(({ data }) => {
      applyChanges(client.cache, data.podChanges);
    });`,
  urql: `
    import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
    import { cacheExchange } from '@urql/exchange-graphcache';
    import { createClient } from 'graphql-ws';
    ${urql}
    ${preamble}
    client.query(list, {}).subscribe(({ data }) => data && show(data.pods.nodes));
    const { data } = await client.query(list, {}).toPromise();
    client.subscription(changes, { since: data.pods.changesCursor }).subscribe(() => {});`,
};

describe.each(Object.keys(applications))('with %s', (name) => {
  test('a page is read, and stays true', async () => {
    for (const each of ['a', 'b']) cluster.create(pod(each));
    onTestFinished(() => {
      for (const { metadata } of cluster.list('/api/v1/namespaces/default/pods') as { metadata: { name: string } }[]) {
        cluster.delete(`/api/v1/namespaces/default/pods/${metadata.name}`);
      }
    });
    const file = join(application, `${name.replace(' ', '-')}.js`);
    const address = new URL(gateway.url);
    writeFileSync(
      file,
      (applications[name] ?? '')
        .replaceAll('wss://portolan.example.com', `ws://${address.host}`)
        .replaceAll('https://portolan.example.com', address.origin),
    );
    await eventually(async () => {
      const answer = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ pods { totalCount } }"}',
      });
      expect(await answer.json()).toMatchObject({ data: { pods: { totalCount: 2 } } });
    });
    const child = spawn(process.execPath, [file], { cwd: application, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(async () => {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    });
    let shown: unknown;
    createInterface({ input: child.stdout }).on('line', (line) => {
      shown = JSON.parse(line);
    });
    const shows = (...expected: readonly string[]): Promise<void> => eventually(() => expect(shown).toEqual(expected));
    // graphql-ws alone shows what it holds after the first message.
    await shows('a Pending', 'b Pending');
    cluster.patch('/api/v1/namespaces/default/pods/b/status', { status: { phase: 'Running' } });
    await shows('a Pending', 'b Running');
    cluster.delete('/api/v1/namespaces/default/pods/a');
    await shows('b Running');
  });
});

test('its declarations fit applications', () => {
  writeFileSync(
    join(application, 'types.ts'),
    `import { foldChanges, type Held, hold, type Message, reconnect, resumable } from '@portolan/client';
    import { applyChanges, cacheConfig as apollo, foldChanges as same, listPolicy, withPortolan } from '@portolan/client/apollo';
    import { cacheConfig as urql } from '@portolan/client/urql';
    import { InMemoryCache } from '@apollo/client/core';
    import { cacheExchange } from '@urql/exchange-graphcache';
    import { createClient } from 'graphql-ws';
    export const live = resumable(createClient({ url: '', ...reconnect }));
    export const cache: InMemoryCache = withPortolan(new InMemoryCache(apollo));
    export const after = (held: Held<{ id: string }>, message: Message<{ id: string }>): readonly { id: string }[] => {
      applyChanges(cache, message, { filter: {} });
      return same(foldChanges(held, message), message).objects;
    };
    export const others = [cacheExchange(urql), listPolicy(), hold([{ id: '1' }], 'c').whole];
    // @ts-expect-error: a cursor is text
    hold([], 1);`,
  );
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const options = { module, moduleResolution, target: 'es2022', lib: ['es2022', 'dom'], strict: true, noEmit: true };
    writeFileSync(
      join(application, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, types: [], skipLibCheck: false }, files: ['types.ts'] }),
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', application], { encoding: 'utf8' });
    // Declarations of other packages have errors of their own.
    const ours = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('node_modules/@wry/'));
    expect(ours).toEqual([]);
  }
});

test.each(['', '/apollo', '/urql'])(`${clientPackage}%s has at most 5 kB, minified and compressed`, async (entry) => {
  expect(readme).toContain('Each entry has at most 5 kB, minified and compressed with gzip.');
  const input = join(application, `size${entry.replace('/', '-')}.js`);
  writeFileSync(input, `export * from '${clientPackage}${entry}';`);
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  expect(output[0].imports).toEqual([]);
  expect(output[0].code).toContain('foldChanges');
  expect(gzipSync(output[0].code).length).toBeLessThanOrEqual(5000);
});

test('the package has what its manifest names, the README and the license, and no other module', () => {
  const installed = join(application, 'node_modules', clientPackage);
  const files = readdirSync(installed);
  const { exports, version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const named = Object.values<Record<string, string>>(exports).flatMap((each) => Object.values(each));
  expect(named.filter((path) => !files.includes(path.slice(2)))).toEqual([]);
  expect(version).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']));
  const source = join(root, 'web/client');
  const parts = readdirSync(source).filter((name) => !name.endsWith('.test-d.ts'));
  expect(files.sort()).toEqual([...parts, 'LICENSE'].sort());
  for (const part of parts) {
    expect(readFileSync(join(installed, part), 'utf8')).toBe(readFileSync(join(source, part), 'utf8'));
  }
});

test('its peers are all optional, and have the versions that the tests run with', () => {
  const manifest = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { dependencies, devDependencies } = manifest('package.json');
  const { peerDependencies, peerDependenciesMeta } = manifest('web/client/package.json');
  const ours = { ...dependencies, ...devDependencies };
  expect(peerDependencies).toEqual(Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, ours[name]])));
  expect(peerDependenciesMeta).toEqual(
    Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }])),
  );
});

test('writes over nothing but itself', () => {
  writeClient(packed);
  expect(() => writeClient(application)).toThrow('holds something else');
});
