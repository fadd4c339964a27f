/** Looks up a caller's paths in the queried kinds. */

import { BoundedCache } from '../../base/bounded-cache.ts';
import { PortolanError } from '../../base/errors.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import { type ResolvedPath, resolvePath } from '../../catalog/paths/resolve-path.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { FieldTree } from '../../catalog/tree/field-tree.ts';
import {
  healthNames,
  identityNames,
  maxPathLength,
  type Path,
  parsePath,
  pathOf,
  rollUpNames,
} from '../../catalog/tree/path.ts';
import { objectMetaKey, sharedShapes } from '../../catalog/tree/shared-shapes.ts';

/** The facts about a kind whose path is looked up. */
export interface PathKind extends Pick<CatalogKind, 'tree'> {
  readonly resource: Pick<CatalogKind['resource'], 'group'>;
}

/** Paths that were looked up in the same list of several kinds. */
const known = new WeakMap<readonly PathKind[], BoundedCache<ResolvedPath>>();

/**
 * Resolves a path, once for each list of kinds. `cluster` and `id` are parts of each object's identity. `every`: all trees must have it. `some`: one tree must have
 * it, and objects of the other kinds have no value there.
 * @param cast values are read as of this type, so they may have different types in different kinds
 * @throws PortolanError BAD_USER_INPUT for an unknown path, for one with different types in different kinds, and for a cast that does not apply.
 */
export function pathIn(
  kinds: readonly PathKind[],
  written: string,
  needed: 'every' | 'some',
  cast?: ValueCast,
): ResolvedPath {
  if (kinds.length < 2) return resolvedIn(kinds, written, needed, cast);
  let cache = known.get(kinds);
  if (cache === undefined) {
    cache = new BoundedCache({ entries: 1000, weight: 256 * 1024 });
    known.set(kinds, cache);
  }
  const key = `${needed} ${cast ?? ''} ${written}`;
  const before = cache.get(key);
  if (before !== undefined) return before;
  const found = resolvedIn(kinds, written, needed, cast);
  cache.set(key, found, key.length);
  return found;
}

function resolvedIn(
  kinds: readonly PathKind[],
  written: string,
  needed: 'every' | 'some',
  cast: ValueCast | undefined,
): ResolvedPath {
  const path = parsePath(written);
  const identity = identityNames.find((name) => name === written);
  // The cluster in the identity of an object of an abstract kind names the member too.
  if (identity === 'cluster' && kinds.length > 0 && kinds.every(isAbstract))
    return resolvedIn(kinds, '["cluster"]', needed, cast);
  if (identity !== undefined) {
    if (cast !== undefined) throw notCast(cast, identity);
    return {
      type: { kind: 'leaf', type: 'String' },
      many: false,
      path: pathOf([{ kind: 'identity', name: identity }]),
    };
  }
  refuseHealth(path, written);
  const found: ResolvedPath[] = [];
  let refused: unknown = null;
  for (const { tree } of kinds) {
    try {
      found.push(resolvePath(tree, path, undefined, cast));
    } catch (error) {
      if (needed === 'every') throw error;
      refused ??= error;
    }
  }
  const [first] = found;
  if (first === undefined) throw refused ?? new PortolanError('BAD_USER_INPUT', `No kind has ${path.text}.`);
  if (found.some((other) => typeText(other) !== typeText(first) || other.path.text !== first.path.text)) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${path.text} has different types in these kinds; use something they share.`,
    );
  }
  // The canonical text may be longer than the caller's. SQL functions parse it again.
  if (first.path.text.length > maxPathLength) {
    throw new PortolanError('BAD_USER_INPUT', `The path ${JSON.stringify(written.slice(0, 40))}… is too long.`);
  }
  return first;
}

/** The refusal of a cast of a value that is not stored in the object. */
export function notCast(cast: ValueCast, path: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `as: ${cast} does not apply to ${path}; leave it out.`);
}

/** @throws PortolanError BAD_USER_INPUT for a path into the health that does not exist. */
export function refuseHealth({ steps: [first] }: Path, written: string): void {
  // A quoted name is a key: it means a field of the kind.
  if (first?.kind !== 'field' || first.name !== 'health') return;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `${JSON.stringify(written)} is not a part of the health; use ${[...healthNames, ...rollUpNames.map((name) => `rollUp.${name}`)].map((name) => `health.${name}`).join(', ')}, or ["health"] for a field of the kind.`,
  );
}

/** The path of a leaf. @throws PortolanError BAD_USER_INPUT, beginning with `what`, for an object, a map or a list. */
export function leafIn(what: string, { type, path }: ResolvedPath): Path {
  if (type.kind === 'leaf') return path;
  const hint = type.kind === 'list' ? `; ${path.text}[] goes through its elements` : '';
  throw new PortolanError(
    'BAD_USER_INPUT',
    `${what} needs a value that can be compared; ${path.text} is a ${type.kind}${hint}.`,
  );
}

function typeText({ type }: ResolvedPath): string {
  return type.kind === 'leaf' ? type.type : type.kind;
}

/** The fields of objects of any kind. */
const anyTree: FieldTree = {
  root: '',
  shapes: {
    ...Object.fromEntries(sharedShapes),
    '': {
      key: '',
      path: [],
      fields: [
        { name: 'apiVersion', type: { kind: 'leaf', type: 'String' } },
        { name: 'kind', type: { kind: 'leaf', type: 'String' } },
        { name: 'metadata', type: { kind: 'object', shape: objectMetaKey } },
      ],
    },
  },
};

/** A kind with the paths that every kind has. */
export const anyPaths: PathKind = { tree: anyTree, resource: { group: '' } };

export const metadataTree: FieldTree = { root: objectMetaKey, shapes: Object.fromEntries(sharedShapes) };
