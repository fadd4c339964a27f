/**
 * Aggregates as statements: the compiler from a plan and one kind's tables to SQL. The counterpart of evaluate-aggregate.ts.
 *
 *   SELECT keys, count, tallies FROM ( SELECT key and value expressions of each row that matches ) GROUP BY keys LIMIT …
 *
 * Where bodies are read, the inner SELECT stands for itself (LIMIT -1 keeps SQLite from merging the two), so that the sorter behind
 * GROUP BY holds keys and values and no bodies. Where only columns are read they are merged, and an index may give the order.
 *
 * Sums are exact: 64-bit integers are added in two halves, which cannot overflow below 2^31 rows, other numbers by exact_sum. Paths
 * through lists go through the store's functions: keys by distinct_keys, a row for each; values by tally_at.
 */

import { pathOf } from '../../catalog/tree/path.ts';
import { Tally } from '../../catalog/values/tally.ts';
import { all, type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import type { Row, SqlValue } from '../../store/types/statement.ts';
import type { AggregatePlan, GroupResult, Leaf, Measured } from '../plan/aggregate.ts';
import type { Filter } from '../plan/filter.ts';
import { rowCost } from '../plan/scan-budget.ts';
import type { AccessPath } from './access-path.ts';
import { documentNode, withPlace } from './json-node.ts';
import { KindTables } from './kind-tables.ts';
import { keyColumn, keyOf, readKey } from './leaf-key.ts';
import { filterSql, labelOf } from './sql-filter.ts';
import type { KindView } from './view.ts';

/** The rows of one kind that an aggregate goes through. */
export interface AggregatedRows {
  readonly kind: KindView;
  readonly filter: Filter;
  /** Null for all rows of the kind. */
  readonly path: AccessPath | null;
  /** True when each row of the kind counts, so that none has to be looked up to see whether it does. */
  readonly allCount: boolean;
  /** Where the rows are several sets, grouped each by itself: the number of the set. Null where they are one. */
  readonly set: Fragment | null;
}

export interface AggregateStatement {
  readonly statement: Fragment;
  /** Of each row that is looked at (scan-budget.ts). */
  readonly cost: number;
}

export interface StatementOptions {
  /** Groups that the statement may give. */
  readonly limit: number;
  /** The most frequent groups first, then by key; only for one path. Otherwise in no order. */
  readonly frequent?: boolean;
  /** Only groups whose only key, a text, contains this text; ASCII letters are folded. */
  readonly contains?: string;
}

/** The statement for one kind. Its rows are read by `readGroups`. */
export function aggregateStatement(
  rows: AggregatedRows,
  plan: Pick<AggregatePlan, 'by' | 'measured'>,
  { limit, frequent = false, contains }: StatementOptions,
): AggregateStatement {
  const { tables, columns, tallies, unnested, filter } = scanOf(rows, plan);
  const { path, set } = rows;
  const lists = plan.by.concat(plan.measured).filter(isThroughLists).length;
  const inner = [...(set === null ? [] : [sql`${set} AS s`]), ...columns];
  const conditions = [
    ...way(rows, tables),
    filter,
    ...unnested.map((_, index) => raw(`((g${index}.key & 255) <> 0 OR tick() = 0)`)),
  ];
  const from = path === null ? tables.from() : path.from(tables);
  const joined = join(
    unnested.map((list, index) => sql` CROSS JOIN json_each(${list}) AS ${raw(`g${index}`)}`),
    '',
  );
  const scan = sql`SELECT ${inner.length === 0 ? raw('1') : join(inner, ', ')} FROM ${from}${tables.joins()}${joined}
    WHERE ${all(conditions)}${raw(tables.reads('b') ? ' LIMIT -1' : '')}`;

  const keys = [...(set === null ? [] : ['s']), ...plan.by.map((_, index) => `k${index}`)];
  const names = [...keys, 'n', ...tallies.map((_, index) => `t${index}`)];
  const grouped = join(
    [...keys.map(raw), raw('count(*) AS n'), ...tallies.map((tally, index) => sql`${tally} AS ${raw(`t${index}`)}`)],
    ', ',
  );
  const having = contains === undefined ? raw('') : sql` WHERE instr(lower(k0), ${contains}) > 0`;
  const groups = sql`SELECT ${grouped} FROM (${scan})${having}${raw(keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`)}
    ${raw(frequent ? 'ORDER BY n DESC, k0 IS NULL, k0' : '')} LIMIT ${BigInt(limit)}`;
  const shown = names.map((name, index) => {
    const leaf = plan.by[index - (set === null ? 0 : 1)];
    return leaf === undefined ? raw(name) : keyColumn(leaf.type, raw(name));
  });
  return {
    statement: sql`SELECT ${join(shown, ', ')} FROM (${groups})`,
    cost: costOf(rows, tables) + lists * rowCost.list,
  };
}

export interface CountOptions {
  /** Where counting stops; null for nowhere. */
  readonly limit: number | null;
  /** Rows to look at; null for all. */
  readonly within: number | null;
}

/** A statement that counts the rows that match. */
export function countStatement(rows: AggregatedRows, { limit, within }: CountOptions): AggregateStatement {
  const { path } = rows;
  const { tables, filter } = scanOf(rows, { by: [], measured: [] });
  const cost = costOf(rows, tables);
  const conditions = way(rows, tables);
  const stop = limit === null ? raw('') : sql` LIMIT ${BigInt(limit)}`;
  const from = path === null ? tables.from() : path.from(tables);
  if (within === null) {
    const scan = sql`SELECT 1 FROM ${from}${tables.joins()} WHERE ${all([...conditions, filter])}${stop}`;
    return { statement: sql`SELECT count(*) FROM (${scan})`, cost };
  }
  const base = tables.alias(tables.base);
  const first = sql`SELECT ${base}.id AS id FROM ${from} WHERE ${all(conditions)} LIMIT ${BigInt(within)}`;
  const scan = sql`SELECT 1 FROM (${first}) AS w CROSS JOIN ${tables.from()} ON ${base}.id = w.id${tables.joins()} WHERE ${filter}${stop}`;
  return { statement: sql`SELECT count(*) FROM (${scan})`, cost };
}

/** The index of a slot says the slot and the identity of each row, and that it is there; not whether it counts. */
function costOf({ path, allCount }: AggregatedRows, tables: KindTables): number {
  if (tables.reads('b')) return rowCost.body;
  const inIndex = allCount && tables.base === 'p' && !tables.reads('o') && tables.slotsRead <= (path === null ? 1 : 0);
  return inIndex ? rowCost.index : rowCost.columns;
}

/** The conditions under which a row is looked at. */
function way({ path, allCount }: AggregatedRows, tables: KindTables): readonly Fragment[] {
  const ofKind = tables.base === 'o' ? tables.isOfKind() : raw('1');
  return [path === null ? ofKind : path.where(tables), tables.tick(), ...(allCount ? [] : [tables.counts()])];
}

interface Scan {
  readonly tables: KindTables;
  /** Keys as k0, k1, …, values as v0, v1, … */
  readonly columns: readonly Fragment[];
  /** What is added up of the values of a group. */
  readonly tallies: readonly Fragment[];
  /** Lists of keys, to be joined as g0, g1, … */
  readonly unnested: readonly Fragment[];
  readonly filter: Fragment;
}

/** From the narrowest table that has all that is needed: a promoted table alone where it will do. */
function scanOf(rows: AggregatedRows, plan: Pick<AggregatePlan, 'by' | 'measured'>): Scan {
  const { kind, path } = rows;
  if (path !== null) return compile(path.tables(), path.rest, plan);
  if (kind.slots.some(({ ready }) => ready)) {
    const promoted = compile(new KindTables(kind, 'p'), rows.filter, plan);
    if (promoted.tables.reads('p') && !promoted.tables.reads('o')) return promoted;
  }
  return compile(new KindTables(kind, 'o'), rows.filter, plan);
}

function compile(tables: KindTables, filter: Filter, { by, measured }: Pick<AggregatePlan, 'by' | 'measured'>): Scan {
  const unnested: Fragment[] = [];
  const keys = by.map((leaf, index) => {
    const listed = listedValues(tables, leaf);
    if (listed === null) return sql`${singleKey(tables, leaf)} AS ${raw(`k${index}`)}`;
    const name = `g${unnested.length}.value`;
    unnested.push(sql`distinct_keys(${leaf.type}, ${listed.below}, ${listed.json})`);
    return raw(`${leaf.type === 'Float' ? `order_key('Float', ${name})` : name} AS k${index}`);
  });
  const tallies: Fragment[] = [];
  const values = measured.map((leaf, index) => {
    const name = raw(`v${index}`);
    const listed = listedValues(tables, leaf);
    if (listed === null) tallies.push(...tallyColumns(leaf, name));
    else tallies.push(sql`tally_at(${leaf.type}, ${listed.below}, ${name})`);
    return sql`${listed?.json ?? singleKey(tables, leaf)} AS ${name}`;
  });
  return { tables, columns: [...keys, ...values], tallies, unnested, filter: filterSql(tables, filter) };
}

function isThroughLists({ path }: Leaf): boolean {
  return path.steps.some(({ kind }) => kind === 'each');
}

interface Values {
  /** JSON in which the values stand. */
  readonly json: Fragment;
  /** The text of the path at which they stand in it. */
  readonly below: string;
}

/** Where a leaf through lists has its values; null when its path goes through none. */
function listedValues(tables: KindTables, { path: { steps } }: Leaf): Values | null {
  const first = steps.findIndex(({ kind }) => kind === 'each');
  if (first < 0) return null;
  const [toList, below] = [steps.slice(0, first), steps.slice(first + 1)];
  const [next] = below;
  if (next === undefined || below.some(({ kind }) => kind === 'each' || kind === 'where')) {
    return {
      json: withPlace(tables.body(), toList, tables.aliases, (place) => place.json),
      below: pathOf(steps.slice(first)).text,
    };
  }
  // One value of each element: SQLite picks them out, so that not whole lists are read as JSON.
  const element = tables.aliases();
  const json = withPlace(tables.body(), toList, tables.aliases, (list) => {
    const value = withPlace(documentNode(sql`${element}.value`), below, tables.aliases, (place) => place.json);
    const fits = next.kind === 'index' ? sql`${element}.type = 'array'` : sql`${element}.type = 'object'`;
    return sql`(SELECT json_group_array(${value}) FROM ${list.members} AS ${element} WHERE typeof(${element}.key) = 'integer' AND ${fits})`;
  });
  return { json, below: '[]' };
}

/** Where one key of an object stands: a column, the labels, the body. */
function singleKey(tables: KindTables, { path, type }: Leaf): Fragment {
  const column = tables.keyColumn(path, type);
  if (column !== null) return column;
  const [metadata, labels, label, ...below] = path.steps;
  const isLabel =
    below.length === 0 &&
    label?.kind === 'key' &&
    metadata?.kind === 'field' &&
    metadata.name === 'metadata' &&
    labels?.kind === 'field' &&
    labels.name === 'labels';
  if (isLabel && type === 'String') {
    return sql`(SELECT ${labelOf(label.key)} FROM object AS l WHERE l.id = ${tables.column('id')})`;
  }
  return withPlace(tables.body(), path.steps, tables.aliases, (place) => sql`(${keyOf(place, type)})`);
}

function halves(type: Leaf['type']): boolean {
  return type === 'Int' || type === 'Int64' || type === 'Duration';
}

/** What is added up of single values under this name. The counterpart of readTally. */
function tallyColumns(measured: Measured, value: Fragment): readonly Fragment[] {
  const { type } = measured;
  const sums = !measured.sum
    ? []
    : halves(type)
      ? [sql`CAST(sum(${value} >> 32) AS TEXT)`, sql`CAST(sum(${value} & 4294967295) AS TEXT)`]
      : [sql`exact_sum(${type}, ${value})`];
  const ends = measured.ends ? [keyColumn(type, sql`min(${value})`), keyColumn(type, sql`max(${value})`)] : [];
  return [sql`count(${value})`, ...sums, ...ends];
}

/** The groups in the rows of a statement; `set` is what each stands for where there are several sets. */
export function readGroups(
  rows: readonly Row[],
  plan: Pick<AggregatePlan, 'by' | 'measured'>,
  sets: boolean,
): { readonly set: number; readonly group: GroupResult }[] {
  const first = sets ? 1 : 0;
  return rows.map((row) => {
    const keys = plan.by.map(({ type }, index) => readKey(type, row[first + index]));
    let at = first + keys.length;
    const count = Number(row[at]);
    at += 1;
    const tallies = plan.measured.map((measured) => {
      const { tally, columns } = readTally(measured, row, at);
      at += columns;
      return tally;
    });
    return { set: sets ? Number(row[0]) : 0, group: { keys, count, tallies } };
  });
}

function readTally(measured: Measured, row: Row, from: number): { readonly tally: Tally; readonly columns: number } {
  if (measured.path.steps.some(({ kind }) => kind === 'each'))
    return { tally: Tally.fromText(String(row[from])), columns: 1 };
  const { type } = measured;
  const tally = new Tally();
  let at = from + 1;
  const next = (): SqlValue | undefined => row[at++];
  if (measured.sum && halves(type)) {
    const [high, low] = [wholeOf(next()), wholeOf(next())];
    tally.sum = { coefficient: high * 2n ** 32n + low, exponent: type === 'Duration' ? -9 : 0 };
  } else if (measured.sum) {
    tally.sum = Tally.fromText(String(next())).sum;
  }
  tally.count = Number(row[from]);
  if (measured.ends) {
    tally.least = readKey(type, next());
    tally.greatest = readKey(type, next());
  }
  return { tally, columns: at - from };
}

/** The sum over no value is null. */
function wholeOf(value: SqlValue | undefined): bigint {
  return value === null || value === undefined ? 0n : BigInt(String(value));
}
