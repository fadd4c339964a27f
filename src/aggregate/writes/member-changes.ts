/**
 * The members that an update has to write: those whose entry in flowList differs from the present set, as the caller sees it.
 *
 *   present   [a: 1, secret: reference only, b: 2]
 *   flowList  [a: 1, secret: reference only, b: 3, c]     ->  kept: a, secret        written: b, c
 *   flowList  as it is                                    ->  kept: all, and the phase
 *
 * A member may be in the record and not in the list that is shown. It is missing, or replaced, or an apply has not ended. A list that was
 * made from the shown one cannot name it, so it is kept. A server-side apply has the whole list.
 *
 * An entry without fields is the reference of a member that was not shown whole. The member is kept, also if it would be shown whole by now.
 * Every other entry of a member that the caller does not get whole is refused. It would take away fields that the caller does not see. A
 * server-side apply has the whole member, and is left to the API server.
 *
 * While an apply has not ended, each member that is submitted is written again. That ends it, if no member is kept that was not shown.
 */
import { recordOf } from '../../catalog/values/displayed-value.ts';
import type { RecordKeeper } from '../../sets/record/record-keeper.ts';
import { memberKey, type SetMember } from '../../sets/record/set-record.ts';
import { sealedText } from '../../writes/diff/withheld-values.ts';
import { plural, type ServedApi } from '../protocol/served-api.ts';
import { type StatusCause, statusError } from '../protocol/status.ts';
import type { ShownMember } from '../sets/member-states.ts';
import type { PresentSet } from '../sets/set-reads.ts';
import { reference, shownMember } from '../sets/shadow-resource.ts';
import { entryKey } from './submitted-set.ts';

type Json = Readonly<Record<string, unknown>>;

interface MemberChanges {
  readonly kept: RecordKeeper['kept'];
  /** The entries that are written, and their places in flowList. */
  readonly written: readonly { readonly entry: Json; readonly place: number }[];
}

interface Submission {
  /** Of a server-side apply. */
  readonly isApply: boolean;
  /** Of a request that changes nothing of the list. */
  readonly isListKept: boolean;
}

/** @throws PortolanError that means 403 for a member that the caller does not get whole. */
export function memberChanges(
  api: ServedApi,
  present: PresentSet | null,
  flowList: readonly Json[],
  { isApply, isListKept }: Submission,
): MemberChanges {
  const all = flowList.map((entry, place) => ({ entry, place }));
  if (present === null) return { kept: [], written: all };
  const { record } = present.stored;
  const isSettled = record.phase !== 'Applying';
  const submitted = new Set(flowList.map(entryKey));
  const unseen = present.members.filter((state) => isUnseen(state, submitted));
  const isSameList = sealedText(flowList) === sealedText(present.set.spec.flowList);
  const isNothing = isSameList && (unseen.length === 0 ? isSettled : !isApply);
  if (isListKept || isNothing) return { kept: 'all', written: [] };
  const shown = new Map<string, { readonly entry: Json; readonly state: ShownMember }>();
  for (const state of present.members) {
    for (const entry of shownMember(state)) shown.set(entryKey(entry), { entry, state });
  }
  const withFields = new Map(
    present.members
      .filter(({ member }) => hasFields(member))
      .map(({ member }) => [entryKey(reference(member)), member]),
  );
  const kept: { key: string; place: number }[] = [];
  const written: { entry: Json; place: number }[] = [];
  const refused: StatusCause[] = [];
  for (const { entry, place } of all) {
    const key = entryKey(entry);
    const referred = isApply || !isReference(entry) ? undefined : withFields.get(key);
    if (referred !== undefined) {
      kept.push({ key: memberKey(referred), place });
      continue;
    }
    const found = shown.get(key);
    const isWhole = found === undefined || found.state.manifest !== null;
    const isSame =
      found !== undefined && (isWhole ? sealedText(entry) === sealedText(found.entry) : isReference(entry));
    if (found !== undefined && isSame && (isSettled || !isWhole)) {
      kept.push({ key: memberKey(found.state.member), place });
    } else if (isWhole || isApply) {
      written.push({ entry, place });
    } else {
      const message = 'you do not get this member whole, so it cannot be changed here: its other fields would be lost';
      refused.push({ reason: 'FieldValueForbidden', field: `spec.flowList[${place}]`, message });
    }
  }
  const staying = isApply ? [] : unseen;
  kept.push(...staying.map(({ member }, index) => ({ key: memberKey(member), place: flowList.length + index })));
  const [first] = refused;
  if (first === undefined) return { kept, written };
  const details = { name: record.name, group: api.group, kind: plural, causes: refused };
  throw statusError('Forbidden', `${first.field}: ${first.message}`, details);
}

/** Is it a member that is not shown, not submitted, and does not leave? */
function isUnseen(state: ShownMember, submitted: ReadonlySet<string>): boolean {
  return !state.member.leaves && shownMember(state).length === 0 && !submitted.has(entryKey(reference(state.member)));
}

/** Has the entry nothing but what a reference has? */
function isReference({ apiVersion: _apiVersion, kind: _kind, metadata, ...rest }: Json): boolean {
  const { name: _name, namespace: _namespace, ...more } = recordOf(metadata) ?? {};
  return Object.keys(rest).length + Object.keys(more).length === 0;
}

/** Were fields of it applied, so that its entry is no reference? The namespace is a part of a reference. */
function hasFields({ fields, leaves }: SetMember): boolean {
  if (leaves || fields === null) return false;
  const { 'f:metadata': metadata, ...rest } = fields;
  const { 'f:namespace': _namespace, ...more } = recordOf(metadata) ?? {};
  return Object.keys(rest).length + Object.keys(more).length > 0;
}
