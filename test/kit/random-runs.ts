/** How many cases a test with random ones makes: few, or with PORTOLAN_RANDOM=full as many as a long run should have. */
export function randomRuns(few: number, full: number): number {
  return process.env['PORTOLAN_RANDOM'] === 'full' ? full : few;
}
