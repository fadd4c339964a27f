/**
 * Compares the paths of a member with the schema of its kind.
 *
 *   version: spec.verson, and the kind has spec.version -> a sentence that names the column and the path
 *
 * A path that the schema does not have is no error: its column has no value until the definition gets the field. Free JSON, maps and open
 * objects have every path.
 */
import { codeOf, messageOf } from '../../base/errors.ts';
import { resolvePath } from '../paths/resolve-path.ts';
import type { DescribedResource } from '../resources/catalog.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { parsePath, pathOf } from '../tree/path.ts';
import { type Member, sourcePaths } from './abstract-kind.ts';
import { leadsOf, throughRelation } from './related-columns.ts';

/** Most sentences for one member. */
const most = 10;

/** A sentence for each path that the schema does not have. Paths through a relation are those of another kind. */
export function checkPaths(
  member: Member,
  described: Pick<DescribedResource, 'tree' | 'relations'>,
): readonly string[] {
  const { resource, where, columns } = member;
  const leads = new Set(leadsOf(member, described).map(({ name }) => name));
  const uses = [
    ...Object.entries(columns).flatMap(([column, source]) =>
      sourcePaths(source).flatMap((path) =>
        leads.has(throughRelation(parsePath(path))?.relation ?? '') ? [] : [{ path, use: `the column ${column}` }],
      ),
    ),
    ...where.flatMap(({ path, lessThan, greaterThan }) =>
      [path, lessThan, greaterThan].flatMap((each) => (typeof each === 'string' ? [{ path: each, use: 'where' }] : [])),
    ),
  ];
  const found = new Set<string>();
  for (const { path, use } of uses) {
    const problem = problemOf(described.tree, path);
    if (problem !== null) found.add(`${use} names a path that the schema of ${resource} does not have: ${problem}`);
  }
  const all = [...found];
  if (all.length <= most) return all;
  return [
    ...all.slice(0, most),
    `the schema of ${resource} lacks ${all.length - most} more of the paths of this abstract kind`,
  ];
}

/** Null for a path that the schema has. Whether a fold fits the types is not asked: the column converts the values. */
function problemOf(tree: FieldTree, path: string): string | null {
  try {
    const { steps } = parsePath(path);
    const [first] = steps;
    for (const each of first?.kind === 'several' ? first.of : [pathOf(steps)]) resolvePath(tree, each);
    return null;
  } catch (error) {
    if (codeOf(error) === 'BAD_USER_INPUT') return messageOf(error);
    throw error;
  }
}
