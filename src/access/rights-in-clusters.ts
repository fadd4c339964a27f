/**
 * The rights of a caller in the clusters that a live list can show.
 *
 * Rights in other clusters come and go with these clusters. A list that shows none of their objects must not notice.
 */
import type { CallerRights } from './rights.ts';
import { changedScopes, type Scopes, scopeIn } from './scope.ts';

/** @param clusters null for all */
export function rightsInClusters(rights: CallerRights, clusters: readonly string[] | null): CallerRights {
  if (clusters === null) return rights;
  // A list asks for the same scopes again and again.
  let last: { readonly of: Scopes; readonly narrowed: Scopes } | null = null;
  const narrowed = (scopes: Scopes): Scopes => {
    if (last?.of !== scopes) last = { of: scopes, narrowed: narrow(scopes, clusters) };
    return last.narrowed;
  };
  return {
    at: async (lease) => narrowed(await rights.at(lease)),
    after(place) {
      const found = rights.after(place);
      return found instanceof Promise ? found.then(narrowed) : narrowed(found);
    },
  };
}

function narrow(scopes: Scopes, clusters: readonly string[]): Scopes {
  return changedScopes(scopes, `${scopes.id} in ${JSON.stringify(clusters)}`, (scope) => scopeIn(scope, clusters));
}
