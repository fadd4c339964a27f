/**
 * A copy of the memory of a seal (file-seal.ts) in a file. Serve processes read the store too, and share no memory with the ingest process.
 *
 *   ingest process     each change of the seal -> the whole copy is written again
 *   serve process      reads the copy -> looks at the store's files -> reads the copy again; only equal counts prove anything
 *
 * A read may meet a write, and have a part of the old copy and a part of the new one. The times stand before the counts of writers. So the
 * second copy has the new time, or its counts differ from those of the first.
 *
 * If the copy cannot be written, it is emptied. Then it proves nothing. An old copy that stays makes serve processes refuse reads. They
 * report nothing: the ingest process looks at the files by itself, and alone decides that the store is made anew.
 */
import { closeSync, ftruncateSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';

export class SealCopy {
  readonly #path: string;
  readonly #bytes: Buffer;
  /** Bytes of the memory that stand last in the file: the counts and the state. */
  readonly #last: number;
  #descriptor: number | null = null;

  /** @param bytes of the memory @param last how many of its first bytes stand last in the file */
  constructor(path: string, bytes: number, last: number) {
    this.#path = path;
    this.#bytes = Buffer.alloc(bytes);
    this.#last = last;
  }

  /** Never throws. */
  write(memory: SharedArrayBuffer): void {
    const from = new Uint8Array(memory);
    this.#bytes.set(from.subarray(this.#last), 0);
    this.#bytes.set(from.subarray(0, this.#last), from.length - this.#last);
    try {
      this.#descriptor ??= openSync(this.#path, 'r+');
      writeSync(this.#descriptor, this.#bytes, 0, this.#bytes.length, 0);
    } catch {
      this.#empty();
    }
  }

  /** False if there is no copy. */
  read(memory: SharedArrayBuffer): boolean {
    try {
      this.#descriptor ??= openSync(this.#path, 'r');
      if (readSync(this.#descriptor, this.#bytes, 0, this.#bytes.length, 0) !== this.#bytes.length) return false;
    } catch {
      return false;
    }
    const into = new Uint8Array(memory);
    into.set(this.#bytes.subarray(0, into.length - this.#last), this.#last);
    into.set(this.#bytes.subarray(into.length - this.#last), 0);
    return true;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #empty(): void {
    try {
      if (this.#descriptor === null) truncateSync(this.#path, 0);
      else ftruncateSync(this.#descriptor, 0);
    } catch {
      // Then the next write of Portolan seems to be that of another program, and serve processes refuse reads.
    }
  }
}
