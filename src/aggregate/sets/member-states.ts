/**
 * The states of the members of sets (src/sets/members/member-state.ts), as one caller sees them in one snapshot.
 *
 * The tables lack the redacted values of a kind, such as the data of Secrets. They have the objects of a kind in one version, and a record
 * may have another one. Such members are `live`: their manifest has to be read from the API server, as the caller (live-members.ts).
 */

import { must } from '../../base/must.ts';
import type { Health } from '../../catalog/health/health-status.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { refusalOfObject } from '../../operation/require-visible.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { notReady, readiness, settledState } from '../../query/read/readiness.ts';
import type { View } from '../../query/sql/view.ts';
import { type MemberState, memberIdentity, memberState } from '../../sets/members/member-state.ts';
import { projectMember } from '../../sets/projection/project.ts';
import type { SetMember, SetRecord } from '../../sets/record/set-record.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { SetCache } from './set-cache.ts';

type Json = Readonly<Record<string, unknown>>;

/** One member. */
export interface ShownMember {
  readonly member: SetMember;
  readonly state: MemberState;
  /** The live values of the fields that were submitted; null where the caller does not get them. */
  readonly manifest: Json | null;
  /** Null for an object that the caller does not see, or that is not there. */
  readonly health: Health | null;
  /** Of the object in the snapshot; null without one. */
  readonly resourceVersion: string | null;
  /** The manifest has to be read from the API server. */
  readonly live: boolean;
}

/** Where sets are read. */
export interface SetPlace {
  readonly kinds: ServedKinds;
  readonly cluster: string;
  readonly cache: SetCache;
}

/** Which of these kinds can be read now, as a text: another one where this has changed. */
export async function readingOf(
  lease: Lease,
  { kinds, cluster }: Pick<SetPlace, 'kinds' | 'cluster'>,
  keys: ReadonlySet<string>,
): Promise<string> {
  const served = [...keys].filter((key) => kinds.kind(key)?.clusters.includes(cluster) === true).toSorted();
  const states = served.length === 0 ? [] : await readiness(lease, served, [cluster]);
  return JSON.stringify(served.map((key) => [key, settledState(states, key, [cluster])]));
}

/**
 * The states of the members of each record, in its order. Members that leave and are gone are left out.
 * @param unsynced what to do with a kind in its first sync: `show` its members as Unknown, or `refuse`
 * @throws PortolanError CACHE_NOT_READY for `refuse`.
 */
export async function memberStates(
  lease: Lease,
  view: View,
  { kinds, cluster, cache }: SetPlace,
  records: readonly SetRecord[],
  unsynced: 'show' | 'refuse' = 'show',
): Promise<readonly (readonly ShownMember[])[]> {
  const places = records.flatMap((record) => record.members.map((member, index) => ({ record, index, member })));
  const identities = places.map(({ member }) => memberIdentity(member, cluster));
  const keys = [...new Set(identities.map(({ key }) => key))];
  const served = keys.filter((key) => kinds.kind(key)?.clusters.includes(cluster) === true);
  const [rows, states] = await Promise.all([
    fetchObjects(lease, view, identities, {}),
    served.length === 0 ? [] : readiness(lease, served, [cluster]),
  ]);
  const coming = served.filter((key) => settledState(states, key, [cluster]) === 'coming');
  if (coming.length > 0 && unsynced === 'refuse') throw notReady(states, coming, [cluster]);
  const readable = new Set(served.filter((key) => settledState(states, key, [cluster]) === 'synced'));
  const wanted: MemberRow[] = [];
  const found = places.map((place, index): ShownMember | null => {
    const { member } = place;
    const base = { member, manifest: null, health: null, resourceVersion: null, live: false };
    const identity = identities[index];
    if (identity === undefined) return null;
    const kind = kinds.kind(identity.key);
    const row = rows[index] ?? null;
    const isHidden = refusalOfObject(view, identity) !== null;
    const isRead = kind !== undefined && readable.has(identity.key);
    const state = memberState(member, isHidden ? 'Hidden' : isRead ? row : 'Unknown');
    if (state === 'Missing' && member.leaves) return null;
    const resourceVersion = state === 'Replaced' ? (row?.resourceVersion ?? null) : null;
    const isThere = state === 'Present' || state === 'Leaving';
    if (!isThere || kind === undefined || row === null) return { ...base, state, resourceVersion };
    const live = kind.redacted.length > 0 || kind.resource.version !== member.version;
    if (!live && !member.leaves) wanted.push({ ...place, at: index, row });
    return {
      ...base,
      state,
      health: row.health,
      resourceVersion: row.resourceVersion,
      live: live && !member.leaves,
    };
  });
  const manifests = await manifestsOf(lease, view, cache, wanted);
  wanted.forEach(({ at: index }, which) => {
    const state = found[index];
    if (state) found[index] = { ...state, manifest: manifests[which] ?? null };
  });
  let at = 0;
  return records.map(({ members: own }) => {
    const part = found.slice(at, at + own.length);
    at += own.length;
    return part.filter((state) => state !== null);
  });
}

/** A member whose manifest the tables have whole, in its place among all that are read. */
interface MemberRow {
  readonly record: SetRecord;
  /** In the record. */
  readonly index: number;
  readonly member: SetMember;
  readonly at: number;
  readonly row: ObjectRow;
}

/** The manifests of these members, in the same order. A body is read if its manifest is not kept. */
async function manifestsOf(
  lease: Lease,
  view: View,
  cache: SetCache,
  members: readonly MemberRow[],
): Promise<readonly Json[]> {
  const kept = members.map(({ record, index, row }) => cache.manifest(lease, record, index, row));
  const missing = members.filter((_, which) => kept[which] === undefined).map(({ row }) => row);
  const whole = (await fetchObjects(lease, view, missing, 'whole')).values();
  return members.map(({ record, index, member, row }, which) => {
    const known = kept[which];
    if (known !== undefined) return known;
    const body = recordOf(must(whole.next().value, 'a member of this snapshot').body) ?? {};
    const apiVersion = apiVersionOf(member);
    const manifest = projectMember({ ...body, apiVersion, kind: member.kind }, member.fields);
    cache.keepManifest(lease, record, index, row, manifest);
    return manifest;
  });
}
