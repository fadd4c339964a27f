/**
 * A set as the kind ShadowResource shows it.
 *
 *   spec.flowList        each submitted member that is there: the live values of the fields that were submitted
 *                        a member that the caller does not get whole: its apiVersion, kind and name
 *   status.members       the state and the health of each member, also of one that is missing
 *   status.conditions    Ready: applied, and each member that the caller may get is present and Current
 *
 * The health of hidden members counts nowhere: it would be a fact about objects that the caller may not get. kubectl's last-applied
 * annotation has whole manifests. So it is shown only if no member is hidden.
 *
 * The condition has no lastTransitionTime, because nothing keeps when the health of several objects together changed.
 */
import { createHash } from 'node:crypto';
import { type HealthStatus, isWorse } from '../../catalog/health/health-status.ts';
import { apiVersionOf as versionOf } from '../../catalog/resources/resource.ts';
import { ownFinalizers, withoutMarks } from '../../sets/record/record-keeper.ts';
import type { SetRecord } from '../../sets/record/set-record.ts';
import { lastAppliedAnnotation } from '../../writes/diff/withheld-values.ts';
import { apiVersionOf, kind, type ServedApi } from '../protocol/served-api.ts';
import type { ShownMember } from './member-states.ts';
import type { StoredRecord } from './set-cache.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ShadowResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Json & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: { readonly flowList: readonly Json[] };
  readonly status: ShadowStatus;
}

interface ShadowStatus {
  readonly observedGeneration: number;
  readonly phase: string;
  readonly ready: string;
  readonly members: readonly Json[];
  readonly conditions: readonly Condition[];
}

interface Condition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** The annotation of kubectl. It has whole manifests, so it is shown only if no member is hidden. */
export function shownLastApplied(
  applied: string | null,
  members: readonly Pick<ShownMember, 'state'>[],
): Readonly<Record<string, string>> {
  return applied === null || members.some(({ state }) => state === 'Hidden')
    ? {}
    : { [lastAppliedAnnotation]: applied };
}

/** @param version the largest etcd revision of the record and its members */
export function shadowResource(
  api: ServedApi,
  stored: StoredRecord,
  states: readonly ShownMember[],
  version: bigint,
): ShadowResource {
  const { record, createdAt } = stored;
  const { name, namespace, uid, generation, deletionTimestamp } = record;
  const annotations = { ...withoutMarks(record.annotations), ...shownLastApplied(record.lastApplied, states) };
  const labels = shownLabels(record);
  const finalizers = ownFinalizers(record);
  return {
    apiVersion: apiVersionOf(api),
    kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(version),
      generation,
      creationTimestamp: createdAt,
      ...(deletionTimestamp === null ? {} : { deletionTimestamp, deletionGracePeriodSeconds: 0 }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
    spec: { flowList: states.flatMap(shownMember) },
    status: statusOf(stored, states),
  };
}

/** A set that is gone, for an event: its names, and none of its members. */
export function goneResource(
  api: ServedApi,
  { namespace, name, uid, labels, createdAt }: GoneSet,
  version: bigint,
): ShadowResource {
  const marks = Object.keys(labels).length === 0 ? {} : { labels };
  const metadata = { name, namespace, uid, resourceVersion: String(version), creationTimestamp: createdAt, ...marks };
  return {
    apiVersion: apiVersionOf(api),
    kind,
    metadata,
    spec: { flowList: [] },
    status: { observedGeneration: 0, phase: 'Deleting', ready: '0/0', members: [], conditions: [] },
  };
}

interface GoneSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Json;
  readonly createdAt: string;
}

/** The labels that a set shows. Selectors see the same. */
export function shownLabels({ labels }: Pick<SetRecord, 'labels'>): Json {
  return withoutMarks(labels);
}

/** Changes exactly when the caller sees a difference. */
export function digestOf({ metadata: { resourceVersion: _version, ...metadata }, ...rest }: ShadowResource): string {
  return createHash('sha256')
    .update(JSON.stringify({ ...rest, metadata }))
    .digest('base64');
}

/** The entry of flowList; none for a member that is not there. */
export function shownMember({ member, state, manifest }: ShownMember): readonly Json[] {
  if (member.leaves || member.uid === null) return [];
  if (state !== 'Present' && state !== 'Hidden' && state !== 'Unknown') return [];
  return [manifest ?? reference(member)];
}

/** The entry without fields. */
export function reference({ kind: of, name, namespace, ...member }: ShownMember['member']): Json {
  return { apiVersion: versionOf(member), kind: of, metadata: { name, namespace } };
}

function statusOf({ record, problem }: StoredRecord, states: readonly ShownMember[]): ShadowStatus {
  const submitted = states.filter(({ member, state }) => !member.leaves && state !== 'Hidden');
  const good = submitted.filter(({ health }) => health?.status === 'Current');
  const { generation } = record;
  return {
    observedGeneration: generation,
    phase: problem !== null ? 'Unknown' : record.deletionTimestamp === null ? record.phase : 'Deleting',
    ready: `${good.length}/${submitted.length}`,
    members: states.map(shownState),
    conditions: [{ type: 'Ready', ...readiness(record, problem, states), observedGeneration: generation }],
  };
}

function shownState({ member, state, health }: ShownMember): Json {
  const { name, uid, kind: of } = member;
  const message = health?.message ?? health?.reason ?? null;
  return {
    apiVersion: versionOf(member),
    kind: of,
    name,
    ...(uid === null || state === 'Hidden' ? {} : { uid }),
    state,
    ...(health === null ? {} : { health: health.status }),
    ...(message === null ? {} : { message }),
  };
}

type Readiness = Pick<Condition, 'status' | 'reason' | 'message'>;

function readiness(record: SetRecord, problem: string | null, states: readonly ShownMember[]): Readiness {
  if (problem !== null) return { status: 'Unknown', reason: 'RecordInvalid', message: problem };
  if (record.deletionTimestamp !== null)
    return { status: 'False', reason: 'Deleting', message: 'The set is being deleted.' };
  const seen = states.filter(({ state }) => state !== 'Hidden');
  const hidden = states.length - seen.length;
  const also = hidden === 0 ? '' : ` ${hidden} more cannot be shown to you.`;
  for (const { member, state } of seen) {
    const what = `${member.kind} ${member.name}`;
    if (state === 'Missing') return { status: 'False', reason: 'MemberMissing', message: `${what} is gone.` };
    if (state === 'Replaced') {
      return {
        status: 'False',
        reason: 'MemberReplaced',
        message: `${what} is another object than the one that was applied.`,
      };
    }
  }
  if (record.phase !== 'Applied') {
    return { status: 'False', reason: record.phase, message: 'Not everything that was submitted has been written.' };
  }
  const worst = worstOf(seen);
  const health = worst?.health ?? null;
  if (worst !== null && health !== null && health.status !== 'Current') {
    const why = health.message ?? health.reason ?? health.status;
    return {
      status: health.status === 'Unknown' ? 'Unknown' : 'False',
      reason: `Member${health.status}`,
      message: `${worst.member.kind} ${worst.member.name}: ${why}`,
    };
  }
  const unknown = seen.find(({ state }) => state === 'Unknown');
  if (unknown !== undefined) {
    const message = `Portolan does not read ${unknown.member.resource}, so the state of ${unknown.member.name} is not known.`;
    return { status: 'Unknown', reason: 'MemberUnknown', message };
  }
  return {
    status: 'True',
    reason: 'MembersCurrent',
    message: `All ${seen.length} members are present and Current.${also}`,
  };
}

function worstOf(states: readonly ShownMember[]): ShownMember | null {
  let worst: ShownMember | null = null;
  let status: HealthStatus = 'Current';
  for (const state of states) {
    if (state.health === null || !isWorse(state.health.status, status)) continue;
    worst = state;
    status = state.health.status;
  }
  return worst;
}
