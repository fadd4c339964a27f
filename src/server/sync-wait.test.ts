/** A query of a kind in its first sync waits for it, over HTTP and WebSocket. */
import { expect, onTestFinished, test } from 'vitest';
import { engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../test/kit/graphql-world.ts';
import { silentLogger } from '../base/log.ts';
import { idleStatus } from '../store/types/progress.ts';
import { startServer } from './http-server.ts';

async function world(waitForSyncMs: number) {
  const fixture = engineFixture({ engine: { waitForSyncMs } });
  await fixture.declare(widget(), widget('west'), gadget());
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
  let executions = 0;
  const { source } = fixture.engine;
  const { generation } = source;
  // Each execution makes an operation on the current generation. So does the lookup of a prepared answer.
  source.generation = () => {
    executions += 1;
    return generation();
  };
  const ask = async (query: string): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return response.json();
  };
  return { ...fixture, ask, executions: () => executions };
}

const refused = { ...idleStatus, phase: 'PARKED', error: 'forbidden', refused: true } as const;
const page = '{ exampleComWidgets { nodes { metadata { name } } } }';

test.each([
  ['a list', page, { exampleComWidgets: { nodes: [{ metadata: { name: 'a' } }] } }],
  ['a count', '{ exampleComWidgets { totalCount } }', { exampleComWidgets: { totalCount: 1 } }],
  [
    'an object',
    '{ exampleComWidget(cluster: "east", namespace: "default", name: "a") { metadata { name } } }',
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
  for (const cluster of ['east', 'west']) writer().setStatus(handle(widgets, cluster), refused);
  expect(await answer).toMatchObject({ errors: [{ extensions: { code: 'RESOURCE_REFUSED' } }] });
});

test('a list over kinds needs one kind that is synced, whatever the others are', async () => {
  const { ask, handle, sync, writer } = await world(20_000);
  writer().setStatus(handle(gadgets), refused);
  const answer = ask('{ objects(kinds: ["*"]) { totalCount } }');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await sync(widgets, [made({ name: 'a' })]);
  expect(await answer).toMatchObject({ data: { objects: { totalCount: 1 } } });
});

test('at its deadline a query answers with what has been synced meanwhile', async () => {
  const { ask, sync } = await world(1500);
  const answer = ask('{ exampleComWidgets { totalCount } exampleComGadgets { totalCount } }');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await sync(widgets, [made({ name: 'a' })]);
  expect(await answer).toMatchObject({
    data: { exampleComWidgets: { totalCount: 1 }, exampleComGadgets: null },
    errors: [{ extensions: { code: 'CACHE_NOT_READY' } }],
  });
});

test('a query waits for its own clusters, and is not executed again for others', async () => {
  const { ask, executions, handle, sync, writer } = await world(1500);
  writer().setStatus(handle(widgets), refused);
  const inWest = ask('{ exampleComWidgets(filter: { clusters: ["west"] }) { totalCount } }');
  const anywhere = ask(page);
  expect(await inWest).toMatchObject({ errors: [{ extensions: { code: 'CACHE_NOT_READY' } }] });
  expect(await anywhere).toMatchObject({ errors: [{ extensions: { code: 'CACHE_NOT_READY' } }] });
  expect(executions()).toBeLessThanOrEqual(4);
  const later = ask('{ exampleComWidgets(filter: { clusters: ["west"] }) { totalCount } }');
  await sync(widgets, [made({ name: 'a' })], 'west');
  expect(await later).toMatchObject({ data: { exampleComWidgets: { totalCount: 1 } } });
});
