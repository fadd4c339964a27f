/**
 * The caller of a gateway without authentication. Its writes need the token of its start, which is in the address that it printed:
 *
 *   …/graphql#token=TOKEN -> the token is kept for the tab, and leaves the address -> it goes with each request
 *
 * A fragment is never sent to a server. The address without it can be shared, and is what the browser's history keeps.
 */
import { CallerToken, typedToken } from './caller-token.ts';
import type { Caller } from './fetcher.ts';

/** The tokens of callers have another key: one that was given to another gateway at this address must not go to this one. */
const key = 'portolan start token';

/** The caller of the page at this address. */
export function localCaller(
  { hash, pathname, search }: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState'>,
  storage: globalThis.Storage,
): Caller {
  const kept = new CallerToken(storage, key);
  const given = startTokenIn(hash);
  if (given !== null) {
    kept.keep(given);
    history.replaceState(null, '', `${pathname}${search}`);
  }
  return {
    authorization: () => (kept.text === null ? null : `Bearer ${kept.text}`),
    refused() {},
  };
}

/** The token in a fragment such as `#token=abc`; null without one. */
function startTokenIn(hash: string): string | null {
  const found = new URLSearchParams(hash.slice(1)).get('token');
  return found === null ? null : typedToken(found);
}
