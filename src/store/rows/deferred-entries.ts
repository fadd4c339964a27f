/**
 * Entries of `object_by_uid` and `object_by_label` for rows that do not count yet, written later and in their order.
 *
 * A list is sorted by name, but its uids and labels are in random order. Written row by row, nearly each entry would touch another
 * page, and each touched page is written to the log and then to the file. So entries of many objects are collected and sorted.
 * They are then written along with the next objects' rows, a few at a time, so that neighbours share a page.
 *
 *   add (rows) -> due (objects): what is to be written with so many more -> … -> rest: what is left, before the rows are published
 *
 * Until then they are only in memory. A first sync that loses rows starts again, and rows that are never published need no entries.
 */
import type { SqlValue } from '../types/statement.ts';

/** Of how many objects they are gathered: sorting those takes a few milliseconds. */
const gathered = 8192;

export interface IndexEntries {
  /** uid, id of each. */
  readonly uids: readonly SqlValue[];
  /** key, value, id of each. */
  readonly labels: readonly SqlValue[];
}

/** Values of an entry. */
const uidWidth = 2;
const labelWidth = 3;

interface Indexed {
  readonly id: number;
  readonly received: { readonly uid: string; readonly labels: readonly (readonly [string, string])[] };
}

/** Those of some objects. */
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

  /** The object is gone again. */
  forget(id: number): void {
    this.#forgotten.add(id);
  }

  /** What is to be written with so many more objects, so that all is written when as many have come as are gathered. */
  due(objects: number): IndexEntries {
    if (this.#sorted === null && this.#gathering.objects >= this.#gathered) this.#sort();
    const sorted = this.#sorted;
    if (sorted === null) return { uids: [], labels: [] };
    const share = Math.min(1, objects / Math.max(1, this.#gathered - this.#gathering.objects));
    return this.#take(sorted, share);
  }

  /** The next ones of all that are left, about so many together; null when there are none. */
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
  /** Entries that were taken. */
  #uidsTaken = 0;
  #labelsTaken = 0;

  constructor(gathering: Gathering) {
    this.#uids = uidsInOrder(gathering);
    this.#labels = labelsInOrder(gathering);
  }

  get left(): number {
    return this.#uids.length / uidWidth - this.#uidsTaken + this.#labels.length / labelWidth - this.#labelsTaken;
  }

  /** That share of what is left, without those of forgotten objects. */
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

/** So many entries from `from` on, the id being the last value of each. */
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
  // By index, since several objects may have the same.
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
