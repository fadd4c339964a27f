/**
 * One state of an object: as it was at a time, or in one of its versions.
 *
 *   { time: "-10m" }              past-objects.ts
 *   { resourceVersion: "4711" }   after the entry of the change log that made it, before the next one, or the object of now
 */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Operation } from '../../operation/operation.ts';
import { entryOfVersion } from '../../query/history/entries-of-version.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { readChangedBodies } from '../../store/read/changes.ts';
import { readObject } from '../lists/objects-by-identity.ts';
import { readTime } from '../paths/leaf-conditions.ts';
import { pastObjects } from './past-objects.ts';

/** Which state is meant: exactly one of both is there. */
interface StateWanted {
  /** RFC 3339, or relative to now such as `-10m`. */
  readonly time: string | null;
  readonly resourceVersion: string | null;
  /** The moment to which a relative time refers, in milliseconds since the epoch. */
  readonly now: number;
}

interface PastState {
  /** Without redacted values. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly uid: string | null;
  /** The resourceVersion of the object, if it is still so; else null. */
  readonly unchangedAt: string | null;
}

/**
 * A state that the caller may get.
 * @throws PortolanError BAD_USER_INPUT for a state that is not recorded, or a time at which the object was not there; FORBIDDEN, CACHE_NOT_READY
 */
export async function pastState(
  operation: Operation,
  kind: CatalogKind,
  identity: Identity,
  { time, resourceVersion, now }: StateWanted,
): Promise<PastState> {
  return resourceVersion === null
    ? stateAt(operation, kind, identity, readTime(time ?? '', 'to.time', { now: () => now }))
    : stateOf(operation, identity, resourceVersion);
}

/** @param time in milliseconds since the epoch */
async function stateAt(operation: Operation, kind: CatalogKind, identity: Identity, time: number): Promise<PastState> {
  const at = Math.floor(time);
  const { cluster, namespace, name } = identity;
  const found = await pastObjects(operation, kind, { cluster, namespace: namespace ?? '', names: [name], at });
  const there = found.find(({ state }) => state === 'there');
  if (there !== undefined) return there;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `There was no ${nameOf(identity)} at ${new Date(at).toISOString()}: its \`history\`, or \`changes\` of its namespace, say when it was there.`,
  );
}

async function stateOf(operation: Operation, identity: Identity, resourceVersion: string): Promise<PastState> {
  const now = await readObject(operation, identity, 'whole');
  if (now?.row.resourceVersion === resourceVersion) {
    return { body: now.whole(), uid: now.row.uid, unchangedAt: resourceVersion };
  }
  const text = await operation.at(identity.cluster).read(async (lease, view) => {
    const entry = await entryOfVersion(lease, view, identity, resourceVersion);
    if (entry === null) return null;
    const bodies = must((await readChangedBodies(lease, [entry.seq])).get(entry.seq), 'the bodies of an entry');
    return { uid: entry.uid, body: entry.isAfter ? bodies.after : bodies.before };
  });
  const body = text === null || text.body === null ? null : recordOf(parseExact(text.body));
  if (text === null || body === null) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `No state of ${nameOf(identity)} with the resourceVersion ${resourceVersion} is recorded: \`history\` has those that are.`,
    );
  }
  return { body, uid: text.uid, unchangedAt: null };
}

function nameOf({ key, namespace, name, cluster }: Identity): string {
  return `${key} ${name}${namespace === null ? '' : ` in the namespace ${namespace}`} of the cluster ${cluster}`;
}
