/** What each serve process decides for itself, and must decide as the others do: certificates, refused writes, the order of ends. */
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { answerOf, childrenOf, isRunning, readinessOf, sendTo, serving, socketTo } from '../kit/serve-processes.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { configMap, mutationOf } from '../kit/writes-suite.ts';

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

async function started(...args: readonly string[]): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--processes', '2', ...args]);
  onTestFinished(() => {
    if (isRunning(gateway.pid)) process.kill(gateway.pid, 'SIGKILL');
  });
  return gateway;
}

/** The common name of the certificate that this process shows. */
async function shownBy({ url }: GatewayProcess, pid: number, { ca }: CertificateAuthority): Promise<string> {
  const raw = await socketTo(url, pid);
  const socket = connect({ socket: raw, ca, host: '127.0.0.1' });
  try {
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return String(socket.getPeerCertificate().subject.CN);
  } finally {
    socket.destroy();
  }
}

test('each process shows a renewed certificate, also one that is started later', { timeout: 240_000 }, async () => {
  const authority = await createCertificateAuthority();
  onTestFinished(() => authority.remove());
  const home = temporaryDirectory('tls');
  const [cert, key] = ['tls.crt', 'tls.key'].map((name) => join(home, name)) as [string, string];
  const renew = async (commonName: string): Promise<void> => {
    const issued = await authority.issue({ names: ['IP:127.0.0.1'], commonName });
    writeFileSync(cert, issued.cert);
    writeFileSync(key, issued.key);
  };
  await renew('first');
  const gateway = await started('--tls-cert', cert, '--tls-key', key);
  expect(gateway.url).toMatch(/^https:/);
  const pids = childrenOf(gateway.pid);
  expect(pids).toHaveLength(2);
  for (const pid of pids) expect(await shownBy(gateway, pid, authority)).toBe('first');
  await renew('second');
  for (const pid of pids) {
    await eventually(async () => expect(await shownBy(gateway, pid, authority)).toBe('second'), 60_000);
  }
  const [victim = 0, other = 0] = pids;
  process.kill(victim, 'SIGKILL');
  await eventually(async () => {
    const later = childrenOf(gateway.pid).find((pid) => pid !== other && pid !== victim) ?? 0;
    expect(await shownBy(gateway, later, authority)).toBe('second');
  }, 60_000);
  await gateway.close();
});

test('a read-only gateway refuses mutations at each process', { timeout: 240_000 }, async () => {
  const gateway = await started('--read-only=true');
  for (const pid of await serving(gateway, 2)) {
    const docs = [{ json: configMap('default', `by-${pid}`, {}) }];
    const body = JSON.stringify({ query: mutationOf('create'), variables: { docs, options: {} } });
    const { text } = await sendTo(gateway.url, pid, { body });
    expect(text).toContain('This gateway is read-only');
    expect(sim.get(`/api/v1/namespaces/default/configmaps/by-${pid}`)).toBeUndefined();
  }
  await gateway.close();
});

test('each process notices the write of another program by itself, while the ingest process is stopped', {
  timeout: 240_000,
}, async () => {
  const file = join(temporaryDirectory('sealed'), 'portolan.db');
  const gateway = await started('--data', file);
  const query = '{ namespaces { nodes { metadata { name } } } }';
  const pids = await serving(gateway, 2);
  for (const pid of pids) expect(await answerOf(gateway.url, pid, query)).not.toContain('errors');
  gateway.signal('SIGSTOP');
  for (const pid of pids) expect(await answerOf(gateway.url, pid, query)).not.toContain('errors');
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, 'X', statSync(file).size - 100);
  closeSync(descriptor);
  for (const pid of pids) {
    const answer = JSON.parse(await answerOf(gateway.url, pid, query)) as Answer;
    expect(answer.errors?.[0]).toMatchObject({
      message: expect.stringContaining('another program has written into it'),
      extensions: { code: 'CACHE_NOT_READY' },
    });
  }
  // The store is made anew when the ingest process goes on.
  gateway.signal('SIGCONT');
  for (const pid of pids) {
    await eventually(async () => expect(await answerOf(gateway.url, pid, query)).not.toContain('errors'), 60_000);
  }
  await gateway.close();
});

test('serve processes have a higher OOM score than the ingest process', {
  timeout: 240_000,
}, async () => {
  const gateway = await started();
  const scoreOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
  for (const pid of await serving(gateway, 2)) {
    expect(scoreOf(pid)).toBe(Math.min(1000, scoreOf(gateway.pid) + 100));
  }
  await gateway.close();
});

test('a storm of SIGHUP at the serve processes does nothing, and one at the gateway ends it in order, once', {
  timeout: 240_000,
}, async () => {
  const gateway = await started('--log-level', 'info');
  const pids = await serving(gateway, 2);
  for (let at = 0; at < 300; at += 1) for (const pid of pids) process.kill(pid, 'SIGHUP');
  for (const pid of pids) expect(await answerOf(gateway.url, pid, '{ namespaces { totalCount } }')).toContain('data');
  expect(await serving(gateway, 2)).toEqual(pids);
  for (let at = 0; at < 300; at += 1) process.kill(gateway.pid, 'SIGHUP');
  await gateway.close();
  const texts = gateway.log.map(({ msg }) => msg);
  expect(texts.filter((text) => text === 'the gateway ends')).toHaveLength(1);
  expect(texts.filter((text) => text.includes('has ended'))).toEqual([]);
  expect(pids.filter(isRunning)).toEqual([]);
});

test('while one process ends again and again, every request at the other is answered', {
  timeout: 240_000,
}, async () => {
  const gateway = await started();
  const [, survivor = 0] = await serving(gateway, 2);
  const isOver = new AbortController();
  const killed = new Set<number>();
  const killing = (async () => {
    while (!isOver.signal.aborted) {
      for (const pid of childrenOf(gateway.pid)) {
        // One that was killed may be listed until its parent has noticed.
        if (pid === survivor || killed.has(pid)) continue;
        killed.add(pid);
        process.kill(pid, 'SIGKILL');
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  let answers = 0;
  while (killed.size < 4 || answers < 50) {
    expect(await answerOf(gateway.url, survivor, '{ namespaces { totalCount } }')).toContain('"totalCount"');
    answers += 1;
  }
  expect((await readinessOf(gateway.url, survivor)).processes).toMatchObject({ serving: 1 });
  isOver.abort();
  await killing;
  await serving(gateway, 2);
  expect(isRunning(survivor)).toBe(true);
  await gateway.close();
});
