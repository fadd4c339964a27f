/** The URL of a request of Node's HTTP server: its path, its search parameters, and the profile that it names. */
import type { IncomingMessage } from 'node:http';
import { profileHeader } from '../../graphql/introspection/profiles.ts';

/** The path of GraphQL. */
export const endpoint = '/graphql';

/** The undecoded path. Not parsed by URL, which throws for some paths and reads `//x` as a host. */
export function pathOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  return url.split('?', 1)[0] || '/';
}

export function searchOf({ url = '/' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

/** The name of the profile that a request asks for, in its URL or in a header; null without one. */
export function profileIn(request: Pick<IncomingMessage, 'url' | 'headers'>): string | null {
  const [named = null] = [request.headers[profileHeader]].flat();
  return searchOf(request).get('profile') ?? named;
}
