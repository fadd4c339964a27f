/** The trace of a subscription is that of its first message. Later messages come from changes, which are no part of the request. */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { silentLogger } from '../../src/base/log.ts';
import { activeSpan } from '../../src/base/tracing.ts';
import { startServer } from '../../src/server/http-server.ts';
import { openTracing } from '../../src/telemetry/open-tracing.ts';
import { handMadeSource } from '../kit/hand-made-source.ts';

const id = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The header that continues the trace in a request of now. */
const continuedNow = (): string | undefined => activeSpan().child('GET', {}, 'client').headers['traceparent'];

test.each(['01', '00'])('requests for later messages continue no trace, with the flag %s', async (flag) => {
  const tracing = openTracing({ OTEL_BSP_SCHEDULE_DELAY: '600000' }, 'test', silentLogger);
  onTestFinished(() => tracing.close());
  const sent: (string | undefined)[] = [];
  const { source } = handMadeSource({ onTick: () => sent.push(continuedNow()) });
  const server = await startServer({
    ...{ host: '127.0.0.1', port: 0, source, tabs: [], log: silentLogger, tracer: tracing.tracer },
    readiness: () => ({ ready: true }),
  });
  onTestFinished(() => server.close());
  const client = createClient({ url: server.url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(() => void client.dispose());
  const results = client.iterate({
    query: 'subscription { ticks(most: 4) }',
    extensions: { traceparent: `00-${id}-00f067aa0ba902b7-${flag}` },
  });
  for await (const _ of results);
  expect(sent).toHaveLength(4);
  expect(sent[0]).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-${flag}$`));
  expect(sent.slice(1)).toEqual([undefined, undefined, undefined]);
});
