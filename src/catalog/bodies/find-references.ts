/**
 * Finds the references in a body.
 *
 *   place   { at: spec.claimRef, name: name, namespace: namespace, target: PersistentVolumeClaim }
 *   body    { spec: { claimRef: { name: "data-0", namespace: "shop" } } }
 *   found   { place: 0, target: PersistentVolumeClaim, namespace: "shop", name: "data-0" }
 *
 * The namespace of a reference to a cluster-scoped kind is found like any other. Only the reader knows the scope of the kind, which
 * may not be served yet.
 */

import { groupOf } from '../groups/api-group.ts';
import { valueAt, valuesAt } from '../paths/value-at.ts';
import { type NamedKind, type ReferencePlace, type StatedKind, textOfKind } from '../relations/relation.ts';

interface FoundReference {
  /** The index of the place. */
  readonly place: number;
  readonly target: NamedKind;
  /** The stated namespace, or that of the referring object. */
  readonly namespace: string;
  readonly name: string;
}

/** Longest name or namespace of a Kubernetes object. Longer texts name nothing. */
const longestName = 253;

/** Each reference once, in the order of the places. @param namespace of the referring object; empty if it is cluster-scoped. */
export function findReferences(
  places: readonly ReferencePlace[],
  body: unknown,
  namespace: string,
): readonly FoundReference[] {
  const found = new Map<string, FoundReference>();
  for (const [index, place] of places.entries()) {
    for (const mention of valuesAt(body, place.at)) {
      const reference = readMention(index, place, mention, namespace);
      if (reference === null) continue;
      const { target, name } = reference;
      found.set(`${index} ${textOfKind(target)} ${reference.namespace} ${name}`, reference);
    }
  }
  return [...found.values()];
}

function readMention(index: number, place: ReferencePlace, mention: unknown, own: string): FoundReference | null {
  const name = nameIn(place.name === null ? mention : valueAt(mention, place.name));
  if (name === null) return null;
  const target = 'kindAt' in place.target ? statedKind(place.target, mention) : place.target;
  if (target === null || isUser(target)) return null;
  return { place: index, target, namespace: namespaceOf(place, mention) ?? own, name };
}

function namespaceOf({ namespace }: ReferencePlace, mention: unknown): string | null {
  if (namespace === null) return null;
  return 'constant' in namespace ? namespace.constant : nameIn(valueAt(mention, namespace));
}

/** The kind that a mention states. Without a group it is one of the fallback's group, or of the core group if there is no fallback. */
function statedKind({ kindAt, groupAt, fallback }: StatedKind, mention: unknown): NamedKind | null {
  const kind = nameIn(valueAt(mention, kindAt));
  if (kind === null) return fallback;
  const stated = groupAt === null ? undefined : valueAt(mention, groupAt.path);
  if (typeof stated !== 'string') return { group: fallback?.group ?? '', kind };
  return { group: groupAt?.form === 'apiVersion' ? groupOf(stated) : stated, kind };
}

/** Subjects of RBAC that are no objects. The core group has no kinds of these names either. */
function isUser({ group, kind }: NamedKind): boolean {
  return (kind === 'User' || kind === 'Group') && (group === '' || group === 'rbac.authorization.k8s.io');
}

function nameIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longestName ? value : null;
}
