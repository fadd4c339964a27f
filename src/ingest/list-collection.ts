/**
 * LIST and REPLACE: reads a whole collection, page by page, and publishes it in one step.
 *
 *   begin a replace -> pages stream through the slicer into it -> the last page's end -> commit at the first page's resourceVersion
 *
 * Never: commits a set that is not whole; keeps more than a few items in memory; lists at "0" (it may go back in time, and the page
 * limit is ignored); takes up a token that an error answer offers (it would mix two moments).
 *
 * With a known resourceVersion the list must not be older than it. Where the server cannot say so (410, or 504 for a version ahead
 * of its own) the same is asked once without a version; where a later page's token has expired, once without pages.
 */
import { PortolanError } from '../base/errors.ts';
import { must } from '../base/must.ts';
import { apiErrorFromNetwork } from '../kube/api-error.ts';
import type { Query } from '../kube/rest-client.ts';
import type { ApplySummary, IncomingObject, Replace } from '../store/types.ts';
import { Backoff } from './backoff.ts';
import { identified } from './bare-object.ts';
import { collectionPath } from './collection-path.ts';
import { failureOf, inStore, StoreFailure, storeError } from './failure.ts';
import { type ListHead, ListSlicer } from './list-slicer.ts';
import type { SentObject } from './packed-objects.ts';
import { type ParsedPage, ParseThreadLost } from './parse-thread.ts';
import { ProtocolError } from './protocol-error.ts';
import type { ReflectorContext } from './reflector-context.ts';
import { Turns } from './turns.ts';

/** Objects, and characters of them, that are handed to the store at once. */
const putObjects = 64;
const putCharacters = 256 * 1024;

export interface ListRequest {
  /** The list must not be older; null when nothing is known, or the server cannot serve it. */
  readonly notOlderThan: string | null;
  /** True: objects may lack a uid and a resourceVersion. */
  readonly bare: boolean;
  readonly signal: AbortSignal;
}

export interface ListResult {
  /** Of the collection; empty where the server gives none. */
  readonly resourceVersion: string;
  readonly summary: ApplySummary;
}

/** Lists and replaces. Rejects with what failed; then nothing was published. */
export async function listCollection(context: ReflectorContext, request: ListRequest): Promise<ListResult> {
  let notOlderThan = request.notOlderThan;
  let paged = true;
  for (;;) {
    const attempt = new ListAttempt(context, { ...request, notOlderThan }, paged);
    try {
      return await attempt.run();
    } catch (error) {
      if (request.signal.aborted) throw error;
      const { kind } = failureOf(error);
      const first = attempt.pages === 0;
      if (error instanceof ParseThreadLost) continue;
      if (first && notOlderThan !== null && (kind === 'expired' || kind === 'too new')) notOlderThan = null;
      else if (!first && paged && kind === 'expired') paged = false;
      else throw error;
      context.log.debug({ kind, first }, 'the list is tried another way');
    }
  }
}

class ListAttempt {
  /** Pages that were read whole. */
  pages = 0;
  readonly #context: ReflectorContext;
  readonly #request: ListRequest;
  readonly #paged: boolean;
  readonly #turns: Turns;

  constructor(context: ReflectorContext, request: ListRequest, paged: boolean) {
    this.#context = context;
    this.#request = request;
    this.#paged = paged;
    this.#turns = new Turns(context.clock);
  }

  async run(): Promise<ListResult> {
    const { writer, handle } = this.#context;
    const { bare, notOlderThan } = this.#request;
    // Such a list may be of a server that went back in time, and gives its versions a second time.
    const mayBeOlder = notOlderThan === null && !bare;
    const replace = inStore(() => writer.replace(handle, mayBeOlder ? 'compare' : 'trust'));
    let committed = false;
    try {
      const resourceVersion = await this.#readPages(replace);
      this.#request.signal.throwIfAborted();
      const summary = await replace.commit(resourceVersion).catch((error: unknown) => {
        throw storeError(error);
      });
      committed = true;
      return { resourceVersion, summary };
    } finally {
      if (!committed) replace.abort();
    }
  }

  async #readPages(replace: Replace): Promise<string> {
    const { settings } = this.#context;
    const { notOlderThan } = this.#request;
    const limit = this.#paged ? settings.pageSize : undefined;
    const from =
      notOlderThan === null ? {} : { resourceVersion: notOlderThan, resourceVersionMatch: 'NotOlderThan' as const };
    let head = await this.#readPage({ limit, ...from }, replace);
    const { resourceVersion } = head;
    while (head.continueToken !== '') {
      this.pages += 1;
      const before = head.continueToken;
      // A continuation takes neither a version nor how to match it: the token has both.
      head = await this.#readPage({ limit, continue: before }, replace);
      if (head.continueToken === before) {
        throw new ProtocolError('endless list', 'The API server gives the same page of a list again and again.');
      }
    }
    return resourceVersion;
  }

  async #readPage(query: Query, replace: Replace): Promise<ListHead> {
    const { budget, client, handle, settings, resource } = this.#context;
    const { signal } = this.#request;
    const path = collectionPath(resource, handle);
    if (this.pages === 0) await budget.take(handle.id, signal);
    const answer = await this.#patiently(() =>
      client.stream(path, query, { signal, bodyTimeoutMs: settings.listSilenceMs }),
    );
    // Reading goes through the iterator; what comes after it was left is of no interest.
    answer.body.on('error', () => {});
    const chunks = answer.body as AsyncIterable<Buffer>;
    const page = this.#parsedPage(replace);
    try {
      return page === null ? await this.#readHere(chunks, replace) : await this.#readBeside(chunks, page, replace);
    } catch (error) {
      if (signal.aborted || isOurs(error)) throw error;
      throw apiErrorFromNetwork(error, `GET ${path}`);
    } finally {
      page?.leave();
    }
  }

  /** A page of the parse thread, once a list is known to be long; it is parsed here as long as that thread is not there. */
  #parsedPage(replace: Replace): ParsedPage | null {
    const { parser, seen, settings } = this.#context;
    const { recipe } = replace;
    if (parser === undefined || seen !== undefined || recipe === null || this.#request.bare || this.pages === 0)
      return null;
    void parser.warm();
    return parser.page(recipe, settings.maxItemBytes);
  }

  /** Slices and parses in this thread. */
  async #readHere(chunks: AsyncIterable<Buffer>, replace: Replace): Promise<ListHead> {
    const { bare, signal } = this.#request;
    const slicer = new ListSlicer(this.#context.settings.maxItemBytes);
    let batch: IncomingObject[] = [];
    let characters = 0;
    for await (const chunk of chunks) {
      for (const text of slicer.push(chunk)) {
        batch.push(bare ? identified(text) : { text });
        characters += text.length;
        if (batch.length < putObjects && characters < putCharacters) continue;
        this.#put(replace, batch);
        await this.#turns.after(batch.length, signal);
        await replace.room();
        batch = [];
        characters = 0;
      }
    }
    const head = slicer.end();
    if (batch.length > 0) this.#put(replace, batch);
    return head;
  }

  /** Lets the parse thread slice and parse, and puts what comes back. */
  async #readBeside(chunks: AsyncIterable<Buffer>, page: ParsedPage, replace: Replace): Promise<ListHead> {
    const recipe = must(replace.recipe, 'the recipe of a page that is parsed');
    const { signal } = this.#request;
    let waiting: readonly SentObject[] = [];
    const putNext = async (): Promise<ListHead | null> => {
      const { objects, head } = await page.next(signal);
      waiting = [...waiting, ...(objects ?? [])];
      while (waiting.length >= putObjects || (objects === null && waiting.length > 0)) {
        const some = waiting.slice(0, putObjects);
        waiting = waiting.slice(putObjects);
        inStore(() => replace.putPrepared(some, recipe));
        await this.#turns.after(some.length, signal);
        await replace.room();
      }
      return head;
    };
    for await (const chunk of chunks) {
      page.push(chunk);
      while (page.due) await putNext();
    }
    page.end();
    let head = await putNext();
    while (head === null) head = await putNext();
    return head;
  }

  #put(replace: Replace, objects: readonly IncomingObject[]): void {
    inStore(() => replace.put(objects));
    this.#context.seen?.(objects.map((object) => ({ object, deleted: false })));
  }

  /** A later page that is throttled is waited for: what is staged stays good as long as its token does. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, random, settings } = this.#context;
    const backoff = new Backoff(clock, random, settings.backoff);
    for (let tries = 0; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        const failure = failureOf(error);
        if (this.pages === 0 || failure.kind !== 'throttled' || tries === 5) throw error;
        this.#context.budget.hold(this.#context.handle.id, failure.retryAfterSeconds);
        await clock.sleep(backoff.next(failure.retryAfterSeconds), this.#request.signal);
      }
    }
  }
}

/** Errors that say what is wrong themselves; all others are the connection's. */
function isOurs(error: unknown): boolean {
  return error instanceof PortolanError || error instanceof StoreFailure || error instanceof ParseThreadLost;
}
