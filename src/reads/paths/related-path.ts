/**
 * Looks up a path of one kind that may go through its relations. A field of the kind has precedence over a relation.
 *
 *   status.phase              a leaf of the Pod
 *   node.metadata.name        through the to-one relation `node`, a leaf of the Node
 *   count(secrets)            the number of objects that the to-many relation `secrets` leads to
 */
import { codeOf, PortolanError } from '../../base/errors.ts';
import type { ResolvedPath } from '../../catalog/paths/resolve-path.ts';
import type { CatalogKind, KindRelation } from '../../catalog/resources/catalog.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import { parsePath, pathOf } from '../../catalog/tree/path.ts';
import { deepestRelated } from '../../query/plan/check-filter.ts';
import { hopOf, type Through } from '../../query/plan/hop.ts';
import { anyPaths, notCast, pathIn } from './kinds-path.ts';

/** The kind of a resourceKey. */
export type KindOf = (key: string) => CatalogKind | undefined;

interface RelatedPath extends ResolvedPath {
  readonly through?: Through;
}

/**
 * As pathIn. A path through relations is looked up if there is one kind.
 * @throws PortolanError BAD_USER_INPUT for an unknown path, and for a to-many relation that is not counted.
 */
export function relatedPathIn(
  kinds: readonly CatalogKind[],
  written: string,
  needed: 'every' | 'some',
  kindOf: KindOf,
  cast?: ValueCast,
): RelatedPath {
  try {
    return pathIn(kinds, written, needed, cast);
  } catch (error) {
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1 || codeOf(error) !== 'BAD_USER_INPUT') throw error;
    const found = throughRelation(kind, written, { kindOf, cast }, 1);
    if (found === null) throw error;
    return found;
  }
}

interface RelatedContext {
  readonly kindOf: KindOf;
  readonly cast: ValueCast | undefined;
}

/** Null if the path does not begin with a relation of the kind. */
function throughRelation(
  kind: CatalogKind,
  written: string,
  context: RelatedContext,
  depth: number,
): RelatedPath | null {
  const { steps, fold } = parsePath(written);
  const [first, ...rest] = steps;
  const relation = first?.kind === 'field' ? kind.relations.find(({ name }) => name === first.name) : undefined;
  if (relation === undefined || (relation.to === null && relation.way.by !== 'reference')) return null;
  const to = relation.to === null ? null : context.kindOf(relation.to);
  if (to === undefined) return null;
  if (depth > deepestRelated) {
    throw refuse(written, `goes through more than ${deepestRelated} relations`);
  }
  const hop = hopOf(kind, relation, to);
  if (rest.length === 0) {
    if (fold !== 'count')
      throw refuse(written, isOne(relation) ? `names an object; name one of its fields` : countHint(relation));
    if (context.cast !== undefined) throw notCast(context.cast, written);
    return { type: { kind: 'leaf', type: 'Int' }, many: false, path: pathOf([]), through: { hops: [], counted: hop } };
  }
  if (!isOne(relation)) throw refuse(written, countHint(relation));
  const found = inRelated(to, pathOf(rest, fold).text, context, depth);
  if (found.many)
    throw refuse(written, 'goes through a list of the related object; name one value with [0] or [name=value]');
  const { hops, counted } = found.through ?? { hops: [], counted: null };
  return { ...found, through: { hops: [hop, ...hops], counted } };
}

function inRelated(kind: CatalogKind | null, written: string, context: RelatedContext, depth: number): RelatedPath {
  if (kind === null) return pathIn([anyPaths], written, 'every', context.cast);
  try {
    return pathIn([kind], written, 'every', context.cast);
  } catch (error) {
    if (codeOf(error) !== 'BAD_USER_INPUT') throw error;
    const found = throughRelation(kind, written, context, depth + 1);
    if (found === null) throw error;
    return found;
  }
}

function isOne({ many }: KindRelation): boolean {
  return !many;
}

function countHint({ name }: KindRelation): string {
  return `goes through ${name}, which leads to several objects; count(${name}) is their number`;
}

function refuse(written: string, why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `The path ${JSON.stringify(written)} ${why}.`, {
    details: { path: written },
  });
}
