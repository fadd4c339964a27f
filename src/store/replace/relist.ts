/**
 * Replaces the set of a synced collection with a list, by the differences between them.
 *
 *   put -> the staging file (staged-list.ts): the keys of all listed objects, and the texts of the changed ones
 *   commit of at most `maxDifferences` differences, with at most 16 Mi characters of text: one transaction, with a change for each
 *   commit of more: a second rowset is filled in small transactions (wholesale-replace.ts) and published by one update; the log gets
 *                   one RESET; housekeeping removes the old rowset's rows
 *
 * Invariants: readers see the old set or the new one, never a mix. An uncommitted replace leaves nothing after a crash. Rows that
 * events changed after the replace began are newer than the list, and take precedence (baseline.ts). During a commit, `Writer.apply`
 * throws CONFLICT for this collection.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { must } from '../../base/must.ts';
import { type ReceivedObject, readIncoming } from '../objects/incoming.ts';
import { newTally, type Tally } from '../rows/event-applier.ts';
import type { RowTarget } from '../rows/row-writer.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { IncomingObject } from '../types/incoming-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { ApplySummary, Replace, SameVersions } from '../types/writer.ts';
import { Baseline } from './baseline.ts';
import { replaceIsOver } from './rowset.ts';
import { type StagedCounts, StagedList } from './staged-list.ts';
import { replaceWholesale } from './wholesale-replace.ts';

/** Most characters of changed texts that are committed in one transaction. */
const maxDifferenceBytes = 16 * 1024 * 1024;
const keysAtOnce = 2000;
/** Estimated bytes in the write-ahead log for each byte of text: its body, the previous body in the change log, pages of indexes. */
const bytesWritten = 3;

export class Relist implements Replace {
  readonly #context: WriteContext;
  readonly #number: number;
  readonly #baseline: Baseline;
  readonly #staged: StagedList;
  readonly #shape: string;
  readonly #sameVersions: SameVersions;
  #over = false;

  /** `number` is unique among the replaces of this writer. */
  constructor(context: WriteContext, handle: ResourceHandle, number: number, sameVersions: SameVersions) {
    this.#context = context;
    this.#number = number;
    this.#baseline = new Baseline(context, handle);
    this.#staged = new StagedList(context.session, number);
    this.#shape = context.resources.of(handle).shape;
    this.#sameVersions = sameVersions;
  }

  get count(): number {
    return this.#staged.counts.objects;
  }

  put(objects: readonly IncomingObject[]): void {
    this.#refuseWhenOver();
    const { resources, session, clock, bounds } = this.#context;
    const resource = this.#baseline.resource();
    const received = objects.map((object) => readIncoming(object, resource));
    const target = resources.target(resource, this.#baseline.rowset);
    // `put` is synchronous, so shorter transactions would not let other work of this thread run. Only their size is bounded.
    const budget = new WriteBudget(clock, { maxMs: Number.POSITIVE_INFINITY, maxBytes: bounds.maxBytes });
    for (let next = 0; next < received.length; ) {
      budget.renew();
      const counts: StagedCounts = { objects: 0, differences: 0, bytes: 0 };
      next = session.run(() => {
        let index = next;
        for (; index < received.length; ) {
          const object = must(received[index], 'a received object');
          this.#staged.put(object, this.#differingText(target, resource, object), counts);
          index += 1;
          if (budget.spend(object.text.length)) break;
        }
        return index;
      });
      this.#staged.add(counts);
    }
  }

  /** Null: only `put` is possible, because it compares the listed objects with the stored rows. */
  readonly recipe = null;

  putPrepared(): never {
    throw replaceIsOver(this.#baseline.handle);
  }

  room(): Promise<void> {
    return this.#context.wal.room();
  }

  remove(namespace: string, name: string): void {
    this.#refuseWhenOver();
    this.#staged.remove(namespace, name);
  }

  /** The text to store, or null for an unchanged object. */
  #differingText(target: RowTarget, resource: StoredResource, received: ReceivedObject): string | null {
    const { rows } = this.#context;
    const { namespace, name, uid, resourceVersion } = received;
    const stored = rows.find(this.#baseline.rowset, namespace, name);
    const same =
      stored !== null &&
      stored.uid === uid &&
      stored.resourceVersion === resourceVersion &&
      ((this.#sameVersions === 'trust' && resource.bodyShape === this.#shape) ||
        !rows.bodyDiffers(target, stored.id, received));
    return same ? null : rows.redactedText(target.redaction, received);
  }

  async commit(resourceVersion: string): Promise<ApplySummary> {
    const { committing, closed, maxDifferences, session } = this.#context;
    const { handle } = this.#baseline;
    if (this.#over || closed() || committing.has(handle.id)) throw replaceIsOver(handle);
    this.#over = true;
    committing.add(handle.id);
    try {
      const absent = await this.#absentIds();
      const { counts } = this.#staged;
      const differences = counts.differences + absent.ids.length;
      const small = differences <= maxDifferences && counts.bytes <= maxDifferenceBytes && absent.whole;
      const tally = small
        ? this.#commitDifferences(absent.ids, resourceVersion)
        : await replaceWholesale(this.#context, this.#baseline, this.#staged, { resourceVersion, shape: this.#shape });
      return { ...tally, revision: session.counters.revision };
    } finally {
      committing.delete(handle.id);
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

  #refuseWhenOver(): void {
    if (this.#over || this.#context.closed()) throw replaceIsOver(this.#baseline.handle);
  }

  /** Ids of published objects that the list does not have, read in slices. Stops above `maxDifferences`; `whole` is false then. */
  async #absentIds(): Promise<{ readonly ids: readonly number[]; readonly whole: boolean }> {
    const { maxDifferences } = this.#context;
    const { rowset, since } = this.#baseline;
    const ids: number[] = [];
    let last: readonly [string, string] = ['', ''];
    for (;;) {
      this.#baseline.resource();
      const rows = this.#staged.compare(rowset, last, keysAtOnce);
      for (const [id, namespace, name, seq, listed] of rows) {
        last = [String(namespace), String(name)];
        if (listed === 0 && Number(seq) <= since) ids.push(Number(id));
      }
      if (ids.length > maxDifferences) return { ids, whole: false };
      if (rows.length < keysAtOnce) return { ids, whole: true };
      await nextTurn();
    }
  }

  /** Commits all differences in one transaction, with a change for each. */
  #commitDifferences(absent: readonly number[], resourceVersion: string): Tally {
    const { session, resources } = this.#context;
    const { counts } = this.#staged;
    const resource = this.#baseline.resource();
    const tally = newTally();
    const lastResourceVersion = this.#baseline.newVersion(resource, resourceVersion);
    this.#context.wal.hold(counts.bytes * bytesWritten);
    session.run(() => {
      resources.prepareRows(resource);
      const target = resources.target(resource, this.#baseline.rowset);
      this.#deleteAbsent(target, absent, resourceVersion, tally);
      this.#putDifferences(target, resource, tally);
      session.database
        .statement('UPDATE resource SET last_rv = ?, objects = objects + ?, body_shape = ? WHERE id = ?')
        .run(lastResourceVersion, tally.added - tally.deleted, this.#shape, resource.handle.id);
    });
    resource.objects += tally.added - tally.deleted;
    resource.lastResourceVersion = lastResourceVersion;
    resource.bodyShape = this.#shape;
    tally.ignored += counts.objects - counts.differences;
    return tally;
  }

  #deleteAbsent(target: RowTarget, absent: readonly number[], resourceVersion: string, tally: Tally): void {
    const { session, rows, applier } = this.#context;
    for (const id of absent) {
      const row = session.database.statement('SELECT namespace, name FROM object WHERE id = ?').get(id);
      if (row === undefined) continue;
      const [namespace, name] = [String(row[0]), String(row[1])];
      const stored = must(rows.find(target.rowset, namespace, name), 'a stored object');
      if (stored.id === id) applier.delete(target, stored, { namespace, name, resourceVersion }, tally);
    }
  }

  #putDifferences(target: RowTarget, resource: StoredResource, tally: Tally): void {
    const { rows, applier } = this.#context;
    for (const [text, uid, rv] of this.#staged.differences()) {
      const incoming = { text: String(text), uid: String(uid), resourceVersion: String(rv) };
      const received = readIncoming(incoming, resource);
      if (this.#baseline.wasOvertaken(target, received)) tally.ignored += 1;
      else applier.put(target, rows.find(target.rowset, received.namespace, received.name), received, tally);
    }
  }
}
