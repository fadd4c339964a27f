/**
 * The rights to objects of abstract kinds: those of the objects that they are made from.
 *
 *   redises in east: all, mysqls in east: the namespace a
 *   -> appinstances.abstract: all of east/redises, the namespace a of east/mysqls
 *
 * A caller who may see some members sees their rows, and `scope` of the list names the others.
 */
import type { Rights } from './rights.ts';
import {
  type Access,
  allRows,
  type ClusterScope,
  noRows,
  partIn,
  type Scope,
  type Scopes,
  unrestricted,
} from './scope.ts';

/** One member in one cluster. */
export interface MemberPart {
  /** The `cluster` in the identity of its objects of the abstract kind. */
  readonly part: string;
  readonly cluster: string;
  /** resourceKey of the member. */
  readonly member: string;
}

/**
 * The same rights, and those to abstract kinds.
 * @param partsOf the members of an abstract kind by its resourceKey; null for any other kind
 */
export function withAbstractKinds(rights: Rights, partsOf: (key: string) => readonly MemberPart[] | null): Rights {
  const known = new WeakMap<Scopes, Scopes>();
  const inner = new WeakMap<Scopes, Scopes>();
  const widened = (scopes: Scopes): Scopes => {
    if (scopes === unrestricted) return scopes;
    const found = known.get(scopes) ?? widen(scopes, partsOf);
    known.set(scopes, found);
    inner.set(found, scopes);
    return found;
  };
  return {
    statement: rights.statement,
    now: (caller) => {
      const scopes = rights.now(caller);
      return scopes === null ? null : widened(scopes);
    },
    at: async (lease, caller) => widened(await rights.at(lease, caller)),
    after: (place, caller) => {
      const found = rights.after(place, caller);
      return found instanceof Promise ? found.then(widened) : widened(found);
    },
    isCurrent: (epoch, rows) => rights.isCurrent(epoch, rows),
    pending: (caller, scopes) => rights.pending(caller, inner.get(scopes) ?? scopes),
    allows: (caller, cluster, request) => rights.allows(caller, cluster, request),
    whoCan: (cluster, request) => rights.whoCan(cluster, request),
  };
}

function widen(scopes: Scopes, partsOf: (key: string) => readonly MemberPart[] | null): Scopes {
  const made = new Map<string, { readonly parts: readonly MemberPart[]; readonly scope: Scope }>();
  const want = scopes.want?.bind(scopes);
  return {
    ...scopes,
    ...(want === undefined
      ? {}
      : {
          want: (key, access, clusters, rows) => {
            const parts = partsOf(key);
            if (parts === null) want(key, access, clusters, rows);
            else for (const { cluster, member } of parts) want(member, access, [cluster], rows);
          },
        }),
    of(key, access = 'list') {
      const parts = partsOf(key);
      if (parts === null) return scopes.of(key, access);
      const id = `${access} ${key}`;
      const found = made.get(id);
      if (found?.parts === parts) return found.scope;
      const scope = scopeOf(scopes, parts, access);
      made.set(id, { parts, scope });
      return scope;
    },
  };
}

function scopeOf(scopes: Scopes, parts: readonly MemberPart[], access: Access): Scope {
  const clusters = new Map<string, ClusterScope>();
  let isWhole = true;
  for (const { part, cluster, member } of parts) {
    const scope = scopes.of(member, access);
    isWhole &&= scope.rows === 'all';
    const visible = partIn(scope, cluster);
    if (visible !== null) clusters.set(part, visible);
  }
  if (isWhole && parts.length > 0) return allRows;
  return clusters.size === 0 ? noRows : { rows: 'some', clusters };
}
