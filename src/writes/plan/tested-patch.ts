/**
 * A planned change as a JSON patch (RFC 6902) that does not depend on the resourceVersion. So it is done also where a controller writes the
 * status more often than a request takes.
 *
 *   before   { metadata: { uid: "u", resourceVersion: "8", labels: {…} }, spec: { replicas: 2, … }, status }     read
 *   after    { metadata: { uid: "u", resourceVersion: "8", labels: {…} }, spec: { replicas: 3, … }, status }     answer of the dry run
 *   patch    test /metadata/uid "u"     test /metadata/labels {…}     test /metadata/finalizers null  …
 *            test /spec { replicas: 2, … }
 *            add /spec { replicas: 3, … }
 *
 * Invariant: the patch is either refused, or it changes exactly what differs between `before` and `after`, and that is what the plan is
 * bound to.
 *   - The tests have every member of the object as it was read, but for the status and for what each write changes (resourceVersion,
 *     managedFields). So the object has the planned values, and nothing was changed in between.
 *   - The operations have the values of the dry run, with what defaults and admission added to them. Admission sees the same change again.
 *     An API server may call a webhook twice for one request too, so a webhook that adds something to its own result is wrong already.
 *   - An API server applies the patch to the newest object, and again if the object changed before it was stored.
 * A member of metadata that is absent is tested as null: API servers take both as equal (1.20 and 1.37). Absent members beside the spec need
 * no test: built-in kinds with a status have none, and for custom objects the generation counts them.
 *
 * Without a patch, the write keeps the resourceVersion:
 *   apply, delete, evict           no JSON patch can do it
 *   a patch of the status          the status is not tested
 *   an object without a status     what changed in between is not the status
 *   a filter that reads the status the object may no longer match
 *   a resourceVersion of the caller
 *
 * For scale it is a patch of the Scale, because the caller may have no right to patch the object. A Scale has all that is changed. It has
 * no labels: a filter was true of the object that was read just before.
 *
 * API servers compare values in tests by their JSON text (request/write-request.ts). If a value has another text there, the test fails. The
 * caller of this function then writes with the resourceVersion.
 */
import { isObject, memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { serverFields } from '../diff/server-fields.ts';
import { revealed, sealedText } from '../diff/withheld-values.ts';
import { pointerPart } from '../merge/patch-between.ts';
import { type Json, subresourceOf, type WriteIntent } from '../request/write-intent.ts';
import type { Condition, PlannedWrite } from './plan-one.ts';

/** The write of the plan as a patch with tests; null where there is none. */
export function testedPatch(
  intent: WriteIntent,
  condition: Condition | null,
  plan: Pick<PlannedWrite, 'before' | 'after'>,
): WriteIntent | null {
  const [before, after] = [objectOf(plan.before), objectOf(plan.after)];
  if (before === null || after === null || !isObject(before['status'])) return null;
  const isFree = intent.preconditions.resourceVersion === null && condition?.dependsOnStatus !== true;
  if (!isFree || !isPatch(intent)) return null;
  const { target, action } = intent;
  const members = [...membersOf('', before, after), ...membersOf('/metadata', metadataOf(before), metadataOf(after))];
  return {
    target,
    action: { verb: 'patch', format: 'JSON', patch: members.flatMap(operationsOf), subresource: subresourceOf(action) },
    preconditions: { uid: null, resourceVersion: null, tests: members.map(testOf) },
  };
}

/** Can a JSON patch do what the action does, without the status? */
function isPatch({ action }: WriteIntent): boolean {
  switch (action.verb) {
    case 'scale':
    case 'restart':
    case 'cordon':
    case 'edit':
    case 'revert':
    case 'rollback':
      return true;
    case 'patch':
      return action.subresource === null && !untestable.test(JSON.stringify(action.patch));
    default:
      return false;
  }
}

/** A patch that names a member without a test, or the whole object. This finds harmless ones too. */
const untestable = /"status"|\/status|managedFields|"(?:path|from)":""/;

/** The object with all its values, as the API server writes it. */
function objectOf(shown: Json | null): Json | null {
  const object = recordOf(revealed(shown));
  if (object?.['kind'] !== 'Scale' || recordOf(object['spec'])?.['replicas'] !== 0) return object;
  // The API server leaves 0 out.
  const { replicas: _none, ...spec } = recordOf(object['spec']) ?? {};
  return { ...object, spec };
}

function metadataOf(object: Json): Json {
  return recordOf(object['metadata']) ?? {};
}

/** A member of the object, or of its metadata. Undefined where it is absent. */
interface Member {
  /** JSON pointer (RFC 6901). */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  /** The API server sets it: it is tested, and not written. */
  readonly isOfServer: boolean;
}

/** Members that are not tested: what changes with each write, also of the status, and what old servers do not store. */
const untested = new Set(['/status', '/metadata/resourceVersion', '/metadata/managedFields', '/metadata/selfLink']);
/** Members of metadata that others may add. */
const optional = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'generation', 'deletionTimestamp'];

function membersOf(at: '' | '/metadata', before: Json, after: Json): readonly Member[] {
  const inner = at === '' ? [] : optional;
  return [...new Set([...Object.keys(before), ...Object.keys(after), ...inner])].flatMap((name): readonly Member[] => {
    const path = `${at}/${pointerPart(name)}`;
    if (untested.has(path) || path === '/metadata') return [];
    const isOfServer = at !== '' && serverFields.has(name);
    return [{ path, before: memberOf(before, name), after: memberOf(after, name), isOfServer }];
  });
}

function testOf({ path, before }: Member): Json {
  return { op: 'test', path, value: before ?? null };
}

function operationsOf({ path, before, after, isOfServer }: Member): readonly Json[] {
  if (isOfServer || sealedText(before) === sealedText(after)) return [];
  return after === undefined ? [{ op: 'remove', path }] : [{ op: 'add', path, value: after }];
}
