/** An OTLP/HTTP receiver for traces. It keeps the spans of every export in JSON. */
import { text } from 'node:stream/consumers';
import { type LoopbackServer, sendJson, startLoopbackServer } from './loopback-server.ts';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** By OTLP: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly requests: LoopbackServer['requests'];
  readonly spans: readonly ReceivedSpan[];
  /** The names from the root of what was received to this span. */
  pathOf(span: ReceivedSpan): readonly string[];
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly [type: string]: unknown };
}

interface OtlpSpan extends Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name' | 'kind'> {
  readonly parentSpanId?: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = await startLoopbackServer(async (request, response) => {
    const body = await text(request);
    if (request.headers['content-type'] === 'application/json') spans.push(...spansIn(JSON.parse(body) as Export));
    sendJson(response, 200, { partialSuccess: {} });
  });
  const pathOf = ({ name, parentSpanId }: ReceivedSpan): readonly string[] => {
    const parent = spans.find(({ spanId }) => spanId === parentSpanId);
    return [...(parent === undefined ? [] : pathOf(parent)), name];
  };
  return {
    url: server.url,
    requests: server.requests,
    spans,
    pathOf,
    close: () => server.close(),
  };
}

function spansIn({ resourceSpans }: Export): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, kind, attributes, status }) => ({
        ...{ traceId, spanId, parentSpanId, name, kind },
        attributes: attributesIn(attributes),
        failed: status.code === 2,
        resource: attributesIn(resource.attributes),
      })),
    ),
  );
}

function attributesIn(pairs: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}
