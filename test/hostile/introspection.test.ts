/** Introspection over WebSocket: the thread makes it, so that many connections that ask for the schema do not hold the serve thread. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/log.ts';
import { IntrospectionAnswers } from '../../src/graphql/introspection/introspection-answers.ts';
import { IntrospectionThread } from '../../src/graphql/introspection/introspection-thread.ts';
import { startServer } from '../../src/server/http-server.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { widget } from '../kit/graphql-world.ts';
import { mixedDocuments, wholeSchemaDocuments } from '../kit/introspection-documents.ts';

class CountedThread extends IntrospectionThread {
  asked = 0;

  override ask(...question: Parameters<IntrospectionThread['ask']>) {
    this.asked += 1;
    return super.ask(...question);
  }
}

test('the thread makes the introspection of a WebSocket, and the result is that of HTTP', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const thread = new CountedThread();
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
    introspection: new IntrospectionAnswers(thread),
  });
  onTestFinished(() => server.close());
  const url = server.url.replace(/^http/, 'ws');
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(() => client.dispose());
  const { 'variables that are refused': _, ...mixed } = mixedDocuments;
  const documents = [...Object.values(wholeSchemaDocuments), ...Object.values(mixed)];
  for (const { query, operationName, variables } of documents) {
    const payload = {
      query,
      ...(operationName === undefined ? {} : { operationName }),
      ...(variables === undefined ? {} : { variables }),
    };
    const { value } = await client.iterate(payload).next();
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    expect([query, JSON.parse(JSON.stringify(value))]).toEqual([query, await response.json()]);
  }
  expect(thread.asked).toBeGreaterThan(documents.length);
});
