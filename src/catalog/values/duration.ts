/**
 * Durations as the API server takes them. They are in the form of Go (`1h30m`, `-1.5s`, `250ms`), or numbers with units in words
 * (`3 days`).
 *
 * The API server checks `format: duration` with `strfmt.ParseDuration` of k8s.io/kube-openapi. It tries Go's time.ParseDuration. If that
 * fails, it adds every whole number that stands before a unit, wherever it stands, and reads past all other characters:
 *
 *   1d                1 day
 *   1 week 2 days     9 days
 *   PT5M              5 minutes: the units have no case
 *   -3 days           3 days: a sign counts in Go's form only
 *   1.5 days          5 days
 */

const nanosecondsOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const part = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/y;
const largest = 2n ** 63n;
const maxLength = 200;

/** The last word of a unit stands for all words that begin with it: `day` for `days`. */
const wordsOf: readonly (readonly [nanoseconds: bigint, words: readonly string[], prefix: string])[] = [
  [1n, ['ns'], 'nano'],
  [1_000n, ['us', 'µs'], 'micro'],
  [1_000_000n, ['ms'], 'milli'],
  [1_000_000_000n, ['s'], 'sec'],
  [60_000_000_000n, ['m'], 'min'],
  [3_600_000_000_000n, ['h', 'hr'], 'hour'],
  [86_400_000_000_000n, ['d'], 'day'],
  [604_800_000_000_000n, ['w', 'wk'], 'week'],
];

const numberAndWord = /([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)/g;

/**
 * Nanoseconds; finer parts are truncated. Null when the text is not a duration, has more than 200 characters, or exceeds 64 bits in Go's
 * form. `0` is the only valid bare number.
 */
export function parseDuration(text: string): bigint | null {
  return text.length > maxLength ? null : (parseGo(text) ?? parseWords(text));
}

function parseGo(text: string): bigint | null {
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.length - start === 1 && text[start] === '0') return 0n;
  if (text.length === start) return null;
  let total = 0n;
  part.lastIndex = start;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) return null;
    const whole = match[1] ?? '';
    const fraction = match[2] ?? '';
    const unit = nanosecondsOf[match[3] ?? ''];
    if (unit === undefined || (whole === '' && fraction === '')) return null;
    total += BigInt(whole) * unit + fractionOf(fraction, unit);
    if (total > largest) return null;
  }
  if (total === largest && !negative) return null;
  return negative ? -total : total;
}

/** A part of a unit, in the floating-point arithmetic of Go. */
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (value > (largest - 1n) / 10n || next > largest) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

/** The sum wraps at 64 bits, as in the API server. */
function parseWords(text: string): bigint | null {
  let total: bigint | null = null;
  for (const [, digits = '', written = ''] of text.matchAll(numberAndWord)) {
    const count = BigInt(digits);
    if (count >= largest) return null;
    const word = written.toLowerCase();
    const unit = wordsOf.find(([, words, prefix]) => words.includes(word) || word.startsWith(prefix));
    if (unit !== undefined) total = (total ?? 0n) + count * unit[0];
  }
  return total === null ? null : BigInt.asIntN(64, total);
}

/** The duration as Go writes it: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function durationText(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (total < 1_000n) return `${sign}${total}ns`;
  if (total < 1_000_000n) return `${sign}${withFraction(total, 1_000n)}µs`;
  if (total < 1_000_000_000n) return `${sign}${withFraction(total, 1_000_000n)}ms`;
  const hours = total / 3_600_000_000_000n;
  const minutes = (total / 60_000_000_000n) % 60n;
  const seconds = withFraction(total % 60_000_000_000n, 1_000_000_000n);
  return `${sign}${hours > 0n ? `${hours}h` : ''}${hours > 0n || minutes > 0n ? `${minutes}m` : ''}${seconds}s`;
}

function withFraction(value: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1;
  const fraction = (value % unit).toString().padStart(digits, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}
