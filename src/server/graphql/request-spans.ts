/**
 * The spans of requests: one for each HTTP request to the endpoint, and one for each message of a WebSocket that begins something.
 *
 *   HTTP        request -> begin                      -> the response was sent, or the client is gone: end
 *   WebSocket   connection_init -> begin              -> the caller is known, or refused: end
 *               subscribe -> begin: query, mutation   -> the result is known: end
 *                                   subscription      -> its first message is known: end; later messages have no spans
 *
 * A message of a WebSocket names its trace in `extensions` (subscribe). Without them, the payload of connection_init names it, or else
 * the headers of the upgrade request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { noSpan, noTracer, type Span, type TraceCarrier, type Tracer } from '../../base/tracing.ts';
import { endpoint } from '../negotiation/request-url.ts';

type Headers = Pick<IncomingMessage, 'headers'>;

export function beginRequest(tracer: Tracer, request: IncomingMessage, response: ServerResponse): Span {
  if (tracer === noTracer) return noSpan;
  const method = request.method ?? 'GET';
  const span = tracer.begin(`${method} ${endpoint}`, headersOf(request), {
    'http.request.method': method,
    'http.route': endpoint,
    'network.protocol.name': 'http',
  });
  if (span.isRecorded) {
    response.once('close', () => {
      span.set({ 'http.response.status_code': response.statusCode });
      span.end();
    });
  }
  return span;
}

/** @param params the payload of connection_init, and the `extensions` of a subscribe message, whatever a client has put there */
export function beginMessage(
  tracer: Tracer,
  name: 'connection_init' | 'GraphQL Operation',
  request: Headers,
  params: readonly unknown[],
): Span {
  const named = params.find((each) => fieldOf(each, 'traceparent') !== undefined);
  const carrier: TraceCarrier = named === undefined ? headersOf(request) : (field) => fieldOf(named, field);
  return tracer.begin(name, carrier, { 'http.route': endpoint, 'network.protocol.name': 'websocket' });
}

function headersOf({ headers }: Headers): TraceCarrier {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  };
}

function fieldOf(params: unknown, name: string): string | undefined {
  const value = (params as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
