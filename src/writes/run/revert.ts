/**
 * Undoes what a mutation has written, the newest first, as far as it can be undone.
 *
 *   CREATED   deleted, by its uid
 *   CHANGED   each changed field gets its former value, if it still has the value that was written
 *   scale     the former number of replicas
 *   DELETED   created again (undo/recreated.ts)
 *   EVICTED   cannot be undone
 *
 * Never: takes a field back that somebody else has changed since.
 */
import { messageOf } from '../../base/errors.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import { fieldChanges, pathOfChange, type ValueChange } from '../diff/field-changes.ts';
import { revealed, sealedText } from '../diff/withheld-values.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import { mostAttempts } from '../plan/plan-one.ts';
import type { Json, WriteAction, WriteIntent } from '../request/write-intent.ts';
import { readLive, sendWrite, uidOf, versionOf } from '../send/send-write.ts';
import { recreated } from '../undo/recreated.ts';
import type { RunContext, WriteItem } from './write-item.ts';

/** The item after the attempt: REVERTED, or as it was with a warning that says why it was left. */
export async function revertItem(context: RunContext, item: WriteItem): Promise<WriteItem> {
  if (item.result === 'UNCHANGED' || item.result === 'NONE') return item;
  const error = await reverted(context, item);
  if (error === null) return { ...item, result: 'REVERTED' };
  return { ...item, warnings: [...item.warnings, `It was not reverted: ${error.message}`] };
}

async function reverted(context: RunContext, item: WriteItem): Promise<WriteError | null> {
  const { intent, result, before, live } = item;
  const uid = item.written?.uid ?? null;
  const send = (action: WriteAction, held = uid, resourceVersion: string | null = null) =>
    noted(context, { ...intent, action, preconditions: { uid: held, resourceVersion } });
  switch (result) {
    case 'CREATED':
      return send({ verb: 'delete', propagation: 'BACKGROUND' });
    case 'DELETED':
      return live === null ? unknownBefore : send({ verb: 'create', manifest: recreated(live) }, null);
    case 'EVICTED':
      return writeError('UNSUPPORTED', 'An evicted Pod does not come back; its controller makes another.');
    default: {
      if (before === null) return unknownBefore;
      if (intent.action.verb !== 'scale') return fieldsBack(context, item, send);
      const now = await readLive(context, intent.target, 'scale');
      if (now.error !== null) return now.error;
      if (replicasOf(now.object) !== intent.action.replicas) {
        return writeError('STALE_OBJECT', 'spec.replicas was changed by somebody else since.');
      }
      return send({ verb: 'scale', replicas: replicasOf(before) }, uid, versionOf(now.object));
    }
  }
}

/** Of a Scale, or of an object that has them there. */
function replicasOf(scale: Json | null): number {
  const spec = scale === null ? null : memberOf(scale, 'spec');
  return isObject(spec) ? Number(memberOf(spec, 'replicas') ?? 0) : 0;
}

const unknownBefore = writeError('UNSUPPORTED', 'the object before the write is not known.');

async function fieldsBack(
  context: RunContext,
  { intent, after, live: former }: WriteItem,
  send: (action: WriteAction, uid: string | null, resourceVersion: string | null) => Promise<WriteError | null>,
): Promise<WriteError | null> {
  const { action, target } = intent;
  const subresource = action.verb === 'patch' ? action.subresource : null;
  const isStatus = subresource === 'status';
  // A merge patch replaces lists as a whole.
  const changes = fieldChanges(former, revealed(after) as Json | null, { withStatus: isStatus, wholeLists: true });
  for (let attempt = 1; ; attempt += 1) {
    const read = await readLive(context, target);
    if (read.error !== null) return read.error;
    const { object } = read;
    if (object === null) return writeError('NOT_FOUND', 'the object is gone.');
    const other = changes.find((change) => sealedText(valueNow(object, change)) !== sealedText(change.after));
    if (other !== undefined) {
      return writeError('STALE_OBJECT', `${pathOfChange(other.steps)} was changed by somebody else since.`);
    }
    const patch = mergePatch(changes);
    const error = await send({ verb: 'patch', format: 'MERGE', patch, subresource }, uidOf(object), versionOf(object));
    if (error?.code !== 'STALE_OBJECT' || attempt === mostAttempts) return error;
  }
}

function valueNow(object: Json, { steps }: ValueChange): unknown {
  return steps.reduce<unknown>(
    (value, step) => (step.kind === 'member' && isObject(value) ? memberOf(value, step.name) : undefined),
    object,
  );
}

/** The merge patch (RFC 7386) that gives each field its value before. */
function mergePatch(changes: readonly ValueChange[]): Json {
  const patch: Record<string, unknown> = Object.create(null);
  for (const { steps, before } of changes) {
    const names = steps.flatMap((step) => (step.kind === 'member' ? [step.name] : []));
    let holder = patch;
    for (const name of names.slice(0, -1)) {
      holder[name] ??= Object.create(null);
      holder = holder[name] as Record<string, unknown>;
    }
    holder[names.at(-1) ?? ''] = before ?? null;
  }
  return patch;
}

/** Never throws: the outcome of every item is reported. */
async function noted(context: RunContext, intent: WriteIntent): Promise<WriteError | null> {
  try {
    await context.before(intent, []);
    const { error } = await sendWrite(context, intent, false);
    await context.after(intent, error === null ? 'OK' : error.code, []).catch(() => {});
    return error;
  } catch (error) {
    return writeError('UNKNOWN', messageOf(error));
  }
}
