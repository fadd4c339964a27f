import { expect, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { gadget, widget, widgets } from '../../test/kit/graphql-world.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { createYogaServer } from '../server/graphql/yoga-server.ts';

function listening(): { readonly log: Logger; readonly messages: string[] } {
  const messages: string[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (_fields, message) => void messages.push(message),
    warn: (_fields, message) => void messages.push(`warn ${message}`),
    error: (_fields, message) => void messages.push(`error ${message}`),
    child: () => log,
  };
  return { log, messages };
}

test('before a cluster was reached there is no schema; without kinds there is an empty one', async () => {
  const { engine } = engineFixture();
  expect(() => engine.source.generation()).toThrow(expect.objectContaining({ code: 'CACHE_NOT_READY' }));
  await engine.refreshCatalog();
  expect(engine.source.generation().catalog.kinds).toEqual([]);
});

test('publishes a generation when the catalog has changed, and only then', async () => {
  const { log, messages } = listening();
  const { declare, engine } = engineFixture({ log });
  await declare(widget());
  const first = engine.source.generation();
  await declare(widget());
  expect(engine.source.generation()).toBe(first);
  await Promise.all([engine.refreshCatalog(), engine.refreshCatalog()]);
  expect(messages.filter((message) => message === 'schema published')).toHaveLength(1);
  await declare(gadget());
  expect(engine.source.generation()).not.toBe(first);
  expect(first.kind('gadgets.example.com')).toBeUndefined();
});

test('a refresh that is asked for during another one sees what was declared between', async () => {
  const { writer, engine } = engineFixture();
  writer().openCluster('east', 'u');
  const running = engine.refreshCatalog();
  writer().declare(widget());
  const again = engine.refreshCatalog();
  await Promise.all([running, again]);
  expect(engine.source.generation().kind(widgets)).toBeDefined();
});

test('a query in flight keeps the generation it began on, while the kind is removed', async () => {
  const { declare, sync, query, writer, handle, engine, statements } = engineFixture();
  await declare(widget());
  await sync(widgets, [made({ name: 'a', spec: { replicas: 1 } })]);
  // The kind is removed as soon as the query has begun to read.
  let refreshed: Promise<void> | null = null;
  statements.push = (...asked) => {
    refreshed ??= writer()
      .drop(handle(widgets))
      .then(() => engine.refreshCatalog());
    return asked.length;
  };
  const { data, errors, operation } = await query('{ exampleComWidgets { nodes { spec { replicas } } totalCount } }');
  await refreshed;
  expect(errors).toEqual([]);
  expect(data.exampleComWidgets).toEqual({ nodes: [{ spec: { replicas: 1 } }], totalCount: 1 });
  expect(engine.source.generation()).not.toBe(operation.generation);
  await expect(query('{ exampleComWidgets { totalCount } }')).rejects.toThrow(/Cannot query field/);
});

test('a catalog that cannot be read leaves the current generation and is reported; the first one is thrown', async () => {
  const { log, messages } = listening();
  const { declare, engine, reader } = engineFixture({ log });
  await declare(widget());
  const before = engine.source.generation();
  await reader.close();
  await engine.refreshCatalog();
  expect(engine.source.generation()).toBe(before);
  expect(messages).toContain('error the next schema could not be built; the current one stays');
  const fresh = engineFixture();
  await fresh.reader.close();
  await expect(fresh.engine.refreshCatalog()).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
});

test('through the endpoint a subscription moves on to the next generation, and its end has a code', async () => {
  const { declare, sync, engine, apply, writer, handle } = engineFixture();
  await declare(widget());
  await sync(widgets, [made({ name: 'a' })]);
  const yoga = createYogaServer({ source: engine.source, log: silentLogger });
  const query =
    'subscription { list: exampleComWidgetChanges { phase changes { type object { metadata { name } } } } }';
  const response = await yoga.fetch('http://portolan/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  });
  const events = eventsOf(response);
  expect(await events.next()).toMatchObject({ value: { data: { list: { phase: 'SNAPSHOT' } } } });
  expect(await events.next()).toMatchObject({ value: { data: { list: { phase: 'SYNCED' } } } });
  await declare(describedCrd({ kind: 'Other', plural: 'others', properties: {} }));
  apply(widgets, 'ADDED', made({ name: 'b' }));
  expect(await events.next()).toMatchObject({
    value: { data: { list: { phase: 'LIVE', changes: [{ type: 'ADDED', object: { metadata: { name: 'b' } } }] } } },
  });
  await writer().drop(handle(widgets));
  await engine.refreshCatalog();
  const ends: unknown[] = [];
  for await (const event of events) ends.push(event);
  expect(ends.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'SCHEMA_RELOAD' } }] });
});

/** The results of a stream of server-sent events. */
async function* eventsOf(response: Response): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (\{.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}
