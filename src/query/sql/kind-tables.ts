/**
 * The tables of one kind in one SELECT: which are read, under which alias, and where a leaf's key stands in them.
 *
 * `base` gives identity and rowset: `o` (object) or `p` (the kind's promoted table). The others are joined only when something
 * asked for them, always by CROSS JOIN behind the base, since SQLite takes that order as it stands.
 */

import { must } from '../../base/must.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import type { KindLayout, PromotedSlot } from '../../store/types/kind-layout.ts';
import { all, type Fragment, raw, sql } from '../../store/types/sql.ts';
import { isPublished, isVisibleSql } from './counts.ts';
import { type Aliases, countedAliases, documentNode, type JsonNode } from './json-node.ts';
import { tickAt } from './tick.ts';
import type { KindView } from './view.ts';

/** Columns that both `object` and promoted tables have. */
type SharedColumn = 'id' | 'rowset' | 'cluster' | 'namespace' | 'name';
/** `o` is `object`, `p` the kind's promoted table. */
type Table = 'o' | 'p';
type ObjectColumn = SharedColumn | 'uid' | 'rv' | 'created' | 'deleting' | 'seq';

/** Leaves that are columns of `object`, by path; the type must be this one. */
const objectLeaves: ReadonlyMap<string, { readonly type: LeafType; readonly column: ObjectColumn }> = new Map([
  ['metadata.name', { type: 'String', column: 'name' }],
  ['metadata.namespace', { type: 'String', column: 'namespace' }],
  ['metadata.uid', { type: 'String', column: 'uid' }],
  ['metadata.resourceVersion', { type: 'String', column: 'rv' }],
  ['metadata.creationTimestamp', { type: 'DateTime', column: 'created' }],
  ['metadata.deletionTimestamp', { type: 'DateTime', column: 'deleting' }],
]);

export class KindTables {
  readonly kind: KindView;
  readonly base: Table;
  /** Makes aliases for elements of lists. */
  readonly aliases: Aliases;
  readonly #at: string;
  readonly #joined = new Set<Table | 'b'>();
  readonly #slots = new Set<string>();

  /** @param at stands behind every alias, so that the tables of several kinds can be in one statement: `o1`, `p1`, `b1`. */
  constructor(kind: KindView, base: Table, at = '') {
    this.kind = kind;
    this.base = base;
    this.#at = at;
    this.aliases = countedAliases(at === '' ? 'e' : `e${at}_`);
  }

  /** The alias of one of the tables. */
  alias(table: Table | 'b'): Fragment {
    return raw(`${table}${this.#at}`);
  }

  column(name: ObjectColumn): Fragment {
    if (name === 'uid' || name === 'rv' || name === 'created' || name === 'deleting' || name === 'seq') {
      this.#joined.add('o');
      return raw(`o${this.#at}.${name}`);
    }
    return raw(`${this.base}${this.#at}.${name}`);
  }

  /** The column with the keys of this leaf, null when it is found in the body only. */
  keyColumn(path: Path, type: LeafType): Fragment | null {
    const leaf = objectLeaves.get(path.text);
    if (leaf !== undefined && leaf.type === type) {
      const column = this.column(leaf.column);
      return leaf.column === 'namespace' ? sql`nullif(${column}, '')` : column;
    }
    const slot = readySlot(this.kind, path, type);
    if (slot === null) return null;
    this.#joined.add('p');
    this.#slots.add(slot.column);
    return this.slotColumn(slot);
  }

  /** The column of a slot, for a statement that reads the promoted table. */
  slotColumn({ column }: PromotedSlot): Fragment {
    return raw(`p${this.#at}.${column}`);
  }

  body(): JsonNode {
    this.#joined.add('b');
    return documentNode(raw(`b${this.#at}.body`));
  }

  /** The rows of `object` that are of this kind; only where `object` is the base, or joined. */
  isOfKind(): Fragment {
    return sql`o${raw(this.#at)}.kind = ${BigInt(this.kind.kindId)}`;
  }

  /**
   * The condition under which a row counts (counts.ts). Call it after the filter: when the filter reads the promoted table, the
   * rowset is read there too, and the row of `object` is not needed.
   */
  counts(): Fragment {
    const rowset = this.#joined.has('p') ? raw(`p${this.#at}.rowset`) : this.column('rowset');
    return all([isPublished(sql`+${rowset}`, this.kind), isVisibleSql(this.kind)]);
  }

  /** Lets a scan be cancelled; for the scan's outer loop. `often` is at one of eight rows, so that they can be counted by it. */
  tick(often = false): Fragment {
    return tickAt(this.column('id').sql, often ? 8 : 256);
  }

  /** Has anything asked for a column of this table? `b` is the body, `p` the promoted table's slots. */
  reads(table: Table | 'b'): boolean {
    return this.#joined.has(table);
  }

  /** How many of the promoted table's slots were asked for. */
  get slotsRead(): number {
    return this.#slots.size;
  }

  /** The base table, for scans. */
  from(): Fragment {
    const table = this.base === 'o' ? 'object' : must(this.kind.promotedTable, 'a promoted table');
    return raw(`${table} AS ${this.base}${this.#at}`);
  }

  /** What is joined behind the base. To be asked for last. */
  joins(): Fragment {
    let text = '';
    for (const [alias, table] of [
      ['p', this.kind.promotedTable],
      ['o', 'object'],
      ['b', 'body'],
    ] as const) {
      if (alias === this.base || !this.#joined.has(alias)) continue;
      const name = `${alias}${this.#at}`;
      text += ` CROSS JOIN ${must(table, 'a promoted table')} AS ${name} ON ${name}.id = ${this.base}${this.#at}.id`;
    }
    return raw(text);
  }
}

/** Does `object` have a column for this leaf? */
export function isObjectLeaf(path: Path, type: LeafType): boolean {
  return objectLeaves.get(path.text)?.type === type;
}

/** The slot in which every row of the kind has this leaf's key; null when there is none yet. */
export function readySlot(layout: KindLayout, path: Path, type: LeafType): PromotedSlot | null {
  if (layout.promotedTable === null) return null;
  return layout.slots.find((slot) => slot.ready && slot.type === type && slot.path === path.text) ?? null;
}

/** The leaf that `object` has an index for, beside identity. */
export function isCreated(path: Path, type: LeafType): boolean {
  return type === 'DateTime' && path.text === 'metadata.creationTimestamp';
}
