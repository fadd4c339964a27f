/**
 * Reports the namespaces that were deleted. A namespace that is made later with the same name may be somebody else's, so decisions about
 * the former one must end with it.
 *
 *   commit -> it has changes of namespaces -> entries of the log after the last look -> `gone` for each deletion
 *                                          -> the log does not tell all of them      -> `lost`
 *
 * A gateway that does not read namespaces reports none.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { readLogFloor } from '../../store/read/changes.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';
import { sql } from '../../store/types/sql.ts';

interface DeletedNamespacesOptions {
  readonly reader: Reader;
  readonly log: Logger;
  readonly gone: (cluster: string, namespace: string) => void;
  /** Any namespace may have been deleted. */
  readonly lost: () => void;
}

/** Milliseconds in which the log is read behind a commit. */
const patienceMs = 30_000;
/** Deletions that are reported one by one. More at once are reported as lost. */
const mostAtOnce = 1000;

/** Everything up to here has been told. */
interface Place {
  readonly epoch: string;
  readonly sequence: number;
  /** The kind of namespaces; null without one. */
  readonly kindId: number | null;
  /** Kinds with greater ids are not known yet. */
  readonly greatestId: number;
}

export class DeletedNamespaces {
  readonly #options: DeletedNamespacesOptions;
  #place: Place | null = null;
  #reading: Promise<void> | null = null;
  #isBehind = false;

  constructor(options: DeletedNamespacesOptions) {
    this.#options = options;
  }

  /** Notes a commit of these changes; without an argument, of any. */
  wake(committed?: CommittedChanges): void {
    const place = this.#place;
    if (
      committed !== undefined &&
      place !== null &&
      committed.epoch === place.epoch &&
      committed.after <= place.sequence
    ) {
      const concerns = (id: number): boolean => (place.kindId === null ? id > place.greatestId : id === place.kindId);
      if (!committed.kindIds.some(concerns)) {
        this.#place = { ...place, sequence: Math.max(place.sequence, committed.revision) };
        return;
      }
    }
    this.#isBehind = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const { reader, log, lost } = this.#options;
    while (this.#isBehind) {
      this.#isBehind = false;
      try {
        await reader.lease((lease) => this.#look(lease), { timeoutMs: patienceMs });
      } catch (error) {
        // The next look begins anew, so whatever was deleted meanwhile is not told one by one.
        if (this.#place !== null) lost();
        this.#place = null;
        log.debug({ error: messageOf(error) }, 'deletions of namespaces could not be read');
      }
    }
  }

  async #look(lease: Lease): Promise<void> {
    const { gone, lost } = this.#options;
    const [row] = await lease.all(
      sql`SELECT (SELECT id FROM kind WHERE key = 'namespaces'), (SELECT max(id) FROM kind)`,
    );
    const kindId = row?.[0] == null ? null : Number(row[0]);
    const { epoch, revision } = lease;
    const before = this.#place;
    if (before !== null) {
      const isSame = before.epoch === epoch && (before.kindId === null || before.kindId === kindId);
      const told = isSame ? await deletions(lease, kindId, before.sequence) : null;
      if (told === null) lost();
      else for (const [cluster, namespace] of told) gone(cluster, namespace);
    }
    this.#place = { epoch, sequence: revision, kindId, greatestId: Number(row?.[1] ?? 0) };
  }
}

/** The deletions after a place, as pairs of cluster and name; null if the log does not tell them all. */
async function deletions(
  lease: Lease,
  kindId: number | null,
  after: number,
): Promise<readonly (readonly [string, string])[] | null> {
  if (kindId === null) return [];
  if (after < (await readLogFloor(lease, kindId))) return null;
  const rows = await lease.all(
    sql`SELECT type, cluster, name FROM change WHERE kind = ${BigInt(kindId)} AND seq > ${BigInt(after)}
      AND type IN ('DELETED', 'RESET') ORDER BY seq LIMIT ${BigInt(mostAtOnce + 1)}`,
  );
  if (rows.length > mostAtOnce || rows.some(([type]) => type === 'RESET')) return null;
  return rows.map(([, cluster, name]) => [String(cluster), String(name)] as const);
}
