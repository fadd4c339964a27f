/**
 * A page of a list that was asked for. The page behind the one that is being read is asked for as soon as its token is known, so that
 * the server is not waited for: what it sends stands in the connection until it is read, and no more than fits there.
 *
 *   asked -> body: read to its end | leave: nobody wants it any more
 */
import type { Readable } from 'node:stream';

export class RequestedPage {
  /** What it was asked for by; empty for the first page. */
  readonly token: string;
  readonly #body: Promise<Readable>;
  readonly #left = new AbortController();

  /** `ask` begins at once, and ends with `signal` or when the page is left. */
  constructor(token: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<Readable>) {
    this.token = token;
    this.#body = ask(AbortSignal.any([signal, this.#left.signal]));
    // Who reads the page hears of what went wrong by reading; where nobody does, nothing did.
    this.#body.then(
      (body) => body.on('error', () => {}),
      () => {},
    );
  }

  /** The bytes of the page. Rejects with what the request failed with. */
  body(): Promise<AsyncIterable<Buffer>> {
    return this.#body;
  }

  leave(): void {
    this.#left.abort();
  }
}
