/**
 * The application-defined SQL functions. Readers and the writer have the same ones.
 *
 * `tick()` guards every scan loop, because better-sqlite3 cannot interrupt a running statement. Each loop calls it at some of its
 * rows (`tickAt` of src/query/sql/tick.ts), and it throws when the statement must end. It is not deterministic, so that SQLite never
 * hoists it out of the loop. All other functions are pure; docs/values.md defines their results.
 */

import { hash } from 'node:crypto';
import { type LabelSelector, selects } from '../../catalog/bodies/read-selector.ts';
import { searchText } from '../../catalog/paths/search-text.ts';
import { valuesAt } from '../../catalog/paths/value-at.ts';
import { objectIdOf } from '../../catalog/resources/object-id.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type ListFold, type Path, parsePath } from '../../catalog/tree/path.ts';
import { compareValues, type ValueOperator } from '../../catalog/values/compare-values.ts';
import { foldValues } from '../../catalog/values/fold-values.ts';
import { patternMatches } from '../../catalog/values/pattern.ts';
import { Tally } from '../../catalog/values/tally.ts';
import { naturalKey, type OrderKey, orderKey, parseExact } from '../../catalog/values/values.ts';
import type { SqlValue } from '../types/statement.ts';
import type { Database } from './database.ts';
import { elementColumns, listElements } from './list-elements.ts';
import { storedKey } from './stored-keys.ts';

interface SqlFunctionOptions {
  /** Throws when the running statement must end. */
  readonly tick: () => void;
}

export function registerSqlFunctions(database: Database, options: SqlFunctionOptions): void {
  database.define('tick', { deterministic: false, arity: 0 }, () => {
    options.tick();
    return 0;
  });
  // elements(json): the elements of a list, each with its JSON text.
  database.defineTable('elements', elementColumns, (json) => listElements(json, options.tick));
  // order_key(type, json): the order key of a JSON text, null when it has none. Takes the result of `->`.
  database.define('order_key', { deterministic: true, arity: 2 }, (type, json) =>
    typeof json === 'string' ? storedKey(type as LeafType, parseExact(json)) : null,
  );
  // matches_pattern(pattern, ignore case, text): 0 or 1, null where there is no text.
  database.define('matches_pattern', { deterministic: true, arity: 3 }, (pattern, ignoreCase, text) =>
    typeof text === 'string' ? BigInt(patternMatches(String(pattern), Number(ignoreCase) === 1, text)) : null,
  );
  // compare_values(operator, type, json, type, json, times): 0 or 1, by compareValues. A null json is an absent value.
  database.define('compare_values', { deterministic: true, arity: 6 }, (operator, left, a, right, b, times) => {
    const leaves = { left: left as LeafType, right: right as LeafType, times: times as string | null };
    const [x, y] = [a, b].map((json) => (typeof json === 'string' ? parseExact(json) : null));
    return BigInt(compareValues(operator as ValueOperator, leaves, x, y));
  });
  // object_id(cluster, resourceKey, namespace, name): the object id; the namespace of cluster-scoped kinds is empty.
  database.define('object_id', { deterministic: true, arity: 4 }, (cluster, key, namespace, name) =>
    objectIdOf(String(cluster), String(key), String(namespace), String(name)),
  );
  // search_text(paths, json): the searchable text of an object; `paths` is a JSON list of paths as text.
  const pathsOf = remembered<readonly Path[]>((written) =>
    (JSON.parse(written) as readonly string[]).map((text) => parsePath(text)),
  );
  database.define('search_text', { deterministic: true, arity: 2 }, (paths, json) =>
    typeof json === 'string' ? searchText(parseExact(json), pathsOf(String(paths))) : null,
  );
  // number_text(number): the shortest text that parses to the number, as JSON.stringify writes it. SQLite's text may not round-trip.
  database.define('number_text', { deterministic: true, arity: 1 }, (number) => JSON.stringify(Number(number)));
  // digest(blob): a hash, to compare texts without moving them between threads. A blob, because making a string takes twice as long.
  database.define('digest', { deterministic: true, arity: 1 }, (blob) =>
    blob instanceof Uint8Array ? hash('sha256', blob, 'hex').slice(0, 32) : null,
  );
  // selects(needs, marks): 1 if the labels in an object's `marks` meet what a row of `selector` needs, else 0.
  const selectorOf = remembered<LabelSelector>((needs) => {
    const [pairs, rest] = JSON.parse(needs) as [LabelSelector['pairs'], LabelSelector['rest']];
    return { pairs, rest };
  });
  database.define('selects', { deterministic: true, arity: 2 }, (needs, marks) => {
    const [labels] = JSON.parse(String(marks)) as [Record<string, unknown>];
    return BigInt(selects(selectorOf(String(needs)), labels));
  });
  // natural_key(type, key): the key for natural order, in which digits count by value.
  database.define('natural_key', { deterministic: true, arity: 2 }, (type, key) =>
    typeof key === 'string' ? naturalKey(type as LeafType, key) : null,
  );
  // distinct_keys(type, path, json): a JSON list of the distinct keys at a path through lists. The list is [null] without keys.
  // A Float's key is the JSON text of its number, for order_key, because SQLite may parse decimals to another last bit.
  database.define('distinct_keys', { deterministic: true, arity: 3 }, (type, path, json) => {
    const texts = new Set(keysAt(type as LeafType, path, json).map((key) => keyText(type as LeafType, key)));
    return texts.size === 0 ? '[null]' : `[${[...texts].join(',')}]`;
  });
  // fold_key(fold, type, path, json): the key of the aggregate of the values at a path through lists. A null json has no values.
  database.define('fold_key', { deterministic: true, arity: 4 }, (fold, type, path, json) => {
    const values = typeof json === 'string' ? valuesAt(parseExact(json), pathOfText(String(path))) : [];
    return storedKey(type as LeafType, foldValues(fold as ListFold, type as LeafType, values));
  });
  // exact_sum(type, key): the Tally of the keys as text. For types whose sum SQLite would round.
  database.defineAggregate<Tally>('exact_sum', 2, {
    start: () => new Tally(),
    step: (tally, type, key) => {
      if (typeof key === 'string' || typeof key === 'number') tally.add(type as LeafType, key);
    },
    result: (tally) => tally.toText(),
  });
  // tally_at(type, path, json): the Tally of all keys at a path through lists.
  database.defineAggregate<Tally>('tally_at', 3, {
    start: () => new Tally(),
    step: (tally, type, path, json) => {
      for (const key of keysAt(type as LeafType, path, json)) tally.add(type as LeafType, key);
    },
    result: (tally) => tally.toText(),
  });
}

/** Parsed paths by their text. A statement uses the same few paths at each row. */
const paths = new Map<string, Path>();

function keysAt(type: LeafType, path: SqlValue | undefined, json: SqlValue | undefined): OrderKey[] {
  if (typeof path !== 'string' || typeof json !== 'string') return [];
  return valuesAt(parseExact(json), pathOfText(path)).flatMap((value) => orderKey(type, value) ?? []);
}

function pathOfText(text: string): Path {
  let known = paths.get(text);
  if (known === undefined) {
    if (paths.size === 100) paths.clear();
    known = parsePath(text);
    paths.set(text, known);
  }
  return known;
}

function keyText(type: LeafType, key: OrderKey): string {
  if (type === 'Float') return JSON.stringify(String(key));
  return typeof key === 'string' ? JSON.stringify(key) : key.toString();
}

/** Caches the last parsed text, because many rows use the same one. */
function remembered<T>(make: (text: string) => T): (text: string) => T {
  let known: { readonly text: string; readonly made: T } | null = null;
  return (text) => {
    if (known?.text !== text) known = { text, made: make(text) };
    return known.made;
  };
}
