/** The /scale subresource: one shape for every kind with replicas. */
import { asObject, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { statusErrors } from '../objects/status-error.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { ObjectApi, WriteOptions } from './object-api.ts';

/** The Scale of an object. */
export function readScale(resource: ServedResource, stored: Stored): JsonObject {
  const paths = resource.scale;
  const object = resource.view.convert(stored.object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = asObject(object.metadata);
  const labels = asObject(at(object, 'spec', 'selector', 'matchLabels'));
  const text = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  const selector = paths?.selector ? at(object, ...paths.selector) : text.join(',');
  const replicas = paths ? at(object, ...paths.specReplicas) : undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: replicas ?? 0 },
    status: {
      replicas: (paths ? at(object, ...paths.statusReplicas) : undefined) ?? 0,
      ...(selector ? { selector } : {}),
    },
  };
}

/** Sets `spec.replicas`; the rest of a Scale is not writable. */
export function writeScale(
  api: ObjectApi,
  resource: ServedResource,
  stored: Stored,
  scale: JsonObject,
  options: WriteOptions,
): Stored {
  const replicas = at(scale, 'spec', 'replicas');
  if (typeof replicas !== 'number' || replicas < 0) {
    throw statusErrors.invalid('autoscaling', 'Scale', stored.name, [
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: must be greater than or equal to 0',
        field: 'spec.replicas',
      },
    ]);
  }
  const [last = 'replicas', ...parents] = [...(resource.scale?.specReplicas ?? ['spec', 'replicas'])].reverse();
  const patch = parents.reduce<JsonObject>((inner, key) => ({ [key]: inner }), { [last]: replicas });
  return api.patch(resource, stored.namespace, stored.name, 'merge', patch, options);
}
