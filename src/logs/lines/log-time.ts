/**
 * The times of log lines, as texts that compare like the times.
 *
 *   2026-11-28T07:00:00.120000000Z        is its own key
 *   2026-11-28T09:00:00.12+02:00          2026-11-28T07:00:00.120000000Z
 *
 * A kubelet writes RFC 3339 with nine digits and its own offset. Other servers leave out zeros at the end of the fraction.
 */
const general = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;
const keyLength = 30;

/** The first word of a line, where its time is. */
export function timeOf(line: string): string {
  const space = line.indexOf(' ');
  return space === -1 ? line : line.slice(0, space);
}

/** The key of a time; null for a text that is none. */
export function timeKey(text: string): string | null {
  if (text.length === keyLength && text.endsWith('Z') && text[10] === 'T' && text[19] === '.') return text;
  const [, seconds = '', fraction = '', zone = 'Z'] = general.exec(text) ?? [];
  if (seconds === '') return null;
  const at = Date.parse(`${seconds}${zone}`);
  return Number.isNaN(at) ? null : `${new Date(at).toISOString().slice(0, 19)}.${fraction.padEnd(9, '0')}Z`;
}

/** The second of a key, as `sinceTime` takes it. */
export function secondOf(key: string): string {
  return `${key.slice(0, 19)}Z`;
}
