/** JSON merge patch (RFC 7386): null removes, objects merge, all other values replace. */
import { isObject, type JsonObject } from '../objects/json.ts';

/** Applies the patch to a copy of the target. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const out: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = mergePatch(out[key], value);
  }
  return out;
}
