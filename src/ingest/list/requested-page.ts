/**
 * A page request of a list. The next page is requested as soon as its token is known, which hides the server's latency. Its
 * bytes stay in the connection until they are read; the socket buffers limit their number.
 *
 *   requested -> body: read to its end | leave: the page is cancelled
 */
import type { Readable } from 'node:stream';

export class RequestedPage {
  /** The continue token of the request; empty for the first page. */
  readonly token: string;
  readonly #body: Promise<Readable>;
  readonly #left = new AbortController();

  /** Calls `send` at once. `signal` or `leave` aborts the request. */
  constructor(token: string, signal: AbortSignal, send: (signal: AbortSignal) => Promise<Readable>) {
    this.token = token;
    this.#body = send(AbortSignal.any([signal, this.#left.signal]));
    // Prevents an unhandled rejection: a reader gets the error from `body`, and an unread page may fail silently.
    this.#body.then(
      (body) => body.on('error', () => {}),
      () => {},
    );
  }

  /** The bytes of the page. Rejects with the failure of the request. */
  body(): Promise<AsyncIterable<Buffer>> {
    return this.#body;
  }

  leave(): void {
    this.#left.abort();
  }
}
