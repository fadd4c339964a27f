/**
 * Splits a stream of bytes into lines at 0x0A.
 *
 * It works on bytes, so the network may split a character anywhere. U+2028 does not end a line; servers not written in Go
 * leave it unescaped. A JSON text never has a bare 0x0A inside.
 *
 *   chunk -> push -> whole lines (views into the chunk if possible); an unfinished line waits for the next chunk
 *
 * Example: the chunks `{"a":1}\n{"b` and `":2}\n` give `{"a":1}`, then `{"b":2}`.
 *
 * It stores at most one unfinished line, up to the maximum line length.
 */
import { lineTooLong, ProtocolError } from './protocol-error.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;

/** 16 MiB: etcd limits objects to 1.5 MiB, and a DELETED event contains one object. */
const defaultMaxLineBytes = 16 * 1024 * 1024;

export class LineFramer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #pending = 0;

  constructor(maxBytes: number = defaultMaxLineBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the unfinished line. If this is not 0 at the end of the stream, the stream was cut. */
  get pending(): number {
    return this.#pending;
  }

  /**
   * The lines that this chunk completes, without their newline; empty lines are skipped. Lazy: a line over the limit throws
   * a ProtocolError only after the lines before it were taken.
   */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    for (;;) {
      const at = chunk.indexOf(newline, from);
      if (at === -1) break;
      const line = this.#complete(chunk.subarray(from, at));
      from = at + 1;
      if (line.length > 0) yield line;
    }
    if (from === chunk.length) return;
    this.#check(chunk.length - from);
    this.#parts.push(chunk.subarray(from));
    this.#pending += chunk.length - from;
  }

  #complete(end: Buffer): Buffer {
    this.#check(end.length);
    let line = end;
    if (this.#pending > 0) {
      line = Buffer.concat([...this.#parts, end]);
      this.#parts = [];
      this.#pending = 0;
    }
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
  }

  #check(more: number): void {
    if (this.#pending + more <= this.#maxBytes) return;
    throw new ProtocolError(
      lineTooLong,
      `The API server sent a line of more than ${this.#maxBytes} bytes: find the oversized object and make it smaller.`,
    );
  }
}
