/**
 * The rights to objects of abstract kinds: those of the objects that they are made from.
 *
 *   redises in east: all, mysqls in east: the namespace a
 *   -> appinstances.abstract: all of east/redises, the namespace a of east/mysqls
 *
 * A caller who may see some members sees their rows, and `scope` of the list names the others.
 *
 * A member whose columns lead to other kinds has two parts with the same objects: one with the values of these kinds, one without. A caller
 * sees the first if they may get all objects that the columns may lead to, and otherwise the second. So no filter, order or count reveals a
 * value that the caller may not see.
 */
import { type MemberPart, memberOfPart, type RelatedKind } from '../catalog/abstract/abstract-kind.ts';
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
export interface NamedPart extends MemberPart {
  /** The `cluster` in the identity of its objects of the abstract kind. */
  readonly part: string;
}

/**
 * The same rights, and those to abstract kinds.
 * @param partsOf the members of an abstract kind by its resourceKey; null for any other kind
 */
export function withAbstractKinds(rights: Rights, partsOf: (key: string) => readonly NamedPart[] | null): Rights {
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

function widen(scopes: Scopes, partsOf: (key: string) => readonly NamedPart[] | null): Scopes {
  const made = new Map<string, { readonly parts: readonly NamedPart[]; readonly scope: Scope }>();
  const want = scopes.want?.bind(scopes);
  return {
    ...scopes,
    ...(want === undefined
      ? {}
      : {
          want: (key, access, clusters, rows) => {
            const parts = partsOf(key);
            if (parts === null) want(key, access, clusters, rows);
            else {
              for (const { cluster, member, related } of parts) {
                want(member, access, [cluster], rows);
                for (const { key: of, isNear } of related)
                  want(of, 'get', [cluster], { namespace: isNear ? rows.namespace : '', name: '' });
              }
            }
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

function scopeOf(scopes: Scopes, parts: readonly NamedPart[], access: Access): Scope {
  const clusters = new Map<string, ClusterScope>();
  // No caller sees all rows of a member that is there twice.
  let isWhole = parts.every(({ related }) => related.length === 0);
  for (const { part, cluster, member, related } of parts) {
    const scope = scopes.of(member, access);
    isWhole &&= scope.rows === 'all';
    const visible = partIn(scope, cluster);
    if (visible === null || (related.length > 0 && !seesRelated(scopes, cluster, visible, related))) continue;
    clusters.set(part, visible);
  }
  for (const { part, related } of parts) {
    // The part with the values takes the place of the one without.
    if (related.length > 0 && clusters.has(part)) clusters.delete(memberOfPart(part));
  }
  if (isWhole && parts.length > 0) return allRows;
  return clusters.size === 0 ? noRows : { rows: 'some', clusters };
}

/** May the caller get all objects to which columns of the visible objects may lead? */
function seesRelated(scopes: Scopes, cluster: string, visible: ClusterScope, related: readonly RelatedKind[]): boolean {
  return related.every(({ key, isNear }) => {
    const of = partIn(scopes.of(key, 'get'), cluster);
    if (of === null || of === 'all') return of === 'all';
    if (!isNear || visible === 'all') return false;
    const namespaces = [...visible.namespaces, ...visible.names.keys()];
    return namespaces.every((namespace) => of.namespaces.has(namespace));
  });
}
