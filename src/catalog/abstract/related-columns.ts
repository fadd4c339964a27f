/**
 * Columns through a relation: the first step of their path is a to-one relation of the member.
 *
 *   member Redis, relation configMap { at: spec.configName, to: ConfigMap }, column `zone: configMap.data.zone`
 *   -> lead { name: configMap, to: ConfigMap, paths: [data.zone] }
 *
 * A field of the kind has precedence over a relation of its name, as in orders and filters.
 */
import { findReferences } from '../bodies/find-references.ts';
import { groupOf } from '../groups/api-group.ts';
import { valuesAt } from '../paths/value-at.ts';
import type { DescribedRelation } from '../relations/described-relation.ts';
import { placeOfText } from '../relations/place-text.ts';
import { kindOfText, type NamedKind, type ReferencePlace } from '../relations/relation.ts';
import type { DescribedResource } from '../resources/catalog.ts';
import { shapeOf } from '../tree/field-tree.ts';
import { type Path, parsePath, pathOf } from '../tree/path.ts';
import { recordOf } from '../values/displayed-value.ts';
import { type Member, sourcePaths } from './abstract-kind.ts';

/** A to-one relation that columns of a member go through. */
export interface Lead {
  /** The name of the relation. */
  readonly name: string;
  readonly to: NamedKind;
  /** Where references stand; null: an owner reference leads to the object. */
  readonly places: readonly ReferencePlace[] | null;
  /** The paths of the related object that the columns read. */
  readonly paths: readonly Path[];
}

/** The object that a member's object names. */
interface NamedObject {
  /** That of the member's object, if none is stated; also for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
  /** An object with another uid is not meant; null: any. */
  readonly uid: string | null;
}

/** Most relations of one member: each is one more object that is read for each of its objects. */
const mostLeads = 8;

/** The relations that columns of the member go through. @param described the member */
export function leadsOf(member: Member, described: Pick<DescribedResource, 'tree' | 'relations'>): readonly Lead[] {
  const fields = new Set(shapeOf(described.tree, described.tree.root).fields.map(({ name }) => name));
  const relations = new Map(
    (described.relations ?? []).flatMap((relation) => (fields.has(relation.name) ? [] : [[relation.name, relation]])),
  );
  const found = new Map<string, Lead & { readonly paths: Path[] }>();
  for (const path of Object.values(member.columns).flatMap(sourcePaths)) {
    const parts = throughRelation(parsePath(path));
    const relation = parts === null ? undefined : relations.get(parts.relation);
    if (parts === null || relation === undefined) continue;
    const lead = found.get(parts.relation) ?? leadOf(relation);
    if (lead === null) continue;
    lead.paths.push(parts.rest);
    if (found.size < mostLeads) found.set(parts.relation, lead);
  }
  return [...found.values()];
}

/** The first step of a path by its name, and the path without it; null for a path that cannot lead to another object. */
export function throughRelation({
  steps: [first, ...rest],
  fold,
}: Path): { readonly relation: string; readonly rest: Path } | null {
  if (first?.kind !== 'field' || rest.length === 0) return null;
  return { relation: first.name, rest: pathOf(rest, fold) };
}

/** The object to which the relation leads; null if the body names none. Of several it is the first. */
export function namedBy(
  { to, places }: Pick<Lead, 'to' | 'places'>,
  body: unknown,
  namespace: string,
): NamedObject | null {
  if (places === null) return ownerOf(to, body, namespace);
  const [reference] = findReferences(places, body, namespace);
  return reference === undefined ? null : { namespace: reference.namespace, name: reference.name, uid: null };
}

/** Are the related objects always in the namespace of the object? @param namespaced the related kind is */
export function isNear({ places }: Pick<Lead, 'places'>, namespaced: boolean): boolean {
  return namespaced && (places === null || places.every((place) => place.namespace === null));
}

function leadOf({ name, to, many, way }: DescribedRelation): (Lead & { readonly paths: Path[] }) | null {
  if (many || to === null) return null;
  if (way.by === 'owner') return { name, to: kindOfText(to), places: null, paths: [] };
  if (way.by !== 'reference') return null;
  const places = way.places.map(placeOfText).filter((place): place is ReferencePlace => !('form' in place));
  return { name, to: kindOfText(to), places, paths: [] };
}

const ownersPath = parsePath('metadata.ownerReferences[]');

function ownerOf({ group, kind }: NamedKind, body: unknown, namespace: string): NamedObject | null {
  for (const value of valuesAt(body, ownersPath)) {
    const { apiVersion, kind: named, name, uid } = recordOf(value) ?? {};
    if (named !== kind || typeof name !== 'string' || typeof uid !== 'string') continue;
    if (typeof apiVersion === 'string' && groupOf(apiVersion) === group) return { namespace, name, uid };
  }
  return null;
}
