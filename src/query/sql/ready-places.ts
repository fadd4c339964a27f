/** The places of references and selectors that are complete in the store. */
import { NotReadyError } from '../plan/not-ready.ts';
import type { View } from './view.ts';

/**
 * The ids of these places of a kind (placeText).
 * @throws PortolanError CACHE_NOT_READY while the objects of the kind are still being read for one of them.
 */
export function readyPlaces(view: View, key: string, texts: readonly string[]): readonly number[] {
  const known = view.get(key)?.places ?? [];
  return texts.map((text) => {
    const place = known.find((each) => each.text === text);
    if (place?.ready === true) return place.id;
    throw new NotReadyError(
      { keys: [key], clusters: null, any: false, related: true },
      `Relations of ${key} are not ready: the references of its objects are still being read. Try again in a moment.`,
    );
  });
}
