/** `npm run fuzz -- query`: SQL against the evaluators, on random objects and questions from real field trees. */
import { messageOf } from '../../src/base/errors.ts';
import { Dice } from './dice.ts';
import type { FuzzOptions, FuzzOutcome } from './fuzz.ts';
import { fuzzedKinds } from './kinds.ts';
import { openRound, type Round } from './query-round.ts';

export const about = 'SQL and the evaluators give the same answers: random objects, filters, orders, pages, groupings.';
export const defaultCases = 100_000;

/** Questions that one store is asked. */
const casesPerRound = 400;
const mostCrds = 200;

export async function fuzz({ from, cases, seed, progress }: FuzzOptions): Promise<FuzzOutcome> {
  const kinds = await fuzzedKinds(new Dice(seed), mostCrds);
  const failures: { readonly number: number; readonly what: string }[] = [];
  let asked = 0;
  let telling = 0;
  const last = from + cases - 1;
  for (let start = from; start <= last; ) {
    const round = Math.floor(start / casesPerRound);
    const end = Math.min(last, (round + 1) * casesPerRound - 1);
    let opened: Round;
    try {
      opened = await openRound(kinds, seed * 1_000_003 + round);
    } catch (error) {
      failures.push({ number: start, what: `its store cannot be filled: ${shown(error)}` });
      start = end + 1;
      continue;
    }
    try {
      for (let number = start; number <= end; number++) {
        try {
          const { matched, of } = await opened.ask(new Dice(seed, number).below(2 ** 32));
          if (matched > 0 && matched < of) telling += 1;
        } catch (error) {
          failures.push({
            number,
            what: error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error),
          });
        }
        asked += 1;
        progress(asked, failures.length);
      }
    } finally {
      opened.close();
    }
    start = end + 1;
  }
  return { asked, failures, about: `${kinds.length} kinds (${telling} cases matched some objects and not others)` };
}

function shown(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}
