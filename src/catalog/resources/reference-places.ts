/** The places of a kind's own references. */
import { placeOfText } from '../relations/place-text.ts';
import type { ReferencePlace } from '../relations/relation.ts';
import type { CatalogKind } from './catalog.ts';

/** The places (placeText) of the references of a kind's objects, each once: the weak ones, or the others. */
export function referencePlaces({ relations }: CatalogKind, which: { readonly weak: boolean }): readonly string[] {
  const places = relations.flatMap(({ direction, weak, way }) =>
    direction === 'forward' && weak === which.weak && way.by === 'reference' ? way.places : [],
  );
  return [...new Set(places)];
}

const parsed = new WeakMap<CatalogKind, readonly ReferencePlace[]>();

/** The places of the references that are not weak, parsed once for each kind. */
export function parsedPlaces(kind: CatalogKind): readonly ReferencePlace[] {
  const known = parsed.get(kind);
  if (known !== undefined) return known;
  const places = referencePlaces(kind, { weak: false }).map(placeOfText);
  const found = places.filter((place): place is ReferencePlace => !('form' in place));
  parsed.set(kind, found);
  return found;
}
