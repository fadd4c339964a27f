/**
 * The part of a filter that an object's identity decides, without its body. Live changes need no body then.
 *
 *   namespaces: ["a"] and spec.nodeName = "n"   of an object in "b": false     in "a": null, the body decides
 */
import { identityIn, type Path } from '../../catalog/tree/path.ts';
import type { Filter, Identity } from '../plan/filter.ts';
import { matches } from './matches.ts';

/** Does every object with this identity match (true), or none (false)? Null if the body decides. */
export function matchesIdentity(filter: Filter, identity: Identity): boolean | null {
  switch (filter.kind) {
    case 'and':
      return decidedBy(filter.of, identity, false);
    case 'or':
      return decidedBy(filter.of, identity, true);
    case 'not': {
      const decided = matchesIdentity(filter.of, identity);
      return decided === null ? null : !decided;
    }
    case 'namespaces':
    case 'clusters':
    case 'kinds':
    case 'ids':
      return matches(filter, { ...identity, body: null });
    case 'compare':
    case 'exists':
      return isOfIdentity(filter.path, identity) ? matches(filter, { ...identity, body: bodyOf(identity) }) : null;
    default:
      return null;
  }
}

/** @param decisive the result of a part that is the result of all */
function decidedBy(parts: readonly Filter[], identity: Identity, decisive: boolean): boolean | null {
  let isOpen = false;
  for (const part of parts) {
    const decided = matchesIdentity(part, identity);
    if (decided === decisive) return decisive;
    isOpen ||= decided === null;
  }
  return isOpen ? null : !decisive;
}

function isOfIdentity(path: Path, { namespace }: Identity): boolean {
  if (identityIn(path) !== null || path.text === 'metadata.name') return true;
  return path.text === 'metadata.namespace' && namespace !== null;
}

/** The part of the body that has the identity. */
function bodyOf({ namespace, name }: Identity): unknown {
  return { metadata: namespace === null ? { name } : { name, namespace } };
}
