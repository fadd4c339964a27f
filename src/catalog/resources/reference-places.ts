/** The places of a kind's own references. */
import type { CatalogKind } from './catalog.ts';

/** The places (placeText) of the references of a kind's objects, each once: the weak ones, or the others. */
export function referencePlaces({ relations }: CatalogKind, which: { readonly weak: boolean }): readonly string[] {
  const places = relations.flatMap(({ direction, weak, way }) =>
    direction === 'forward' && weak === which.weak && way.by === 'reference' ? way.places : [],
  );
  return [...new Set(places)];
}
