/**
 * A page of a list on its way through the parse thread. Its bytes are sent there as they come, and no more of them than the parse
 * thread is to have ahead of whoever takes the objects; so the thread works while objects are written, and the page behind this one
 * follows without a gap.
 */
import type { Recipe } from '../../store/types/prepared-object.ts';
import type { ParsedPage, ParsedPart } from '../parse/parse-thread.ts';

export class ParsedListPage {
  /** What its objects were prepared by. */
  readonly recipe: Recipe;
  /** Resolves when all bytes are sent, or no more of them will be; never rejects. */
  readonly sent: Promise<void>;
  readonly #page: ParsedPage;

  /** `look` sees each chunk before it is sent. */
  constructor(
    page: ParsedPage,
    recipe: Recipe,
    body: Promise<AsyncIterable<Buffer>>,
    look: (chunk: Buffer) => void,
    signal: AbortSignal,
  ) {
    this.recipe = recipe;
    this.#page = page;
    this.sent = this.#send(body, look, signal);
  }

  async #send(body: Promise<AsyncIterable<Buffer>>, look: (chunk: Buffer) => void, signal: AbortSignal): Promise<void> {
    try {
      for await (const chunk of await body) {
        look(chunk);
        this.#page.push(chunk);
        await this.#page.room(signal);
      }
      this.#page.end();
    } catch (error) {
      this.#page.fail(error);
    }
  }

  /** The next part. Rejects with what the request or the list failed with, or ParseThreadLost. */
  next(signal: AbortSignal): Promise<ParsedPart> {
    return this.#page.next(signal);
  }

  leave(): void {
    this.#page.leave();
  }
}
