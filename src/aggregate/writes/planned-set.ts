/**
 * The answer to a dry run: the set as it would be. The other fields are those of the present set, so `kubectl diff` shows the
 * difference of the members alone.
 *
 *   entry that is kept, or does not change   as it is shown now
 *   entry that changes                       the answer of the API server to its dry run, in the submitted fields
 *   entry of a kind with redacted paths      as it was submitted, with the data of a Secret
 *
 * Never: what a read of the set would not show the caller.
 */
import { isRecord } from '../../base/json.ts';
import { appliedFields } from '../../sets/projection/field-set.ts';
import { projectMember } from '../../sets/projection/project.ts';
import { setManager } from '../../sets/record/set-names.ts';
import { futureUid } from '../../sets/steps/set-work.ts';
import { visible } from '../../writes/diff/withheld-values.ts';
import type { ReportedItem } from '../../writes/session/reported-item.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import { apiVersionOf, kind, type ServedApi } from '../protocol/served-api.ts';
import type { PresentSet } from '../sets/set-reads.ts';
import { type ShadowResource, shownLastApplied } from '../sets/shadow-resource.ts';
import { entryKey, type SubmittedSet } from './submitted-set.ts';

type Json = Readonly<Record<string, unknown>>;

interface Plan {
  readonly namespace: string;
  readonly name: string;
  readonly present: PresentSet | null;
  readonly submitted: SubmittedSet;
  readonly flowList: readonly Json[];
  /** The places in flowList of the first items of the report. */
  readonly places: readonly number[];
  readonly report: WriteReport;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The uid and the version of a set that there is not yet. */
const nothing = { uid: '', resourceVersion: '' };

/** The set as the dry run has found it. */
export function plannedSet(api: ServedApi, plan: Plan): ShadowResource {
  const { namespace, name, present, submitted, flowList, places, report, now } = plan;
  const items = new Map(places.map((place, index) => [place, report.items[index]]));
  const shown = new Map((present?.set.spec.flowList ?? []).map((entry) => [entryKey(entry), entry]));
  const entries = flowList.map((entry, place) => {
    const item = items.get(place);
    const now = shown.get(entryKey(entry));
    if (now !== undefined && (item === undefined || item.result === 'UNCHANGED')) return now;
    return item === undefined
      ? entry
      : plannedEntry(entry, item, { namespace, name }, present?.stored.record.uid ?? futureUid);
  });
  const { labels, annotations, finalizers, lastApplied: applied } = submitted.metadata;
  const own = { ...annotations, ...shownLastApplied(applied, present?.members ?? []) };
  const marks = {
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(own).length === 0 ? {} : { annotations: own }),
    ...(finalizers.length === 0 ? {} : { finalizers }),
  };
  if (present !== null) {
    const { labels: _labels, annotations: _annotations, finalizers: _finalizers, ...metadata } = present.set.metadata;
    return {
      ...present.set,
      metadata: { ...metadata, ...marks } as ShadowResource['metadata'],
      spec: { flowList: entries },
    };
  }
  const creationTimestamp = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return {
    apiVersion: apiVersionOf(api),
    kind,
    metadata: { name, namespace, ...nothing, generation: 1, creationTimestamp, ...marks },
    spec: { flowList: entries },
    status: { observedGeneration: 0, phase: 'Applying', ready: `0/${entries.length}`, members: [], conditions: [] },
  };
}

function plannedEntry(
  entry: Json,
  { after, redacted, intent: { action } }: ReportedItem,
  set: { readonly namespace: string; readonly name: string },
  recordUid: string,
): Json {
  const manifest = action.verb === 'apply' ? action.manifest : {};
  const { stringData: _stringData, ...rest } = entry;
  const data = isRecord(manifest['data']) ? { data: manifest['data'] } : {};
  const asSubmitted = { ...rest, ...data };
  if (after === null || redacted.length > 0) return asSubmitted;
  const fields = appliedFields({ object: after, manifest: entry, manager: setManager(set), recordUid });
  return fields === null ? asSubmitted : projectMember(visible(after) as Json, fields);
}
