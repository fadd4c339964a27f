/**
 * Reads the change log: the changes after a sequence number, and objects as they were at an earlier revision.
 *
 * An entry has the body before its change. The body after the change is the `before` of the object's next entry, or the current body
 * if there is no next entry. Object ids are never reused, so all entries of an id belong to one object. An object belongs to one kind,
 * and entries are removed by kind, the oldest first: so the next entry of an entry is there.
 */
import { PortolanError } from '../../base/errors.ts';
import type { LoggedChange, LoggedEntry } from '../types/change.ts';
import type { Lease } from '../types/lease.ts';
import type { Row, Statement } from '../types/statement.ts';

interface ChangesWanted {
  /** All kinds when absent. */
  readonly kindId?: number;
  /** Only changes with a greater sequence number. */
  readonly after: number;
  /** Only changes up to this one; default everything in the snapshot. */
  readonly upTo?: number;
  readonly limit: number;
}

/** An object as it was at a revision. */
interface PastObject {
  readonly objectId: number;
  readonly cluster: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** JSON text. */
  readonly body: string;
}

/** A body of the log as JSON text: JSONB, or the text that SQLite refused. */
function textOf(column: string): string {
  return `CASE typeof(${column}) WHEN 'blob' THEN json(${column}) ELSE ${column} END`;
}

/** The bodies before and after the change of an entry `c`. */
const bodies = `${textOf('c.before')},
    CASE WHEN c.type IN ('ADDED', 'MODIFIED') THEN coalesce(
      (SELECT ${textOf('n.before')} FROM change n WHERE n.object = c.object AND n.seq > c.seq ORDER BY n.seq LIMIT 1),
      (SELECT coalesce(b.text, json(b.body)) FROM body b WHERE b.id = c.object)) END`;

/**
 * Changes after a sequence number. By kind they are one range of the index (kind, seq), in its order. Entries of other kinds are not
 * read. Only bodies of returned rows are converted to text.
 */
const changesSql = (byKind: boolean, tick = '((c.seq & 255) <> 0 OR tick() = 0)'): string => `
  SELECT c.seq, c.type, c.kind, c.cluster, c.object, c.namespace, c.name, c.uid, c.rv, c.at, ${bodies}
  FROM change c
  WHERE c.seq > +? AND c.seq <= +? AND ${tick}
    ${byKind ? 'AND c.kind = +?' : ''}
  ORDER BY c.seq LIMIT +?`;
const allChanges = changesSql(false);
/** Exported for a test of its query plan. */
export const changesOfKind = changesSql(true);

/** Rows with bodies of any size must not hold the calling thread: each row is counted. */
const changesNow = changesSql(true, 'tick() = 0');

/** Changes of a kind, for a read on the calling thread (`PageReader.pagesNow`); `changesIn` reads its rows. */
export function changesStatement({ kindId, after, limit }: Omit<Required<ChangesWanted>, 'upTo'>): Statement {
  return { sql: changesNow, params: [after, Number.MAX_SAFE_INTEGER, kindId, limit] };
}

export function changesIn(rows: readonly Row[]): readonly LoggedChange[] {
  return rows.map((row) => ({ ...entryIn(row), before: textOrNull(row[10]), after: textOrNull(row[11]) }));
}

/** Changes in their order. Check `readLogFloor` of the kind in the same lease: entries at or below the floor have been removed. */
export async function readChanges(lease: Lease, wanted: ChangesWanted): Promise<readonly LoggedChange[]> {
  const { kindId, after, limit } = wanted;
  const upTo = wanted.upTo ?? lease.revision;
  const rows = await lease.all(
    kindId === undefined
      ? { sql: allChanges, params: [after, upTo, limit] }
      : { sql: changesOfKind, params: [after, upTo, kindId, limit] },
  );
  return changesIn(rows);
}

/** An entry of the log without its bodies. @param row its first ten columns are those of the pattern */
export function entryIn([seq, type, kind, cluster, object, namespace, name, uid, rv, at]: Row): LoggedEntry {
  return {
    seq: Number(seq),
    type: String(type) as LoggedChange['type'],
    kindId: Number(kind),
    cluster: String(cluster),
    objectId: Number(object),
    namespace: namespace === '' ? null : String(namespace),
    name: String(name),
    uid: textOrNull(uid),
    resourceVersion: String(rv),
    at: Number(at),
  };
}

/** Entries of a kind after a sequence number, in their order, without their bodies. Check the floor of the kind in the same lease. */
export async function readEntries(
  lease: Lease,
  { kindId, after, limit }: Omit<Required<ChangesWanted>, 'upTo'>,
): Promise<readonly LoggedEntry[]> {
  const rows = await lease.all({
    sql: `SELECT c.seq, c.type, c.kind, c.cluster, c.object, c.namespace, c.name, c.uid, c.rv, c.at FROM change c
      WHERE c.seq > +? AND ((c.seq & 255) <> 0 OR tick() = 0) AND c.kind = +? ORDER BY c.seq LIMIT +?`,
    params: [after, kindId, limit],
  });
  return rows.map(entryIn);
}

/** The bodies before and after a change, as JSON texts. Null where there is none, or where it is no longer known. */
export type ChangedBodies = Pick<LoggedChange, 'before' | 'after'>;

/** The bodies of the entries with these sequence numbers, by number. Their other members must have been read in the same lease. */
export async function readChangedBodies(
  lease: Lease,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, ChangedBodies>> {
  const rows = await lease.all({
    sql: `SELECT c.seq, ${bodies} FROM json_each(?) w CROSS JOIN change c ON c.seq = w.value WHERE ((w.key & 7) <> 0 OR tick() = 0)`,
    params: [JSON.stringify(seqs)],
  });
  return new Map(
    rows.map(([seq, before, after]) => [Number(seq), { before: textOrNull(before), after: textOrNull(after) }]),
  );
}

/** The revision up to which entries of the kind have been removed from the log, or of any kind. Only later entries can be read. */
export async function readLogFloor(lease: Lease, kindId?: number): Promise<number> {
  const [row] = await lease.all(
    kindId === undefined
      ? { sql: 'SELECT max(floor) FROM kind_log', params: [] }
      : { sql: 'SELECT floor FROM kind_log WHERE kind = ?', params: [kindId] },
  );
  return Number(row?.[0] ?? 0);
}

/** The change log of all kinds together. */
export interface LogFacts {
  /** Sequence number of the newest removed entry; 0 if none was removed. */
  readonly floor: number;
  readonly bytes: number;
  /** Milliseconds since the epoch: the changes of every kind are whole from then on. Null if no entry was removed. */
  readonly wholeSince: number | null;
}

export async function readLogFacts(lease: Lease): Promise<LogFacts> {
  const [row] = await lease.all({
    sql: 'SELECT max(floor), sum(bytes), max(since) FILTER (WHERE floor > 0) FROM kind_log',
    params: [],
  });
  const [floor, bytes, since] = row ?? [];
  return { floor: Number(floor ?? 0), bytes: Number(bytes ?? 0), wholeSince: typeof since === 'number' ? since : null };
}

/** Exported for a test of its query plan. Each kind costs two searches in indexes. */
export const kindsThatChanged = `
  SELECT w.value ->> 0, coalesce((SELECT floor FROM kind_log WHERE kind = w.value ->> 0), 0),
    EXISTS (SELECT 1 FROM change c WHERE c.kind = w.value ->> 0 AND c.seq > w.value ->> 1) FROM json_each(?) w`;

/**
 * Which of these kinds have a change after their sequence number, and the floor of each. No body is read.
 * @param positions sequence number by id of the kind.
 */
export async function readChangedKinds(lease: Lease, positions: ReadonlyMap<number, number>): Promise<ChangedKinds> {
  return changedKindsIn(await lease.all(changedKindsStatement(positions)));
}

interface ChangedKinds {
  /** The floor of each kind, by its id. */
  readonly floors: ReadonlyMap<number, number>;
  /** The kinds with a change after their sequence number. */
  readonly kindIds: ReadonlySet<number>;
}

/** The read of `readChangedKinds`; `changedKindsIn` reads its rows. */
export function changedKindsStatement(positions: ReadonlyMap<number, number>): Statement {
  return { sql: kindsThatChanged, params: [JSON.stringify([...positions])] };
}

export function changedKindsIn(rows: readonly Row[]): ChangedKinds {
  return {
    floors: new Map(rows.map(([kindId, floor]) => [Number(kindId), Number(floor)])),
    kindIds: new Set(rows.flatMap(([kindId, , changed]) => (changed === 1 ? Number(kindId) : []))),
  };
}

/**
 * Objects of one kind as they were at `revision`, by id. A missing id did not exist then, or its rows were removed after a later
 * RESET of its kind. Throws GONE when the log of the kind does not reach back to `revision`.
 */
export async function objectsAsOf(
  lease: Lease,
  kindId: number,
  ids: readonly number[],
  revision: number,
): Promise<ReadonlyMap<number, PastObject>> {
  const floor = await readLogFloor(lease, kindId);
  if (revision < floor) {
    throw new PortolanError('GONE', `Revision ${revision} is no longer kept; begin again with a fresh snapshot.`);
  }
  const rows = await lease.all({
    sql: `
      SELECT w.value, c.type, coalesce(c.uid, o.uid),
        CASE WHEN c.seq IS NULL THEN coalesce(b.text, json(b.body)) ELSE ${textOf('c.before')} END,
        CASE WHEN c.seq IS NULL THEN o.rv
          WHEN typeof(c.before) = 'blob' THEN c.before ->> '$.metadata.resourceVersion' END,
        coalesce(c.cluster, o.cluster), coalesce(c.namespace, o.namespace), coalesce(c.name, o.name)
      FROM json_each(?) w
      LEFT JOIN change c ON c.seq = (SELECT n.seq FROM change n WHERE n.object = w.value AND n.seq > ? ORDER BY n.seq LIMIT 1)
      LEFT JOIN object o ON o.id = w.value
      LEFT JOIN body b ON b.id = w.value
      WHERE ((w.key & 255) <> 0 OR tick() = 0)`,
    params: [JSON.stringify(ids), revision],
  });
  const objects = new Map<number, PastObject>();
  for (const [id, type, uid, body, version, cluster, namespace, name] of rows) {
    if (type === 'ADDED' || body === null || body === undefined) continue;
    const text = String(body);
    objects.set(Number(id), {
      objectId: Number(id),
      cluster: String(cluster),
      namespace: namespace === '' ? null : String(namespace),
      name: String(name),
      uid: String(uid),
      resourceVersion: version === null || version === undefined ? versionIn(text) : String(version),
      body: text,
    });
  }
  return objects;
}

function versionIn(body: string): string {
  const { metadata } = JSON.parse(body) as { readonly metadata?: { readonly resourceVersion?: unknown } };
  return String(metadata?.resourceVersion ?? '');
}

/** A column of text. */
export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
