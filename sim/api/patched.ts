/** Applies a patch of one of the three forms without managers to an object, as a client sees it. */
import { isObject, type JsonObject } from '../objects/json.ts';
import { statusErrors } from '../objects/status-error.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { strategicMergePatch } from '../patch/strategic-merge-patch.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { PatchKind } from './write-options.ts';

/** The patched object. `schema` is that of the object; throws a 415 Status for a strategic patch of an object of a custom kind. */
export function patched(
  resource: Pick<ServedResource, 'custom' | 'schema'>,
  shown: JsonObject,
  kind: Exclude<PatchKind, 'apply'>,
  patch: unknown,
): JsonObject {
  if (kind === 'json') {
    const next = jsonPatch(shown, patch);
    if (!isObject(next)) throw statusErrors.unreadablePatch('the patch does not leave an object');
    return next;
  }
  if (!isObject(patch)) throw statusErrors.badRequest('error decoding patch: an object is needed');
  if (kind === 'merge') return mergePatch(shown, patch) as JsonObject;
  if (resource.custom) {
    throw statusErrors.unsupportedMediaType(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  }
  return strategicMergePatch(shown, patch, resource.schema);
}
