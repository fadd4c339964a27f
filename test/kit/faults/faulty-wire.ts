/**
 * Writes the lines of one watch to its response and applies faults to them. Accepts whole lines only. After a fault has ended or
 * silenced the watch, it writes nothing more.
 */
import type { ServerResponse } from 'node:http';
import { expiredLine } from './fault-answers.ts';
import type { FaultNumber, Faults } from './faults.ts';
import { hideVersions } from './opaque-versions.ts';

export class FaultyWire {
  readonly #faults: Faults;
  readonly #resource: string;
  readonly #response: ServerResponse;
  #over = false;
  #last = '';
  /** Events since a fault with a later `event` was switched on. */
  readonly #eventCounts = new Map<FaultNumber, number>();

  constructor(faults: Faults, resource: string, response: ServerResponse) {
    this.#faults = faults;
    this.#resource = resource;
    this.#response = response;
  }

  /** Writes one or more whole lines. */
  write(lines: string): void {
    if (this.#over) return;
    if (!this.#faults.active) {
      this.#response.write(lines);
      return;
    }
    for (const line of lines.split(/(?<=\n)/)) {
      if (!this.#over) this.#line(line);
    }
  }

  #line(given: string): void {
    const faults = this.#faults;
    const about = this.#resource;
    if (faults.take('F4', about)) {
      this.#over = true;
      return;
    }
    const line = faults.take('F53', about) ? hideVersions(given) : given;
    if (line.startsWith('{"type":"BOOKMARK"')) {
      const fault = faults.take('F47', about);
      if (fault?.form !== 'absent') this.#send(fault ? line.repeat(3) : line);
      return;
    }
    if (line.startsWith('{"type":"ERROR"')) this.#send(line);
    else this.#event(line);
  }

  #event(line: string): void {
    const faults = this.#faults;
    const about = this.#resource;
    const before = this.#last;
    this.#last = line;
    if (this.#due('F1')) {
      this.#over = true;
      this.#response.write(line.slice(0, line.length >> 1));
      this.#response.socket?.resetAndDestroy();
    } else if (this.#due('F2')) {
      this.#end(line);
    } else if (this.#due('F7')) {
      this.#end(line + expiredLine());
    } else if (faults.take('F35', about)) {
      this.#send(line + line + before);
    } else {
      if (faults.take('F32', about)) this.#send(`${line.slice(0, line.length >> 1)}\n`);
      const changed = this.#withFault(line);
      if (changed !== '') this.#send(changed);
    }
  }

  /** Counts this event for a fault with an `event` number; true when the fault applies to this event. */
  #due(number: 'F1' | 'F2' | 'F7'): boolean {
    const fault = this.#faults.on(number, this.#resource);
    const count = fault ? (this.#eventCounts.get(number) ?? 0) + 1 : 0;
    this.#eventCounts.set(number, count);
    if (count === 0 || count < (fault?.event ?? 1)) return false;
    this.#eventCounts.set(number, 0);
    return this.#faults.take(number, this.#resource) !== undefined;
  }

  /** The line with its fault; empty when the line is dropped. */
  #withFault(line: string): string {
    const faults = this.#faults;
    const about = this.#resource;
    const wrong = faults.take('F33', about);
    if (wrong?.form === 'type') return line.replace(/"type":"[A-Z]+"/, '"type":"RENAMED"');
    if (wrong?.form === 'kind')
      return line
        .replace(/"object":\{"kind":"\w+"/, '"object":{"kind":"Stranger"')
        .replace(/("apiVersion":"[^"]+",)"kind":"\w+"/, '$1"kind":"Stranger"');
    if (wrong) return `{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1","metadata":{},"code":500}}\n`;
    const missing = faults.take('F34', about);
    if (missing) return without(line, missing.form);
    const added = line.startsWith('{"type":"ADDED"');
    const strange = added ? faults.take('F36', about) : undefined;
    if (strange) return strange.form === 'unknown' ? '' : line.replace('"ADDED"', '"MODIFIED"');
    const more = faults.take('F37', about);
    return more ? `${line.slice(0, -1)}${' '.repeat(more.bytes)}\n` : line;
  }

  #send(text: string): void {
    const pieces = this.#faults.take('F38', this.#resource)?.bytes;
    if (pieces === undefined) {
      this.#response.write(text);
      return;
    }
    for (const piece of piecesOf(text, pieces)) this.#response.write(piece);
  }

  #end(text: string): void {
    this.#over = true;
    this.#response.end(text);
  }
}

/** The line of an event without one member of its object's metadata. */
function without(line: string, member: string): string {
  const event = JSON.parse(line) as { object: { metadata: Record<string, unknown> } };
  delete event.object.metadata[member];
  return `${JSON.stringify(event)}\n`;
}

/** The text as bytes in pieces of equal size, which may split characters. */
export function* piecesOf(text: string, bytes: number): Generator<Buffer> {
  const whole = Buffer.from(text);
  for (let from = 0; from < whole.length; from += bytes) yield whole.subarray(from, from + bytes);
}
