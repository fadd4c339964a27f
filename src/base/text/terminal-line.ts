/**
 * A JSON line of the logger as a line for people.
 *
 *   {"level":40,"time":1767225600000,"cluster":"east","error":"no route","msg":"a cluster cannot be read"}
 *   00:00:00 warn   a cluster cannot be read  cluster=east error="no route"
 */
import { visibleText } from './visible-text.ts';

const levels: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** @param json one line of pino, with or without its line break. */
export function terminalLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const name = (levels[Number(level)] ?? String(level)).padEnd(5);
  const details = Object.entries(fields).map(([key, value]) => ` ${oneLine(key)}=${shown(value)}`);
  return `${clock} ${name}  ${oneLine(String(msg))}${details.length > 0 ? ' ' : ''}${details.join('')}\n`;
}

function shown(value: unknown): string {
  if (typeof value !== 'string') return oneLine(JSON.stringify(value));
  const text = oneLine(value);
  return /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}

/** Without line breaks, and without characters that a terminal obeys: for texts of servers in a line for people. */
export function oneLine(text: string): string {
  return visibleText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
}
