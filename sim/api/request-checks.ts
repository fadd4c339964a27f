/** Checks before a write: the identity in the body, the namespace, the preconditions and the finalizers. */
import { asArray, asString, at, type JsonObject } from '../objects/json.ts';
import type { ObjectStore, Stored } from '../objects/object-store.ts';
import { type StatusCause, StatusError, statusErrors } from '../objects/status-error.ts';
import { apiVersionOf, metadataOf, type ServedResource } from '../resources/served-resource.ts';
import { wrongType } from './admission.ts';
import type { WriteForm } from './write-options.ts';

/** The object with its full identity and in canonical key order; throws a Status when it contradicts the path. */
export function checkIdentity(
  resource: ServedResource,
  namespace: string,
  name: string,
  body: JsonObject,
  form: WriteForm = 'object',
): JsonObject {
  const apiVersion = asString(body.apiVersion);
  const kind = asString(body.kind);
  const wanted = apiVersionOf(resource);
  if ((apiVersion !== '' && apiVersion !== wanted) || (kind !== '' && kind !== resource.kind))
    throw wrongType(resource, form, name, body);
  const metadata = metadataOf(body);
  if (name !== '') checkName(name, asString(metadata.name));
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
  return { ...head, metadata, ...rest };
}

function checkName(wanted: string, given: string): void {
  if (given === '') {
    throw statusErrors.badRequest(
      `the name of the object (${wanted} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (given !== wanted) {
    throw statusErrors.badRequest(`the name of the object (${given}) does not match the name on the URL (${wanted})`);
  }
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

interface Expected {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Throws a 409 when a replacement names another uid or another version than the current object has. */
export function checkExpected(
  resource: ServedResource,
  current: Stored,
  { uid = '', resourceVersion }: Expected,
): void {
  if (uid !== '' && uid !== current.uid) {
    throw statusErrors.conflict(
      resource,
      current.name,
      `StorageError: invalid object, Code: 4, Key: ${storageKey(resource, current)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.uid}`,
    );
  }
  checkVersion(resource, current, resourceVersion);
}

/** Where etcd has the object: under the group only if its kind is a custom one. */
function storageKey({ custom, group, plural }: ServedResource, { namespace, name }: Stored): string {
  return ['/registry', ...(custom ? [group] : []), plural, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

/** As `checkExpected`, for the result of a patch: another uid is an invalid change of it, with 422. */
export function checkPatched(resource: ServedResource, current: Stored, { uid = '', resourceVersion }: Expected): void {
  checkVersion(resource, current, resourceVersion);
  if (uid === '' || uid === current.uid) return;
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  throw statusErrors.invalid(resource.group, resource.kind, current.name, [
    { reason: 'FieldValueInvalid', message, field: 'metadata.uid' },
  ]);
}

/** Throws a 409 when the version in a body is not the current one; none and 0 agree with every version. */
function checkVersion(resource: ServedResource, current: Stored, version = ''): void {
  if (!/^\d*$/.test(version)) {
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  }
  if (Number(version) === 0 || version === String(current.revision)) return;
  throw statusErrors.conflict(
    resource,
    current.name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** Throws a 409 when a deletion is not meant for the current object. An empty text is a precondition that no object meets. */
export function checkPreconditions(resource: ServedResource, current: Stored, wanted: Expected): void {
  const about = { group: resource.group, plural: resource.kind };
  const refuse = (what: string, given: string, found: string, then: string): StatusError =>
    statusErrors.conflict(
      about,
      current.name,
      `the ${what} in the precondition (${given}) does not match the ${what} in record (${found}). The object might have been ${then}`,
    );
  const { uid, resourceVersion } = wanted;
  if (uid !== undefined && uid !== current.uid) {
    throw refuse('UID', uid, current.uid, 'deleted and then recreated');
  }
  if (resourceVersion !== undefined && resourceVersion !== String(current.revision)) {
    throw refuse('ResourceVersion', resourceVersion, String(current.revision), 'modified');
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
