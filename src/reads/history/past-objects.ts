/**
 * Objects as they were at a time: their recorded states, or the objects of now where nothing has changed since.
 *
 *   newest entry up to the time    the body after it; for a deletion, the body before it
 *   none, but a later one          the body before it; for an addition, the body after it: the object was first seen so
 *   none at all                    the object of now
 *
 * Never: a state that the log may not have whole. A time before the reach of the kind is refused.
 */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Operation } from '../../operation/operation.ts';
import { type EntriesAround, entriesAround } from '../../query/history/entries-around.ts';
import { reachOf } from '../../query/history/reach.ts';
import { type ChangedBodies, readChangedBodies } from '../../store/read/changes.ts';
import type { ObjectSource } from '../lists/object-source.ts';
import { readObjects } from '../lists/objects-by-identity.ts';

type Json = Readonly<Record<string, unknown>>;

/** An object as it was. */
export interface PastObject {
  readonly name: string;
  readonly uid: string | null;
  /** Without redacted values. */
  readonly body: Json;
  /** `gone`: it was deleted by then, and this is its last state. */
  readonly state: 'there' | 'gone' | 'later';
  /** The resourceVersion of the object, if nothing of it has changed since; else null. */
  readonly unchangedAt: string | null;
}

/** Milliseconds by which the clock of a client may be ahead. */
const clockSkewMs = 5000;

interface Wanted {
  readonly cluster: string;
  readonly namespace: string;
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The objects of these names that the caller may get. Several may have had one name.
 * @throws PortolanError BAD_USER_INPUT for a time before the history begins, or in the future; FORBIDDEN, CACHE_NOT_READY
 */
export async function pastObjects(
  operation: Operation,
  kind: CatalogKind,
  wanted: Wanted,
): Promise<readonly PastObject[]> {
  const { key } = kind;
  const { cluster, namespace, names, at } = wanted;
  if (at > operation.source.now() + clockSkewMs) {
    const time = new Date(at).toISOString();
    throw new PortolanError('BAD_USER_INPUT', `${time} is in the future: give the time of a state that was there.`);
  }
  const { entries, bodies, reaches } = await operation.at(cluster).read(async (lease, view) => {
    const found = await entriesAround(lease, view, { key, ...wanted });
    const seqs = found.flatMap(({ upTo, later }) => upTo ?? later ?? []);
    return {
      entries: found,
      bodies: await readChangedBodies(lease, seqs),
      reaches: await reachOf(lease, view, [key]),
    };
  });
  const since = reaches.find((reach) => reach.cluster === cluster)?.since ?? null;
  if (since === null || since > at) {
    const from = since === null ? 'is not recorded yet' : `begins at ${new Date(since).toISOString()}`;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The history of ${key} in the cluster ${cluster} ${from}: give a later time.`,
    );
  }
  const identities = names.map((name) => ({ cluster, key, namespace, name }));
  const now = new Map<string | null, ObjectSource>();
  for (const source of await readObjects(operation, identities, 'whole')) {
    if (source instanceof PortolanError) throw source;
    if (source !== null) now.set(source.row.uid, source);
  }
  const past = entries.flatMap((entry) => stateOf(entry, bodies, now.get(entry.uid) ?? null) ?? []);
  for (const { uid } of entries) now.delete(uid);
  const unchanged = [...now.values()].map(({ row: { name, uid, resourceVersion }, body }): PastObject => {
    return { name, uid, body, state: 'there', unchangedAt: resourceVersion };
  });
  return [...past, ...unchanged];
}

function stateOf(
  { name, uid, upTo, later, laterCount }: EntriesAround,
  bodies: ReadonlyMap<number, ChangedBodies>,
  now: ObjectSource | null,
): PastObject | null {
  const { before, after } = must(bodies.get(must(upTo ?? later, 'an entry of each object')), 'the bodies of an entry');
  const of = (text: string | null, state: PastObject['state'], isNow: boolean): PastObject | null => {
    const body = text === null ? null : recordOf(parseExact(text));
    const unchangedAt = isNow ? (now?.row.resourceVersion ?? null) : null;
    return body === null ? null : { name, uid, body, state, unchangedAt };
  };
  if (upTo !== null) return after === null ? of(before, 'gone', false) : of(after, 'there', later === null);
  return before === null ? of(after, 'later', laterCount === 1) : of(before, 'there', false);
}
