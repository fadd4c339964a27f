/** The `spec` of a ShadowRecord, as it is written. Absent parts of a member are left out. */
import type { SetMember, SetSpec } from './set-record.ts';

type Json = Readonly<Record<string, unknown>>;

/** The spec of a ShadowRecord, as it is written. */
export function recordSpec({ generation, phase, members, lastApplied }: SetSpec): Json {
  return {
    generation,
    phase,
    members: members.map(writtenMember),
    ...(lastApplied === null ? {} : { lastApplied }),
  };
}

function writtenMember({ group, version, kind, resource, namespace, name, uid, fields, leaves }: SetMember): Json {
  return {
    // The core group is left out: servers before 1.21 refuse an empty text.
    ...(group === '' ? {} : { group }),
    version,
    kind,
    resource,
    namespace,
    name,
    ...(uid === null ? {} : { uid }),
    ...(fields === null ? {} : { fields }),
    ...(leaves ? { leaves } : {}),
  };
}
