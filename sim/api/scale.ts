/**
 * The /scale subresource: one shape for every kind with replicas.
 *
 * A write of a Scale is a write of one field of the object. It is read as a Scale, changed, and written back:
 *
 *   object -> Scale -> patched or replaced Scale, validated -> `replicas` of the object, by a merge patch or by an apply
 *
 * Its uid and resourceVersion are preconditions on the object. The manager's entry in managedFields is that of the object, with the
 * subresource `scale`. For an apply, the owners of the field `replicas` of the object own `spec.replicas` of the Scale.
 */
import { subresourceKind } from '../builtin/builtin-resources.ts';
import { asArray, asObject, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';
import { fieldsOfPath, hasField } from '../patch/managed-fields.ts';
import { labelSelectorText } from '../resources/label-selector.ts';
import { apiVersionOf, metadataString, type ServedResource } from '../resources/served-resource.ts';
import { admit } from './admission.ts';
import type { ObjectApi } from './object-api.ts';
import { patched } from './patched.ts';
import { checkExpected, checkIdentity } from './request-checks.ts';
import type { PatchKind, PatchOptions, WriteForm } from './write-options.ts';

/** The Scale of an object; throws a 500 Status for a custom object without replicas. */
export function readScale(resource: ServedResource, stored: Stored): JsonObject {
  const object = resource.view.convert(stored.object);
  if (resource.custom && replicasOf(resource, object) === undefined) {
    const message = `the spec replicas field ".${replicasPath(resource).join('.')}" does not exist`;
    throw new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
      causes: [{ reason: 'InternalError', message }],
    });
  }
  return scaleOf(resource, object);
}

/** Replaces the Scale of an object. Throws a Status when it is rejected. */
export function replaceScale(
  api: ObjectApi,
  resource: ServedResource,
  namespace: string,
  name: string,
  body: JsonObject,
  options: PatchOptions,
): JsonObject {
  const stored = api.get(resource, namespace, name);
  const given = checkIdentity(subresourceKind('Scale'), namespace, name, body);
  checkExpected(resource, stored, { uid: metadataString(given, 'uid') });
  return writeScale(api, resource, stored, given, 'object', options);
}

/** Patches the Scale of an object, or applies a configuration to it. Throws a Status when it is rejected. */
export function patchScale(
  api: ObjectApi,
  resource: ServedResource,
  namespace: string,
  name: string,
  kind: PatchKind,
  patch: unknown,
  options: PatchOptions,
): JsonObject {
  const stored = api.get(resource, namespace, name);
  const scale = subresourceKind('Scale');
  if (kind === 'apply') return applyScale(api, resource, stored, patch, options);
  const shown = scaleOf(resource, resource.view.convert(stored.object));
  const next = patched({ custom: resource.custom, schema: scale.schema }, shown, kind, patch);
  const given = checkIdentity(scale, namespace, name, next, 'patch');
  const uid = metadataString(given, 'uid');
  // Real servers do not look at the uid in a patched Scale of a custom object.
  if (!resource.custom && uid !== '' && uid !== stored.uid) {
    const message = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`;
    throw statusErrors.conflict({ ...resource, plural: `${resource.plural}/scale` }, name, message);
  }
  return writeScale(api, resource, stored, given, 'patch', options);
}

function applyScale(
  api: ObjectApi,
  resource: ServedResource,
  stored: Stored,
  patch: unknown,
  options: PatchOptions,
): JsonObject {
  const shown = scaleOf(resource, resource.view.convert(stored.object));
  const managedFields = scaleManagers(resource, stored);
  const live: JsonObject = { ...shown, metadata: { ...asObject(shown.metadata), managedFields } };
  const { given, merged, taken } = api.mergeApplied(subresourceKind('Scale'), live, stored, patch, {
    ...options,
    subresource: 'scale',
  });
  if (resource.custom) {
    // So do real servers: they cannot convert an applied Scale of a custom object.
    const about = `(/${metadataString(given, 'name')}; autoscaling/v1, Kind=Scale)`;
    throw new StatusError(
      500,
      '',
      `failed to convert new object ${about} to proper version: request to convert CR to an invalid group/version: autoscaling/v1`,
    );
  }
  return writeScale(api, resource, stored, merged, 'apply', options, { taken });
}

function writeScale(
  api: ObjectApi,
  resource: ServedResource,
  stored: Stored,
  scale: JsonObject,
  form: WriteForm,
  options: PatchOptions,
  applied?: { taken: JsonObject },
): JsonObject {
  const { onUnknownFields, ...rest } = options;
  const kind = subresourceKind('Scale');
  const admitted = admit(kind, scale, form, onUnknownFields ? { onUnknownFields } : {}, scale);
  const replicas = Number(at(admitted, 'spec', 'replicas') ?? 0);
  if (replicas < 0) throw negative(resource, stored.name, replicas);
  const path = replicasPath(resource);
  const patch = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), replicas);
  const resourceVersion = metadataString(admitted, 'resourceVersion');
  const write = { ...rest, subresource: 'scale' as const };
  const change = { ...asObject(patch), metadata: { resourceVersion } };
  const fields = fieldsOfPath(path);
  const done = applied
    ? api.patchOwned(
        resource,
        stored,
        change,
        { fields, taken: hasField(applied.taken, scalePath) ? fields : {} },
        write,
      )
    : api.patch(resource, stored.namespace, stored.name, 'merge', change, write);
  return scaleOf(resource, resource.view.convert(done.object));
}

function negative(resource: ServedResource, name: string, replicas: number): StatusError {
  const [group, kind, field, rule] = resource.custom
    ? [resource.group, resource.kind, `.${replicasPath(resource).join('.')}`, 'should be a non-negative integer']
    : ['autoscaling', 'Scale', 'spec.replicas', 'must be greater than or equal to 0'];
  const message = `Invalid value: ${replicas}: ${rule}`;
  return statusErrors.invalid(group, kind, name, [{ reason: 'FieldValueInvalid', message, field }]);
}

const scalePath = ['spec', 'replicas'];

function replicasPath(resource: ServedResource): readonly string[] {
  return resource.scale?.specReplicas ?? scalePath;
}

function replicasOf(resource: ServedResource, object: JsonObject): unknown {
  return at(object, ...replicasPath(resource));
}

function scaleOf(resource: ServedResource, object: JsonObject): JsonObject {
  const paths = resource.scale;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = asObject(object.metadata);
  const selector = paths?.selector ? at(object, ...paths.selector) : labelSelectorText(at(object, 'spec', 'selector'));
  const replicas = replicasOf(resource, object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // Servers leave out the number 0.
    spec: replicas ? { replicas } : {},
    status: {
      replicas: (paths ? at(object, ...paths.statusReplicas) : undefined) ?? 0,
      ...(selector ? { selector } : {}),
    },
  };
}

/** The managers of the field `replicas` of an object, as managers of its Scale. */
function scaleManagers(resource: ServedResource, stored: Stored): JsonObject[] {
  const path = replicasPath(resource);
  return asArray(at(stored.object, 'metadata', 'managedFields'))
    .filter(isObject)
    .filter((entry) => entry.apiVersion === apiVersionOf(resource) && hasField(asObject(entry.fieldsV1), path))
    .map((entry) => ({ ...entry, apiVersion: 'autoscaling/v1', fieldsV1: fieldsOfPath(scalePath) }));
}
