/** The body of an answer of the model's server: pieces that are given one by one, when the reader asks for the next. */
import { Readable } from 'node:stream';

type Piece = Buffer | 'end' | Error;

export class ModelBody extends Readable {
  readonly #pieces: Piece[] = [];
  #wanted = false;

  constructor(signal: AbortSignal | undefined) {
    // One piece ahead of the reader at the most: what waits, waits in the server.
    super({ highWaterMark: 1 });
    this.on('error', () => {});
    const onAbort = (): void => void this.destroy(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.on('close', () => signal?.removeEventListener('abort', onAbort));
  }

  write(bytes: string | Buffer): void {
    this.#add(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  }

  end(): void {
    this.#add('end');
  }

  /** The connection breaks off behind what was written. */
  reset(): void {
    this.#add(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  }

  override _read(): void {
    this.#wanted = true;
    this.#give();
  }

  #add(piece: Piece): void {
    this.#pieces.push(piece);
    this.#give();
  }

  #give(): void {
    if (!this.#wanted || this.destroyed) return;
    const piece = this.#pieces.shift();
    if (piece === undefined) return;
    this.#wanted = false;
    if (piece instanceof Error) this.destroy(piece);
    else this.push(piece === 'end' ? null : piece);
  }
}
