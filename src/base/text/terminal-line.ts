/**
 * A JSON line of the logger as a line for people.
 *
 *   {"level":40,"time":1767225600000,"cluster":"east","error":"no route","msg":"a cluster cannot be read"}
 *   00:00:00 warn   a cluster cannot be read  cluster=east error="no route"
 */

const levels: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** Goes to the start of the line and clears it: the progress line may stand there. */
export const clearLine = '\r\x1b[K';

/** @param json one line of pino, with or without its line break. */
export function terminalLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const name = (levels[Number(level)] ?? String(level)).padEnd(5);
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${shown(value)}`);
  return `${clearLine}${clock} ${name}  ${oneLine(String(msg))}${details.length > 0 ? ' ' : ''}${details.join('')}\n`;
}

function shown(value: unknown): string {
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value));
  return typeof value === 'string' && /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}

/** Without line breaks and control characters: texts come from servers, and a terminal would obey them. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
