/** The value, or an error naming what was expected: for invariants, never for user input. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`invariant broken: ${what}`);
  return value;
}
