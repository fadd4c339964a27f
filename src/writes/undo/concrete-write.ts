/**
 * The request of an action that depends on the object as it is: edit, revert and rollback.
 *
 *   live   { replicas: 5, image: a }     edit: image a -> b     ->   test /spec/image a, replace /spec/image b
 *
 * It is a JSON patch with tests of the fields that it changes (merge/patch-between.ts). So it is refused if one of these fields changed in
 * between, and other changes do no harm. A deleted object is created.
 *
 * API servers compare the values of a test by their JSON text. If a value has another text there, no test of it ever passes. So a caller
 * that tries again holds the resourceVersion in turn.
 */
import { records, text } from '../../base/json.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { patchBetween } from '../merge/patch-between.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import {
  type Json,
  nameOfTarget,
  type Preconditions,
  type UndoableAction,
  type WriteAction,
  type WriteIntent,
} from '../request/write-intent.ts';
import { type Answer, readLive, uidOf, versionOf, type WriteContext } from '../send/send-write.ts';
import { editedObject } from './edited-object.ts';
import { recreated } from './recreated.ts';
import { revertedObject, withheldState } from './reverted-object.ts';
import { rolledBack } from './rolled-back.ts';

/** Owners of a deleted object that are looked for. */
const mostOwners = 20;

interface ConcreteWrite {
  /** Null: the object is already so. */
  readonly intent: WriteIntent | null;
  readonly warnings: readonly string[];
}

/** Does the request of the action depend on the object as it is? */
export function isUndoable(action: WriteAction): action is UndoableAction {
  return action.verb === 'edit' || action.verb === 'revert' || action.verb === 'rollback';
}

/**
 * The write of the intent on the object as it was read. The intent of any other action is its own.
 * @param live null: there is no object
 * @param held what else must hold; its resourceVersion, or tests if it has none
 */
export async function concreteWrite(
  context: WriteContext,
  intent: WriteIntent,
  live: Json | null,
  held: Preconditions,
): Promise<Answer<ConcreteWrite>> {
  const { action, target } = intent;
  if (!isUndoable(action)) return { error: null, intent: { ...intent, preconditions: held }, warnings: [] };
  const other = otherState(intent, action, live);
  if (other !== null) return { error: other };
  if (live === null) return made(context, intent, action);
  const found = await wantedObject(context, intent, action, live);
  if (found.error !== null) return found;
  const { tests, patch } = patchBetween(live, found.wanted);
  const { warnings } = found;
  if (patch.length === 0) return { error: null, intent: null, warnings };
  const preconditions = held.resourceVersion === null ? { ...held, tests } : held;
  const concrete: WriteAction = { verb: 'patch', format: 'JSON', patch, subresource: null };
  return { error: null, intent: { target, action: concrete, preconditions }, warnings };
}

/** Why the object or its state is not what the caller has named; null if it is. */
function otherState(
  { target, preconditions }: WriteIntent,
  action: UndoableAction,
  live: Json | null,
): WriteError | null {
  const { uid, resourceVersion } = preconditions;
  const name = nameOfTarget(target);
  if (live === null) {
    if (resourceVersion !== null) return writeError('NOT_FOUND', `There is no ${name}.`);
    const isOther = uid !== null && action.verb === 'revert' && action.uid !== uid;
    return isOther ? writeError('STALE_OBJECT', `The state of the ${name} is that of another object.`) : null;
  }
  if (uid !== null && uid !== uidOf(live)) {
    return writeError('STALE_OBJECT', `The ${name} is another object now: its uid is ${uidOf(live)}.`);
  }
  if (resourceVersion === null || resourceVersion === versionOf(live)) return null;
  return writeError('STALE_OBJECT', `The ${name} has changed: its resourceVersion is ${versionOf(live)}.`);
}

type Wanted = Answer<{ readonly wanted: Json; readonly warnings: readonly string[] }>;

async function wantedObject(
  context: WriteContext,
  { target }: WriteIntent,
  action: UndoableAction,
  live: Json,
): Promise<Wanted> {
  const redacted = context.redacted(target.resource);
  switch (action.verb) {
    case 'edit': {
      const schema = await context.mergeSchema(target.cluster, target.resource);
      return editedObject({ ...action, live }, schema, redacted);
    }
    case 'revert': {
      if (action.unchangedAt !== null && action.unchangedAt === recordOf(live['metadata'])?.['resourceVersion'])
        return { error: null, wanted: live, warnings: [] };
      const refused = otherVersion(target, action.body) ?? withheldState(action.body, target, redacted);
      return refused === null
        ? { error: null, wanted: revertedObject(action.body, live), warnings: [] }
        : { error: refused };
    }
    case 'rollback': {
      const found = await rolledBack(context, target, live, action.revision);
      return found.error === null ? { ...found, warnings: [] } : found;
    }
  }
}

/** The object made again. */
async function made(
  context: WriteContext,
  { target }: WriteIntent,
  action: UndoableAction,
): Promise<Answer<ConcreteWrite>> {
  if (action.verb !== 'revert') return { error: writeError('NOT_FOUND', `There is no ${nameOfTarget(target)}.`) };
  const { body } = action;
  const refused = otherVersion(target, body) ?? withheldState(body, target, context.redacted(target.resource));
  if (refused !== null) return { error: refused };
  const references = records(recordOf(body['metadata'])?.['ownerReferences']);
  if (references.length > mostOwners) {
    const why = `The ${nameOfTarget(target)} had ${references.length} owners; at most ${mostOwners} are looked for.`;
    return { error: writeError('UNSUPPORTED', why, 'metadata.ownerReferences') };
  }
  const gone: Json[] = [];
  for (const reference of references) {
    const found = await isThere(context, target, reference);
    if (found.error !== null) return found;
    if (!found.isThere) gone.push(reference);
  }
  const manifest = recreated(body, (reference) => !gone.includes(reference));
  const warnings = gone.map(
    ({ kind, name }) => `The owner ${kind} ${name} is gone, or cannot be read: the object belongs to it no longer.`,
  );
  const preconditions = { uid: null, resourceVersion: null };
  return { error: null, intent: { target, action: { verb: 'create', manifest }, preconditions }, warnings };
}

/** Is the owner that the reference names still there? No, also where the caller may not get it. */
async function isThere(
  context: WriteContext,
  { cluster, namespace }: WriteIntent['target'],
  reference: Json,
): Promise<Answer<{ readonly isThere: boolean }>> {
  const absent = { error: null, isThere: false };
  const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((each) => text(reference[each]));
  if (apiVersion === undefined || kind === undefined || name === undefined) return absent;
  const resource = await context.resourceOf(cluster, apiVersion, kind);
  if (resource === null) return absent;
  const place = { cluster, resource, namespace: resource.namespaced ? namespace : null, name, place: null };
  const owner = await readLive(context, place);
  // After another error that is unknown, and the reference would be lost.
  if (owner.error !== null) return owner.error.by === 'RBAC' ? absent : owner;
  return { error: null, isThere: uidOf(owner.object) === reference['uid'] };
}

/** A state that was recorded in another version of the kind cannot be sent in this one. */
function otherVersion({ resource }: WriteIntent['target'], body: Json): WriteError | null {
  const recorded = body['apiVersion'];
  const served = apiVersionOf(resource);
  if (recorded === undefined || recorded === served) return null;
  return writeError(
    'UNSUPPORTED',
    `The state was recorded as ${String(recorded)}, and the cluster is written in ${served}.`,
  );
}
