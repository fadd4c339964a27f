/** The command line as a process: demo from start to Ctrl-C, and one sentence for each thing that cannot start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { data } from './support/graphql-client.ts';
import { kubeconfigFolder } from './support/kubeconfig-file.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const folder = kubeconfigFolder();
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Run {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  readonly exited: Promise<number | null>;
  /** Resolves with the first match in standard output. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

function portolan(args: readonly string[], environment: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: folder.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder.dir, ...environment },
  });
  children.push(child);
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    out: () => texts.out,
    err: () => texts.err,
    exited,
    async printed(pattern) {
      for (;;) {
        const match = pattern.exec(texts.out);
        if (match !== null) return match;
        const ended = await Promise.race([once(child.stdout, 'data').then(() => false), exited.then(() => true)]);
        if (ended) throw new Error(`it ended: ${texts.err}`);
      }
    },
  };
}

describe('portolan demo', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('starts, answers, and ends with 0 by %s', async (signal) => {
    const run = portolan(['demo', '--port', '0', '--pods', '60']);
    const [, url] = await run.printed(/^Playground: (http:\/\/127\.0\.0\.1:\d+\/graphql)$/m);
    const answer = await data<{ resources: unknown[] }>(String(url), '{ resources { key } }');
    expect(answer.resources.length).toBeGreaterThan(20);
    const began = performance.now();
    run.child.kill(signal);
    expect(await run.exited).toBe(0);
    process.stdout.write(`ended ${Math.round(performance.now() - began)} ms after ${signal}\n`);
  });

  test('a signal before it is up ends it too', async () => {
    const run = portolan(['demo', '--port', '0']);
    await once(run.child, 'spawn');
    run.child.kill('SIGTERM');
    expect([0, null, 143]).toContain(await run.exited);
  });

  test('tells what to do when the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const run = portolan(['demo', '--port', String(port), '--pods', '0']);
    expect(await run.exited).toBe(1);
    expect(run.err()).toContain(`portolan: Port ${port} is taken; choose another with --port, or --port 0 for any.`);
    taken.close();
  });
});

describe('portolan serve', () => {
  const sentence = async (args: readonly string[], environment: Record<string, string> = {}): Promise<string> => {
    const run = portolan(['serve', '--port', '0', ...args], environment);
    expect(await run.exited).toBe(1);
    expect(run.out()).toBe('');
    expect(run.err().trimEnd().split('\n')).toHaveLength(1);
    return run.err();
  };
  const status = (code: number, reason: string): string =>
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason });

  test('a missing kubeconfig', async () => {
    expect(await sentence([])).toMatch(/^portolan: .*kubeconfig.*\.$/m);
    expect(await sentence(['--kubeconfig', 'nowhere.yaml'])).toContain('nowhere.yaml');
  });

  test('a broken kubeconfig', async () => {
    expect(await sentence(['--kubeconfig', folder.file('broken', 'apiVersion: [')])).toContain('broken');
  });

  test('an unreachable server', async () => {
    expect(await sentence(['--kubeconfig', folder.write({ server: 'http://127.0.0.1:1' })])).toContain('127.0.0.1:1');
  });

  test.each([
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
  ])('a %i', async (code, reason) => {
    const server = createServer((_request, response) => {
      response.writeHead(code, { 'content-type': 'application/json' }).end(status(code, reason));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await sentence(['--kubeconfig', folder.write({ server: `http://127.0.0.1:${port}` })])).toMatch(
      /^portolan: .+\.$/m,
    );
    server.close();
  });

  test('an address that others could reach', async () => {
    const message = await sentence([
      '--kubeconfig',
      folder.write({ server: 'http://127.0.0.1:1' }),
      '--host',
      '0.0.0.0',
    ]);
    expect(message).toContain('0.0.0.0');
    expect(message).toContain('access control');
  });

  test('an option that cannot be used', async () => {
    expect(await sentence(['--readers', 'many'])).toContain('--readers is "many"');
    expect(await sentence([], { PORTOLAN_LEASE_MS: '1' })).toContain('PORTOLAN_LEASE_MS');
  });
});

describe('the rest of the command line', () => {
  test('--help is for people', async () => {
    const run = portolan(['--help']);
    expect(await run.exited).toBe(0);
    for (const word of ['demo', 'serve', 'schema', 'client-config', 'Examples']) expect(run.out()).toContain(word);
  });

  test('schema prints a view of the demo world', async () => {
    const run = portolan(['schema', '--demo', '--kinds', 'Pod,foos.samplecontroller.k8s.io']);
    expect(await run.exited).toBe(0);
    expect(run.out()).toContain('type Pod implements KubernetesObject');
    expect(run.out()).toContain('type SamplecontrollerK8sIoFoo implements KubernetesObject');
    expect(run.out()).not.toContain('type Deployment implements');
  });

  test('an unknown command says where help is', async () => {
    const run = portolan(['sevre']);
    expect(await run.exited).toBe(1);
    expect(run.err()).toMatch(/unknown command.*sevre/);
  });
});
