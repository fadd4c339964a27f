/**
 * Objects that an apply has written after another one has taken the set. The record does not name them, so nothing would delete them with
 * the set.
 *
 *   apply A [a, b]   record: a, b -> a made                                             b made -> the record is another -> b deleted
 *   apply B [c]                             record: c, a leaves -> a deleted -> Applied
 *
 * An object that A has created is deleted, by its uid. One that was there before, such as an adopted one, loses the marks of the set and stays.
 *
 * Never: touches what the present record names.
 */

import { revertItem } from '../../writes/run/revert.ts';
import { inParallel } from '../../writes/run/run-writes.ts';
import type { RunContext, WriteItem } from '../../writes/run/write-item.ts';
import { uidOf } from '../../writes/send/send-write.ts';
import { keyOf } from '../members/wanted-members.ts';
import { memberKey } from '../record/set-record.ts';
import type { HeldRecord, RecordWrites } from './record-writes.ts';
import { releaseObject } from './release-object.ts';

/** @param held what the apply has written of the record @param outcomes of its members @returns the outcomes as they are then */
export async function withoutStrays(
  context: RunContext,
  records: RecordWrites,
  held: HeldRecord,
  outcomes: readonly WriteItem[],
): Promise<readonly WriteItem[]> {
  const read = await records.read();
  const record = read.error === null ? read.record : null;
  // The garbage collector deletes the members of a record that is gone.
  if (record?.uid !== held.uid) return outcomes;
  const named = new Map(record.members.map((member) => [memberKey(member), member.uid]));
  const left = [...outcomes];
  await inParallel([...outcomes.keys()], async (index) => {
    const outcome = outcomes[index] as WriteItem;
    const uid = named.get(keyOf(outcome.intent.target));
    const isNamed = uid !== undefined && (uid === null || uid === outcome.written?.uid);
    if (isNamed || outcome.written === null || outcome.after === null || outcome.result === 'REVERTED') return;
    left[index] =
      outcome.result === 'CREATED' ? await revertItem(context, outcome) : await released(context, held, outcome);
    context.told(left[index]);
  });
  return left;
}

/** The outcome of an object that is no member any more. An object that is gone, or another one of its name, is left. */
async function released(context: RunContext, held: HeldRecord, outcome: WriteItem): Promise<WriteItem> {
  const uid = outcome.written?.uid;
  const { written } = await releaseObject(context, held, outcome.intent, (live) => uidOf(live) === uid);
  return { ...outcome, written: written ?? outcome.written };
}
