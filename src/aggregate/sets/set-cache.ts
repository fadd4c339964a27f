/**
 * Computed values of sets, shared by all reads and by the changes: parsed records, and the manifests of members.
 *
 *   record     by its row in the tables      good for one change of the row
 *   manifest   by record and index           good for one version of the record and one change of the member's row
 *
 *   read -> rows without bodies, as the caller's rights allow -> kept: taken -> not kept: the bodies of these alone are read
 *
 * A read asks here only for rows that it has found in its own snapshot, with the caller's rights. So a kept value never shows a caller what
 * the caller's own read of the body would not. A row that another snapshot has in another state does not match, and is computed.
 *
 * Never: a value that was read as a caller (live-members.ts), or a value that is changed after it was made.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import type { SetRecord } from '../../sets/record/set-record.ts';
import type { Lease } from '../../store/types/lease.ts';

type Json = Readonly<Record<string, unknown>>;

/** A record whose object was read, and what it says; `problem` for a record that cannot be read. */
export interface StoredRecord {
  readonly record: SetRecord;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly problem: string | null;
}

/** Bytes of records, and of manifests. */
const mostBytes = 64 * 1024 * 1024;
const mostEntries = 200_000;
/** Bytes of a value for each character of its JSON, and of its place here. 2.3 to 3.5 were measured for manifests and sets of fields. */
const bytesOfCharacter = 4;
const bytesOfEntry = 300;

/** Values, each good for one state of what it was computed from. */
class KeptValues<V extends object> {
  readonly #values: BoundedCache<{ readonly state: string; readonly value: V }>;

  constructor(bytes: number) {
    this.#values = new BoundedCache({ entries: mostEntries, weight: bytes });
  }

  /** Undefined if the value was not kept, or is of another state. */
  get(key: string, state: string): V | undefined {
    const kept = this.#values.get(key);
    return kept?.state === state ? kept.value : undefined;
  }

  /** Keeps the value in place of that of another state. */
  set(key: string, state: string, value: V): void {
    this.#values.set(key, { state, value }, JSON.stringify(value).length * bytesOfCharacter + bytesOfEntry);
  }
}

export class SetCache {
  readonly #records: KeptValues<StoredRecord>;
  readonly #manifests: KeptValues<Json>;

  /** @param bytes of records, and of manifests */
  constructor(bytes: number = mostBytes) {
    this.#records = new KeptValues(bytes);
    this.#manifests = new KeptValues(bytes);
  }

  record(lease: Lease, row: ObjectRow): StoredRecord | undefined {
    return this.#records.get(String(row.objectId), stateOf(lease, row));
  }

  keepRecord(lease: Lease, row: ObjectRow, stored: StoredRecord): void {
    this.#records.set(String(row.objectId), stateOf(lease, row), stored);
  }

  /** @param index of the member in its record @param row of the member */
  manifest(lease: Lease, record: SetRecord, index: number, row: ObjectRow): Json | undefined {
    return this.#manifests.get(placeOf(record, index), `${record.resourceVersion} ${stateOf(lease, row)}`);
  }

  keepManifest(lease: Lease, record: SetRecord, index: number, row: ObjectRow, manifest: Json): void {
    this.#manifests.set(placeOf(record, index), `${record.resourceVersion} ${stateOf(lease, row)}`, manifest);
  }
}

/** Names one state of one row of one store. */
function stateOf({ epoch }: Lease, { objectId, seq }: ObjectRow): string {
  return `${epoch} ${objectId} ${seq}`;
}

function placeOf({ uid }: SetRecord, index: number): string {
  return `${uid} ${index}`;
}
