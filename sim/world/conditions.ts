/** Conditions as controllers write them. */
import { asArray, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { metadataOf } from '../resources/served-resource.ts';
import type { World } from './world.ts';

/** A condition. It keeps its transition time while its status is unchanged. */
export function conditionOf(
  world: World,
  stored: Stored,
  type: string,
  ok: boolean,
  reason: string,
  message: string,
): JsonObject {
  const status = ok ? 'True' : 'False';
  const known = asArray(at(stored.object, 'status', 'conditions'))
    .filter(isObject)
    .find((item) => item.type === type);
  return {
    type,
    status,
    reason,
    message,
    lastTransitionTime: known?.status === status ? known.lastTransitionTime : world.nowText(),
    observedGeneration: metadataOf(stored.object).generation ?? 1,
  };
}
