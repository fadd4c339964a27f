/**
 * Splits a stream of bytes into lines at 0x0A.
 *
 * Works on bytes, so a character may be cut anywhere by the network, and U+2028 (which servers that are not written in Go leave
 * unescaped) is no end of a line. A JSON text never has a bare 0x0A inside.
 *
 *   chunk -> push -> whole lines (views into the chunk where that is possible) ; the rest waits for the next chunk
 *
 * Never: keeps more than one line's limit in memory.
 */
import { ProtocolError } from './protocol-error.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;

/** 16 MiB: objects are held to 1.5 MiB by etcd, and a DELETED event carries one of them. */
const defaultMaxLineBytes = 16 * 1024 * 1024;

export class LineFramer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #pending = 0;

  constructor(maxBytes: number = defaultMaxLineBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a line that has not ended yet. At the end of the stream this must be 0, else the stream was cut. */
  get pending(): number {
    return this.#pending;
  }

  /**
   * The lines that this chunk completes, without their newline; empty ones are left out.
   * Lazy: a line over the limit throws a ProtocolError only when the lines before it have been taken.
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
      'line too long',
      `The API server sent a line of more than ${this.#maxBytes} bytes: find the oversized object and make it smaller.`,
    );
  }
}
