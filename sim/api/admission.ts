/**
 * The steps before an object is stored: unknown fields are reported and dropped, defaults are set, the result is validated.
 * Source: the decoding and validation of kube-apiserver. Never: writes, or knows the version that is stored.
 *
 * An object that cannot be read is refused by the form of the write. A whole object gets 400, the result of a patch 422 with the
 * field `patch`, an applied configuration 500.
 */
import { defaultBuiltin } from '../builtin/builtin-defaults.ts';
import { builtinCauses } from '../builtin/builtin-validation.ts';
import { crdCauses } from '../builtin/crd-validation.ts';
import { updateCauses } from '../builtin/update-validation.ts';
import { asString, at, type JsonObject } from '../objects/json.ts';
import { type StatusCause, StatusError, statusErrors } from '../objects/status-error.ts';
import { apiVersionOf, metadataString, type ServedResource } from '../resources/served-resource.ts';
import { applyDefaults, prunedPaths, pruneUnknown } from '../schema/prune.ts';
import { validateValue } from '../schema/validate.ts';
import type { WriteForm, WriteOptions } from './write-options.ts';

/** The object as it may be stored; throws a Status when it is rejected. `old` is the version that it replaces. */
export function admit(
  resource: ServedResource,
  object: JsonObject,
  form: WriteForm,
  options: WriteOptions,
  old?: JsonObject,
): JsonObject {
  const creating = old === undefined;
  if (options.trusted) return resource.custom || !creating ? object : defaultBuiltin(resource.kind, object, creating);
  const types = resource.schema;
  let out = pruneUnknown(object, types.root, types) as JsonObject;
  const unknown = prunedPaths(object, out, '');
  options.onUnknownFields?.(resource.custom ? unknown.toSorted() : unknown);
  out = applyDefaults(out, types.root, types) as JsonObject;
  if (!resource.custom) out = defaultBuiltin(resource.kind, out, creating);
  const causes = validateValue(out, types.root, types, '').filter((cause) => !isBlind(cause, resource));
  if (resource.kind === 'CustomResourceDefinition' && causes.length === 0) causes.push(...crdCauses(out));
  if (!resource.custom && causes.length === 0 && options.subresource !== 'status') {
    causes.push(...builtinCauses(resource.kind, out));
    if (old) causes.push(...updateCauses(resource.kind, out, old));
  }
  const unreadable = resource.custom ? undefined : causes.find(isTypeCause);
  if (unreadable) throw unreadableObject(resource, form, unreadable, out);
  if (resource.custom && old && causes.length > 0) {
    const known = new Set(validateValue(old, types.root, types, '').map((cause) => `${cause.field} ${cause.message}`));
    const fresh = causes.filter((cause) => !known.has(`${cause.field} ${cause.message}`));
    if (fresh.length === 0) return out;
  }
  if (causes.length > 0) throw statusErrors.invalid(resource.group, resource.kind, metadataString(out, 'name'), causes);
  return out;
}

/** Throws a Status when an applied configuration has a field that the schema lacks, or a value of another type. */
export function checkApplied(resource: ServedResource, applied: JsonObject): void {
  const types = resource.schema;
  const unknown = prunedPaths(applied, pruneUnknown(applied, types.root, types), '');
  const problems = [
    // Metadata is read by its own type, which ignores what it does not know.
    ...unknown.filter((path) => !path.startsWith('metadata.')).map((path) => `.${path}: field not declared in schema`),
    ...validateValue(applied, types.root, types, '')
      .filter(isTypeCause)
      .map((cause) => `${smdPath(cause.field)}: ${expectedType(cause, applied)}`),
  ];
  if (problems.length > 0) throw unreadableConfiguration(resource, applied, problems);
}

function unreadableConfiguration(
  resource: ServedResource,
  applied: JsonObject,
  problems: readonly string[],
): StatusError {
  const about = `(${metadataString(applied, 'namespace')}/${metadataString(applied, 'name')}; ${resource.group}/${resource.version}, Kind=${resource.kind})`;
  const listed = problems.length === 1 ? problems.join('') : `errors:\n  ${problems.join('\n  ')}`;
  return new StatusError(500, '', `failed to create typed patch object ${about}: ${listed}`);
}

function unreadableObject(
  resource: ServedResource,
  form: WriteForm,
  cause: StatusCause,
  object: JsonObject,
): StatusError {
  const problem = goTypeProblem(resource.kind, cause);
  if (form === 'apply') {
    return unreadableConfiguration(resource, object, [`${smdPath(cause.field)}: ${expectedType(cause, object)}`]);
  }
  if (form === 'patch') return statusErrors.unreadablePatch(problem);
  return statusErrors.badRequest(
    `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: ${problem}`,
  );
}

/** The words of a server for a value that has another type than its field. */
export function goTypeProblem(kind: string, cause: StatusCause): string {
  const found = foundType(cause);
  const shown = found === 'integer' ? 'number' : found;
  return `json: cannot unmarshal ${shown} into Go struct field ${kind}.${cause.field} of type ${wantedType(cause)}`;
}

function isTypeCause(cause: StatusCause): boolean {
  return cause.reason === 'FieldValueTypeInvalid';
}

/** The type that a value has, from the message of a cause. */
function foundType(cause: StatusCause): string {
  return /^Invalid value: "(\w+)"/.exec(cause.message)?.[1] ?? 'value';
}

/** The type that a field wants, from the message of a cause. */
function wantedType(cause: StatusCause): string {
  return /must be of type ([\w,]+)/.exec(cause.message)?.[1] ?? 'another';
}

/** `.data.k` for the field `data[k]`. */
function smdPath(field = ''): string {
  return `.${field.replaceAll(/\[(\D[^\]]*)\]/g, '.$1')}`;
}

function expectedType(cause: StatusCause, object: JsonObject): string {
  const names: Readonly<Record<string, string>> = {
    integer: 'numeric (int or float)',
    number: 'numeric (int or float)',
    object: 'map',
    array: 'list',
  };
  const wanted = wantedType(cause);
  const value = at(object, ...(cause.field ?? '').split(/[.[\]]+/).filter((key) => key !== ''));
  const shown =
    wanted === 'string'
      ? `&value.valueUnstructured{Value:${asString(value) || JSON.stringify(value)}}`
      : foundType(cause);
  return `expected ${names[wanted] ?? wanted}, got ${shown}`;
}

/** Required fields in the status of a built-in kind are not checked: controllers fill them in. */
function isBlind(cause: StatusCause, resource: ServedResource): boolean {
  return !resource.custom && cause.reason === 'FieldValueRequired' && (cause.field ?? '').startsWith('status');
}

/** The Status for a body of another kind or version than the path has. `name` is that of the path. */
export function wrongType(resource: ServedResource, form: WriteForm, name: string, body: JsonObject): StatusError {
  const [apiVersion, kind] = [asString(body.apiVersion), asString(body.kind)];
  const wanted = apiVersionOf(resource);
  const group = apiVersion.includes('/') ? '' : '/';
  if (form === 'apply') return statusErrors.badRequest(`invalid object type: ${group}${apiVersion}, Kind=${kind}`);
  const problem = `the API version or kind in the data (${apiVersion}, ${kind}) does not match the expected one (${wanted}, ${resource.kind})`;
  if (form === 'patch' && resource.custom) {
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${resource.kind}`;
    return statusErrors.invalid(resource.group, kind, name, [{ reason: 'FieldValueInvalid', message, field: 'kind' }]);
  }
  if (form === 'patch') return statusErrors.unreadablePatch(problem);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return statusErrors.badRequest(
    `${kind || 'the object'} in version ${JSON.stringify(version)} cannot be handled as a ${resource.kind}: ${problem}`,
  );
}
