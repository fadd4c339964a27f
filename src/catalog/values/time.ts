/**
 * Times as the API server takes them in `format: date-time` (`strfmt.IsDateTime` of k8s.io/kube-openapi): RFC 3339 with any fraction and
 * any offset, and some further texts.
 *
 *   2026-03-01T10:00:00Z          as Kubernetes writes times
 *   2026-03-01t10:00:00z          the letters have no case
 *   2026-03-01T10:00:00,5Z        any character may stand before the fraction
 *   2026-03-01T10:00:00+99:99     an offset is any four digits
 *   2026-03-01T10:00:00ZT1        a second T ends the time
 */

const taken =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\nTt]([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))(?:[Tt].*)?$/s;

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Microseconds since 1970-01-01T00:00:00Z; finer digits are truncated. Null when the text is not a valid time (February 30, for
 * example), or is too far from the years 0 to 9999 to be written.
 */
export function parseTime(text: string): bigint | null {
  return parsePlain(text) ?? parseAny(text);
}

/** An epoch time in RFC 3339. The number is in seconds, or in milliseconds if it is too large for seconds. Null for other values. */
export function timeOfEpoch(value: unknown): string | null {
  const number =
    typeof value === 'number' || (typeof value === 'string' && /^[0-9]{9,13}$/.test(value))
      ? Number(value)
      : Number.NaN;
  const time = new Date(Math.abs(number) < 1e11 ? number * 1000 : number);
  return Number.isNaN(time.getTime()) ? null : time.toISOString().replace('.000Z', 'Z');
}

/** Fast path for whole seconds in UTC with a four-digit year, the usual form in Kubernetes. Null for other forms. */
function parsePlain(text: string): bigint | null {
  if (text.length !== 20 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':') return null;
  if (text[16] !== ':' || text[19] !== 'Z') return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (!(month >= 1 && day >= 1 && day <= daysIn(year, month) && hour <= 23 && minute <= 59 && second <= 59))
    return null;
  const seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  // Microseconds after the year 2255 exceed the safe integers of a number.
  return Number.isSafeInteger(seconds * 1e6) ? BigInt(seconds * 1e6) : null;
}

/** NaN if a character is not a digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

function parseAny(text: string): bigint | null {
  const match = taken.exec(text);
  if (match === null) return null;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  const hour = Number(match[4]);
  const minute = Number(match[5]);
  const second = Number(match[6]);
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const offset = (offsetHour * 60 + offsetMinute) * (match[8] === '-' ? -60 : 60);
  const seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
  const micros = Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'));
  const moment = BigInt(seconds) * 1_000_000n + BigInt(micros);
  return moment < firstMicros - widestOffset || moment > lastMicros + widestOffset ? null : moment;
}

function daysIn(year: number, month: number): number {
  if (month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)) return 29;
  return monthDays[month - 1] ?? 0;
}

/** Days of the Gregorian calendar. Years are counted from March, so that the leap day is the last day of a year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const fromMarch = month > 2 ? year : year - 1;
  const era = Math.floor(fromMarch / 400);
  const yearOfEra = fromMarch - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/**
 * The moment as RFC 3339 in UTC, with as many fraction digits as it has. A year without four digits in UTC is written with an
 * offset.
 */
export function timeText(micros: bigint): string {
  if (micros < firstMicros) return `${stamp(micros + widestOffset)}+23:59`;
  if (micros > lastMicros) return `${stamp(micros - widestOffset)}-23:59`;
  return `${stamp(micros)}Z`;
}

const firstMicros = -62_167_219_200_000_000n;
const lastMicros = 253_402_300_799_999_999n;
/** The widest offset of RFC 3339. */
const widestOffset = 86_340_000_000n;

function stamp(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const second = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19);
  return fraction === 0n ? second : `${second}.${fraction.toString().padStart(6, '0').replace(/0+$/, '')}`;
}
