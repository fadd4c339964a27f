/** The lines of one container that wait for the merge, in the order of the log. */
import type { LogLine, LogPlace } from './log-message.ts';

/** The part of a stream of bytes that a queue holds back. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

interface Waiting {
  readonly key: string;
  readonly line: LogLine;
  /** Milliseconds of the monotonic clock when it came. */
  readonly at: number;
}

/** Characters that a line counts besides its text and time. */
const lineWeight = 200;

export class LineQueue {
  readonly place: LogPlace;
  /** False when its container was removed: its lines are not sent any more. */
  isOpen = true;
  /** Its log is over: the queue goes with its last line. */
  isEnded = false;
  /** No further line comes before a change of the container. */
  isResting = false;
  /** Since when a request waits for its first byte; null while none does. */
  openingSince: number | null = null;
  /** Bytes of the strings, roughly. */
  weight = 0;
  source: Pausable | null = null;
  isPaused = false;
  #lines: Waiting[] = [];
  #first = 0;

  constructor(place: LogPlace) {
    this.place = place;
  }

  get length(): number {
    return this.#lines.length - this.#first;
  }

  get head(): Waiting | undefined {
    return this.#lines[this.#first];
  }

  /** The key of the first line with a time; null without one. A line without a time has the key of a line before it. */
  get firstKey(): string | null {
    return this.#lines.find(({ line }, at) => at >= this.#first && line.time !== null)?.key ?? null;
  }

  push(key: string, line: LogLine, at: number): number {
    this.#lines.push({ key, line, at });
    const weight = weightOf(line);
    this.weight += weight;
    return weight;
  }

  /** Removes the head. */
  shift(): LogLine | undefined {
    const head = this.#lines[this.#first];
    if (head === undefined) return undefined;
    this.#first += 1;
    this.weight -= weightOf(head.line);
    if (this.#first === this.#lines.length) {
      this.#lines = [];
      this.#first = 0;
    } else if (this.#first > 1024 && this.#first * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#first);
      this.#first = 0;
    }
    return head.line;
  }
}

/** Bytes that a line needs in memory, roughly. */
export function weightOf({ text, time }: LogLine): number {
  return (text.length + (time?.length ?? 0)) * 2 + lineWeight;
}
