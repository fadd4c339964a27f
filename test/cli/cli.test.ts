/** The command line as a person meets it: processes, their output, their exit codes. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { openWriter } from '../../src/store/write/writer.ts';
import { commandFolder, ending, firstLine } from '../kit/command-folder.ts';
import { runGateway } from '../kit/gateway.ts';

const { folder, portolan, run, kubeconfig } = commandFolder();

describe('help', () => {
  test('without a command there is help, and that is an error', async () => {
    const { code, out, err } = await run([]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('portolan demo');
  });

  test('--help names every command; the help of serve says flag, default and variable', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    for (const command of [
      'demo',
      'serve',
      'schema',
      'status',
      'query',
      'watch',
      'plan',
      'apply',
      'delete',
      'restart',
      'scale',
      'rbac',
      'can',
      'shadow',
      'client-config',
    ])
      expect(out).toContain(command);
    const serve = await run(['serve', '--help']);
    expect(serve.out.replace(/\s+/g, ' ')).toContain('(default: 4000) [PORTOLAN_PORT]');
    expect(serve.out.replace(/\s+/g, ' ')).toContain('(default: 6h) [PORTOLAN_EVENTS_MAX_AGE]');
  });

  test('--version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  test.each([
    [['sevre'], 'Unknown command sevre; did you mean serve? See portolan --help.'],
    [['--verbose'], 'Unknown option --verbose. See portolan --help.'],
    [['demo', '--prot', '1'], 'Unknown option --prot; did you mean --port? See portolan demo --help.'],
    [['serve', '--knids', 'pods'], 'Unknown option --knids; did you mean --kinds? See portolan serve --help.'],
    [['schema', '--contxt', 'a'], 'Unknown option --contxt; did you mean --context? See portolan schema --help.'],
    [['status', '--failling'], 'Unknown option --failling; did you mean --failing? See portolan status --help.'],
    [
      ['client-config', '--appolo'],
      'Unknown option --appolo; did you mean --apollo? See portolan client-config --help.',
    ],
    [['rbac', '--wildcard'], 'Unknown option --wildcard; did you mean --wildcards? See portolan rbac --help.'],
    [['can', '--as', 'alice', 'list'], 'Missing required argument resource. See portolan can --help.'],
    [['serve', '--port'], 'Option --port <number> argument missing. See portolan serve --help.'],
    [
      ['serve', 'pods'],
      'Too many arguments for serve. Expected 0 arguments but got 1: pods. See portolan serve --help.',
    ],
  ])('the line %j is answered with one line that names the help', async (args, expected) => {
    expect(await run(args)).toEqual({ code: 1, out: '', err: `${expected}\n` });
  });
});

describe('what is wrong at the start is one sentence and exit code 1', () => {
  const sentence = /^portolan: [^\n]+\.\n$/;

  test.each([
    ['a port that is none', ['demo', '--port', 'http'], '--port is "http"'],
    ['an address that others reach', ['serve', '--host', '0.0.0.0'], 'Everybody who reaches 0.0.0.0'],
    ['a configuration that is not there', ['serve', '--config', 'none.yaml'], 'none.yaml'],
    ['a kubeconfig that is not there', ['serve', '--kubeconfig', 'none.yaml'], 'none.yaml'],
    ['no kubeconfig at all', ['serve'], 'kubeconfig'],
    ['the Pod that this is not', ['serve', '--in-cluster'], 'service account'],
    ['a gateway that is none', ['status', '--url', 'localhost:4000'], 'http://127.0.0.1:4000/graphql'],
    ['a path that is none', ['demo', '--search-paths', 'spec.host,a[b'], '--search-paths: The path "a[b"'],
    ['a client that is not named', ['client-config'], '--apollo'],
    ['two clients', ['client-config', '--apollo', '--codegen'], '--codegen'],
    ['types of what has none', ['client-config', '--codegen', '--types'], '--types'],
  ])('%s', async (_what, args, part) => {
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(sentence);
    expect(err.toLowerCase()).toContain(part.toLowerCase());
  });

  test('a kubeconfig that is not there, beside a store that is', async () => {
    openWriter(join(folder(), 'kept.db'), { log: silentLogger, clock: systemClock }).close();
    const { code, out, err } = await run([
      'serve',
      '--port',
      '0',
      '--kubeconfig',
      'none.yaml',
      '--data',
      'kept.db',
      '--log-level',
      'silent',
    ]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(sentence);
    expect(err).toContain('none.yaml');
  });

  test('a kubeconfig that is not YAML', async () => {
    writeFileSync(join(folder(), 'broken.yaml'), 'apiVersion: [');
    const { code, err } = await run(['serve', '--kubeconfig', 'broken.yaml']);
    expect(code).toBe(1);
    expect(err).toMatch(sentence);
    expect(err).toContain('broken.yaml');
  });

  test('a variable', async () => {
    const { code, err } = await run(['demo'], { PORTOLAN_PODS: 'many' });
    expect(code).toBe(1);
    expect(err).toMatch(/^portolan: PORTOLAN_PODS is "many" [^\n]+\.\n$/);
  });

  test('portolan.yaml of the working directory', async () => {
    writeFileSync(join(folder(), 'portolan.yaml'), 'port: http\n');
    const { code, err } = await run(['serve']);
    expect(code).toBe(1);
    expect(err).toMatch(/^portolan: port in portolan\.yaml is "http" [^\n]+\.\n$/);
  });

  test.each([['serve'], ['schema']])('%s without an API server behind the address', async (command) => {
    const { code, out, err } = await run([command, '--kubeconfig', kubeconfig('http://127.0.0.1:1')]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(sentence);
    expect(err).toContain('127.0.0.1:1');
  });

  test.each([
    [401, 'log in again'],
    [403, 'ClusterRoleBinding'],
  ])('an API server that answers %d', async (status, part) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', code: status, reason: 'No', message: 'no' }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const { code, out, err } = await run(['serve', '--kubeconfig', kubeconfig(`http://127.0.0.1:${port}`)]);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(sentence);
      expect(err).toContain(part);
    } finally {
      server.close();
    }
  });

  test.each(['demo', 'serve'])('%s with a port that is taken, before anything is built or asked', async (command) => {
    let asked = 0;
    const server = createServer(() => {
      asked += 1;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const cluster = command === 'serve' ? ['--kubeconfig', kubeconfig(`http://127.0.0.1:${port}`)] : [];
      const { code, err } = await run([command, '--port', String(port), ...cluster]);
      expect(code).toBe(1);
      expect(err).toBe(`portolan: Port ${port} is taken; choose another with --port, or --port 0 for any.\n`);
      expect(asked).toBe(0);
    } finally {
      server.close();
    }
  });
});

describe('watch', () => {
  /** A gateway over a still cluster with some ConfigMaps. */
  async function startGateway(maps = 3) {
    const sim = await startSimCluster();
    onTestFinished(() => sim.close());
    const configMap = (index: number, value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `map-${index}`, namespace: 'default' },
      data: { value },
    });
    for (let index = 0; index < maps; index += 1) sim.create(configMap(index, ''));
    const gateway = await runGateway({ name: 'east', kubeconfig: kubeconfig(sim.url) }, { kinds: ['configmaps'] });
    onTestFinished(() => gateway.close());
    return { url: gateway.url, update: (index: number, value: string) => sim.update(configMap(index, value)) };
  }

  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it with exit code 0', async (signal) => {
    const { url } = await startGateway();
    const child = portolan(['watch', 'configmaps', '--url', url]);
    const ended = ending(child);
    await once(must(child.stdout, 'a pipe'), 'data');
    child.kill(signal);
    const { code, out, err } = await ended;
    expect([code, err]).toEqual([0, '']);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ phase }) => phase)).toEqual(['SNAPSHOT', 'SYNCED']);
    expect(lines[0].changes[0].object).toMatchObject({ kind: 'ConfigMap', metadata: { namespace: 'default' } });
  });

  test('the end of its reader is no failure', async () => {
    const { url, update } = await startGateway();
    const child = portolan(['watch', 'configmaps', '--url', url]);
    const stderr = text(must(child.stderr, 'a pipe'));
    expect(await firstLine(child)).toContain('SNAPSHOT');
    child.stdout?.destroy();
    const exited = once(child, 'exit');
    for (let index = 0; index < 50 && child.exitCode === null; index += 1) {
      update(0, String(index));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await exited)[0]).toBe(0);
    expect(await stderr).toBe('');
  });

  test('ends at a signal although its output is not read', async () => {
    const { url, update } = await startGateway();
    const child = portolan(['watch', 'configMapChanges { phase changes { object { data } } }', '--url', url]);
    await once(must(child.stdout, 'a pipe'), 'readable');
    for (let index = 0; index < 10; index += 1) {
      update(index % 3, 'x'.repeat(200_000) + index);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('a document that the gateway refuses is exit code 1', async () => {
    const { url } = await startGateway();
    const { code, out, err } = await run(['watch', 'configmaps { nothing }', '--url', url]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^portolan: GRAPHQL_VALIDATION_FAILED: Cannot query field [^\n]+\n$/);
  });

  test('its help says how the cursor is passed', async () => {
    const { code, out } = await run(['watch', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('the cursor becomes the value of the variable $from');
  });
});

describe('rbac and can', () => {
  test.each(['rbac', 'can'])('%s has help, and says why a cluster cannot be reached', async (command) => {
    const help = await run([command, '--help']);
    expect(help.code).toBe(0);
    expect(help.out).toContain('--kubeconfig <path>');
    const words = command === 'can' ? ['--as', 'alice', 'list', 'pods'] : [];
    const { code, out, err } = await run([command, ...words, '--kubeconfig', kubeconfig('http://127.0.0.1:9')]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^portolan: Nothing listens at the address of the API server [^\n]+\.\n$/);
  });

  test('both need no cluster with --demo, and can no user', async () => {
    const [roles, answer] = await Promise.all([run(['rbac', '--demo']), run(['can', 'delete', 'no', '--demo'])]);
    expect(roles).toMatchObject({ code: 0, err: '', out: expect.stringContaining('kind: ClusterRole\n') });
    expect(answer).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^yes\n/) });
  });

  test('can reads its words, groups with commas and the namespace', async () => {
    const groups = ['--as-group', 'cn=devs,ou=b', '--as-group', 'c'];
    const sim = await startSimCluster();
    onTestFinished(() => sim.close());
    writeFileSync(join(folder(), 'sim.yaml'), sim.kubeconfig());
    const line = [
      'can',
      '--as',
      'alice',
      ...groups,
      'get',
      'po',
      'web',
      '-n',
      'shop',
      '--json',
      '--kubeconfig',
      'sim.yaml',
    ];
    const { code, out, err } = await run(line);
    expect([code, err]).toEqual([1, '']);
    expect(JSON.parse(out)).toMatchObject({
      allowed: false,
      user: { user: 'alice', groups: ['cn=devs,ou=b', 'c', 'system:authenticated'] },
      request: { verb: 'get', resource: 'pods', namespace: 'shop', name: 'web' },
    });
    const roles = await run(['rbac', '--kinds', 'pods', '--service-account', 'a/b', '--kubeconfig', 'sim.yaml']);
    expect([roles.code, roles.err]).toEqual([0, '']);
    expect(roles.out).toContain('kind: ClusterRoleBinding');
    expect(await run(['rbac', '--service-account', 'b'])).toMatchObject({
      code: 1,
      err: 'portolan: --service-account is "b" but must be a namespace and a name, such as portolan/portolan.\n',
    });
  });
});

describe('schema and client-config', () => {
  test('a view of the demo is SDL on standard output', async () => {
    const { code, out, err } = await run(['schema', '--demo', '--kinds', 'Pod,foos.samplecontroller.k8s.io']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('type Pod implements KubernetesObject');
    expect(out).toContain('type SamplecontrollerK8sIoFoo implements KubernetesObject');
    expect(out).not.toContain('type Deployment ');
  });

  test('no such kind', async () => {
    expect(await run(['schema', '--demo', '--kinds', 'Nothing'])).toMatchObject({ code: 1, out: '' });
  });

  test('a reader that has seen enough is no failure', async () => {
    const child = portolan(['schema', '--demo']);
    const ended = once(child, 'exit');
    child.stdout?.destroy();
    expect(await ended).toEqual([0, null]);
  });

  test('schema --semantic-non-null marks what the API server requires', async () => {
    const { code, out } = await run(['schema', '--demo', '--kinds', 'Pod', '--semantic-non-null']);
    expect(code).toBe(0);
    expect(out).toContain('directive @semanticNonNull(levels: [Int] = [0]) on FIELD_DEFINITION');
    expect(out).toMatch(/^ {2}containers: \[Container!\] @semanticNonNull$/m);
    expect(out).toMatch(/^ {2}nodeName: String$/m);
  });

  test('an origin that is none is refused before anything starts', async () => {
    const { code, out, err } = await run(['demo', '--allow-origin', 'http://localhost:5173/app']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^portolan: --allow-origin is \["http:\/\/localhost:5173\/app"\] but must be exact origins [^\n]+\.\n$/,
    );
  });

  test.each([
    [['--apollo'], 'export const cacheConfig'],
    [['--urql'], 'export const cacheConfig'],
    [['--apollo', '--types'], 'export declare const cacheConfig: InMemoryCacheConfig;'],
    [['--urql', '--types'], 'export declare const cacheConfig: Partial<CacheExchangeOpts>;'],
    [['--codegen'], "preset: 'client'"],
  ])('client-config %j', async (flags, part) => {
    const { code, out, err } = await run(['client-config', ...flags]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(part);
  });
});
