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
import { metadataCauses } from '../builtin/builtin-validation.ts';
import { crdFinalizer } from '../builtin/crd-finalizer.ts';
import { asArray, asObject, asString, at, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import { type ObjectStore, Stored } from '../objects/object-store.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';
import { applyPatch } from '../patch/apply-patch.ts';
import {
  beforeFirstApply,
  changedFields,
  fieldSetOf,
  type ManagerEntry,
  recordManager,
  removedFields,
} from '../patch/managed-fields.ts';
import { nameCauses, nowText, randomSuffix, randomUid } from '../resources/object-metadata.ts';
import { apiVersionOf, metadataOf, metadataString, type ServedResource } from '../resources/served-resource.ts';
import { admit, checkApplied, wrongType } from './admission.ts';
import { patched } from './patched.ts';
import {
  checkExpected,
  checkFinalizers,
  checkIdentity,
  checkNamespace,
  checkPatched,
  checkPreconditions,
} from './request-checks.ts';
import type { DeleteRequest, PatchKind, PatchOptions, WriteForm, WriteOptions } from './write-options.ts';

export interface DeleteResult {
  readonly stored: Stored;
  /** False while finalizers or a grace period keep the object. */
  readonly gone: boolean;
}

/** Whom the fields of an object belong to after an apply. */
interface Applied {
  /** The entries of managedFields before it. */
  readonly before: readonly JsonObject[];
  readonly fields: JsonObject;
  readonly taken: JsonObject;
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
const conditionalKinds = new Set(['PodDisruptionBudget', 'Lease', 'CustomResourceDefinition']);

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
    return this.#create(resource, namespace, checkIdentity(resource, namespace, '', body), 'object', options);
  }

  #create(
    resource: ServedResource,
    namespace: string,
    given: JsonObject,
    form: WriteForm,
    options: WriteOptions,
  ): Stored {
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
    object = admit(resource, object, form, options);
    if (!(options.trusted && metadata.managedFields)) {
      object = this.#manage(resource, object, options);
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
    const resourceVersion = metadataString(given, 'resourceVersion');
    if (resourceVersion === '' && needsVersion(resource) && !options.trusted) {
      const message = 'Invalid value: 0: must be specified for an update';
      throw statusErrors.invalid(resource.group, resource.plural, name, [
        { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' },
      ]);
    }
    checkExpected(resource, current, { resourceVersion, uid: metadataString(given, 'uid') });
    return this.#replace(resource, current, given, 'object', options).stored;
  }

  /** Applies a patch to the object (or its status). `apply` creates the object when there is none. */
  patch(
    resource: ServedResource,
    namespace: string,
    name: string,
    kind: PatchKind,
    patch: unknown,
    options: PatchOptions = {},
  ): Stored {
    if (kind === 'apply') return this.#apply(resource, namespace, name, patch, options);
    const current = this.get(resource, namespace, name);
    const next = patched(resource, resource.view.convert(current.object), kind, patch);
    const given = checkIdentity(resource, namespace, name, next, 'patch');
    checkPatched(resource, current, {
      resourceVersion: metadataString(given, 'resourceVersion'),
      uid: metadataString(given, 'uid'),
    });
    return this.#replace(resource, current, given, 'patch', options).stored;
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
    // A policy that is asked for replaces the one of an earlier deletion.
    const kept = finalizers.filter((item) => policy === '' || (item !== foreground && item !== 'orphan'));
    if (extra !== '') kept.push(extra);
    if (resource.kind === 'CustomResourceDefinition' && !kept.includes(crdFinalizer)) kept.push(crdFinalizer);
    const grace = this.#gracePeriod(resource, current.object, request);
    const held = kept.length > 0 || grace > 0 || asArray(at(current.object, 'spec', 'finalizers')).length > 0;
    if (!held || (kept.length === 0 && grace === 0 && resource.storage !== 'namespaces')) {
      if (request.dryRun) return { stored: this.#lastDraft(resource, current), gone: true };
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
    const next = { ...current.object, metadata: { ...metadata, finalizers } };
    this.#replace(resource, current, next, 'object', { trusted: true });
  }

  #apply(resource: ServedResource, namespace: string, name: string, patch: unknown, options: PatchOptions): Stored {
    const current = this.store.get(resource.storage, namespace, name);
    if (!current) return this.#createApplied(resource, namespace, name, patch, options);
    const live = resource.view.convert(current.object);
    const { given, merged, ...applied } = this.mergeApplied(resource, live, current, patch, options);
    checkPatched(resource, current, {
      resourceVersion: metadataString(given, 'resourceVersion'),
      uid: metadataString(given, 'uid'),
    });
    return this.#replace(resource, current, merged, 'apply', options, applied).stored;
  }

  /**
   * Merges an applied configuration into what a server shows of an object: the object, or a subresource of it. Writes nothing.
   * `given` is the configuration with its identity, `before` the managers before it, `fields` what it sets, `taken` what it takes
   * from others by force.
   */
  mergeApplied(
    shown: ServedResource,
    live: JsonObject,
    current: Stored,
    patch: unknown,
    options: PatchOptions,
  ): Applied & { given: JsonObject; merged: JsonObject } {
    const applied = checkConfiguration(shown, patch, options);
    const named = { ...applied, metadata: { name: current.name, ...metadataOf(applied) } };
    const given = checkIdentity(shown, current.namespace, current.name, named, 'apply');
    const who = this.#who(shown, 'Apply', options);
    const known = asArray(metadataOf(live).managedFields).filter(isObject);
    const before = known.length > 0 ? known : beforeFirstApply(live, shown.schema, who);
    const owned = { ...live, metadata: { ...metadataOf(live), managedFields: before } };
    const request = { live: owned, applied: given, types: shown.schema, who, force: options.force === true };
    return { given, before, ...applyPatch(request) };
  }

  /** A merge patch whose fields belong to the manager as those of an apply. `taken` are those that others owned. */
  patchOwned(
    resource: ServedResource,
    stored: Stored,
    patch: JsonObject,
    { fields, taken }: Pick<Applied, 'fields' | 'taken'>,
    options: WriteOptions,
  ): Stored {
    const current = this.get(resource, stored.namespace, stored.name);
    const next = patched(resource, resource.view.convert(current.object), 'merge', patch);
    checkPatched(resource, current, { resourceVersion: metadataString(next, 'resourceVersion') });
    const before = asArray(metadataOf(current.object).managedFields).filter(isObject);
    return this.#replace(resource, current, next, 'apply', options, { before, fields, taken }).stored;
  }

  #createApplied(
    resource: ServedResource,
    namespace: string,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Stored {
    const configuration = checkConfiguration(resource, patch, options);
    if (options.subresource) throw statusErrors.notFound(resource, name);
    const given = checkIdentity(resource, namespace, name, configuration, 'apply');
    const { resourceVersion: _unread, uid, ...metadata } = metadataOf(given);
    if (asString(uid) !== '') {
      const message = `uid mismatch: the provided object specified uid ${asString(uid)}, and no existing object was found`;
      throw statusErrors.conflict(resource, name, message);
    }
    const who = this.#who(resource, 'Apply', options);
    const managedFields = recordManager([], who, fieldSetOf(given, resource.schema, 'Apply'));
    return this.#create(resource, namespace, { ...given, metadata: { ...metadata, managedFields } }, 'apply', options);
  }

  #replace(
    resource: ServedResource,
    current: Stored,
    given: JsonObject,
    form: WriteForm,
    options: WriteOptions,
    applied?: Applied,
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
    next = admit(resource, next, form, options, old);
    if (equalJson({ ...next, metadata: metadataOf(next) }, old) && !applied) return { stored: current, gone: false };
    if (this.#desiredStateChanged(resource, next, old)) {
      next = { ...next, metadata: { ...metadataOf(next), generation: Number(before.generation ?? 0) + 1 } };
    }
    if (applied) {
      const who = this.#who(resource, 'Apply', options);
      const { taken } = applied;
      const managedFields = recordManager(applied.before, who, applied.fields, { taken });
      if (equalJson(next, old) && sameManagers(managedFields, before.managedFields))
        return { stored: current, gone: false };
      next = { ...next, metadata: { ...metadataOf(next), managedFields } };
    } else if (before.managedFields !== undefined && (!options.trusted || options.fieldManager !== undefined)) {
      // An object without managedFields gets none until its first apply.
      next = this.#manage(resource, next, options, old);
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

  #who(resource: ServedResource, operation: 'Apply' | 'Update', options: WriteOptions): ManagerEntry {
    return {
      manager: options.fieldManager ?? 'unknown',
      operation,
      apiVersion: apiVersionOf(resource),
      subresource: options.subresource ?? '',
      time: nowText(this.clock),
    };
  }

  /** The object with the manager's fields recorded: those that differ from `old`, or all of a new object. */
  #manage(resource: ServedResource, object: JsonObject, options: WriteOptions, old?: JsonObject): JsonObject {
    const metadata = metadataOf(object);
    const entries = metadata.managedFields ?? [];
    // A new object has entries if it was applied.
    if (!old && asArray(entries).length > 0) return object;
    const types = resource.schema;
    const fields = old ? changedFields(object, old, types) : fieldSetOf(object, types, 'Update');
    const removed = old ? removedFields(object, old, types) : {};
    if (Object.keys(fields).length + Object.keys(removed).length === 0) return object;
    const managedFields = recordManager(entries, this.#who(resource, 'Update', options), fields, { removed });
    return { ...object, metadata: { ...metadata, managedFields } };
  }

  #gracePeriod(resource: ServedResource, object: JsonObject, request: DeleteRequest): number {
    if (resource.storage !== 'pods' || !this.#gracefulPods || asString(at(object, 'spec', 'nodeName')) === '') return 0;
    const phase = at(object, 'status', 'phase');
    if (phase === 'Succeeded' || phase === 'Failed') return 0;
    return request.gracePeriodSeconds ?? Number(at(object, 'spec', 'terminationGracePeriodSeconds') ?? 30);
  }

  /** What a dry run shows of an object that would be gone: a Pod as it ends, other objects as they are. */
  #lastDraft(resource: ServedResource, current: Stored): Stored {
    if (resource.storage !== 'pods') return current;
    const ending = { deletionTimestamp: nowText(this.clock), deletionGracePeriodSeconds: 0 };
    return this.#draft(resource, { ...current.object, metadata: { ...metadataOf(current.object), ...ending } });
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

/** Throws a Status for a configuration that cannot be applied to any object. */
function checkConfiguration(resource: ServedResource, patch: unknown, options: PatchOptions): JsonObject {
  if (!isObject(patch)) throw statusErrors.badRequest('error decoding patch: an object is needed');
  if (!options.fieldManager) {
    const message = 'Required value: is required for apply patch';
    throw statusErrors.invalid('meta.k8s.io', 'PatchOptions', '', [
      { reason: 'FieldValueRequired', message, field: 'fieldManager' },
    ]);
  }
  if (metadataOf(patch).managedFields !== undefined) {
    throw statusErrors.badRequest('metadata.managedFields must be nil');
  }
  const { apiVersion, kind } = patch;
  if (apiVersion !== apiVersionOf(resource) || kind !== resource.kind) throw wrongType(resource, 'apply', '', patch);
  checkApplied(resource, patch);
  return patch;
}

/** Custom resources and a few built-in kinds are replaced only by a body that names the version it replaces. */
function needsVersion(resource: ServedResource): boolean {
  return resource.custom || conditionalKinds.has(resource.kind);
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
