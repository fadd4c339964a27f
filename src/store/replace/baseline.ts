/**
 * The published set of a synced collection when a list of it began. The list is compared with this set.
 *
 * Invariant: a row or a deletion with a later sequence number than `since` comes from an event after that moment. It is newer than
 * the list, and takes precedence.
 */
import { must } from '../../base/must.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import type { ReceivedObject } from '../objects/incoming.ts';
import type { RowTarget } from '../rows/row-writer.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { ResourceHandle } from '../types/progress.ts';
import { replaceIsOver } from './rowset.ts';

export class Baseline {
  readonly handle: ResourceHandle;
  readonly rowset: number;
  readonly since: number;
  readonly #context: WriteContext;
  readonly #resourceVersion: string | null;

  constructor(context: WriteContext, handle: ResourceHandle) {
    this.#context = context;
    this.handle = handle;
    const resource = context.resources.of(handle);
    this.rowset = must(resource.rowset, 'the rowset of a synced resource');
    this.since = context.session.counters.revision;
    this.#resourceVersion = resource.lastResourceVersion;
  }

  /** The resource. Throws CONFLICT when its set was replaced meanwhile, or the writer is closed; NOT_FOUND when it was dropped. */
  resource(): StoredResource {
    const { resources, closed } = this.#context;
    if (closed()) throw replaceIsOver(this.handle);
    const resource = resources.of(this.handle);
    if (resource.rowset !== this.rowset) throw replaceIsOver(this.handle);
    return resource;
  }

  /** True when an event changed or deleted this object after the list began. */
  wasOvertaken(target: RowTarget, received: ReceivedObject): boolean {
    const { rows, log } = this.#context;
    const stored = rows.find(this.rowset, received.namespace, received.name);
    if (stored !== null) return stored.seq > this.since;
    return (log.wasDeleted(target.kindId, target.cluster, received.uid)?.seq ?? 0) > this.since;
  }

  /**
   * The version of the new set. If no event has advanced the version meanwhile, it is the list's version, even a lower one. Otherwise
   * it is the later one of the two.
   */
  newVersion(resource: StoredResource, listed: string): string {
    const current = resource.lastResourceVersion;
    if (current === null || current === this.#resourceVersion) return listed;
    return (compareResourceVersions(current, listed) ?? 0) > 0 ? current : listed;
  }
}
