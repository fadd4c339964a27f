/**
 * Relations in the description of their source kind. They are JSON, because ingest keeps descriptions in the store, and the serve thread
 * reads them there.
 */
import { placeText } from './place-text.ts';
import { type Relation, type RelationOrigin, textOfKind } from './relation.ts';

export type RelationWay =
  | StatedWay
  /** The object of `to` has the name of the object's namespace. */
  | { readonly by: 'namespace' };

/** A relation that a body or the metadata states. */
type StatedWay =
  /** The places of references (placeText). */
  | { readonly by: 'reference'; readonly places: readonly string[] }
  | { readonly by: 'owner' }
  /** The place of the selector (placeText). `labels`: the path of the labels in the selected object; absent: those of the metadata. */
  | { readonly by: 'selector'; readonly place: string; readonly labels?: string };

/**
 * How a declared relation relates objects. `owns` is the reverse of `owner`; kinds have relations by `owner` only. The relation to the
 * Namespace is not declared (src/catalog/names/relate-kinds.ts).
 */
export type DeclaredWay = StatedWay | { readonly by: 'owns' };

/** See Relation. Kinds are texts (textOfKind). The source is the described kind. */
export interface DescribedRelation {
  readonly name: string;
  readonly to: string | null;
  readonly reverse: string | null;
  readonly reverseOn: readonly string[] | 'any';
  readonly many: boolean;
  readonly weak?: true;
  readonly origin: RelationOrigin;
  readonly way: DeclaredWay;
}

/** The description of a relation, for the kind where it begins. */
export function describeRelation({
  name,
  weak,
  target,
  reverse,
  reverseOn,
  many,
  origin,
  means,
}: Relation): DescribedRelation {
  return {
    name,
    to: target === null ? null : textOfKind(target),
    reverse,
    reverseOn: reverseOn === 'any' ? 'any' : reverseOn.map(textOfKind),
    many,
    ...(weak ? { weak } : {}),
    origin,
    way:
      means.by === 'reference'
        ? { by: 'reference', places: means.places.map(placeText) }
        : means.by === 'selector'
          ? {
              by: 'selector',
              place: placeText(means.place),
              ...(means.labels === null ? {} : { labels: means.labels.text }),
            }
          : means,
  };
}

/** The places that the store keeps for these relations, each once. */
export function placesOf(relations: readonly Pick<DescribedRelation, 'way'>[]): readonly string[] {
  const places = relations.flatMap(({ way }) =>
    way.by === 'reference' ? way.places : way.by === 'selector' ? [way.place] : [],
  );
  return [...new Set(places)];
}
