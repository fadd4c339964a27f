/**
 * Reads the body of an answer in pieces, as long as the merge takes their lines.
 *
 *   chunk -> the body waits -> a piece -> its lines -> a piece … -> the next chunk
 *                              pause: the other pieces of the chunk wait as bytes
 *
 * Pieces wait as bytes, because their lines would need up to ten times as much memory.
 *
 * Invariants:
 *   - Pieces are taken in the order of the body, each once.
 *   - After an error, an abort or the end, no piece is taken any more.
 */
import type { Readable } from 'node:stream';
import { PortolanError } from '../../base/errors.ts';
import type { Pausable } from './line-queue.ts';
import { pieceBytes, type ReadingTurns } from './reading-turns.ts';

interface BodyReaderParts {
  readonly body: Readable;
  readonly signal: AbortSignal;
  /** Reads each piece in a turn of its own; null: all at once. */
  readonly turns: ReadingTurns | null;
  /** Gets each chunk before its pieces. */
  arrived(bytes: number): void;
  read(piece: Buffer): void;
}

export class BodyReader implements Pausable {
  readonly #parts: BodyReaderParts;
  readonly #end = Promise.withResolvers<void>();
  #pieces: Buffer[] = [];
  #isPaused = false;
  #isInTurn = false;
  #hasEnded = false;
  #isOver = false;

  constructor(parts: BodyReaderParts) {
    this.#parts = parts;
  }

  /** Resolves after the last piece. Rejects after an abort, and if the body is cut off. */
  run(): Promise<void> {
    const { body, signal, arrived } = this.#parts;
    // An abort gives no event on a body that has come whole.
    const abort = (): void => this.#fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    body.on('error', (error) => this.#fail(error));
    body.on('data', (chunk: Buffer) => {
      arrived(chunk.length);
      body.pause();
      for (let at = 0; at < chunk.length; at += pieceBytes) this.#pieces.push(chunk.subarray(at, at + pieceBytes));
      this.#next();
    });
    body.once('end', () => {
      this.#hasEnded = true;
      this.#next();
    });
    body.once('close', () => {
      if (!this.#hasEnded) this.#fail(new PortolanError('UPSTREAM_UNAVAILABLE', 'The log was cut off.'));
    });
    if (body.destroyed && !this.#hasEnded) {
      this.#fail(body.errored ?? new PortolanError('UPSTREAM_UNAVAILABLE', 'The log was cut off.'));
    }
    return this.#end.promise.finally(() => signal.removeEventListener('abort', abort));
  }

  pause(): void {
    this.#isPaused = true;
    this.#parts.body.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#next();
  }

  #next(): void {
    const { body, turns, read, signal } = this.#parts;
    while (!this.#isPaused && !this.#isOver && !signal.aborted) {
      if (this.#pieces.length === 0) {
        if (this.#hasEnded) this.#finish();
        else body.resume();
        return;
      }
      if (turns !== null) {
        this.#takeTurn(turns);
        return;
      }
      const piece = this.#pieces.shift();
      if (piece !== undefined) read(piece);
    }
  }

  #takeTurn(turns: ReadingTurns): void {
    if (this.#isInTurn) return;
    this.#isInTurn = true;
    turns.take(() => {
      this.#isInTurn = false;
      if (this.#isOver || this.#parts.signal.aborted) return;
      const piece = this.#isPaused ? undefined : this.#pieces.shift();
      if (piece !== undefined) this.#parts.read(piece);
      this.#next();
    });
  }

  #finish(): void {
    this.#isOver = true;
    this.#end.resolve();
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#pieces = [];
    this.#end.reject(error);
  }
}
