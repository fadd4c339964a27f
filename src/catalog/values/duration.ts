/**
 * Durations as Go writes them: `1h30m`, `-1.5s`, `250ms`.
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

/**
 * Nanoseconds; finer parts are truncated. Null when the text is not a duration or exceeds 64 bits. `0` is the only valid bare
 * number.
 */
export function parseDuration(text: string): bigint | null {
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.length - start === 1 && text[start] === '0') return 0n;
  if (text.length === start || text.length > maxLength) return null;
  let total = 0n;
  part.lastIndex = start;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) return null;
    const whole = match[1] ?? '';
    const fraction = match[2] ?? '';
    const unit = nanosecondsOf[match[3] ?? ''];
    if (unit === undefined || (whole === '' && fraction === '')) return null;
    total += BigInt(whole) * unit;
    if (fraction !== '') total += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  }
  if (total > (negative ? largest : largest - 1n)) return null;
  return negative ? -total : total;
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
