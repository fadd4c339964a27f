/**
 * The latest events of one resource, oldest first, and the bytes that they keep in memory.
 *
 * Every event with a revision above `floor` is still there. Only the oldest event can be dropped, and that raises the floor.
 * Dropped events leave a gap at the front of the list; it is closed when it is half of the list.
 */
import { must } from '../../src/base/must.ts';

interface Kept {
  readonly revision: number;
  readonly stored: { readonly bytes: number };
}

export class EventHistory<Event extends Kept> {
  #events: (Event | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #floor = 0;

  /** The number of events. */
  get length(): number {
    return this.#events.length - this.#first;
  }

  /** The sum of the sizes of the versions in the events, as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The revision of the newest dropped event; 0 when none was dropped. */
  get floor(): number {
    return this.#floor;
  }

  /** The revision of the oldest event, or undefined when there is none. */
  get oldestRevision(): number | undefined {
    return this.#events[this.#first]?.revision;
  }

  add(event: Event): void {
    this.#events.push(event);
    this.#bytes += event.stored.bytes;
  }

  /** Drops the oldest event and returns its bytes; 0 when there is none. */
  dropOldest(): number {
    const event = this.#events[this.#first];
    if (!event) return 0;
    this.#events[this.#first] = undefined;
    this.#first++;
    this.#floor = event.revision;
    this.#bytes -= event.stored.bytes;
    if (this.#first > 64 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    return event.stored.bytes;
  }

  /** The events after `revision`, oldest first. */
  since(revision: number): Event[] {
    let start = this.#events.length;
    while (start > this.#first && must(this.#events[start - 1], 'an event in range').revision > revision) start--;
    return this.#events.slice(start) as Event[];
  }

  /** Drops all events. The floor stays: the caller has a floor of its own for that. */
  clear(): void {
    this.#events = [];
    this.#first = 0;
    this.#bytes = 0;
  }
}
