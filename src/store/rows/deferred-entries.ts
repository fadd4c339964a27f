/**
 * Entries of `object_by_uid` and `object_by_label` for unpublished rows, written later and in sorted order.
 *
 * A list is sorted by name, but its uids and labels are in random order. Written row by row, nearly each entry would touch another
 * page, and each touched page is written to the log and then to the file. So entries of many objects are collected and sorted.
 * They are then written along with the rows of the next objects, a few at a time, so that neighbours share a page.
 *
 *   add (rows) -> due (objects): a share of the sorted entries, to be written with these objects -> …
 *              -> rest: the remaining entries, to be written before the rows are published
 *
 * Until they are written, entries are only in memory. A first sync that loses rows starts again, and unpublished rows need no entries.
 */
import type { SqlValue } from '../types/statement.ts';

/** Objects whose entries are sorted together. Sorting them takes a few milliseconds. */
const gathered = 8192;

export interface IndexEntries {
  /** uid and id of each entry, in one flat list. */
  readonly uids: readonly SqlValue[];
  /** key, value and id of each entry, in one flat list. */
  readonly labels: readonly SqlValue[];
}

/** The number of values of an entry. */
const uidWidth = 2;
const labelWidth = 3;

interface Indexed {
  readonly id: number;
  readonly received: { readonly uid: string; readonly labels: readonly (readonly [string, string])[] };
}

/** The entries of these objects. */
export function entriesOf(rows: readonly Indexed[]): IndexEntries {
  const uids: SqlValue[] = [];
  const labels: SqlValue[] = [];
  for (const { id, received } of rows) {
    uids.push(received.uid, id);
    for (const [key, value] of received.labels) labels.push(key, value, id);
  }
  return { uids, labels };
}

export class DeferredEntries {
  readonly #gathered: number;
  #gathering = new Gathering();
  #sorted: SortedEntries | null = null;
  readonly #forgotten = new Set<number>();

  constructor(objects: number = gathered) {
    this.#gathered = objects;
  }

  add(rows: readonly Indexed[]): void {
    for (const row of rows) this.#gathering.add(row);
  }

  /** The object was removed: its entries are not written. */
  forget(id: number): void {
    this.#forgotten.add(id);
  }

  /**
   * The entries to write together with this number of new objects. The shares are such that all sorted entries are written when the
   * next batch is complete.
   */
  due(objects: number): IndexEntries {
    if (this.#sorted === null && this.#gathering.objects >= this.#gathered) this.#sort();
    const sorted = this.#sorted;
    if (sorted === null) return { uids: [], labels: [] };
    const share = Math.min(1, objects / Math.max(1, this.#gathered - this.#gathering.objects));
    return this.#take(sorted, share);
  }

  /** The next remaining entries, about `most`; null when none is left. */
  rest(most: number): IndexEntries | null {
    if (this.#sorted === null) {
      if (this.#gathering.objects === 0) return null;
      this.#sort();
    }
    const sorted = this.#sorted;
    return sorted === null ? null : this.#take(sorted, Math.min(1, most / Math.max(1, sorted.left)));
  }

  #sort(): void {
    this.#sorted = new SortedEntries(this.#gathering);
    this.#gathering = new Gathering();
  }

  #take(sorted: SortedEntries, share: number): IndexEntries {
    const entries = sorted.take(share, this.#forgotten);
    if (sorted.left === 0) this.#sorted = null;
    return entries;
  }
}

class Gathering {
  readonly uids: string[] = [];
  readonly ids: number[] = [];
  /** Ids by key and value. */
  readonly labels = new Map<string, Map<string, number[]>>();

  get objects(): number {
    return this.ids.length;
  }

  add({ id, received }: Indexed): void {
    this.uids.push(received.uid);
    this.ids.push(id);
    for (const [key, value] of received.labels) {
      const values = this.labels.get(key) ?? new Map<string, number[]>();
      if (values.size === 0) this.labels.set(key, values);
      const ids = values.get(value);
      if (ids === undefined) values.set(value, [id]);
      else ids.push(id);
    }
  }
}

class SortedEntries {
  readonly #uids: readonly SqlValue[];
  readonly #labels: readonly SqlValue[];
  /** Numbers of entries that have been taken. */
  #uidsTaken = 0;
  #labelsTaken = 0;

  constructor(gathering: Gathering) {
    this.#uids = uidsInOrder(gathering);
    this.#labels = labelsInOrder(gathering);
  }

  get left(): number {
    return this.#uids.length / uidWidth - this.#uidsTaken + this.#labels.length / labelWidth - this.#labelsTaken;
  }

  /** Takes this share of the remaining entries. Leaves out the entries of forgotten objects. */
  take(share: number, forgotten: ReadonlySet<number>): IndexEntries {
    const uidsLeft = this.#uids.length / uidWidth - this.#uidsTaken;
    const labelsLeft = this.#labels.length / labelWidth - this.#labelsTaken;
    const [uids, labels] = [Math.ceil(uidsLeft * share), Math.ceil(labelsLeft * share)];
    const entries = {
      uids: kept(this.#uids, uidWidth, this.#uidsTaken, uids, forgotten),
      labels: kept(this.#labels, labelWidth, this.#labelsTaken, labels, forgotten),
    };
    this.#uidsTaken += uids;
    this.#labelsTaken += labels;
    return entries;
  }
}

/** `count` entries from the entry `from` on, without forgotten objects. The last value of an entry is its id. */
function kept(
  entries: readonly SqlValue[],
  width: number,
  from: number,
  count: number,
  forgotten: ReadonlySet<number>,
): readonly SqlValue[] {
  const some = entries.slice(from * width, (from + count) * width);
  if (forgotten.size === 0) return some;
  return some.filter((_, at) => !forgotten.has(some[at - (at % width) + width - 1] as number));
}

function uidsInOrder({ uids, ids }: Gathering): readonly SqlValue[] {
  // Sorts indexes, because several objects may have the same uid.
  const order = Uint32Array.from(uids, (_, at) => at);
  order.sort((a, b) => ((uids[a] as string) < (uids[b] as string) ? -1 : 1));
  const entries: SqlValue[] = [];
  for (const at of order) entries.push(uids[at] as string, ids[at] as number);
  return entries;
}

function labelsInOrder({ labels }: Gathering): readonly SqlValue[] {
  const entries: SqlValue[] = [];
  for (const key of [...labels.keys()].sort()) {
    const values = labels.get(key) ?? new Map<string, number[]>();
    for (const value of [...values.keys()].sort())
      for (const id of values.get(value) ?? []) entries.push(key, value, id);
  }
  return entries;
}
