import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { must } from '../../base/must.ts';
import { RegisteredConnections } from './registered-connections.ts';
import { RestClient } from './rest-client.ts';

/** A server that answers each request when the test lets it. */
async function heldServer(): Promise<{ readonly url: string; readonly asked: Promise<void>; release(): void }> {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    asked.resolve();
    void released.promise.then(() => response.setHeader('content-type', 'application/json').end('{"ok":true}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: asked.promise, release: () => released.resolve() };
}

function registered(name: string, server: string, user: object = {}) {
  const text = JSON.stringify({
    'current-context': name,
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
  return { name, inline: { text, source: name } };
}

const never = (): void => expect.unreachable('all settings can be used');

test('a request goes on while another cluster comes, changes and goes', async () => {
  const { url, asked, release } = await heldServer();
  const connections = new RegisteredConnections();
  onTestFinished(() => connections.close());
  expect(await connections.replace([registered('east', url)], never)).toBe(true);
  const answer = new RestClient(must(connections.get('east'), 'east')).get('/version');
  await asked;
  await connections.replace([registered('east', url), registered('west', 'http://127.0.0.1:9')], never);
  await connections.replace([registered('west', 'http://127.0.0.1:10'), registered('east', url)], never);
  expect(await connections.replace([registered('east', url)], never)).toBe(true);
  expect(await connections.replace([registered('east', url)], never)).toBe(false);
  expect(connections.names).toEqual(['east']);
  release();
  expect(await answer).toEqual({ ok: true });
});

test('changed settings end the connection, and settings that cannot be used leave the cluster out', async () => {
  const connections = new RegisteredConnections();
  onTestFinished(() => connections.close());
  await connections.replace([registered('east', 'http://127.0.0.1:9')], never);
  const before = connections.get('east');
  await connections.replace([registered('east', 'http://127.0.0.1:9', { token: 'new' })], never);
  expect(connections.get('east')).not.toBe(before);
  const failed: string[] = [];
  const broken = registered('broken', 'http://127.0.0.1:9', {
    'client-certificate-data': 'eA==',
    'client-key-data': 'eA==',
  });
  await connections.replace([broken, registered('east', 'http://127.0.0.1:9')], (name) => failed.push(name));
  expect(failed).toEqual(['broken']);
  expect(connections.names).toEqual(['east']);
});
