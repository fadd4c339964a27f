/**
 * The tables of one kind in one SELECT: which tables are read, their aliases, and the column of each leaf's key.
 *
 * `base` provides identity and rowset: `o` (object) or `p` (the kind's promoted table). Another table is joined only after a
 * column of it was requested. Joins are CROSS JOINs after the base, because SQLite keeps the order of a CROSS JOIN.
 *
 *   new KindTables(pods, 'o') -> column('name')           o.name
 *                             -> keyColumn(status.phase)  p.c3
 *                             -> body()                   b.body
 *                             -> from()                   object AS o
 *                             -> joins()                  CROSS JOIN p7 AS p ON p.id = o.id CROSS JOIN body AS b ON b.id = o.id
 *
 * Protocol: call `joins()` last, and `counts()` after the filter is compiled.
 */

import { must } from '../../base/must.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { healthNames, identityIn, isRolledUp, type Path } from '../../catalog/tree/path.ts';
import type { KindLayout, PromotedSlot } from '../../store/types/kind-layout.ts';
import { type allHealthColumns, healthColumns } from '../../store/types/kind-layout.ts';
import { type Fragment, raw, sql } from '../../store/types/sql.ts';
import { countsIn, countsOfAny, scopeSql } from './counts.ts';
import { type Aliases, countedAliases, documentNode, type JsonNode } from './json-node.ts';
import { rolledUpSql } from './rolled-up-sql.ts';
import { tickAt } from './tick.ts';
import type { KindView } from './view.ts';

/** Columns that both `object` and promoted tables have. */
type SharedColumn = 'id' | 'rowset' | 'cluster' | 'namespace' | 'name';
/** `o` is `object`, `p` the kind's promoted table. */
type Table = 'o' | 'p';
type OwnColumn = 'uid' | 'rv' | 'created' | 'deleting' | 'seq' | 'marks' | (typeof allHealthColumns)[number];
type ObjectColumn = SharedColumn | OwnColumn;

interface ObjectLeaf {
  readonly type: LeafType;
  readonly column: ObjectColumn;
}

/** Leaves that are columns of `object`, by path. A leaf of another type is not this column. */
const objectLeaves: ReadonlyMap<string, ObjectLeaf> = new Map<string, ObjectLeaf>([
  ['metadata.name', { type: 'String', column: 'name' }],
  ['metadata.namespace', { type: 'String', column: 'namespace' }],
  ['metadata.uid', { type: 'String', column: 'uid' }],
  ['metadata.resourceVersion', { type: 'String', column: 'rv' }],
  ['metadata.creationTimestamp', { type: 'DateTime', column: 'created' }],
  ['metadata.deletionTimestamp', { type: 'DateTime', column: 'deleting' }],
  ...healthNames.map((name) => [`health.${name}`, { type: 'String', column: healthColumns[name] }] as const),
]);

/**
 * The type of the column of `object` for a leaf read as `type`. The API server writes the times of metadata itself and never as a day. So
 * their keys as a Time and as a DateTime are equal. A slot of another DateTime is not used for a Time. An object that is older than the
 * format of its field may have a day there.
 */
function columnType(type: LeafType): LeafType {
  return type === 'Time' ? 'DateTime' : type;
}

const sharedColumns: ReadonlySet<ObjectColumn> = new Set<SharedColumn>([
  'id',
  'rowset',
  'cluster',
  'namespace',
  'name',
]);

export class KindTables {
  readonly kind: KindView;
  readonly base: Table;
  /** Makes aliases for list elements. */
  readonly aliases: Aliases;
  readonly #suffix: string;
  readonly #joined = new Set<Table | 'b'>();
  readonly #slots = new Set<string>();
  #inner = 0;

  /** @param suffix is appended to every alias, so that one statement can read several kinds: `o1`, `p1`, `b1`. */
  constructor(kind: KindView, base: Table, suffix = '') {
    this.kind = kind;
    this.base = base;
    this.#suffix = suffix;
    this.aliases = countedAliases(suffix === '' ? 'e' : `e${suffix}_`);
  }

  /** The alias of one of the tables. */
  alias(table: Table | 'b'): Fragment {
    return this.named(table);
  }

  /** An alias for another table in the same SELECT. */
  named(name: string): Fragment {
    return raw(`${name}${this.#suffix}`);
  }

  /** Tables of another kind, for a SELECT inside this statement. */
  inner(kind: KindView): KindTables {
    this.#inner += 1;
    return new KindTables(kind, 'o', `${this.#suffix}_${this.#inner}`);
  }

  column(name: ObjectColumn): Fragment {
    if (sharedColumns.has(name)) return raw(`${this.base}${this.#suffix}.${name}`);
    this.#joined.add('o');
    return raw(`o${this.#suffix}.${name}`);
  }

  /** The column with the keys of this leaf; null when only the body has them. */
  keyColumn(path: Path, type: LeafType): Fragment | null {
    const identity = identityIn(path);
    if (identity === 'cluster') return this.column('cluster');
    if (identity === 'id') {
      return sql`object_id(${this.column('cluster')}, ${this.#key()}, ${this.column('namespace')}, ${this.column('name')})`;
    }
    const [step] = path.steps;
    if (step?.kind === 'rollUp') return rolledUpSql(this.kind, this.objectAlias(), this.named('m'), step.name);
    const slot = readySlot(this.kind, path, type);
    if (slot !== null) {
      this.#joined.add('p');
      this.#slots.add(slot.column);
      return this.slotColumn(slot);
    }
    const leaf = objectLeaves.get(path.text);
    if (leaf?.column === 'rv' && type === 'ResourceVersion') {
      return sql`order_key('ResourceVersion', json_quote(${this.column('rv')}))`;
    }
    if (leaf?.type !== columnType(type)) return null;
    const column = this.column(leaf.column);
    return leaf.column === 'namespace' ? sql`nullif(${column}, '')` : column;
  }

  #key(): Fragment {
    if (this.kind.anyAs === null) return sql`${this.kind.key}`;
    return sql`(SELECT key FROM kind WHERE id = ${this.objectAlias()}.kind)`;
  }

  /** The alias of the row of `object`. */
  objectAlias(): Fragment {
    this.#joined.add('o');
    return this.alias('o');
  }

  /** The column of a slot, for a statement that reads the promoted table. */
  slotColumn({ column }: PromotedSlot): Fragment {
    return raw(`p${this.#suffix}.${column}`);
  }

  body(): JsonNode {
    this.#joined.add('b');
    return documentNode(raw(`b${this.#suffix}.body`));
  }

  /** The condition that a row of `object` is of this kind. Requires `object` as base or joined. */
  isOfKind(): Fragment {
    return sql`o${raw(this.#suffix)}.kind = ${BigInt(this.kind.kindId)}`;
  }

  /**
   * The condition under which a row counts (counts.ts). Call it after the filter is compiled. If the filter reads the promoted
   * table, the rowset comes from there too, and `object` is not read.
   */
  counts(): Fragment {
    const { anyAs, view } = this.kind;
    if (anyAs !== null) return countsOfAny(view, this.objectAlias(), anyAs);
    return countsIn(this.kind, this.alias(this.#joined.has('p') ? 'p' : this.base), this.alias(this.base));
  }

  /** The condition that the caller may see the row. */
  isVisible(): Fragment {
    return scopeSql(this.kind.visible, this.alias(this.base));
  }

  /**
   * The tick guard of the scan's outer loop (tick.ts). It calls `tick()` for about one of 256 rows. With `often` it is about
   * one of 8 rows, so that the number of calls estimates the scanned rows.
   */
  tick(often = false): Fragment {
    return tickAt(this.column('id').sql, often ? 8 : 256);
  }

  /** Was a column of this table requested? `b` is the body, `p` the promoted table's slots. */
  reads(table: Table | 'b'): boolean {
    return this.#joined.has(table);
  }

  /** The number of slots of the promoted table that were requested. */
  get slotsRead(): number {
    return this.#slots.size;
  }

  /** The base table, for scans. */
  from(): Fragment {
    const table = this.base === 'o' ? 'object' : must(this.kind.promotedTable, 'a promoted table');
    return raw(`${table} AS ${this.base}${this.#suffix}`);
  }

  /** The joins after the base. Call it last. */
  joins(): Fragment {
    let text = '';
    for (const [alias, table] of [
      ['p', this.kind.promotedTable],
      ['o', 'object'],
      ['b', 'body'],
    ] as const) {
      if (alias === this.base || !this.#joined.has(alias)) continue;
      const name = `${alias}${this.#suffix}`;
      text += ` CROSS JOIN ${must(table, 'a promoted table')} AS ${name} ON ${name}.id = ${this.base}${this.#suffix}.id`;
    }
    return raw(text);
  }
}

/**
 * Does a column of `object` serve this leaf without a promoted path? The columns of the health have no index, so paths of the health
 * are promoted. Roll-ups are never promoted: they have a table of their own.
 */
export function isObjectLeaf(path: Path, type: LeafType): boolean {
  if (isRolledUp(path) || type === 'ResourceVersion') return true;
  return identityIn(path) !== null || (path.steps[0]?.kind !== 'health' && objectLeaves.get(path.text)?.type === type);
}

/** The slot that has this leaf's key for every row of the kind; null while no slot has all keys. */
export function readySlot(layout: KindLayout, path: Path, type: LeafType): PromotedSlot | null {
  if (layout.promotedTable === null) return null;
  return layout.slots.find((slot) => slot.ready && slot.type === type && slot.path === path.text) ?? null;
}

/** Is this metadata.creationTimestamp, the only leaf that `object` has an index for besides the identity? */
export function isCreated(path: Path, type: LeafType): boolean {
  return columnType(type) === 'DateTime' && path.text === 'metadata.creationTimestamp';
}
