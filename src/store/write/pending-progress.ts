/**
 * The progress of collections that is in memory and not in their rows yet: lastResourceVersion and status.
 *
 *   bookmark, status -> pending -> written by the next transaction, before its own work -> committed: no longer pending
 *
 * Bookmarks are frequent and unimportant, so they wait for another transaction, for `bookmarkMs` at most. An important change of status
 * is written at once. After a failed transaction the entries stay pending.
 */
import type { Clock } from '../../base/clock.ts';
import { laterResourceVersion } from '../../catalog/resources/resource-version.ts';
import type { Resources } from '../rows/resources.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteSession } from '../rows/write-session.ts';
import type { IngestStatus } from '../types/progress.ts';

const bookmarkMs = 30_000;

export class PendingProgress {
  readonly #session: WriteSession;
  readonly #resources: Resources;
  readonly #clock: Clock;
  /** Ids of collections. */
  readonly #pending = new Set<number>();
  #savedAt: number;

  /** Registers itself to write pending progress in every transaction of the session. */
  constructor(session: WriteSession, resources: Resources, clock: Clock) {
    this.#session = session;
    this.#resources = resources;
    this.#clock = clock;
    this.#savedAt = clock.monotonic();
    session.atBegin(() => this.#write());
    this.#stopInterrupted();
  }

  /** Advances the version of a synced collection without rows. */
  bookmark(resource: StoredResource, resourceVersion: string): void {
    this.reached(resource, laterResourceVersion(resource.lastResourceVersion, resourceVersion));
  }

  /** Sets the version of a synced collection without rows, also to an earlier one: the storage of its server went back in time. */
  reached(resource: StoredResource, resourceVersion: string): void {
    if (!resource.synced) return;
    resource.lastResourceVersion = resourceVersion;
    this.#pending.add(resource.handle.id);
    this.saveWhenDue();
  }

  /** A changed phase or error, and a changed start or end of staleness, are written at once. Other changes wait for a transaction. */
  setStatus(resource: StoredResource, status: IngestStatus): void {
    const before = resource.status;
    resource.status = status;
    this.#pending.add(resource.handle.id);
    const important = ['phase', 'error', 'staleSince'] as const;
    if (important.some((member) => before[member] !== status[member])) this.#session.run(() => {});
  }

  /** Drops the pending progress of a collection that is removed or no longer synced. */
  forget(resource: StoredResource): void {
    this.#pending.delete(resource.handle.id);
  }

  saveWhenDue(): void {
    if (this.#pending.size === 0 || this.#clock.monotonic() - this.#savedAt < bookmarkMs) return;
    this.#session.run(() => {});
  }

  /** Commits the open transaction and all pending progress. */
  saveAll(): void {
    this.#session.settle();
    if (this.#pending.size > 0) this.#session.run(() => {});
  }

  /** Sets the statuses that an earlier process left to STOPPED. They are written with the first commit. */
  #stopInterrupted(): void {
    for (const resource of this.#resources.all()) {
      const { status } = resource;
      if (status.phase === 'STOPPED' || status.phase === 'IDLE') continue;
      resource.status = { ...status, phase: 'STOPPED', staleSince: status.staleSince ?? status.lastSignAt };
      this.#pending.add(resource.handle.id);
    }
  }

  /** Inside a transaction. Returns a function to call after the commit. */
  #write(): (() => void) | null {
    if (this.#pending.size === 0) return null;
    for (const id of this.#pending) {
      const resource = this.#resources.withId(id);
      if (resource === undefined) continue;
      const { lastResourceVersion, status, synced } = resource;
      this.#session.database
        .statement('UPDATE resource SET last_rv = CASE WHEN ? THEN ? END, status = ? WHERE id = ?')
        .run(synced ? 1 : 0, lastResourceVersion, JSON.stringify(status), id);
    }
    return () => {
      this.#pending.clear();
      this.#savedAt = this.#clock.monotonic();
    };
  }
}
