/** The outcome for one object as it is reported: with its identity and its redacted paths. */
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import type { Identity } from '../../query/plan/filter.ts';
import type { RunContext, WriteItem } from '../run/write-item.ts';
import { identityOf } from '../targets/wanted-targets.ts';

export interface ReportedItem extends WriteItem {
  /** Null where nothing has a name yet. */
  readonly identity: Identity | null;
  /** Do the tables show the write? */
  readonly seen: boolean;
  readonly redacted: readonly string[];
}

/** @param isSeen do the tables show the write? */
export function reportedItem(redacted: RunContext['redacted'], outcome: WriteItem, isSeen: boolean): ReportedItem {
  return {
    ...outcome,
    identity: identityIn(outcome),
    seen: isSeen,
    redacted: redacted(outcome.intent.target.resource),
  };
}

/** The identity of the object, with the name that the API server made. */
export function identityIn({ intent: { target }, after }: WriteItem): Identity | null {
  const metadata = recordOf(after?.['metadata']);
  const made = metadata === null ? undefined : memberOf(metadata, 'name');
  const name = target.name ?? (typeof made === 'string' ? made : null);
  return name === null || target.resource.plural === '' ? null : identityOf(target, name);
}
