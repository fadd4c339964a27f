/** `npm run fuzz -- bytes`: the loops over bytes that are WebAssembly against their plain twins and SQLite's jsonb(). */
import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { load, scan } from '../../src/ingest/bytes/bracket-scan.ts';
import { encodeJsonb } from '../../src/store/jsonb/jsonb-encoder.ts';
import { Database, refusesJson } from '../../src/store/sqlite/database.ts';
import { plainScan } from '../kit/plain-bracket-scan.ts';
import { plainEncode } from '../kit/plain-jsonb-encoder.ts';
import { Dice } from './dice.ts';
import type { FuzzOptions, FuzzOutcome } from './fuzz.ts';
import { randomBytes } from './random-bytes.ts';

export const about =
  'The WebAssembly loops over bytes give what their plain twins and SQLite give, for JSON and what is nearly JSON.';
export const defaultCases = 500_000;

const scansPerCase = 5;

export async function fuzz({ from, cases, seed, progress }: FuzzOptions): Promise<FuzzOutcome> {
  const database = new Database(':memory:');
  const failures: { readonly number: number; readonly what: string }[] = [];
  let encoded = 0;
  for (let number = from; number < from + cases; number += 1) {
    const dice = new Dice(seed, number);
    const bytes = randomBytes(dice);
    const expected = plainEncode(bytes);
    if (expected !== null) encoded += 1;
    const wrong = wrongEncoding(bytes, expected, database) ?? wrongScan(bytes, dice);
    if (wrong !== null) failures.push({ number, what: `${wrong}\n${JSON.stringify(bytes.toString('latin1'))}` });
    progress(number - from + 1, failures.length);
  }
  return {
    asked: cases,
    failures,
    about: `${encoded} JSON texts and ${cases - encoded} others, ${cases * scansPerCase} scans`,
  };
}

/** Encodes the bytes. Returns the first difference, or null. */
function wrongEncoding(bytes: Buffer, expected: Uint8Array | null, database: Database): string | null {
  const json = encodeJsonb(bytes);
  if (hex(json?.jsonb ?? null) !== hex(expected))
    return `encodeJsonb gives ${hex(json?.jsonb ?? null)}, its twin ${hex(expected)}`;
  if (json !== null && json.isAscii !== bytes.every((byte) => byte < 0x80)) return `isAscii is ${json.isAscii}`;
  if (!isUtf8(bytes)) return null;
  const text = bytes.toString('utf8');
  if (isJson(text) && json === null) return 'encodeJsonb refuses JSON';
  if (json === null) return null;
  const bySqlite = sqliteJsonb(text, database);
  return hex(expected) === hex(bySqlite) ? null : `encodeJsonb gives ${hex(expected)}, SQLite ${hex(bySqlite)}`;
}

/** Scans parts of the bytes. Returns the first difference, or null. */
function wrongScan(bytes: Buffer, dice: Dice): string | null {
  load(bytes);
  for (let left = scansPerCase; left > 0; left -= 1) {
    const from = dice.below(bytes.length + 1);
    const to = dice.between(from, bytes.length);
    const stop = dice.below(4);
    const state = { depth: dice.below(6), inString: dice.chance(0.5), escaped: dice.chance(0.2), second: -1 };
    const [found, expected] = [{ ...state }, { ...state }];
    const [end, expectedEnd] = [scan(from, to, stop, found), plainScan(bytes, from, to, stop, expected)];
    if (end !== expectedEnd || !isDeepStrictEqual(found, expected)) {
      const asked = JSON.stringify({ from, to, stop, state });
      return `scan of ${asked} gives ${end} ${JSON.stringify(found)}, its twin ${expectedEnd} ${JSON.stringify(expected)}`;
    }
  }
  return null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Null where SQLite refuses the text. */
function sqliteJsonb(text: string, database: Database): Uint8Array | null {
  try {
    return database.statement('SELECT jsonb(?)').get(text)?.[0] as Uint8Array;
  } catch (error) {
    if (refusesJson(error)) return null;
    throw error;
  }
}

function hex(jsonb: Uint8Array | null): string | null {
  return jsonb === null ? null : Buffer.from(jsonb).toString('hex');
}
