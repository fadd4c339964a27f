/** Reproducible random numbers: a small generator with 32 bits of state (mulberry32). Not for secrets. */
import type { Random } from '../../src/base/clock.ts';

/** Numbers in [0, 1) that depend only on the seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
