/**
 * The start of a gateway with several serve processes. One that cannot start is one clear error, exit code 1, and nothing is left running.
 *
 * PORTOLAN_SERVE_PROCESSES is the number of processes of the largest gateway (6).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { type EndedCommand, runCommand } from '../kit/command-process.ts';
import { eventually } from '../kit/eventually.ts';
import { startGatewayProcess } from '../kit/gateway-process.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { programs } from '../kit/programs.ts';
import { answerOf, childrenOf, isRunning, serving } from '../kit/serve-processes.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const processes = Number(process.env['PORTOLAN_SERVE_PROCESSES'] ?? 6);
const folder = kubeconfigFolder();
let sim: SimCluster;
let kubeconfig: string;

beforeAll(async () => {
  sim = await startSimCluster();
  kubeconfig = folder.file('config', sim.kubeconfig());
});

afterAll(async () => {
  await sim?.close();
  folder.remove();
});

/** Runs the gateway in a folder of its own, to its end. */
async function run(...args: readonly string[]): Promise<EndedCommand> {
  const home = temporaryDirectory('start');
  const ended = await runCommand(['serve', '--kubeconfig', kubeconfig, '--port', '0', ...args], { folder: home });
  expect(processesWith(home), 'processes that are left').toEqual([]);
  expect(readdirSync(home).filter((name) => name.startsWith('portolan-'))).toEqual([]);
  return ended;
}

/** The processes with this text in their environment. */
function processesWith(text: string): readonly string[] {
  const environmentOf = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && isRunning(Number(pid)) && environmentOf(pid).includes(text),
  );
}

test.each(['0', '65', 'x', '-1', '1.5'])('--processes %s', async (count) => {
  const { code, err } = await run(`--processes=${count}`);
  expect([code, err]).toEqual([1, expect.stringMatching(/--processes.*whole number from 1 to 64/)]);
  expect(err.trim().split('\n')).toHaveLength(1);
});

test('two gateways that start together do not share a port', { timeout: 240_000 }, async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const args = ['serve', '--kubeconfig', kubeconfig, '--port', String(port), '--processes', '2', '--log-level', 'info'];
  const [home, other] = [temporaryDirectory('start'), temporaryDirectory('start')];
  // The first one that cannot start ends by itself; the other one ends when it serves.
  const ended = await Promise.all(
    [home, other].map((each) => runCommand(args, { folder: each, until: 'the first sync is complete' })),
  );
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
  expect(ended.map(({ err }) => err).join('')).toContain(`portolan: Port ${port} is taken; choose another with --port`);
  expect([...processesWith(home), ...processesWith(other)]).toEqual([]);
});

test('a port that is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const { code, err } = await run('--processes', '2', '--port', `${port}`);
  expect([code, err]).toEqual([1, expect.stringContaining(`Port ${port} is taken`)]);
});

test('a port that another gateway with several processes has', { timeout: 240_000 }, async () => {
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--processes', '2']);
  onTestFinished(() => gateway.close());
  const { port } = new URL(gateway.url);
  for (const processes of ['1', '2']) {
    const { code, err } = await run('--processes', processes, '--port', port);
    expect([code, err]).toEqual([1, expect.stringContaining(`Port ${port} is taken`)]);
  }
});

test('files of TLS and of the key of plans that cannot be used', { timeout: 240_000 }, async () => {
  const home = temporaryDirectory('files');
  const [cert, key] = ['tls.crt', 'tls.key'].map((name) => join(home, name)) as [string, string];
  writeFileSync(cert, 'no certificate');
  writeFileSync(key, 'no key');
  const tls = await run('--processes', '2', '--tls-cert', cert, '--tls-key', key);
  expect([tls.code, tls.err]).toEqual([1, expect.stringMatching(/^portolan: .*--tls-cert/m)]);
  const plan = await run('--processes', '2', '--read-only=false', '--plan-key-file', join(home, 'none'));
  expect([plan.code, plan.err]).toEqual([1, expect.stringMatching(/^portolan: .*--plan-key-file/m)]);
  const audit = await run('--processes', '2', '--audit-log', home);
  expect([audit.code, audit.err]).toEqual([1, expect.stringMatching(/^portolan: .*--audit-log/m)]);
});

test('a data folder that another gateway has', { timeout: 240_000 }, async () => {
  const file = join(temporaryDirectory('data'), 'portolan.db');
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--processes', '2', '--data', file]);
  onTestFinished(() => gateway.close());
  const pids = await serving(gateway, 2);
  const { code, err } = await run('--processes', '2', '--data', file);
  expect([code, err]).toEqual([1, expect.stringMatching(/^portolan: .*another/m)]);
  for (const pid of pids) expect(await answerOf(gateway.url, pid, '{ namespaces { totalCount } }')).toContain('data');
});

test('a folder for temporary files whose path is longer than that of a socket may be', {
  timeout: 240_000,
}, async () => {
  const home = join(temporaryDirectory('long'), 'x'.repeat(120));
  mkdirSync(home);
  const args = ['serve', '--kubeconfig', kubeconfig, '--port', '0', '--processes', '2'];
  const { code, err } = await runCommand(args, { folder: home });
  expect([code, err]).toEqual([1, expect.stringMatching(/^portolan: .* set TMPDIR to a shorter one\.$/m)]);
  expect(readdirSync(home)).toEqual([]);
});

test('a signal while the gateway starts', { timeout: 240_000 }, async () => {
  const home = temporaryDirectory('signal');
  const args = ['serve', '--kubeconfig', kubeconfig, '--port', '0', '--processes', '2', '--log-level', 'info'];
  const { code } = await runCommand(args, { folder: home, until: 'the store is open' });
  expect([code, processesWith(home)]).toEqual([0, []]);
});

test.each([1, 2])('a signal when %i serve processes have begun to start', { timeout: 240_000 }, async (count) => {
  const home = temporaryDirectory('signal');
  const args = ['serve', '--kubeconfig', kubeconfig, '--port', '0', '--processes', '3'];
  const child = spawn(process.execPath, [programs.portolan, ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await eventually(() => expect(childrenOf(child.pid ?? 0).length).toBeGreaterThanOrEqual(count), 120_000);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await eventually(() => expect(processesWith(home)).toEqual([]), 10_000);
  expect(readdirSync(home).filter((name) => name.startsWith('portolan-'))).toEqual([]);
});

test('a gateway with more serve processes than there are processors starts, and all of them serve', {
  timeout: 120_000 + processes * 30_000,
}, async () => {
  const home = temporaryDirectory('many');
  const args = ['--kubeconfig', kubeconfig, '--processes', String(processes), '--log-level', 'info'];
  const gateway = await startGatewayProcess([...args, '--data', join(home, 'portolan.db')]);
  onTestFinished(() => {
    if (isRunning(gateway.pid)) process.kill(gateway.pid, 'SIGKILL');
  });
  const pids = await serving(gateway, processes);
  for (const pid of pids) expect(await answerOf(gateway.url, pid, '{ namespaces { totalCount } }')).toContain('data');
  expect(gateway.log.filter(({ msg }) => /has ended|no sign of life/.test(msg))).toEqual([]);
  const bytes = pids.reduce((sum, pid) => sum + residentOf(pid), 0);
  process.stdout.write(`${JSON.stringify({ processes, megabytesOfEach: Math.round(bytes / processes / 2 ** 20) })}\n`);
  await gateway.close();
  expect(pids.filter(isRunning)).toEqual([]);
});

/** Resident memory in bytes. */
function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

test('one process needs no other', { timeout: 240_000 }, async () => {
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--processes', '1']);
  expect(childrenOf(gateway.pid)).toEqual([]);
  await gateway.close();
});
