/** The span of a request to an API server. It has the template of the path: names of namespaces and objects stay out of traces. */
import type { Readable } from 'node:stream';
import { activeSpan, type Span, type SpanAttributes } from '../../base/tracing.ts';

/** The attributes of all requests to this server. */
export function placeOf(server: URL, cluster: string): SpanAttributes {
  const port = Number(server.port) || (server.protocol === 'https:' ? 443 : 80);
  return { 'server.address': server.hostname, 'server.port': port, 'k8s.cluster.name': cluster };
}

/**
 * Sends within the span that the caller works for, in a span of its own. That one ends with the body of the answer.
 * @param send gets the headers that continue the trace
 */
export async function inSpan<A extends { readonly status: number; readonly body: Readable }>(
  { method, path }: { readonly method: string; readonly path: string },
  place: SpanAttributes,
  send: (trace: Span['headers']) => Promise<A>,
): Promise<A> {
  const parent = activeSpan();
  const template = parent.isRecorded ? pathTemplate(path) : '';
  const span = parent.child(
    `${method} ${template}`,
    { ...place, 'http.request.method': method, 'url.template': template },
    'client',
  );
  try {
    const answer = await send(span.headers);
    span.set({ 'http.response.status_code': answer.status });
    if (answer.status >= 400) span.fail(String(answer.status));
    if (span.isRecorded) answer.body.once('close', () => span.end());
    return answer;
  } catch (error) {
    const { code, name } = error as { readonly code?: unknown; readonly name?: string };
    span.fail(String(code ?? name));
    span.end();
    throw error;
  }
}

/** The segments that only namespaces themselves have as subresources. */
const ofNamespaces = new Set(['status', 'finalize']);

/**
 * `/api/v1/namespaces/{namespace}/secrets/{name}` for `/api/v1/namespaces/shop/secrets/db?pretty=1`. Paths that are not of resources
 * have no names and stay as they are.
 */
export function pathTemplate(path: string): string {
  const [bare = ''] = path.split('?', 1);
  const [, root, ...rest] = bare.split('/');
  const prefix = root === 'api' ? 1 : root === 'apis' ? 2 : null;
  if (prefix === null || rest.length <= prefix) return bare;
  const parts = rest.slice(prefix);
  const isNamespaced = parts[0] === 'namespaces' && parts.length > 2 && !ofNamespaces.has(parts[2] ?? '');
  if (isNamespaced) parts[1] = '{namespace}';
  const name = isNamespaced ? 3 : 1;
  if (parts.length > name) parts[name] = '{name}';
  return ['', root, ...rest.slice(0, prefix), ...parts].join('/');
}
