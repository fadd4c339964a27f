/** Durations as kubectl shows them: with two or three significant digits, such as `90s`, `5m30s`, `7h10m`, `2d4h`, `3y12d`. */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** For durations shorter than `below`: the larger unit alone, or followed by the rest in the smaller one. */
const steps: readonly {
  readonly below: number;
  readonly unit: number;
  readonly letter: string;
  readonly rest?: { readonly unit: number; readonly letter: string };
}[] = [
  { below: 2 * minute, unit: 1, letter: 's' },
  { below: 10 * minute, unit: minute, letter: 'm', rest: { unit: 1, letter: 's' } },
  { below: 3 * hour, unit: minute, letter: 'm' },
  { below: 8 * hour, unit: hour, letter: 'h', rest: { unit: minute, letter: 'm' } },
  { below: 2 * day, unit: hour, letter: 'h' },
  { below: 8 * day, unit: day, letter: 'd', rest: { unit: hour, letter: 'h' } },
  { below: 2 * year, unit: day, letter: 'd' },
  { below: 8 * year, unit: year, letter: 'y', rest: { unit: day, letter: 'd' } },
  { below: Number.POSITIVE_INFINITY, unit: year, letter: 'y' },
];

/** @param seconds a fraction is cut off. Two seconds before zero are an error of clocks; more is `<invalid>`. */
export function humanDuration(seconds: number): string {
  const whole = Math.trunc(seconds);
  if (whole < -1 || Number.isNaN(whole)) return '<invalid>';
  if (whole < 0) return '0s';
  const step = steps.find(({ below }) => whole < below);
  if (step === undefined) return '<invalid>';
  const text = `${Math.floor(whole / step.unit)}${step.letter}`;
  const rest = step.rest === undefined ? 0 : Math.floor((whole % step.unit) / step.rest.unit);
  return rest === 0 ? text : `${text}${rest}${step.rest?.letter}`;
}
