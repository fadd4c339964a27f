/** Paths that the configuration promotes: `resource=path`, where the resource is its plural or plural.group. */
import { codeOf, messageOf } from '../../base/errors.ts';
import { resolvePath } from '../paths/resolve-path.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { isRolledUp, parsePath } from '../tree/path.ts';
import type { PromotedPath } from './catalog.ts';
import { type Resource, resourceKey } from './resource.ts';

interface ConfiguredPaths {
  readonly promoted: readonly PromotedPath[];
  /** Reasons why other configured paths of the resource cannot be promoted, one sentence each. */
  readonly problems: readonly string[];
}

/** Leaves that always have an indexed column, promoted or not. */
export const indexedAnyway: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
]);

/** True if the configuration names this resource. */
export function concerns(configured: readonly string[], resource: Pick<Resource, 'group' | 'plural'>): boolean {
  return configured.some((entry) => pathFor(entry, resource) !== null);
}

/** The paths that the configuration promotes for a resource with this tree. */
export function configuredPaths(
  configured: readonly string[],
  resource: Pick<Resource, 'group' | 'plural'>,
  tree: FieldTree,
): ConfiguredPaths {
  const promoted = new Map<string, PromotedPath>();
  const problems: string[] = [];
  for (const entry of configured) {
    const text = pathFor(entry, resource);
    if (text === null) continue;
    const found = resolved(tree, text);
    if (typeof found === 'string') problems.push(`--promote ${entry} cannot be done: ${found}`);
    else if (!indexedAnyway.has(found.path)) promoted.set(found.path, found);
  }
  return { promoted: [...promoted.values()], problems };
}

/** The path of an entry for this resource; null for another resource. */
function pathFor(entry: string, resource: Pick<Resource, 'group' | 'plural'>): string | null {
  const at = entry.indexOf('=');
  const named = entry.slice(0, at).trim();
  return named === resource.plural || named === resourceKey(resource) ? entry.slice(at + 1).trim() : null;
}

function resolved(tree: FieldTree, text: string): PromotedPath | string {
  try {
    const { path, many, type } = resolvePath(tree, parsePath(text));
    if (isRolledUp(path)) return 'it depends on other objects; Portolan stores it when a list needs it.';
    if (many) return 'it goes through a list, so that an object may have several values.';
    if (type.kind !== 'leaf') return 'it is no single value.';
    if (type.type === 'JSON') return 'it is free JSON, which has no type to index by.';
    return { path: path.text, type: type.type };
  } catch (error) {
    if (codeOf(error) === 'BAD_USER_INPUT') return messageOf(error);
    throw error;
  }
}
