/**
 * An OTLP/gRPC receiver for traces, without TLS: kube-apiserver exports its own spans in this way alone. It reads the few fields that
 * tests look at (opentelemetry/proto/trace/v1/trace.proto).
 */
import { once } from 'node:events';
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface GrpcSpan {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** The traces that it is linked to. */
  readonly links: readonly string[];
}

export interface OtlpGrpcReceiver {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly spans: readonly GrpcSpan[];
  close(): Promise<void>;
}

export async function startOtlpGrpcReceiver(): Promise<OtlpGrpcReceiver> {
  const spans: GrpcSpan[] = [];
  const sessions = new Set<Http2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  const answer = async (stream: ServerHttp2Stream): Promise<void> => {
    // A message of gRPC: one byte that says whether it is compressed, four of its length.
    spans.push(...spansIn((await buffer(stream)).subarray(5)));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  };
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    answer(stream).catch(() => stream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

/** ExportTraceServiceRequest.resource_spans (1) > ResourceSpans.scope_spans (2) > ScopeSpans.spans (2) */
function spansIn(request: Buffer): readonly GrpcSpan[] {
  return within(request, 1)
    .flatMap((resourceSpans) => within(resourceSpans, 2))
    .flatMap((scopeSpans) => within(scopeSpans, 2))
    .map((span) => ({
      traceId: hex(within(span, 1)),
      parentSpanId: hex(within(span, 4)),
      name: within(span, 5).join(''),
      links: within(span, 13).map((link) => hex(within(link, 1))),
    }));
}

function hex(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString('hex');
}

/** The values of a field of bytes, text or messages. */
function within(message: Buffer, field: number): readonly Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = number();
    const type = tag & 7;
    if (type === 0) number();
    else if (type === 1) at += 8;
    else if (type === 5) at += 4;
    else {
      const length = number();
      if (tag >> 3 === field) found.push(message.subarray(at, at + length));
      at += length;
    }
  }
  return found;
}
