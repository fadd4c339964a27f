/** HTTP through Yoga, prepared answers and WebSocket authenticate the caller. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../test/kit/graphql-world.ts';
import { pageOptionsIn } from '../../test/kit/playground-page.ts';
import { type Authenticate, type Caller, localUser } from '../access/caller.ts';
import { fixedRights } from '../access/rights.ts';
import { noRows, unrestricted } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { startServer } from './http-server.ts';
import { builtInExamples, offeredExamples } from './playground/examples.ts';
import { readWrittenExamples } from './written-examples.ts';

const nobody = { id: 'none', of: () => noRows };
const plain = '{ exampleComWidgets { nodes { metadata { name } } } }';
const counted = '{ exampleComWidgets { totalCount nodes { metadata { name } } } }';

/** `alice` sees everything and other names see nothing. A request without a name is rejected, and two names have other errors. */
const byName = (name: string | undefined): Caller => {
  if (name === undefined) throw new PortolanError('UNAUTHENTICATED', 'Say who you are.');
  if (name === 'hurried') throw new PortolanError('TOO_MANY_REQUESTS', 'Too many callers; wait.');
  if (name === 'unknowable') throw new PortolanError('UPSTREAM_UNAVAILABLE', 'The API server does not answer.');
  return { ...localUser, name };
};
const ways: readonly (readonly [string, Authenticate])[] = [
  ['at once', ({ header, connectionParams }) => byName(header('x-name') ?? (connectionParams?.['name'] as string))],
  [
    'later',
    async ({ header, connectionParams }) => {
      await new Promise(setImmediate);
      return byName(header('x-name') ?? (connectionParams?.['name'] as string));
    },
  ],
];

async function world(authenticate: Authenticate) {
  const fixture = engineFixture({
    engine: { rights: fixedRights(({ name }) => (name === 'alice' ? unrestricted : nobody)) },
  });
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    authenticate,
    readiness: () => ({ ready: true }),
    tabs: readWrittenExamples(),
    pages: fixture.pages,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  return server;
}

test.each(ways)('over HTTP, prepared or not, the caller is known %s', async (_, authenticate) => {
  const { url } = await world(authenticate);
  const ask = async (query: string, name: string) => {
    const headers = { 'content-type': 'application/json', 'x-name': name };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { data } = (await response.json()) as { data: { exampleComWidgets: { nodes: unknown[] } | null } };
    return data.exampleComWidgets?.nodes ?? 'hidden';
  };
  // One after the other: an answer cached for one caller must not be served to the other.
  for (const query of [plain, counted]) {
    for (const turn of [1, 2]) {
      expect([turn, await ask(query, 'alice')]).toEqual([turn, [{ metadata: { name: 'a' } }]]);
      expect([turn, await ask(query, 'bob')]).toEqual([turn, 'hidden']);
    }
  }
});

test.each(ways)('credentials that are refused %s get a coded answer', async (_, authenticate) => {
  const { url } = await world(authenticate);
  const json = { 'content-type': 'application/json' };
  const requests: readonly RequestInit[] = [
    ...[plain, counted].map((query) => ({ method: 'POST', headers: json, body: JSON.stringify({ query }) })),
    { method: 'POST', headers: { ...json, accept: 'text/html' }, body: JSON.stringify({ query: plain }) },
    { method: 'HEAD', headers: { accept: 'text/html' } },
    { headers: { accept: 'application/json' } },
    {},
  ];
  for (const request of requests) {
    const response = await fetch(url, request);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    if (request.method === 'HEAD') continue;
    expect(await response.json()).toEqual({
      errors: [{ message: 'Say who you are.', extensions: { code: 'UNAUTHENTICATED' } }],
    });
  }
});

test.each(ways)('a caller who cannot be authenticated %s gets the status of the reason', async (_, authenticate) => {
  const { url } = await world(authenticate);
  for (const [name, status, code, retryAfter] of [
    ['hurried', 429, 'TOO_MANY_REQUESTS', '1'],
    ['unknowable', 503, 'UPSTREAM_UNAVAILABLE', null],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'x-name': name };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: plain }) });
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    expect(response.headers.get('www-authenticate')).toBeNull();
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code } }] });
  }
});

test('a browser gets the page without credentials, and the page tells nothing of the clusters', async () => {
  const asked: unknown[] = [];
  const { url } = await world(({ header }) => {
    asked.push(header('x-name'));
    return byName(header('x-name'));
  });
  const pageOf = async (headers: Record<string, string>, query = ''): Promise<string> => {
    const response = await fetch(`${url}${query}`, { headers: { accept: 'text/html,*/*;q=0.8', ...headers } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    return await response.text();
  };
  const page = await pageOf({});
  const examples = builtInExamples(offeredExamples(readWrittenExamples(), { writes: false, authenticates: true }));
  expect(pageOptionsIn(page)).toEqual({ examples, keptFor: '', profiles: [], explain: false, authenticates: true });
  expect(page.includes('exampleCom')).toBe(false);
  // GraphiQL writes the document into the URL, so a page that loads again has a query there. It is not executed.
  expect((await pageOf({ 'x-name': 'alice' }, '?query={exampleComWidgets{totalCount}}')) === page).toBe(true);
  expect(asked).toEqual([]);
});

test.each(ways)('over WebSocket the caller is known %s, from connection_init', async (_, authenticate) => {
  const { url } = await world(authenticate);
  const ask = async (connectionParams: Record<string, unknown>) => {
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams,
      retryAttempts: 0,
    });
    onTestFinished(() => void client.dispose());
    for await (const { data } of client.iterate({ query: counted })) return data;
    return null;
  };
  expect(await ask({ name: 'alice' })).toMatchObject({ exampleComWidgets: { totalCount: 1 } });
  expect(await ask({ name: 'bob' })).toEqual({ exampleComWidgets: null });
  await expect(ask({})).rejects.toMatchObject({ code: 4403 });
  await expect(ask({ name: 'hurried' })).rejects.toMatchObject({ code: 1013, reason: 'TOO_MANY_REQUESTS' });
  await expect(ask({ name: 'unknowable' })).rejects.toMatchObject({ code: 1013, reason: 'UPSTREAM_UNAVAILABLE' });
});
