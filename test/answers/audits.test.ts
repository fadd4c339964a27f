/** GraphQL over HTTP: every audit of graphql-http, on the endpoint without a socket and on the server with prepared answers. */
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createYogaServer } from '../../src/server/graphql/yoga-server.ts';
import { type RunningServer, startServer } from '../../src/server/http-server.ts';
import { handMadeSource } from '../kit/hand-made-source.ts';

const { source, log } = handMadeSource();
const yoga = createYogaServer({ source, log });
let server: RunningServer;
beforeAll(async () => {
  const pages = { pages: () => Promise.reject(new Error('nothing here is a list')), pagesNow: () => null };
  server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source,
    log,
    tabs: [],
    readiness: () => ({ ready: true }),
    pages,
  });
});
afterAll(() => server.close());

function auditsOf(url: () => string, fetchFn: typeof fetch): void {
  const audits = serverAudits({ url, fetchFn });

  test('there are audits to pass', () => {
    expect(audits.length).toBeGreaterThan(50);
  });

  test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s %s', async (_id, _name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
}

describe('GraphQL over HTTP: the endpoint', () =>
  auditsOf(() => 'http://127.0.0.1/graphql', yoga.fetch as typeof fetch));
describe('GraphQL over HTTP: the server', () => auditsOf(() => server.url, fetch));
