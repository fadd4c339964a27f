/** Denials over every door are in the audit, and no secret of a caller is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { startSimCluster } from '../src/sim/sim-cluster.ts';
import { eventually } from './kit/eventually.ts';
import { runGateway } from './kit/gateway.ts';
import { kubeconfigFolder } from './kit/kubeconfig-file.ts';

const users = [
  { token: 'token-of-admin', user: 'admin', groups: ['system:masters'] },
  { token: 'token-of-nobody', user: 'nobody', groups: ['visitors'] },
];

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
  await eventually(() => expect(lines()).toHaveLength(5));
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
    { code: 'FORBIDDEN', user: 'nobody' },
    { code: 'UNAUTHENTICATED', user: null },
    { code: 'FORBIDDEN', user: 'nobody', resources: ['pods'] },
  ]);
  expect(readFileSync(auditLog, 'utf8')).not.toContain('token-');
});
