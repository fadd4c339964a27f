/**
 * The compiler from an aggregate plan and one kind's tables to SQL statements. The counterpart of evaluate-aggregate.ts.
 *
 *   SELECT keys, count, tallies FROM ( SELECT key and value expressions of each matching row ) GROUP BY keys LIMIT …
 *
 * Example: groups by status.phase, whose slot is the column c3 of p7, with a limit of 11:
 *
 *   SELECT k0, n FROM (SELECT k0, count(*) AS n FROM (SELECT p.c3 AS k0 FROM p7 AS p
 *     WHERE <tick guard> AND +p.rowset IN (<published rowsets>)) GROUP BY k0 LIMIT 11)
 *
 * A scan that reads bodies ends with LIMIT -1, which keeps SQLite from merging it into the outer SELECT. So the sorter of GROUP
 * BY holds keys and values, and no bodies. A scan of columns alone is merged, so an index may provide the order.
 *
 * Sums are exact. 64-bit integers are added in two halves of 32 bits, which cannot overflow below 2^31 rows. The SQL function
 * exact_sum adds other numbers. Paths through lists use SQL functions of the store. The function distinct_keys lists
 * the distinct keys of an object. The function tally_at adds up the values of a group.
 */

import { isThroughLists, pathOf } from '../../catalog/tree/path.ts';
import { Tally } from '../../catalog/values/tally.ts';
import { all, type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import type { Row, SqlValue } from '../../store/types/statement.ts';
import type { AggregatePlan, GroupResult, Leaf, Measured } from '../plan/aggregate.ts';
import type { Filter } from '../plan/filter.ts';
import { rowCost } from '../plan/scan-budget.ts';
import type { AccessPath } from './access-path.ts';
import { documentNode, withValue } from './json-node.ts';
import { KindTables } from './kind-tables.ts';
import { foldedKey, keyColumn, keyOf, readKey } from './leaf-key.ts';
import { filterSql, labelOf } from './sql-filter.ts';
import { throughSql } from './through-sql.ts';
import type { KindView } from './view.ts';

/** The rows of one kind that an aggregate scans. */
export interface AggregatedRows {
  readonly kind: KindView;
  readonly filter: Filter;
  /** The access path of the scan; null for all rows of the kind. */
  readonly path: AccessPath | null;
  /** Does every row in the kind's tables count (counts.ts)? Then the scan omits the condition. */
  readonly allCount: boolean;
  /** An expression for the number of the set that a row belongs to. Each set is grouped by itself. Null for one set. */
  readonly set: Fragment | null;
}

interface AggregateStatement {
  readonly statement: Fragment;
  /** Cost of each scanned row (scan-budget.ts). */
  readonly cost: number;
}

export interface StatementOptions {
  /** The most groups that the statement returns. */
  readonly limit: number;
  /** Order by descending count, then by key; only with one path. By default the order is undefined. */
  readonly frequent?: boolean;
  /** Only groups whose key contains this text. Only with one path of type String. ASCII letters are folded. */
  readonly contains?: string;
}

/** The statement for one kind. `readGroups` parses its rows. */
export function aggregateStatement(
  rows: AggregatedRows,
  plan: Pick<AggregatePlan, 'by' | 'measured'>,
  { limit, frequent = false, contains }: StatementOptions,
): AggregateStatement {
  const { tables, columns, tallies, unnested, filter } = scanOf(rows, plan);
  const { path, set } = rows;
  const lists = plan.by
    .concat(plan.measured)
    .filter(({ path, through, keys }) => through !== undefined || keys === true || isThroughLists(path)).length;
  const inner = [...(set === null ? [] : [sql`${set} AS s`]), ...columns];
  const conditions = [
    ...scanConditions(rows, tables),
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
  const resultColumns = names.map((name, index) => {
    const leaf = plan.by[index - (set === null ? 0 : 1)];
    return leaf === undefined ? raw(name) : keyColumn(leaf.type, raw(name));
  });
  return {
    statement: sql`SELECT ${join(resultColumns, ', ')} FROM (${groups})`,
    cost: costOf(rows, tables) + lists * rowCost.list,
  };
}

interface CountOptions {
  /** The count at which the scan stops; null for no limit. */
  readonly limit: number | null;
  /** The most rows to scan; null for all. */
  readonly within: number | null;
}

/** A statement that counts the rows that match. */
export function countStatement(rows: AggregatedRows, { limit, within }: CountOptions): AggregateStatement {
  const { path } = rows;
  const { tables, filter } = scanOf(rows, { by: [], measured: [] });
  const cost = costOf(rows, tables);
  const conditions = scanConditions(rows, tables);
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

/** The cost of a row. A slot's index has the slot and the identity of each row, but not whether the row counts. */
function costOf({ path, allCount }: AggregatedRows, tables: KindTables): number {
  if (tables.reads('b')) return rowCost.body;
  const inIndex = allCount && tables.base === 'p' && !tables.reads('o') && tables.slotsRead <= (path === null ? 1 : 0);
  return inIndex ? rowCost.index : rowCost.columns;
}

/** The conditions of the scan, before the filter. */
function scanConditions({ path, allCount }: AggregatedRows, tables: KindTables): readonly Fragment[] {
  const ofKind = tables.base === 'o' ? tables.isOfKind() : raw('1');
  return [path === null ? ofKind : path.where(tables), tables.tick(), ...(allCount ? [] : [tables.counts()])];
}

interface Scan {
  readonly tables: KindTables;
  /** Keys as k0, k1, …, values as v0, v1, … */
  readonly columns: readonly Fragment[];
  /** Aggregate expressions over the values of a group. */
  readonly tallies: readonly Fragment[];
  /** Lists of keys, joined as g0, g1, … */
  readonly unnested: readonly Fragment[];
  readonly filter: Fragment;
}

/** Scans the access path, or else the promoted table alone if it has all needed columns, or else `object`. */
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
    if (listed === null) return sql`${keyOfLeaf(tables, leaf)} AS ${raw(`k${index}`)}`;
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
    return sql`${listed?.json ?? keyOfLeaf(tables, leaf)} AS ${name}`;
  });
  return { tables, columns: [...keys, ...values], tallies, unnested, filter: filterSql(tables, filter) };
}

interface Values {
  /** The JSON document that contains the values. */
  readonly json: Fragment;
  /** Text of the path of the values in `json`. */
  readonly below: string;
}

/** The values of a leaf through lists, or the keys of a map; null when an object has one value at most. */
function listedValues(tables: KindTables, { path, through, keys }: Leaf): Values | null {
  if (keys === true) {
    const entry = tables.aliases();
    const json = withValue(tables.body(), path.steps, tables.aliases, (map) => {
      const members = sql`SELECT json_group_array(${entry}.key) FROM ${map.members} AS ${entry}`;
      return sql`(CASE ${map.type} WHEN 'object' THEN (${members}) END)`;
    });
    return { json, below: '[]' };
  }
  if (through !== undefined || !isThroughLists(path)) return null;
  const { steps } = path;
  const first = steps.findIndex(({ kind }) => kind === 'each');
  const [toList, below] = [steps.slice(0, first), steps.slice(first + 1)];
  const [next] = below;
  if (next === undefined || below.some(({ kind }) => kind === 'each' || kind === 'where')) {
    return {
      json: withValue(tables.body(), toList, tables.aliases, (value) => value.json),
      below: pathOf(steps.slice(first)).text,
    };
  }
  // Each element has one value. SQLite extracts these values, which avoids passing whole elements as JSON.
  const element = tables.aliases();
  const json = withValue(tables.body(), toList, tables.aliases, (list) => {
    const value = withValue(documentNode(sql`${element}.value`), below, tables.aliases, (value) => value.json);
    const isContainer = next.kind === 'index' ? sql`${element}.type = 'array'` : sql`${element}.type = 'object'`;
    return sql`(SELECT json_group_array(${value}) FROM ${list.members} AS ${element} WHERE typeof(${element}.key) = 'integer' AND ${isContainer})`;
  });
  return { json, below: '[]' };
}

function keyOfLeaf(tables: KindTables, leaf: Leaf): Fragment {
  const { through } = leaf;
  return through === undefined ? singleKey(tables, leaf) : throughSql(tables, through, (end) => singleKey(end, leaf));
}

/** The expression for an object's key at a path without lists: from a column, the labels or the body. */
function singleKey(tables: KindTables, { path, type }: Leaf): Fragment {
  const column = tables.keyColumn(path, type);
  if (column !== null) return column;
  if (path.fold !== undefined) return foldedKey(tables.body(), path, type, tables.aliases);
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
  return withValue(tables.body(), path.steps, tables.aliases, (value) => sql`(${keyOf(value, type)})`);
}

/** Are the keys 64-bit integers, which are summed in two halves? */
function isSummedInHalves(type: Leaf['type']): boolean {
  return type === 'Int' || type === 'Int64' || type === 'Duration';
}

/** The aggregate expressions over a column with one value for each object. The counterpart of readTally. */
function tallyColumns(measured: Measured, value: Fragment): readonly Fragment[] {
  const { type } = measured;
  const sums = !measured.sum
    ? []
    : isSummedInHalves(type)
      ? [sql`CAST(sum(${value} >> 32) AS TEXT)`, sql`CAST(sum(${value} & 4294967295) AS TEXT)`]
      : [sql`exact_sum(${type}, ${value})`];
  const ends = measured.ends ? [keyColumn(type, sql`min(${value})`), keyColumn(type, sql`max(${value})`)] : [];
  return [sql`count(${value})`, ...sums, ...ends];
}

/**
 * The groups in the rows of a statement.
 * @param sets whether the rows begin with the number of a set; otherwise all groups are of set 0.
 */
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
  if (measured.through === undefined && isThroughLists(measured.path))
    return { tally: Tally.fromText(String(row[from])), columns: 1 };
  const { type } = measured;
  const tally = new Tally();
  let at = from + 1;
  const next = (): SqlValue | undefined => row[at++];
  if (measured.sum && isSummedInHalves(type)) {
    const [high, low] = [integerSum(next()), integerSum(next())];
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

/** The sum as an integer. SQL's sum over no values is null. */
function integerSum(value: SqlValue | undefined): bigint {
  return value === null || value === undefined ? 0n : BigInt(String(value));
}
