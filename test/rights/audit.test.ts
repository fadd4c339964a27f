/** Denials over every door are in the audit, and no secret of a caller is. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const users = [
  { token: 'token-of-admin', user: 'admin', groups: ['system:masters'] },
  { token: 'token-of-nobody', user: 'nobody', groups: ['visitors'] },
];

test('a required audit log that cannot be written makes the gateway not ready, and says why', async () => {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const logs = join(folder.dir, 'logs');
  mkdirSync(logs);
  const kubeconfig = folder.file('config', sim.kubeconfig());
  const options = { auth: ['none'], auditLog: join(logs, 'audit.jsonl'), auditRequired: true };
  const gateway = await runGateway({ name: 'east', kubeconfig }, options);
  onTestFinished(() => gateway.close());
  const at = (path: string) => fetch(gateway.url.replace('/graphql', path));
  const ready = async () => {
    const answer = await at('/readyz');
    return [answer.status, await answer.json()];
  };
  expect(await ready()).toMatchObject([200, { ready: true, audit: { writable: true, missingLines: 0 } }]);
  rmSync(logs, { recursive: true });
  const denied = () => fetch(gateway.url, { headers: { origin: 'http://elsewhere.example' } });
  expect((await denied()).status).toBe(403);
  await eventually(async () => {
    const expected = { ready: false, status: 'degraded', audit: { writable: false, missingLines: 1 } };
    expect(await ready()).toMatchObject([503, expected]);
  });
  expect(await (await at('/metrics')).text()).toContain('portolan_audit_missing_lines_total 1');
  mkdirSync(logs);
  await eventually(async () => expect(await ready()).toMatchObject([200, { ready: true }]));
  expect(readFileSync(options.auditLog, 'utf8')).toContain('"event":"missing"');
});

test('a user is named for each denied operation while thousands of unknown requests are refused', async () => {
  const sim = await startSimCluster({ features: { users } });
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const auditLog = join(folder.dir, 'audit.jsonl');
  const gateway = await runGateway(
    { name: 'east', kubeconfig: folder.file('config', sim.kubeconfig()) },
    { auth: ['token'], auditLog },
  );
  const unknown = 20_000;
  const agent = new Agent({ connections: 50 });
  const post = async (query: string, token: string): Promise<void> => {
    const headers = {
      'content-type': 'application/json',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    };
    const body = JSON.stringify({ query });
    await (await request(gateway.url, { method: 'POST', headers, body, dispatcher: agent })).body.dump();
  };
  let sent = 0;
  const flood = Array.from({ length: 50 }, async () => {
    for (; sent < unknown; sent += 1) await post('{ viewer { name } }', '');
  });
  for (let index = 0; index < 20; index += 1) {
    await post(`query Named${index} { secrets { nodes { id } } }`, 'token-of-nobody');
  }
  await Promise.all(flood);
  await agent.close();
  await gateway.close();
  const lines = readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; user: string | null; operation?: string; denials?: number });
  const named = lines.filter(({ user, operation }) => user === 'nobody' && operation !== undefined);
  expect(named.map(({ operation }) => operation)).toEqual(Array.from({ length: 20 }, (_, index) => `Named${index}`));
  const told = lines
    .filter(({ user }) => user === null)
    .reduce((sum, { event, denials = 0 }) => sum + (event === 'left out' ? denials : 1), 0);
  expect(told).toBeGreaterThanOrEqual(unknown);
  expect(lines.length).toBeLessThan(unknown / 4);
}, 120_000);

test('every door tells its denials to the audit', async () => {
  const sim = await startSimCluster({ features: { users } });
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const auditLog = join(folder.dir, 'audit.jsonl');
  const kubeconfig = folder.file('config', sim.kubeconfig());
  const gateway = await runGateway({ name: 'east', kubeconfig }, { auth: ['token'], auditLog });
  onTestFinished(() => gateway.close());
  const post = async (query: string, token: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return (await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query }) })).status;
  };
  await post('query Overview { secrets { nodes { id } } }', 'token-of-nobody');
  await post('{ pods { nodes { id } } }', 'token-of-admin');
  expect(await post('{ pods { nodes { id } } }', 'a-wrong-token')).toBe(401);
  const metrics = await fetch(gateway.url.replace('/graphql', '/metrics'), {
    headers: { authorization: 'Bearer token-of-nobody' },
  });
  expect(metrics.status).toBe(403);
  const unknown = await fetch(gateway.url.replace('/graphql', '/metrics'));
  expect(unknown.status).toBe(401);
  expect(unknown.headers.get('www-authenticate')).toBe('Bearer');
  const readiness = await fetch(gateway.url.replace('/graphql', '/readyz'));
  expect(await readiness.json()).toEqual({ ready: true, status: 'ready' });
  const detailed = await fetch(gateway.url.replace('/graphql', '/readyz'), {
    headers: { authorization: 'Bearer token-of-admin' },
  });
  expect(await detailed.json()).toHaveProperty('clusters');
  const over = (token: string) => {
    const client = createClient({
      url: gateway.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
    });
    onTestFinished(() => void client.dispose());
    return client.iterate({ query: 'subscription { podChanges { phase } }' }).next();
  };
  await expect(over('another-wrong-token')).rejects.toMatchObject({ code: 4403 });
  await over('token-of-nobody').catch(() => {});

  const lines = () =>
    readFileSync(auditLog, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await eventually(() => expect(lines()).toHaveLength(6));
  expect(lines()).toMatchObject([
    {
      code: 'FORBIDDEN',
      user: 'nobody',
      groups: expect.arrayContaining(['visitors']),
      operation: 'Overview',
      path: 'secrets',
      resources: ['secrets'],
    },
    { code: 'UNAUTHENTICATED', user: null, address: expect.stringContaining('127.0.0.1') },
    { code: 'FORBIDDEN', user: 'nobody', path: '/metrics' },
    { code: 'UNAUTHENTICATED', user: null, path: '/metrics' },
    { code: 'UNAUTHENTICATED', user: null },
    { code: 'FORBIDDEN', user: 'nobody', resources: ['pods'], address: expect.stringContaining('127.0.0.1') },
  ]);
  expect(readFileSync(auditLog, 'utf8')).not.toContain('token-');
});
