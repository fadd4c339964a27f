/** The declaration of a relation, as schema/relations.yaml and the file of `--relations` have it. The reverse of readRelations. */
import type { DescribedRelation } from './described-relation.ts';
import { placeOfText } from './place-text.ts';
import { type ReferencePlace, textOfKind } from './relation.ts';

/** JSON. @param from the kind that the relation begins at (textOfKind). */
export function declarationOf(from: string, relation: DescribedRelation): Readonly<Record<string, unknown>> {
  const { name, to, reverse, reverseOn, many, weak, way } = relation;
  const places =
    way.by === 'reference' ? way.places.map(placeOfText).flatMap((place) => ('form' in place ? [] : [place])) : [];
  const selector = way.by === 'selector' ? placeOfText(way.place) : null;
  const listed = places.length > 1 || places.some(({ at }) => at.steps.some(({ kind }) => kind === 'each'));
  return {
    from,
    name,
    to: to ?? 'any',
    ...(reverse === null ? {} : { reverse }),
    ...(reverse === null || to !== null ? {} : { reverseOn }),
    ...(weak === true ? { weak } : {}),
    ...(way.by === 'reference' && listed && !many ? { one: true } : {}),
    ...(way.by === 'owner' || way.by === 'owns' ? { [way.by]: true } : {}),
    ...(way.by === 'reference' ? { at: places.map(writtenPlace) } : {}),
    ...(selector !== null && 'form' in selector
      ? { selector: selector.path.text, form: selector.form, empty: selector.empty }
      : {}),
    ...(way.by === 'selector' && way.labels !== undefined ? { labels: way.labels } : {}),
  };
}

function writtenPlace({ at, name, namespace, target }: ReferencePlace): unknown {
  const stated = 'kindAt' in target ? target : null;
  if (name === null && namespace === null && stated === null) return at.text;
  const group = stated?.groupAt ?? null;
  return {
    at: at.text,
    ...(name === null || name.text === 'name' ? {} : { name: name.text }),
    ...(namespace === null
      ? {}
      : 'constant' in namespace
        ? { inNamespace: namespace.constant }
        : { namespace: namespace.text }),
    ...(stated === null ? {} : { kind: stated.kindAt.text }),
    ...(group === null ? {} : { [group.form]: group.path.text }),
    ...(stated?.fallback == null ? {} : { default: textOfKind(stated.fallback) }),
  };
}
