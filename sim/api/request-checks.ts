/** Checks before a write: the identity in the body, the namespace, the preconditions and the finalizers. */
import { asArray, asString, at, type JsonObject } from '../objects/json.ts';
import type { ObjectStore, Stored } from '../objects/object-store.ts';
import { type StatusCause, statusErrors } from '../objects/status-error.ts';
import { apiVersionOf, metadataOf, type ServedResource } from '../resources/served-resource.ts';

/** The object with its full identity and in canonical key order; throws a 400 when it contradicts the path. */
export function checkIdentity(resource: ServedResource, namespace: string, name: string, body: JsonObject): JsonObject {
  const apiVersion = asString(body.apiVersion);
  const kind = asString(body.kind);
  const wanted = apiVersionOf(resource);
  if ((apiVersion !== '' && apiVersion !== wanted) || (kind !== '' && kind !== resource.kind)) {
    throw statusErrors.badRequest(
      `${kind || 'the object'} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${resource.kind} in version ${JSON.stringify(wanted)}: the API version or kind in the data does not match the expected one`,
    );
  }
  const metadata = metadataOf(body);
  if (name !== '' && asString(metadata.name) !== '' && metadata.name !== name) {
    throw statusErrors.badRequest(
      `the name of the object (${asString(metadata.name)}) does not match the name on the URL (${name})`,
    );
  }
  const own = asString(metadata.namespace);
  if (own !== '' && own !== namespace) {
    throw statusErrors.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  const { apiVersion: _v, kind: _k, metadata: _m, ...rest } = body;
  const head = resource.custom
    ? { apiVersion: wanted, kind: resource.kind }
    : { kind: resource.kind, apiVersion: wanted };
  return { ...head, metadata: name === '' ? metadata : { ...metadata, name }, ...rest };
}

/** Throws a 404 when the namespace does not exist, a 403 while it is being deleted. */
export function checkNamespace(store: ObjectStore, resource: ServedResource, namespace: string, name: string): void {
  const found = store.get('namespaces', '', namespace);
  if (!found) throw statusErrors.notFound({ group: '', plural: 'namespaces' }, namespace);
  if (at(found.object, 'metadata', 'deletionTimestamp') === undefined) return;
  const cause: StatusCause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw statusErrors.forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [cause],
  );
}

/** Throws a 409 when the current object differs from the uid or the version in the preconditions. */
export function checkPreconditions(
  resource: ServedResource,
  current: Stored,
  wanted: { uid?: string; resourceVersion?: string },
): void {
  if (wanted.uid && wanted.uid !== current.uid) {
    throw statusErrors.conflict(
      resource,
      current.name,
      `StorageError: invalid object, Code: 4, Key: /registry/${resource.plural}/${current.key.replace(/^\//, '')}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${current.uid}`,
    );
  }
  if (wanted.resourceVersion && wanted.resourceVersion !== String(current.revision)) {
    throw statusErrors.conflict(
      resource,
      current.name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
}

/** Throws a 422 when the update adds a finalizer to an object that is being deleted. */
export function checkFinalizers(resource: ServedResource, next: JsonObject, old: JsonObject): void {
  const before = metadataOf(old);
  if (before.deletionTimestamp === undefined) return;
  const known = new Set(asArray(before.finalizers));
  const added = asArray(metadataOf(next).finalizers).filter((item) => !known.has(item));
  if (added.length === 0) return;
  const found = added.map((item) => JSON.stringify(item)).join(', ');
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${found}}`;
  throw statusErrors.invalid(resource.group, resource.kind, asString(before.name), [
    { reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' },
  ]);
}
