/**
 * The elements of a JSON list, each with its JSON text, in one pass over the list. SQL reads them as the table `elements(json)`.
 *
 *   [1, "a", {"b": 2}]   0  integer  1        1
 *                        1  text     a        "a"
 *                        2  object   {"b":2}  {"b":2}
 *
 * `type` and `value` are those of `jsonb_each`; the value of a list or an object is its text. Other JSON than a list has no elements.
 */
import { isRawJson, rawJsonText } from '../../catalog/values/raw-json.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Row, SqlValue } from '../types/statement.ts';

export const elementColumns = ['key', 'type', 'value', 'json'] as const;

/** Elements between two calls of `tick`. */
const stride = 256;

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n];

/** @param tick throws when the running statement must end */
export function* listElements(json: SqlValue, tick: () => void): Generator<Row, void, undefined> {
  const list = typeof json === 'string' ? parseExact(json) : null;
  if (!Array.isArray(list)) return;
  let key = 0;
  for (const element of list as unknown[]) {
    if (key % stride === stride - 1) tick();
    yield [BigInt(key), ...columnsOf(element)];
    key += 1;
  }
}

function columnsOf(element: unknown): [string, SqlValue, string] {
  if (typeof element === 'string') return ['text', element, JSON.stringify(element)];
  if (element === null) return ['null', null, 'null'];
  if (typeof element === 'boolean') return [String(element), element ? 1n : 0n, String(element)];
  if (typeof element === 'number' || isRawJson(element)) return numberColumns(textOf(element));
  const text = JSON.stringify(element);
  return [Array.isArray(element) ? 'array' : 'object', text, text];
}

function textOf(element: number | Parameters<typeof rawJsonText>[0]): string {
  if (typeof element !== 'number') return rawJsonText(element);
  // A number beyond JavaScript's is infinite in the evaluator too.
  return Number.isFinite(element) ? String(element) : `${element < 0 ? '-' : ''}9e999`;
}

function numberColumns(text: string): [string, SqlValue, string] {
  if (!/^-?[0-9]+$/.test(text)) return ['real', Number(text), text];
  const whole = BigInt(text);
  return ['integer', whole >= least && whole <= greatest ? whole : Number(text), text];
}
