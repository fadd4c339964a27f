/**
 * Makes the object of an abstract kind from an object of a member.
 *
 *   { kind: Redis, metadata: { name: a }, spec: { version: "7" } }, health Current
 *   -> { apiVersion: abstract/v1, kind: AppInstance, metadata: { name: a }, cluster: east, member: redises.cache.example.com,
 *        health: { status: Current, … }, version: "7" }
 *
 * A value that does not fit the type of its column is left out: it is null in lists. docs/abstract-kinds.md has the conversions.
 */
import { readSelector, selects } from '../bodies/read-selector.ts';
import { abstractGroup } from '../groups/api-group.ts';
import { bodyTest } from '../health/declared-rule.ts';
import type { Health } from '../health/health-status.ts';
import { valueAt, valuesAt } from '../paths/value-at.ts';
import { type ListFold, type Path, parsePath, pathOf } from '../tree/path.ts';
import { plainNumber } from '../values/decimal.ts';
import { recordOf } from '../values/displayed-value.ts';
import { foldValues } from '../values/fold-values.ts';
import { rawJson } from '../values/raw-json.ts';
import { isSummable } from '../values/tally.ts';
import { orderKey, scalarText } from '../values/values.ts';
import type { AbstractKind, Column, Member, Source } from './abstract-kind.ts';
import { throughRelation } from './related-columns.ts';

/** An object of the store. */
interface MemberObject {
  readonly cluster: string;
  /** A result of parseExact. */
  readonly body: unknown;
  readonly health: Health;
  /** The body of the object to which a to-one relation leads; undefined if there is none. Absent: no object is known. */
  readonly related?: (relation: string) => unknown;
}

/** Makes the objects of one member; null for an object that its conditions leave out. */
export type Derive = (object: MemberObject) => Readonly<Record<string, unknown>> | null;

/**
 * Makes the objects of an abstract kind from the objects of this member. Paths are parsed once.
 * @param leads the names of the relations that columns go through
 */
export function deriverOf(
  { type, columns }: Pick<AbstractKind, 'type' | 'columns'>,
  member: Member,
  leads: ReadonlySet<string> = new Set(),
): Derive {
  const fits = bodyTest(member.where);
  const selector =
    member.labels === undefined
      ? null
      : readSelector({ path: parsePath('labels'), form: 'labelSelector', empty: 'all' }, { labels: member.labels });
  const values = columns.flatMap((column) => {
    const source = member.columns[column.name];
    return source === undefined ? [] : [{ column, read: readerOf(source, column.type, leads) }];
  });
  return (object) => {
    const { cluster, body, health } = object;
    if (!fits(body)) return null;
    const metadata = recordOf(valueAt(body, metadataPath)) ?? {};
    if (selector !== null && !selects(selector, recordOf(metadata['labels']) ?? {})) return null;
    const { uid: _uid, ownerReferences: _owners, generation: _generation, ...shown } = metadata;
    const { status, reason, message, source } = health;
    const derived: Record<string, unknown> = {
      apiVersion: `${abstractGroup}/v1`,
      kind: type,
      metadata: shown,
      cluster,
      member: member.resource,
      health: { status, reason, message, source },
    };
    for (const { column, read } of values) {
      const value = fitted(column, read(object));
      if (value !== undefined) derived[column.name] = value;
    }
    return derived;
  };
}

/** Longest text of a column, in characters: cursors and indexes have it too. */
const mostText = 4096;
const metadataPath: Path = pathOf([{ kind: 'field', name: 'metadata' }]);

type Read = (object: MemberObject) => unknown;

function readerOf(source: Source, type: Column['type'], leads: ReadonlySet<string>): Read {
  if ('path' in source) return pathReader(parsePath(source.path), type, leads);
  if ('value' in source) return () => source.value;
  if ('firstOf' in source) {
    const all = source.firstOf.map((each) => readerOf(each, type, leads));
    return (object) => {
      for (const read of all) {
        const value = read(object);
        if (value !== undefined && value !== null) return value;
      }
      return undefined;
    };
  }
  if ('concat' in source) {
    const all = source.concat.map((each) => readerOf(each, 'String', leads));
    return (object) => {
      let joined = '';
      for (const read of all) {
        const text = scalarText(read(object));
        if (text === null || joined.length + text.length > mostText) return undefined;
        joined += text;
      }
      return joined;
    };
  }
  const { map, otherwise } = source;
  const read = readerOf(source.of, 'String', leads);
  return (object) => {
    const text = scalarText(read(object))?.toLowerCase();
    if (text === undefined) return undefined;
    return Object.hasOwn(map, text) ? map[text] : otherwise;
  };
}

function pathReader(path: Path, type: Column['type'], leads: ReadonlySet<string>): Read {
  const { fold } = path;
  const through = throughRelation(path);
  if (through !== null && leads.has(through.relation)) {
    const read = pathReader(through.rest, type, new Set());
    return (object) => {
      const body = object.related?.(through.relation);
      // No object has no values, not even a number of them.
      return body === undefined ? undefined : read({ ...object, body });
    };
  }
  return fold === undefined
    ? ({ body }) => valueAt(body, path)
    : ({ body }) => folded(fold, type, valuesAt(body, path));
}

/** The aggregate of the values of a list. Each is converted as the value of a column would be. */
function folded(fold: ListFold, type: Column['type'], values: readonly unknown[]): unknown {
  if (fold === 'count') return foldValues(fold, type, values);
  const as = fold === 'sum' && !isSummable(type) ? summableType(values) : type;
  return foldValues(
    fold,
    as,
    values.map((value) => convert(as, value)),
  );
}

/** The type in which values are added up where a text is wanted: whole numbers lose no digits. */
function summableType(values: readonly unknown[]): 'Int64' | 'Float' {
  // Digits beyond 64 bits are converted, and have no key.
  return values.every((value) => orderKey('Int64', convert('Int64', value)) !== null) ? 'Int64' : 'Float';
}

/** The value as the column's type has it; undefined for one that does not fit. */
export function fitted({ type, values }: Column, value: unknown): unknown {
  const converted = convert(type, value);
  if (converted === undefined || orderKey(type, converted) === null) return undefined;
  return values === undefined || values.includes(String(converted)) ? converted : undefined;
}

function convert(type: Column['type'], value: unknown): unknown {
  const text = scalarText(value);
  if (text === null || text.length > mostText) return undefined;
  switch (type) {
    case 'String':
      return text;
    case 'Boolean':
      // Conditions write True and False.
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
    case 'Int64':
      return /^-?(0|[1-9][0-9]{0,18})$/.test(text) ? rawJson(text) : undefined;
    case 'Float':
      return typeof value === 'string' ? (plainNumber(text) ?? value) : value;
    case 'Quantity':
    case 'DateTime':
    case 'Duration':
      return value;
  }
}
