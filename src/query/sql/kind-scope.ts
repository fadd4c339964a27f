/**
 * The tables of one kind in one SELECT: which are read, under which alias, and where a leaf's key stands in them.
 *
 * `base` gives identity and rowset: `o` (object) or `p` (the kind's promoted table). The others are joined only when something
 * asked for them, always by CROSS JOIN behind the base, since SQLite takes that order as it stands.
 */

import { must } from '../../base/must.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { publishedRowsets } from '../../store/sqlite/tables.ts';
import type { KindLayout, PromotedSlot } from '../../store/types/kind-layout.ts';
import { type Aliases, countedAliases, documentNode, type JsonNode } from './json-node.ts';
import { Fragment, raw, sql } from './sql.ts';
import { tickAt } from './tick.ts';

/** Columns that both `object` and promoted tables have. */
type SharedColumn = 'id' | 'rowset' | 'cluster' | 'namespace' | 'name';
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

export class KindScope {
  readonly key: string;
  readonly kindId: number;
  readonly base: 'o' | 'p';
  readonly aliases: Aliases = countedAliases();
  readonly #layout: KindLayout;
  readonly #joined = new Set<'o' | 'p' | 'b'>();
  readonly #slots = new Set<string>();

  constructor(key: string, layout: KindLayout, base: 'o' | 'p') {
    this.key = key;
    this.kindId = layout.kindId;
    this.base = base;
    this.#layout = layout;
  }

  column(name: ObjectColumn): Fragment {
    if (name === 'uid' || name === 'rv' || name === 'created' || name === 'deleting' || name === 'seq') {
      this.#joined.add('o');
      return raw(`o.${name}`);
    }
    return raw(`${this.base}.${name}`);
  }

  /** The column with the keys of this leaf, null when it is found in the body only. */
  keyColumn(path: Path, type: LeafType): Fragment | null {
    const leaf = objectLeaves.get(path.text);
    if (leaf !== undefined && leaf.type === type) {
      const column = this.column(leaf.column);
      return leaf.column === 'namespace' ? sql`nullif(${column}, '')` : column;
    }
    const slot = readySlot(this.#layout, path, type);
    if (slot === null) return null;
    this.#joined.add('p');
    this.#slots.add(slot.column);
    return raw(`p.${slot.column}`);
  }

  body(): JsonNode {
    this.#joined.add('b');
    return documentNode(raw('b.body'));
  }

  /**
   * The condition under which a row counts. Where the promoted table is read anyway it is asked, so that the object's row need not
   * be: an index of `object` has all else. To be asked for behind the filter.
   */
  published(): Fragment {
    const rowset = this.#joined.has('p') ? raw('p.rowset') : this.column('rowset');
    return sql`+${rowset} IN (${new Fragment(publishedRowsets, [BigInt(this.kindId)])})`;
  }

  /** Lets a scan be cancelled; for the scan's outer loop. `often` is at one of eight rows, so that they can be counted by it. */
  tick(often = false): Fragment {
    return tickAt(this.column('id').sql, often ? 8 : 256);
  }

  /** Has anything asked for a column of this table? `b` is the body, `p` the promoted table's slots. */
  reads(table: 'o' | 'p' | 'b'): boolean {
    return this.#joined.has(table);
  }

  /** How many of the promoted table's slots were asked for. */
  get slotsRead(): number {
    return this.#slots.size;
  }

  /** The base table, for scans. */
  from(): Fragment {
    return this.base === 'o' ? raw('object AS o') : raw(`${must(this.#layout.promotedTable, 'a promoted table')} AS p`);
  }

  /** What is joined behind the base. To be asked for last. */
  joins(): Fragment {
    let text = '';
    for (const [alias, table] of [
      ['p', this.#layout.promotedTable],
      ['o', 'object'],
      ['b', 'body'],
    ] as const) {
      if (alias === this.base || !this.#joined.has(alias)) continue;
      text += ` CROSS JOIN ${must(table, 'a promoted table')} AS ${alias} ON ${alias}.id = ${this.base}.id`;
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
