/** Paths that a caller writes, looked up in the kinds that are asked. */
import { PortolanError } from '../../base/errors.ts';
import { type ResolvedPath, resolvePath } from '../../catalog/paths/resolve-path.ts';
import type { FieldTree } from '../../catalog/tree/field-tree.ts';
import { type Path, parsePath } from '../../catalog/tree/path.ts';

/**
 * What stands at a path. With `every` it must be there in all trees, with `some` in one at least: kinds without it have no value there.
 * @throws PortolanError BAD_USER_INPUT for a path that is not there, or is of different types.
 */
export function pathIn(trees: readonly FieldTree[], written: string, needed: 'every' | 'some'): ResolvedPath {
  const path = parsePath(written);
  const found: ResolvedPath[] = [];
  let refused: unknown = null;
  for (const tree of trees) {
    try {
      found.push(resolvePath(tree, path));
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
  return first;
}

/** The path of a value that can be compared. @throws PortolanError BAD_USER_INPUT, beginning with `what`, for anything else. */
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
