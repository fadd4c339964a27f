/**
 * Each fault of the model without the others, in a few runs of its own, and the more often. Those of lists need lists, so watches are refused
 * and closed beside them. PORTOLAN_SEED=n plays that seed alone.
 */
import { expect, test } from 'vitest';
import { allFaults, type FaultName, strikes } from './model-faults.ts';
import { play } from './play.ts';

const { PORTOLAN_SEED } = process.env;
const ofLists: readonly FaultName[] = [
  ...(['F8', 'F9', 'F10', 'F11', 'F12', 'F15', 'F16', 'F17', 'F18', 'F19', 'F52', 'F54'] as const),
];
/** So many runs meet each fault, whichever it is. */
const seeds =
  PORTOLAN_SEED === undefined ? Array.from({ length: 32 }, (_, index) => index + 1) : [Number(PORTOLAN_SEED)];

test.each(allFaults)('%s: alone, at any moment of any operations', { timeout: 300_000 }, async (fault) => {
  strikes.clear();
  for (const seed of seeds) {
    await play(seed, ofLists.includes(fault) ? [fault, 'F5', 'F25'] : [fault]);
    if ((strikes.get(fault) ?? 0) >= 8) break;
  }
  if (PORTOLAN_SEED === undefined) expect(strikes.get(fault) ?? 0).toBeGreaterThan(0);
});
