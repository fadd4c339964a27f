/**
 * Applies watch events to rows, by the rules of a reflector:
 *
 * - An event older than the stored object (numeric resourceVersions) is ignored, and so is ADDED or MODIFIED with the stored version.
 * - MODIFIED of an unknown object adds it. ADDED of a stored one updates it. DELETED of an unknown one or of another uid is ignored.
 * - Another uid under the same name is a recreated object: DELETED of the old one, ADDED of the new one with a new object id.
 * - An object with a deletion in the log at its version or later is a replay, and is ignored.
 *
 * Runs inside the caller's transaction.
 */

import type { HealthStatus } from '../../catalog/health/health-status.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import { newestManagers } from '../objects/field-managers.ts';
import type { ReceivedObject } from '../objects/incoming.ts';
import type { ChangeLog, LogPlace } from './change-log.ts';
import { change } from './object-counts.ts';
import type { NewRow, RowTarget, RowWriter, StorableObject, StoredObject } from './row-writer.ts';
import type { WriteSession } from './write-session.ts';

/** What the log says of a change besides the object. */
interface ChangedBy {
  /** JSON of the managers that made the change; null if they are unknown. */
  readonly managers: string | null;
  /** In a log that is followed. */
  readonly place?: LogPlace;
}

export interface Tally {
  added: number;
  modified: number;
  deleted: number;
  ignored: number;
}

export function newTally(): Tally {
  return { added: 0, modified: 0, deleted: 0, ignored: 0 };
}

export class EventApplier {
  readonly #session: WriteSession;
  readonly #log: ChangeLog;
  readonly #rows: RowWriter;

  constructor(session: WriteSession, log: ChangeLog, rows: RowWriter) {
    this.#session = session;
    this.#log = log;
    this.#rows = rows;
  }

  apply(target: RowTarget, type: 'ADDED' | 'MODIFIED' | 'DELETED', received: ReceivedObject, tally: Tally): void {
    const stored = this.#rows.find(target.rowset, received.namespace, received.name);
    if (type === 'DELETED') {
      if (
        stored === null ||
        stored.uid !== received.uid ||
        isOlder(compareResourceVersions(received.resourceVersion, stored.resourceVersion))
      ) {
        tally.ignored += 1;
      } else {
        this.delete(target, stored, received, tally);
      }
      return;
    }
    if (stored !== null && stored.uid === received.uid) {
      const order = compareResourceVersions(received.resourceVersion, stored.resourceVersion);
      if (order !== null && order <= 0) tally.ignored += 1;
      else this.put(target, stored, received, tally);
      return;
    }
    const older = stored !== null && isOlder(compareResourceVersions(received.resourceVersion, stored.resourceVersion));
    if (older || this.#wasDeleted(target, received)) tally.ignored += 1;
    else this.put(target, stored, received, tally);
  }

  /** Stores a received object: as an update, as an addition, or as the deletion and addition of a recreated object. */
  put(target: RowTarget, stored: StoredObject | null, received: ReceivedObject, tally: Tally): void {
    const by = { managers: managersOf(received) };
    if (stored !== null && stored.uid === received.uid) {
      this.update(target, stored, received, by, tally);
      return;
    }
    if (stored !== null) this.delete(target, stored, received, tally);
    this.insert(target, { id: this.#session.nextObjectId(), received }, by, tally);
  }

  /** Adds an object that is not stored. */
  insert(target: RowTarget, row: NewRow, { managers, place }: ChangedBy, tally: Tally): void {
    const { id, received } = row;
    const seq = this.#log.append('ADDED', changed(target, id, received, managers), place);
    this.#rows.insert(target, row, seq);
    this.#count(target, received.namespace, received.health.status, 1);
    tally.added += 1;
  }

  /** Gives a stored object another body; its uid stays. */
  update(
    target: RowTarget,
    stored: StoredObject,
    received: StorableObject,
    { managers, place }: ChangedBy,
    tally: Tally,
  ): void {
    const seq = this.#log.append('MODIFIED', changed(target, stored.id, received, managers), place);
    this.#rows.update(target, stored, received, seq);
    if (stored.health !== received.health.status) {
      this.#count(target, received.namespace, stored.health, -1);
      this.#count(target, received.namespace, received.health.status, 1);
    }
    tally.modified += 1;
  }

  /** Deletes a stored object. `deletion` has its names, the resourceVersion of the deletion, and its place in a log that is followed. */
  delete(
    target: RowTarget,
    stored: StoredObject,
    deletion: {
      readonly namespace: string;
      readonly name: string;
      readonly resourceVersion: string;
      readonly place?: LogPlace;
    },
    tally: Tally,
  ): void {
    const { namespace, name, resourceVersion, place } = deletion;
    const deleted = { namespace, name, resourceVersion, uid: stored.uid };
    this.#log.append('DELETED', changed(target, stored.id, deleted, null), place);
    this.#rows.remove(target, stored);
    this.#count(target, namespace, stored.health, -1);
    tally.deleted += 1;
  }

  #count({ rowset }: RowTarget, namespace: string, health: HealthStatus, by: 1 | -1): void {
    change(this.#session.database, rowset, { namespace, health }, by);
  }

  #wasDeleted(target: RowTarget, received: ReceivedObject): boolean {
    const at = this.#log.wasDeleted(target.kindId, target.cluster, received.uid);
    if (at === null) return false;
    const order = compareResourceVersions(received.resourceVersion, at.resourceVersion);
    return order !== null && order <= 0;
  }
}

function managersOf({ managedFields }: ReceivedObject): string | null {
  return managedFields === undefined ? null : newestManagers(managedFields);
}

function isOlder(order: number | null): boolean {
  return order !== null && order < 0;
}

function changed(
  target: RowTarget,
  id: number,
  object: { readonly namespace: string; readonly name: string; readonly uid: string; readonly resourceVersion: string },
  managers: string | null,
): Parameters<ChangeLog['append']>[1] {
  const { namespace, name, uid, resourceVersion } = object;
  return { kindId: target.kindId, cluster: target.cluster, id, namespace, name, uid, resourceVersion, managers };
}
