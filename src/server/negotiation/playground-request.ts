/**
 * Which requests are for the playground. A browser opens its page, and the page loads its parts.
 *
 *   GET /graphql, accept: text/html              the page, also with a query in the URL, which GraphiQL writes there
 *   GET or HEAD /graphql?playground=NAME         a part. It is the same for everybody and has nothing of the clusters
 *
 * The parts have the path of the page, so they are found behind every proxy that finds the page.
 */
import type { IncomingMessage } from 'node:http';

type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** Before the name of a part, after the path. */
export const partOf = '?playground=';

/** Does a browser open the page? */
export function opensPlayground({ method, headers }: Pick<Asked, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true;
}

/** The name of the requested part; null for every other request. */
export function partAsked({ method, url = '' }: Pick<Asked, 'method' | 'url'>): string | null {
  const at = url.indexOf(partOf);
  if (at === -1 || at !== url.indexOf('?') || (method !== 'GET' && method !== 'HEAD')) return null;
  return url.slice(at + partOf.length);
}
