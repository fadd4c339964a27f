/** The plain twin of `scan` (src/ingest/bytes/bracket-scan.ts): a loop over single bytes, the oracle of its tests and its benchmark. */
import type { ScanState } from '../../src/ingest/bytes/bracket-scan.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Changes the state and returns the position as `scan` does. */
export function plainScan(bytes: Uint8Array, from: number, to: number, stop: number, state: ScanState): number {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at];
    const { escaped } = state;
    state.escaped = byte === backslash && !escaped;
    if (byte === quote && !escaped) state.inString = !state.inString;
    else if (state.inString) continue;
    else if (byte === openBrace || byte === openBracket) {
      state.depth += 1;
      if (state.depth === 2) state.second = at;
    } else if (byte === closeBrace || byte === closeBracket) {
      state.depth -= 1;
      if (state.depth <= stop) return at;
    }
  }
  return -1;
}
