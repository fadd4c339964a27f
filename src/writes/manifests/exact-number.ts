/** Integers beyond 2^53 keep their digits: the values of JSON.rawJSON, as in objects that are read. */
import { rawJson } from '../../catalog/values/raw-json.ts';

/** A number, or a raw JSON value if a number cannot hold the integer. */
export function exactInteger(integer: bigint): unknown {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : rawJson(integer.toString());
}
