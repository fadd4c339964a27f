/**
 * The verbs of the API server over the store: the effect of every write on metadata, status, defaults and finalizers. Used by the
 * HTTP handlers, the test helpers and the controllers.
 *
 * Owns: the rules of create, update, patch and delete. Never: speaks HTTP, changes an object in place, or stores a new version
 * that equals the current one. An update without a change returns the current version, as on a real server.
 *
 * Life of an update:
 * - The new content gets the system fields of the current version, and its status (or, for /status, the rest).
 * - Prune, default, validate. If the result equals the current version, return that version.
 * - Set generation and managedFields, then write.
 *
 * When an update removes the last finalizer of an object that is being deleted, the object is removed instead.
 */
import type { Clock, Random } from '../../src/base/clock.ts';
import { defaultBuiltin } from '../builtin/builtin-defaults.ts';
import { builtinCauses, metadataCauses } from '../builtin/builtin-validation.ts';
import { crdFinalizer } from '../builtin/crd-finalizer.ts';
import { crdCauses } from '../builtin/crd-validation.ts';
import { asArray, asObject, asString, at, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import { type ObjectStore, Stored } from '../objects/object-store.ts';
import { type StatusCause, StatusError, statusErrors } from '../objects/status-error.ts';
import { applyPatch } from '../patch/apply-patch.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { changedFields, fieldSetOf, type ManagerEntry, recordManager } from '../patch/managed-fields.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { strategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { nameCauses, nowText, randomSuffix, randomUid } from '../resources/object-metadata.ts';
import { apiVersionOf, metadataOf, metadataString, type ServedResource } from '../resources/served-resource.ts';
import { applyDefaults, prunedPaths, pruneUnknown } from '../schema/prune.ts';
import { validateValue } from '../schema/validate.ts';
import { checkFinalizers, checkIdentity, checkNamespace, checkPreconditions } from './request-checks.ts';

export interface WriteOptions {
  /** The manager recorded in managedFields. */
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly subresource?: '' | 'status';
  /** Called with the paths of unknown fields before they are dropped; may throw to reject the write. */
  readonly onUnknownFields?: (paths: readonly string[]) => void;
  /** For internal writers: status may be written with the rest, and nothing is validated or pruned. */
  readonly trusted?: boolean;
}

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

export interface DeleteRequest {
  readonly propagationPolicy?: string;
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

export interface DeleteResult {
  readonly stored: Stored;
  /** False while finalizers or a grace period keep the object. */
  readonly gone: boolean;
}

interface ObjectApiOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether pods on a node are deleted gracefully. Needs a simulated kubelet that then ends them. */
  readonly gracefulPods: boolean;
}

const keptNamespaces = new Set(['default', 'kube-public', 'kube-system']);
const foreground = 'foregroundDeletion';

export class ObjectApi {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly #gracefulPods: boolean;

  constructor(options: ObjectApiOptions) {
    this.store = options.store;
    this.clock = options.clock;
    this.random = options.random;
    this.#gracefulPods = options.gracefulPods;
  }

  /** The object, or a 404 Status. */
  get(resource: ServedResource, namespace: string, name: string): Stored {
    const stored = this.store.get(resource.storage, namespace, name);
    if (!stored) throw statusErrors.notFound(resource, name);
    return stored;
  }

  /** Creates an object; throws a Status when it is rejected. `body` may lack apiVersion and kind. */
  create(resource: ServedResource, namespace: string, body: JsonObject, options: WriteOptions = {}): Stored {
    const given = checkIdentity(resource, namespace, '', body);
    const metadata = { ...metadataOf(given) };
    const prefix = asString(metadata.generateName);
    if (asString(metadata.name) === '' && prefix !== '') metadata.name = this.#freshName(resource, namespace, prefix);
    const name = asString(metadata.name);
    if (!options.trusted) {
      const causes = [...nameCauses(resource.kind, name), ...metadataCauses(metadata)];
      if (causes.length > 0) throw statusErrors.invalid(resource.group, resource.kind, name, causes);
      if (asString(metadata.resourceVersion) !== '') {
        throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
      }
    }
    if (resource.namespaced) checkNamespace(this.store, resource, namespace, name);
    if (this.store.get(resource.storage, namespace, name)) throw statusErrors.alreadyExists(resource, name);
    delete metadata.deletionTimestamp;
    delete metadata.deletionGracePeriodSeconds;
    delete metadata.selfLink;
    const keepTimes = options.trusted === true && metadata.creationTimestamp !== undefined;
    const uid = randomUid(this.random);
    metadata.uid = uid;
    if (resource.namespaced) metadata.namespace = namespace;
    else delete metadata.namespace;
    if (!keepTimes) metadata.creationTimestamp = nowText(this.clock);
    if (resource.hasGeneration) metadata.generation = 1;
    else delete metadata.generation;
    let object: JsonObject = { ...given, metadata };
    if (resource.statusSubresource && !options.trusted) delete object.status;
    object = this.#admit(resource, object, true, options);
    if (!(options.trusted && metadata.managedFields)) {
      object = this.#manage(resource, object, fieldSetOf(object, resource.schema, 'Update'), 'Update', options);
    }
    return this.#write(resource, object, options);
  }

  /** A free name. After eight tries it returns a used one, as the server does, and the create fails. */
  #freshName(resource: ServedResource, namespace: string, prefix: string): string {
    let name = prefix + randomSuffix(this.random);
    for (let tries = 1; tries < 8 && this.store.get(resource.storage, namespace, name); tries++) {
      name = prefix + randomSuffix(this.random);
    }
    return name;
  }

  /** Replaces an object (or its status); 409 for a stale resourceVersion. */
  update(
    resource: ServedResource,
    namespace: string,
    name: string,
    body: JsonObject,
    options: WriteOptions = {},
  ): Stored {
    const current = this.get(resource, namespace, name);
    const given = checkIdentity(resource, namespace, name, body);
    const version = metadataString(given, 'resourceVersion');
    if (version === '' && resource.custom && !options.trusted) {
      throw statusErrors.invalid(resource.group, resource.kind, name, [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: 0: must be specified for an update',
          field: 'metadata.resourceVersion',
        },
      ]);
    }
    checkPreconditions(resource, current, { resourceVersion: version, uid: metadataString(given, 'uid') });
    const done = this.#replace(resource, current, given, options);
    return done.stored;
  }

  /** Applies a patch to the object (or its status). `apply` creates the object when there is none. */
  patch(
    resource: ServedResource,
    namespace: string,
    name: string,
    kind: PatchKind,
    patch: unknown,
    options: WriteOptions & { force?: boolean } = {},
  ): Stored {
    if (kind === 'apply') return this.#apply(resource, namespace, name, patch, options);
    const current = this.get(resource, namespace, name);
    const shown = resource.view.convert(current.object);
    let next: unknown;
    if (kind === 'json') next = jsonPatch(shown, patch);
    else if (!isObject(patch)) throw statusErrors.badRequest('a patch of this type must be an object');
    else if (kind === 'merge') next = mergePatch(shown, patch);
    else if (resource.custom) {
      throw statusErrors.unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      );
    } else next = strategicMergePatch(shown, patch, resource.schema);
    if (!isObject(next)) throw statusErrors.badRequest('the patch does not leave an object');
    const given = checkIdentity(resource, namespace, name, next);
    checkPreconditions(resource, current, {
      resourceVersion: metadataString(given, 'resourceVersion'),
      uid: metadataString(given, 'uid'),
    });
    return this.#replace(resource, current, given, options).stored;
  }

  /** Deletes an object, or marks it as being deleted while finalizers or a grace period hold it. */
  delete(resource: ServedResource, namespace: string, name: string, request: DeleteRequest = {}): DeleteResult {
    const current = this.get(resource, namespace, name);
    if (resource.storage === 'namespaces' && keptNamespaces.has(name))
      throw statusErrors.forbidden(resource, name, 'this namespace may not be deleted');
    checkPreconditions(resource, current, request.preconditions ?? {});
    const metadata = { ...metadataOf(current.object) };
    const finalizers = asArray(metadata.finalizers).map(asString);
    const policy = request.propagationPolicy ?? '';
    const extra = policy === 'Foreground' ? foreground : policy === 'Orphan' ? 'orphan' : '';
    const kept = finalizers.filter((item) => extra === '' || (item !== foreground && item !== 'orphan'));
    if (extra !== '') kept.push(extra);
    if (resource.kind === 'CustomResourceDefinition' && !kept.includes(crdFinalizer)) kept.push(crdFinalizer);
    const grace = this.#gracePeriod(resource, current.object, request);
    const held = kept.length > 0 || grace > 0 || asArray(at(current.object, 'spec', 'finalizers')).length > 0;
    if (!held || (kept.length === 0 && grace === 0 && resource.storage !== 'namespaces')) {
      if (request.dryRun) return { stored: current, gone: true };
      return { stored: this.#remove(resource, current, current.object), gone: true };
    }
    const already = metadata.deletionTimestamp !== undefined;
    if (already && equalJson(kept, finalizers) && grace >= Number(metadata.deletionGracePeriodSeconds ?? 0)) {
      return { stored: current, gone: false };
    }
    if (!already) metadata.deletionTimestamp = nowText(this.clock);
    if (resource.storage !== 'namespaces') metadata.deletionGracePeriodSeconds = grace;
    if (kept.length > 0) metadata.finalizers = kept;
    if (resource.hasGeneration && !already) metadata.generation = Number(metadata.generation ?? 0) + 1;
    let object: JsonObject = { ...current.object, metadata };
    if (resource.storage === 'namespaces')
      object = { ...object, status: { ...asObject(object.status), phase: 'Terminating' } };
    if (request.dryRun) return { stored: this.#draft(resource, object), gone: false };
    return { stored: this.#write(resource, object, {}), gone: false };
  }

  /** Removes one finalizer. When it was the last one of an object that is being deleted, the object is removed. */
  removeFinalizer(resource: ServedResource, stored: Stored, finalizer: string): void {
    const current = this.store.get(stored.storage, stored.namespace, stored.name);
    if (!current) return;
    const metadata = metadataOf(current.object);
    const finalizers = asArray(metadata.finalizers).filter((item) => item !== finalizer);
    this.#replace(resource, current, { ...current.object, metadata: { ...metadata, finalizers } }, { trusted: true });
  }

  #apply(
    resource: ServedResource,
    namespace: string,
    name: string,
    patch: unknown,
    options: WriteOptions & { force?: boolean },
  ): Stored {
    if (!isObject(patch)) throw statusErrors.badRequest('an applied configuration must be an object');
    if (!options.fieldManager) {
      const message = 'Required value: is required for apply patch';
      throw statusErrors.invalid('meta.k8s.io', 'PatchOptions', '', [
        { reason: 'FieldValueRequired', message, field: 'fieldManager' },
      ]);
    }
    const applied = checkIdentity(resource, namespace, name, patch);
    if (metadataOf(applied).managedFields !== undefined) {
      throw statusErrors.badRequest('metadata.managedFields must be nil');
    }
    checkDeclared(resource, name, applied);
    const current = this.store.get(resource.storage, namespace, name);
    const who = this.#who(resource, 'Apply', options);
    if (!current) {
      const given = { ...applied, metadata: { ...metadataOf(applied), name } };
      const managed = {
        ...metadataOf(given),
        managedFields: recordManager([], who, fieldSetOf(given, resource.schema, 'Apply')),
      };
      return this.create(resource, namespace, { ...given, metadata: managed }, { ...options, subresource: '' });
    }
    checkPreconditions(resource, current, { resourceVersion: metadataString(applied, 'resourceVersion') });
    const { merged, fields, taken } = applyPatch({
      live: resource.view.convert(current.object),
      applied,
      types: resource.schema,
      who,
      force: options.force === true,
    });
    return this.#replace(resource, current, merged, options, { who, fields, taken }).stored;
  }

  #replace(
    resource: ServedResource,
    current: Stored,
    given: JsonObject,
    options: WriteOptions,
    applied?: { who: ManagerEntry; fields: JsonObject; taken: JsonObject },
  ): DeleteResult {
    const old = resource.view.convert(current.object);
    const before = metadataOf(old);
    const metadata: JsonObject = { ...metadataOf(given) };
    for (const key of [
      'name',
      'namespace',
      'uid',
      'creationTimestamp',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'generation',
      'generateName',
      'managedFields',
    ]) {
      if (before[key] === undefined) delete metadata[key];
      else metadata[key] = before[key];
    }
    metadata.resourceVersion = before.resourceVersion;
    delete metadata.selfLink;
    if (asArray(metadata.finalizers).length === 0) delete metadata.finalizers;
    let next: JsonObject = { ...given, metadata };
    if (options.subresource === 'status') {
      next = {
        ...old,
        metadata: withFields(metadata, { finalizers: before.finalizers, ownerReferences: before.ownerReferences }),
      };
      next = withFields(next, { status: given.status });
    } else if (resource.statusSubresource && !options.trusted) next = withFields(next, { status: old.status });
    if (!options.trusted) {
      checkFinalizers(resource, next, old);
      const causes = metadataCauses(metadataOf(next));
      if (causes.length > 0) throw statusErrors.invalid(resource.group, resource.kind, current.name, causes);
    }
    next = this.#admit(resource, next, false, options, old);
    if (equalJson({ ...next, metadata: metadataOf(next) }, old) && !applied) return { stored: current, gone: false };
    if (this.#desiredStateChanged(resource, next, old)) {
      next = { ...next, metadata: { ...metadataOf(next), generation: Number(before.generation ?? 0) + 1 } };
    }
    if (applied) {
      const managedFields = recordManager(before.managedFields, applied.who, applied.fields, applied.taken);
      if (equalJson(next, old) && sameManagers(managedFields, before.managedFields))
        return { stored: current, gone: false };
      next = { ...next, metadata: { ...metadataOf(next), managedFields } };
    } else if (before.managedFields !== undefined && (!options.trusted || options.fieldManager !== undefined)) {
      // An object without managedFields gets none until its first apply.
      next = this.#manage(resource, next, changedFields(next, old, resource.schema), 'Update', options);
    }
    const meta = metadataOf(next);
    const finished =
      meta.deletionTimestamp !== undefined &&
      meta.finalizers === undefined &&
      Number(meta.deletionGracePeriodSeconds ?? 0) === 0 &&
      asArray(at(next, 'spec', 'finalizers')).length === 0;
    if (options.dryRun) return { stored: this.#draft(resource, next), gone: false };
    if (finished) return { stored: this.#remove(resource, current, resource.toStorage(next)), gone: true };
    return { stored: this.#write(resource, next, options), gone: false };
  }

  #desiredStateChanged(resource: ServedResource, next: JsonObject, old: JsonObject): boolean {
    if (!resource.hasGeneration) return false;
    if (!resource.custom) return !equalJson(next.spec, old.spec);
    const strip = (object: JsonObject): JsonObject => {
      const { metadata: _m, status, ...rest } = object;
      return resource.statusSubresource ? rest : { ...rest, status };
    };
    return !equalJson(strip(next), strip(old));
  }

  #admit(
    resource: ServedResource,
    object: JsonObject,
    creating: boolean,
    options: WriteOptions,
    old?: JsonObject,
  ): JsonObject {
    if (options.trusted) return resource.custom || !creating ? object : defaultBuiltin(resource.kind, object, creating);
    const types = resource.schema;
    let out = pruneUnknown(object, types.root, types) as JsonObject;
    options.onUnknownFields?.(prunedPaths(object, out, ''));
    out = applyDefaults(out, types.root, types) as JsonObject;
    if (!resource.custom) out = defaultBuiltin(resource.kind, out, creating);
    const causes = validateValue(out, types.root, types, '').filter((cause) => !isBlind(cause, resource));
    if (resource.kind === 'CustomResourceDefinition' && causes.length === 0) causes.push(...crdCauses(out));
    if (!resource.custom && causes.length === 0 && options.subresource !== 'status')
      causes.push(...builtinCauses(resource.kind, out));
    const unreadable = resource.custom ? undefined : causes.find((cause) => cause.reason === 'FieldValueTypeInvalid');
    if (unreadable) {
      const apiVersion = apiVersionOf(resource);
      throw statusErrors.badRequest(
        `${resource.kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${resource.kind}: ${unreadable.message}`,
      );
    }
    if (resource.custom && old && causes.length > 0) {
      const known = new Set(
        validateValue(old, types.root, types, '').map((cause) => `${cause.field} ${cause.message}`),
      );
      const fresh = causes.filter((cause) => !known.has(`${cause.field} ${cause.message}`));
      if (fresh.length === 0) return out;
    }
    if (causes.length > 0)
      throw statusErrors.invalid(resource.group, resource.kind, metadataString(out, 'name'), causes);
    return out;
  }

  #who(resource: ServedResource, operation: 'Apply' | 'Update', options: WriteOptions): ManagerEntry {
    return {
      manager: options.fieldManager ?? 'unknown',
      operation,
      apiVersion: apiVersionOf(resource),
      subresource: options.subresource ?? '',
      time: nowText(this.clock),
    };
  }

  #manage(
    resource: ServedResource,
    object: JsonObject,
    fields: JsonObject,
    operation: 'Update',
    options: WriteOptions,
  ): JsonObject {
    const metadata = metadataOf(object);
    if (Object.keys(fields).length === 0) return object;
    const who = this.#who(resource, operation, options);
    const managedFields = metadata.managedFields ?? [];
    const applied = asArray(managedFields).length > 0 && metadata.resourceVersion === undefined;
    if (applied) return object;
    return { ...object, metadata: { ...metadata, managedFields: recordManager(managedFields, who, fields) } };
  }

  #gracePeriod(resource: ServedResource, object: JsonObject, request: DeleteRequest): number {
    if (resource.storage !== 'pods' || !this.#gracefulPods || asString(at(object, 'spec', 'nodeName')) === '') return 0;
    const phase = at(object, 'status', 'phase');
    if (phase === 'Succeeded' || phase === 'Failed') return 0;
    return request.gracePeriodSeconds ?? Number(at(object, 'spec', 'terminationGracePeriodSeconds') ?? 30);
  }

  /** A version for a dry run: returned to the client and never stored. */
  #draft(resource: ServedResource, object: JsonObject): Stored {
    const metadata = metadataOf(object);
    const uid = asString(metadata.uid);
    return new Stored(
      resource.storage,
      asString(metadata.namespace),
      asString(metadata.name),
      uid,
      0,
      resource.toStorage(object),
    );
  }

  #write(resource: ServedResource, object: JsonObject, options: WriteOptions): Stored {
    if (options.dryRun) return this.#draft(resource, object);
    const kept = resource.toStorage(object);
    const metadata = metadataOf(kept);
    const namespace = resource.namespaced ? asString(metadata.namespace) : '';
    return this.store.write(
      resource.storage,
      namespace,
      asString(metadata.name),
      asString(metadata.uid),
      (resourceVersion) => ({
        ...kept,
        metadata: { ...metadata, resourceVersion },
      }),
    );
  }

  #remove(resource: ServedResource, current: Stored, last: JsonObject): Stored {
    const removed = this.store.remove(resource.storage, current.namespace, current.name, (resourceVersion) => ({
      ...last,
      metadata: { ...metadataOf(last), resourceVersion },
    }));
    if (!removed) throw statusErrors.notFound(resource, current.name);
    return removed;
  }
}

/** Throws a 500 when an applied configuration has fields that the schema lacks. */
function checkDeclared(resource: ServedResource, name: string, applied: JsonObject): void {
  const types = resource.schema;
  const unknown = prunedPaths(applied, pruneUnknown(applied, types.root, types), '');
  const problems = unknown.map((path) => `.${path}: field not declared in schema`);
  if (problems.length === 0) return;
  const about = `(${metadataString(applied, 'namespace')}/${name}; ${apiVersionOf(resource)}, Kind=${resource.kind})`;
  const listed = problems.length === 1 ? problems.join('') : `errors:\n  ${problems.join('\n  ')}`;
  throw new StatusError(500, '', `failed to create typed patch object ${about}: ${listed}`);
}

/** Required fields in the status of a built-in kind are not checked: controllers fill them in. */
function isBlind(cause: StatusCause, resource: ServedResource): boolean {
  return !resource.custom && cause.reason === 'FieldValueRequired' && (cause.field ?? '').startsWith('status');
}

function sameManagers(a: unknown, b: unknown): boolean {
  const strip = (entries: unknown): unknown => asArray(entries).map((entry) => ({ ...asObject(entry), time: '' }));
  return equalJson(strip(a), strip(b));
}

/** The object with these fields; a field that is undefined is removed. */
function withFields(object: JsonObject, fields: JsonObject): JsonObject {
  const out = { ...object, ...fields };
  for (const [key, value] of Object.entries(fields)) if (value === undefined) delete out[key];
  return out;
}
