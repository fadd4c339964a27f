/** One object of the list that is to replace the rows; without a text it is stored as listed already. */
interface Staged {
  readonly namespace: string;
  readonly name: string;
  readonly text: string | null;
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Replacing the set of a synced resource with a list, as a difference.
 *
 *   put -> the staging file: the keys of all listed objects, the texts of those that differ
 *   commit, up to `maxDifferences`: one transaction, with a change for each difference
 *   commit, beyond:                 a second rowset is filled in small transactions (unchanged rows are copied inside SQLite) and
 *                                   published by one update; the log gets one RESET; housekeeping removes the old rowset's rows
 *
 * Invariants: readers see the old set or the new one, never a mix. Nothing of an uncommitted replace survives a crash. Rows that
 * events changed after the replace began are newer than the list, and win; while a commit is under way, events wait.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { must } from '../../base/must.ts';
import { type ReceivedObject, readIncoming } from '../objects/incoming.ts';
import { compareResourceVersions } from '../objects/resource-version.ts';
import type { StoredResource } from '../rows/resources.ts';
import type { RowTarget } from '../rows/row-writer.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { IncomingObject } from '../types/incoming-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { Row } from '../types/statement.ts';
import type { ApplySummary, Replace, SameVersions } from '../types/writer.ts';
import { newTally, type Tally } from './apply-events.ts';
import { fill, newRowset, publish, readAll, replaceIsOver } from './rowset.ts';
import type { WriteContext } from './write-context.ts';

/** Characters of the texts of differences that are committed as one transaction. */
const maxDifferenceBytes = 16 * 1024 * 1024;
const keysAtOnce = 2000;
const rowsAtOnce = 100;
/** What a byte of text costs in the write-ahead log: its body, the body before it in the change log, pages of indexes. */
const bytesWritten = 3;

export class Relist implements Replace {
  readonly #context: WriteContext;
  readonly #handle: ResourceHandle;
  /** Tells the staged rows of this replace from those of others. */
  readonly #number: number;
  readonly #rowset: number;
  readonly #shape: string;
  readonly #sameVersions: SameVersions;
  /** Rows whose newest change is later were changed by events meanwhile. */
  readonly #since: number;
  /** The collection's version then: where no event has moved it, the list's is taken, even if it is lower. */
  readonly #versionBefore: string | null;
  #count = 0;
  #differences = 0;
  #bytes = 0;
  #over = false;

  constructor(context: WriteContext, handle: ResourceHandle, number: number, sameVersions: SameVersions) {
    this.#context = context;
    this.#handle = handle;
    this.#number = number;
    const resource = context.resources.of(handle);
    this.#rowset = must(resource.rowset, 'the rowset of a synced resource');
    this.#shape = resource.shape;
    this.#sameVersions = sameVersions;
    this.#since = context.session.counters.revision;
    this.#versionBefore = resource.lastResourceVersion;
  }

  get count(): number {
    return this.#count;
  }

  put(objects: readonly IncomingObject[]): void {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const { session, clock, bounds } = this.#context;
    const resource = this.#resource();
    const received = readAll(objects, resource);
    const target = this.#context.resources.target(resource, this.#rowset);
    // Nobody else of this thread can run before put returns, so only the size of a transaction is bounded here.
    const budget = new WriteBudget(clock, { maxMs: Number.POSITIVE_INFINITY, maxBytes: bounds.maxBytes });
    for (let next = 0; next < received.length; ) {
      budget.renew();
      const staged = session.run(() => {
        const done = { count: 0, differences: 0, bytes: 0, index: next };
        for (; done.index < received.length; ) {
          const object = must(received[done.index], 'a received object');
          this.#stage(target, resource, object, done);
          done.index += 1;
          if (budget.spend(object.text.length)) break;
        }
        return done;
      });
      next = staged.index;
      this.#count += staged.count;
      this.#differences += staged.differences;
      this.#bytes += staged.bytes;
    }
  }

  /** What is the same as before is not parsed twice here, so there is nothing to make ready. */
  readonly recipe = null;

  putPrepared(): never {
    throw replaceIsOver(this.#handle);
  }

  room(): Promise<void> {
    return this.#context.wal.room();
  }

  remove(namespace: string, name: string): void {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#handle);
    const { session } = this.#context;
    const staged = session.database
      .statement('SELECT id, text IS NOT NULL FROM staging.staged WHERE replace = ? AND namespace = ? AND name = ?')
      .get(this.#number, namespace, name);
    if (staged === undefined) return;
    const [id, differs] = staged;
    session.run(() => session.database.statement('DELETE FROM staging.staged WHERE id = ?').run(Number(id)));
    this.#count -= 1;
    if (differs === 1) this.#differences -= 1;
  }

  #stage(
    target: RowTarget,
    resource: StoredResource,
    received: ReceivedObject,
    done: { count: number; differences: number; bytes: number },
  ): void {
    const { session, rows } = this.#context;
    const { namespace, name, uid, resourceVersion } = received;
    const stored = rows.find(this.#rowset, namespace, name);
    const same =
      stored !== null &&
      stored.uid === uid &&
      stored.resourceVersion === resourceVersion &&
      ((this.#sameVersions === 'trust' && resource.bodyShape === this.#shape) ||
        !rows.bodyDiffers(target, stored.id, received));
    const text = same ? null : rows.redactedText(target.redaction, received);
    const before = session.database
      .statement('SELECT text IS NOT NULL FROM staging.staged WHERE replace = ? AND namespace = ? AND name = ?')
      .get(this.#number, namespace, name);
    session.database
      .statement(
        `INSERT INTO staging.staged (replace, namespace, name, uid, rv, text) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (replace, namespace, name) DO UPDATE SET uid = excluded.uid, rv = excluded.rv, text = excluded.text`,
      )
      .run(this.#number, namespace, name, uid, resourceVersion, text);
    if (before === undefined) done.count += 1;
    done.differences += (text === null ? 0 : 1) - (before?.[0] === 1 ? 1 : 0);
    done.bytes += text?.length ?? 0;
  }

  async commit(resourceVersion: string): Promise<ApplySummary> {
    const { committing, closed } = this.#context;
    if (this.#over || closed() || committing.has(this.#handle.id)) throw replaceIsOver(this.#handle);
    this.#over = true;
    committing.add(this.#handle.id);
    try {
      const absent = await this.#absentIds();
      const differences = this.#differences + absent.length;
      const small = differences <= this.#context.maxDifferences && this.#bytes <= maxDifferenceBytes && absent.whole;
      const tally = small
        ? this.#commitDifferences(absent.ids, resourceVersion)
        : await this.#commitWholesale(resourceVersion);
      return { ...tally, revision: this.#context.session.counters.revision };
    } finally {
      committing.delete(this.#handle.id);
      if (!closed()) this.#unstage();
    }
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#unstage();
  }

  #unstage(): void {
    this.#context.unstaged.push(this.#number);
  }

  /** The resource, still with the rowset that this replace was staged against. */
  #resource(): StoredResource {
    const { resources, closed } = this.#context;
    if (closed()) throw replaceIsOver(this.#handle);
    const resource = resources.of(this.#handle);
    if (resource.rowset !== this.#rowset) throw replaceIsOver(this.#handle);
    return resource;
  }

  /** Published objects that the list did not have, looked up in slices; not `whole` when there are too many to matter. */
  async #absentIds(): Promise<{ ids: number[]; length: number; whole: boolean }> {
    const { session, maxDifferences } = this.#context;
    const ids: number[] = [];
    let namespace = '';
    let name = '';
    for (;;) {
      this.#resource();
      const rows = session.database
        .statement(
          `SELECT o.id, o.namespace, o.name, o.seq,
             EXISTS (SELECT 1 FROM staging.staged s WHERE s.replace = ? AND s.namespace = o.namespace AND s.name = o.name)
           FROM object o WHERE o.rowset = ? AND (o.namespace, o.name) > (?, ?) ORDER BY o.namespace, o.name LIMIT +?`,
        )
        .all(this.#number, this.#rowset, namespace, name, keysAtOnce);
      for (const [id, rowNamespace, rowName, seq, listed] of rows) {
        namespace = String(rowNamespace);
        name = String(rowName);
        if (listed === 0 && Number(seq) <= this.#since) ids.push(Number(id));
      }
      if (ids.length > maxDifferences) return { ids, length: ids.length, whole: false };
      if (rows.length < keysAtOnce) return { ids, length: ids.length, whole: true };
      await nextTurn();
    }
  }

  /** The small way: each difference with its change, all in one transaction. */
  #commitDifferences(absent: readonly number[], resourceVersion: string): Tally {
    const { session, resources, rows, applier } = this.#context;
    const resource = this.#resource();
    const tally = newTally();
    const lastResourceVersion = this.#newVersion(resource, resourceVersion);
    this.#context.wal.hold(this.#bytes * bytesWritten);
    session.run(() => {
      resources.prepareRows(resource);
      const target = resources.target(resource, this.#rowset);
      for (const id of absent) {
        const row = session.database.statement('SELECT namespace, name FROM object WHERE id = ?').get(id);
        if (row === undefined) continue;
        const [namespace, name] = [String(row[0]), String(row[1])];
        const stored = must(rows.find(this.#rowset, namespace, name), 'a stored object');
        if (stored.id === id) applier.delete(target, stored, { namespace, name, resourceVersion }, tally);
      }
      const staged = session.database
        .statement('SELECT text, uid, rv FROM staging.staged WHERE replace = ? AND text IS NOT NULL ORDER BY id')
        .all(this.#number);
      for (const [text, uid, rv] of staged) {
        const incoming = { text: String(text), uid: String(uid), resourceVersion: String(rv) };
        const received = readIncoming(incoming, resource.names, resource.redaction);
        if (this.#overtaken(target, received)) tally.ignored += 1;
        else applier.put(target, rows.find(this.#rowset, received.namespace, received.name), received, tally);
      }
      session.database
        .statement('UPDATE resource SET last_rv = ?, objects = objects + ?, body_shape = ? WHERE id = ?')
        .run(lastResourceVersion, tally.added - tally.deleted, this.#shape, resource.handle.id);
    });
    resource.objects += tally.added - tally.deleted;
    resource.lastResourceVersion = lastResourceVersion;
    resource.bodyShape = this.#shape;
    tally.ignored += this.#count - this.#differences;
    return tally;
  }

  /** Did an event change this object after the replace began? */
  #overtaken(target: RowTarget, received: ReceivedObject): boolean {
    const { rows, log } = this.#context;
    const stored = rows.find(this.#rowset, received.namespace, received.name);
    if (stored !== null) return stored.seq > this.#since;
    return (log.wasDeleted(target.kindId, target.cluster, received.uid)?.seq ?? 0) > this.#since;
  }

  #newVersion(resource: StoredResource, listed: string): string {
    const current = resource.lastResourceVersion;
    if (current === null || current === this.#versionBefore) return listed;
    return (compareResourceVersions(current, listed) ?? 0) > 0 ? current : listed;
  }

  /** The large way: another rowset, filled in slices and published in one step. */
  async #commitWholesale(resourceVersion: string): Promise<Tally> {
    const { session, filling } = this.#context;
    const resource = this.#resource();
    const rowset = session.run(() => newRowset(this.#context, resource));
    filling.add(rowset);
    try {
      const tally = newTally();
      let objects = await this.#fillFromStaging(rowset, tally);
      objects += await this.#fillFromEvents(rowset);
      const current = this.#resource();
      tally.deleted = Math.max(0, current.objects + tally.added - objects);
      const version = this.#newVersion(current, resourceVersion);
      publish(this.#context, current, { rowset, resourceVersion: version, objects, shape: this.#shape });
      return tally;
    } finally {
      filling.delete(rowset);
    }
  }

  /** What the list had: changed objects from their staged texts, the others copied. Returns how many. */
  async #fillFromStaging(rowset: number, tally: Tally): Promise<number> {
    let objects = 0;
    let last: readonly [string, string] = ['', ''];
    for (;;) {
      const rows = this.#context.session.database
        .statement(
          `SELECT namespace, name, text, uid, rv FROM staging.staged WHERE replace = ? AND (namespace, name) > (?, ?)
           ORDER BY namespace, name LIMIT +?`,
        )
        .all(this.#number, ...last, rowsAtOnce);
      if (rows.length === 0) return objects;
      objects += await this.#inSlices(rows, (row) => {
        const [namespace, name, text] = [String(row[0]), String(row[1]), row[2]];
        last = [namespace, name];
        return this.#fillOne(
          rowset,
          {
            namespace,
            name,
            text: text === null ? null : String(text),
            uid: String(row[3]),
            resourceVersion: String(row[4]),
          },
          tally,
        );
      });
    }
  }

  /** What events added after the replace began, and the list did not have. */
  async #fillFromEvents(rowset: number): Promise<number> {
    let objects = 0;
    let last = 0;
    for (;;) {
      const rows = this.#context.session.database
        .statement('SELECT object FROM change WHERE seq > ? AND object > ? AND kind = ? ORDER BY object LIMIT +?')
        .all(this.#since, last, this.#resource().kind.id, rowsAtOnce);
      if (rows.length === 0) return objects;
      objects += await this.#inSlices(rows, ([object]) => {
        const { session, rows: writer } = this.#context;
        last = Number(object);
        const row = session.database
          .statement('SELECT namespace, name FROM object WHERE id = ? AND rowset = ? AND seq > ?')
          .get(last, this.#rowset, this.#since);
        if (row === undefined || writer.find(rowset, String(row[0]), String(row[1])) !== null) return 0;
        return this.#copy(rowset, last);
      });
    }
  }

  /** Works through the rows in transactions within the bounds, with a turn of the event loop between two. */
  async #inSlices(rows: readonly Row[], work: (row: Row) => number): Promise<number> {
    const { session, clock, bounds } = this.#context;
    const budget = new WriteBudget(clock, bounds);
    let done = 0;
    for (let next = 0; next < rows.length; ) {
      this.#resource();
      this.#context.disk.admitBulk();
      budget.renew();
      const slice = session.run(() => {
        let objects = 0;
        let index = next;
        for (; index < rows.length; ) {
          const row = must(rows[index], 'a row');
          objects += work(row);
          index += 1;
          if (budget.spend(typeof row[2] === 'string' ? row[2].length : 0)) break;
        }
        return { objects, index };
      });
      done += slice.objects;
      next = slice.index;
      await this.#context.wal.room();
      await nextTurn();
    }
    return done;
  }

  #fillOne(rowset: number, staged: Staged, tally: Tally): number {
    const { resources, rows } = this.#context;
    const resource = this.#resource();
    const stored = rows.find(this.#rowset, staged.namespace, staged.name);
    if (staged.text === null || (stored !== null && stored.seq > this.#since)) {
      tally.ignored += 1;
      return stored === null ? 0 : this.#copy(rowset, stored.id);
    }
    const target = resources.target(resource, rowset);
    const { text, uid, resourceVersion } = staged;
    const received = readIncoming({ text, uid, resourceVersion }, resource.names, resource.redaction);
    if (this.#overtaken(target, received)) {
      tally.ignored += 1;
      return 0;
    }
    if (stored === null || stored.uid !== staged.uid) tally.added += 1;
    else tally.modified += 1;
    fill(this.#context, target, received);
    return 1;
  }

  #copy(rowset: number, id: number): 1 {
    const { session, rows } = this.#context;
    rows.copy(this.#resource().kind.promoted, id, { id: session.nextObjectId(), rowset });
    return 1;
  }
}
