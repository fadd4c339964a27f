/**
 * Takes the marks of a set off an object that stays. The object is a member that leaves its set, or one that another apply has taken out.
 */
import { mostAttempts } from '../../writes/plan/plan-one.ts';
import type { WriteIntent } from '../../writes/request/write-intent.ts';
import { type RunContext, unwritten, type WriteItem, writeItem } from '../../writes/run/write-item.ts';
import { readLive, uidOf, versionOf } from '../../writes/send/send-write.ts';
import { unmarked } from '../members/wanted-members.ts';
import type { SetRecord } from '../record/set-record.ts';

/**
 * The patch is made from the object as it is, because it replaces the ownerReferences. It is made again if somebody writes the object meanwhile.
 * @param isMeant is the live object that of the set? Another one is left.
 */
export async function releaseObject(
  context: RunContext,
  record: Pick<SetRecord, 'uid'>,
  intent: WriteIntent,
  isMeant: (live: Readonly<Record<string, unknown>>) => boolean,
): Promise<WriteItem> {
  for (let attempt = 1; ; attempt += 1) {
    const read = await readLive(context, intent.target);
    if (read.error !== null) return unwritten(intent, read.error);
    const { object: live } = read;
    if (live === null || !isMeant(live)) return unwritten(intent);
    const action = { verb: 'patch', format: 'MERGE', patch: unmarked(live, record), subresource: null } as const;
    const held = { ...intent, action, preconditions: { uid: uidOf(live), resourceVersion: versionOf(live) } };
    const done = await writeItem(context, { intent: held, condition: null, planned: null }, false);
    if (done.errors[0]?.code !== 'STALE_OBJECT' || attempt === mostAttempts) return done;
  }
}
