/** Times relative to now: `-10m`, `+30d`, `-1d12h`. Only filters take them. Stored times are absolute. */

const millisecondsOf: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const relative = /^[+-]([0-9]{1,9}[smhdw])+$/;

/** Is the text a relative time? Its time may still be too far away, see {@link absoluteTime}. */
export function isRelativeTime(text: string): boolean {
  return relative.test(text);
}

/**
 * The time in RFC 3339, with milliseconds. A day has 24 hours.
 * @param now milliseconds since the epoch.
 * @returns null for a time before 0001 or after 9999, and for a text that is no relative time.
 */
export function absoluteTime(text: string, now: number): string | null {
  if (!isRelativeTime(text)) return null;
  let distance = 0;
  for (const [part] of text.matchAll(/[0-9]+[smhdw]/g)) {
    distance += Number.parseInt(part, 10) * (millisecondsOf[part.slice(-1)] ?? 0);
  }
  const time = new Date(text.startsWith('-') ? now - distance : now + distance);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999 ? time.toISOString() : null;
}
