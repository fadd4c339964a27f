import { configureGlobal } from 'fast-check';

const isFull = process.env['PORTOLAN_RANDOM'] === 'full';

// Few cases may lack a kind of case that a test counts. So a usual run makes the same cases each time, and fails for a change alone.
if (!isFull) configureGlobal({ seed: 20_261_129 });

/** How many cases a test with random ones makes: few, or with PORTOLAN_RANDOM=full as many as a long run should have. */
export function randomRuns(few: number, full: number): number {
  return isFull ? full : few;
}
