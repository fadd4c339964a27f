/** Tokens that end while a client is connected, on the simulated cluster. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import type { Caller } from '../../src/access/caller.ts';
import { fixedRights } from '../../src/access/rights.ts';
import { unrestricted } from '../../src/access/scope.ts';
import type { Denial } from '../../src/admission/audit.ts';
import { PortolanError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { startServer } from '../../src/server/http-server.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { widget, widgets } from '../kit/graphql-world.ts';
import { userOf } from '../kit/user.ts';

/** Tokens by name; each is valid until its time. */
async function world() {
  const validUntil = new Map<string, number>();
  const callers = new Map<string, Caller>();
  const denials: Denial[] = [];
  const fixture = engineFixture({ engine: { rights: fixedRights(() => unrestricted) } });
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    audit: { denied: (denial) => void denials.push(denial) },
    authenticate({ connectionParams }) {
      const token = String(connectionParams?.['authorization']);
      if ((validUntil.get(token) ?? 0) <= Date.now()) throw new PortolanError('UNAUTHENTICATED', 'no');
      const caller = callers.get(token) ?? {
        name: token,
        user: userOf(token),
        get validUntil() {
          return validUntil.get(token) ?? 0;
        },
      };
      callers.set(token, caller);
      return caller;
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
    checkCallersMs: 50,
  });
  onTestFinished(() => server.close());
  return { fixture, server, validUntil, denials };
}

test('a WebSocket is closed with 4403 when its token ends, and the client comes back with a new one', async () => {
  const { fixture, server, validUntil } = await world();
  validUntil.set('first', Date.now() + 1500);
  validUntil.set('second', Date.now() + 60_000);
  const sent: string[] = [];
  const closed: unknown[] = [];
  const client = createClient({
    url: server.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: () => {
      const token = sent.length === 0 ? 'first' : 'second';
      sent.push(token);
      return { authorization: token };
    },
    shouldRetry: () => true,
    retryAttempts: 3,
    retryWait: async () => {},
    on: { closed: (event) => closed.push((event as { code: number }).code) },
  });
  onTestFinished(() => void client.dispose());
  const phases: string[] = [];
  for await (const { data } of client.iterate<{ w: { phase: string; changes: unknown[] } }>({
    query: 'subscription { w: exampleComWidgetChanges { phase changes { id } } }',
  })) {
    phases.push(data?.w.phase ?? '');
    if (sent.length === 2 && data?.w.phase === 'SYNCED') fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
    if (data?.w.phase === 'LIVE') break;
  }
  expect(sent).toEqual(['first', 'second']);
  expect(closed[0]).toBe(4403);
  expect(phases.filter((phase) => phase === 'SYNCED')).toHaveLength(2);
});

test('an operation on a connection whose token has ended is refused', async () => {
  const { server, validUntil, denials } = await world();
  validUntil.set('short', Date.now() + 200);
  const client = createClient({
    url: server.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: 'short' },
    lazy: false,
    retryAttempts: 0,
    onNonLazyError: () => {},
  });
  onTestFinished(() => void client.dispose());
  await new Promise((resolve) => client.on('connected', resolve));
  const code = await new Promise((resolve) =>
    client.on('closed', (event) => resolve((event as { code: number }).code)),
  );
  expect(code).toBe(4403);
  expect(denials).toMatchObject([{ code: 'UNAUTHENTICATED', caller: { name: 'short' } }]);
});
