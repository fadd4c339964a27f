/**
 * A page of a list that the parse thread parses. Bytes are sent as they arrive, up to the parse thread's limit of unread
 * bytes. So the thread parses while objects are written, and the next page follows without a gap.
 */
import type { Recipe } from '../../store/types/prepared-object.ts';
import type { ParsedPage, ParsedPart } from '../parse/parse-thread.ts';

export class ParsedListPage {
  /** The recipe that prepared its objects. */
  readonly recipe: Recipe;
  /** Resolves when no more bytes will be sent; never rejects. */
  readonly sent: Promise<void>;
  readonly #page: ParsedPage;

  /** Calls `onChunk` with each chunk before it is sent. */
  constructor(
    page: ParsedPage,
    recipe: Recipe,
    body: Promise<AsyncIterable<Buffer>>,
    onChunk: (chunk: Buffer) => void,
    signal: AbortSignal,
  ) {
    this.recipe = recipe;
    this.#page = page;
    this.sent = this.#send(body, onChunk, signal);
  }

  async #send(
    body: Promise<AsyncIterable<Buffer>>,
    onChunk: (chunk: Buffer) => void,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for await (const chunk of await body) {
        onChunk(chunk);
        this.#page.push(chunk);
        await this.#page.room(signal);
      }
      this.#page.end();
    } catch (error) {
      this.#page.fail(error);
    }
  }

  /** The next part. Rejects with the failure of the request or the list, or with ParseThreadLost. */
  next(signal: AbortSignal): Promise<ParsedPart> {
    return this.#page.next(signal);
  }

  leave(): void {
    this.#page.leave();
  }
}
