/** A query of a kind in its first sync waits for it, over HTTP and WebSocket. */
import { expect, onTestFinished, test } from 'vitest';
import { engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../test/kit/graphql-world.ts';
import { silentLogger } from '../base/log.ts';
import { idleStatus } from '../store/types/progress.ts';
import { startServer } from './http-server.ts';

async function world(waitForSyncMs: number) {
  const fixture = engineFixture({ engine: { waitForSyncMs } });
  await fixture.declare(widget());
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    pages: fixture.pages,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const ask = async (query: string): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return response.json();
  };
  return { ...fixture, ask };
}

const page = '{ exampleComWidgets { nodes { metadata { name } } } }';

test.each([
  ['a list', page, { exampleComWidgets: { nodes: [{ metadata: { name: 'a' } }] } }],
  ['a count', '{ exampleComWidgets { totalCount } }', { exampleComWidgets: { totalCount: 1 } }],
  [
    'an object',
    '{ exampleComWidget(namespace: "default", name: "a") { metadata { name } } }',
    { exampleComWidget: { metadata: { name: 'a' } } },
  ],
])('%s waits until its kind is synced', async (_, query, data) => {
  const { ask, sync } = await world(20_000);
  const answer = ask(query);
  await new Promise((resolve) => setTimeout(resolve, 150));
  await sync(widgets, [made({ name: 'a' })]);
  expect(await answer).toMatchObject({ data });
});

test('without a sync in time the answer is CACHE_NOT_READY', async () => {
  const { ask } = await world(100);
  expect(await ask(page)).toMatchObject({
    errors: [{ extensions: { code: 'CACHE_NOT_READY', resources: [widgets] } }],
  });
});

test('a kind that turns out to be refused is not waited for', async () => {
  const { ask, handle, writer } = await world(60_000);
  const answer = ask(page);
  await new Promise((resolve) => setTimeout(resolve, 100));
  writer().setStatus(handle(widgets), { ...idleStatus, phase: 'PARKED', error: 'forbidden', refused: true });
  expect(await answer).toMatchObject({ errors: [{ extensions: { code: 'RESOURCE_REFUSED' } }] });
});
