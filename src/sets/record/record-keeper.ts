/**
 * Who writes the record of a set besides its members' caller, and what the record has besides its members.
 *
 *   GraphQL             no keeper: the record is written as the caller, and its labels, annotations and finalizers stay as they are
 *   server for kubectl  the keeper's own account writes the record, with the metadata that was submitted
 *
 * Never: writes a member. Members are written as the caller in both cases.
 */
import { memberOf } from '../../catalog/values/displayed-value.ts';
import { lastAppliedAnnotation } from '../../writes/diff/withheld-values.ts';
import type { RunContext } from '../../writes/run/write-item.ts';
import { membersFinalizer, type SetRecord } from './set-record.ts';

type Json = Readonly<Record<string, unknown>>;

/** The metadata of the set itself, without the marks of ApplySet and without the finalizer of its members. */
export interface SubmittedMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  /** The annotation of kubectl's client-side apply, without withheld values; null without one. */
  readonly lastApplied: string | null;
}

export interface RecordKeeper {
  /** Sends with the keeper's own account. */
  readonly client: RunContext['client'];
  /** Of an apply. Null: it stays as it is. */
  readonly metadata: SubmittedMetadata | null;
  /** The record that was looked at; null: there was none. Another one is refused with STALE_OBJECT or ALREADY_EXISTS. */
  readonly expected: Pick<SetRecord, 'uid' | 'resourceVersion'> | null;
  /**
   * The members that stay as they are, by `memberKey`, in the order of their places among all members. `all`: of an apply, the metadata alone
   * is written. An apply that has not ended stays so.
   */
  readonly kept: 'all' | readonly { readonly key: string; readonly place: number }[];
}

/** Labels and annotations of records with this prefix are marks of ApplySet. */
const markPrefix = 'applyset.kubernetes.io/';

/** Labels or annotations without the marks of ApplySet, and without kubectl's annotation. */
export function withoutMarks<T>(given: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => !name.startsWith(markPrefix) && name !== lastAppliedAnnotation),
  );
}

/** The finalizers of the set itself. */
export function ownFinalizers({ finalizers }: Pick<SetRecord, 'finalizers'>): readonly string[] {
  return finalizers.filter((each) => each !== membersFinalizer);
}

/** Does the record have this metadata? */
export function hasMetadata(record: SetRecord, wanted: SubmittedMetadata): boolean {
  const isSame = (left: Json, right: Json): boolean => {
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => memberOf(right, name) === memberOf(left, name))
    );
  };
  const [finalizers, others] = [ownFinalizers(record), wanted.finalizers];
  return (
    isSame(withoutMarks(record.labels), wanted.labels) &&
    isSame(withoutMarks(record.annotations), wanted.annotations) &&
    finalizers.length === others.length &&
    finalizers.every((each, index) => each === others[index]) &&
    record.lastApplied === wanted.lastApplied
  );
}

/** The metadata of a merge patch that makes the record have this. */
export function metadataPatch(record: SetRecord, wanted: SubmittedMetadata): Json {
  const patchOf = (now: Json, next: Json): Json => ({
    ...Object.fromEntries(Object.keys(withoutMarks(now)).map((name) => [name, null])),
    ...next,
  });
  const held = record.finalizers.filter((each) => each === membersFinalizer);
  const finalizers = [...wanted.finalizers, ...held];
  return {
    labels: patchOf(record.labels, wanted.labels),
    annotations: patchOf(record.annotations, wanted.annotations),
    finalizers: finalizers.length === 0 ? null : finalizers,
  };
}
