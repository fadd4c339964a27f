/**
 * Asserts an invariant: returns the value when it is there. Not for user input.
 * @throws Error `invariant broken: …` with `what` for null and undefined.
 */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`invariant broken: ${what}`);
  return value;
}
