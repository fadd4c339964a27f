/**
 * LIST and REPLACE: reads a whole collection, page by page, and publishes it in one step.
 *
 *   begin a replace -> pages stream through the slicer into it -> the last page's end -> commit at the first page's resourceVersion
 *                        each page's head: the next one is asked for
 *
 * Never: commits a set that is not whole; keeps more than a few items in memory; lists at "0" (it may go back in time, and the page
 * limit is ignored); takes up a token that an error answer offers (it would mix two moments).
 *
 * With a known resourceVersion the list must not be older than it. Where the server cannot say so (410, or 504 for a version ahead
 * of its own) the same is asked once without a version; where a later page's token has expired, once without pages.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Query } from '../../kube/client/rest-client.ts';
import { apiErrorFromNetwork } from '../../kube/http/api-error.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';
import type { ApplySummary, Replace } from '../../store/types/writer.ts';
import { identified } from '../bytes/bare-object.ts';
import { type ListHead, ListSlicer } from '../bytes/list-slicer.ts';
import type { SentObject } from '../bytes/packed-objects.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { Backoff } from '../flow/backoff.ts';
import { BatchYield } from '../flow/batch-yield.ts';
import { failureOf, inStore, StoreFailure, storeError } from '../flow/failure.ts';
import { ParseThreadLost } from '../parse/parse-thread.ts';
import { ParsedListPage } from './parsed-list-page.ts';
import { RequestedPage } from './requested-page.ts';

/** Objects, and bytes of them, that are handed to the store at once: those that it writes together, or fewer. */
const putObjects = 65;
const putBytes = 256 * 1024;

interface ListRequest {
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

/** A page on its way. */
interface ComingPage {
  readonly requested: RequestedPage;
  /** Where its bytes are on their way through the parse thread, too. */
  parsed: ParsedListPage | null;
  /** The token of the page behind it; null as long as it is not known. */
  token: string | null;
}

class ListAttempt {
  /** Pages that were read whole. */
  pages = 0;
  readonly #context: ReflectorContext;
  readonly #request: ListRequest;
  readonly #paged: boolean;
  readonly #yield: BatchYield;
  /** The page behind the one that is being read. */
  #next: ComingPage | null = null;
  #over = false;

  constructor(context: ReflectorContext, request: ListRequest, paged: boolean) {
    this.#context = context;
    this.#request = request;
    this.#paged = paged;
    this.#yield = new BatchYield(context.clock);
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
      this.#over = true;
      if (this.#next !== null) leave(this.#next);
      if (!committed) replace.abort();
    }
  }

  async #readPages(replace: Replace): Promise<string> {
    const { notOlderThan } = this.#request;
    const from =
      notOlderThan === null ? {} : { resourceVersion: notOlderThan, resourceVersionMatch: 'NotOlderThan' as const };
    let page: ComingPage = comingPage(this.#ask('', from));
    const first = await this.#readPage(page, replace);
    for (let head = first; head.continueToken !== ''; head = await this.#readPage(page, replace)) {
      this.pages += 1;
      if (head.continueToken === page.requested.token) {
        throw new ProtocolError('endless list', 'The API server gives the same page of a list again and again.');
      }
      page = this.#take(head.continueToken);
    }
    return first.resourceVersion;
  }

  #ask(token: string, from: Query): RequestedPage {
    const { budget, client, handle, settings, resource } = this.#context;
    const path = collectionPath(resource, handle);
    const query = { limit: this.#paged ? settings.pageSize : undefined, ...from };
    const isFirst = token === '';
    return new RequestedPage(token, this.#request.signal, async (signal) => {
      if (isFirst) await budget.take(handle.id, signal);
      const options = { signal, bodyTimeoutMs: settings.listSilenceMs };
      const answer = await this.#patiently(isFirst, signal, () => client.stream(path, query, options));
      return answer.body;
    });
  }

  /** A continuation takes neither a version nor how to match it: the token has both. */
  #askNext(token: string): ComingPage {
    return comingPage(this.#ask(token, { continue: token }));
  }

  /** Asks for the page behind this one, once its token is known: one page ahead of the one that is being read. */
  #lookAhead({ requested, token }: ComingPage): void {
    if (this.#over || token === null || token === '' || token === requested.token || this.#next !== null) return;
    this.#next = this.#askNext(token);
  }

  /** The next page, which has been asked for where its token was known before the items. */
  #take(token: string): ComingPage {
    const next = this.#next;
    this.#next = null;
    if (next?.requested.token === token) return next;
    if (next !== null) leave(next);
    return this.#askNext(token);
  }

  async #readPage(page: ComingPage, replace: Replace): Promise<ListHead> {
    const { handle, resource } = this.#context;
    try {
      if (this.pages > 0) this.#sendBeside(page, replace);
      this.#lookAhead(page);
      if (page.parsed === null) return await this.#readHere(page, replace);
      page.parsed.sent
        .then(() => {
          if (!this.#over && this.#next !== null) this.#sendBeside(this.#next, replace);
        })
        // Where it cannot be begun now, it is tried again when its turn has come.
        .catch(() => {});
      return await this.#readParsed(page.parsed, replace);
    } catch (error) {
      if (this.#request.signal.aborted || isOurs(error)) throw error;
      throw apiErrorFromNetwork(error, `GET ${collectionPath(resource, handle)}`);
    } finally {
      leave(page);
    }
  }

  /** Sends a page through the parse thread, once a list is known to be long. Where that thread is not there (yet), it is parsed here. */
  #sendBeside(coming: ComingPage, replace: Replace): void {
    const { parser, seen, settings } = this.#context;
    const { bare, signal } = this.#request;
    const { recipe } = replace;
    if (coming.parsed !== null || parser === undefined || seen !== undefined || recipe === null || bare) return;
    void parser.warm();
    const page = parser.page(recipe, settings.maxItemBytes);
    if (page === null) return;
    let looked = false;
    const look = (chunk: Buffer): void => {
      if (looked) return;
      looked = true;
      coming.token = tokenIn(chunk);
      this.#lookAhead(coming);
    };
    coming.parsed = new ParsedListPage(page, recipe, coming.requested.body(), look, signal);
  }

  /** Slices and parses in this thread. */
  async #readHere(page: ComingPage, replace: Replace): Promise<ListHead> {
    const { bare, signal } = this.#request;
    const slicer = new ListSlicer(this.#context.settings.maxItemBytes);
    let batch: IncomingObject[] = [];
    let bytes = 0;
    for await (const chunk of await page.requested.body()) {
      for (const item of slicer.push(chunk)) {
        page.token ??= slicer.nextToken;
        this.#lookAhead(page);
        batch.push(bare ? identified(item.text) : item);
        bytes += item.bytes.length;
        if (batch.length < putObjects && bytes < putBytes) continue;
        this.#put(replace, batch);
        await this.#yield.after(batch.length, signal);
        await replace.room();
        batch = [];
        bytes = 0;
      }
    }
    const head = slicer.end();
    if (batch.length > 0) this.#put(replace, batch);
    return head;
  }

  /** Puts what comes back from the parse thread. */
  async #readParsed(page: ParsedListPage, replace: Replace): Promise<ListHead> {
    const { signal } = this.#request;
    let waiting: readonly SentObject[] = [];
    for (;;) {
      const { objects, head } = await page.next(signal);
      waiting = [...waiting, ...(objects ?? [])];
      while (waiting.length >= putObjects || (objects === null && waiting.length > 0)) {
        const some = waiting.slice(0, putObjects);
        waiting = waiting.slice(putObjects);
        inStore(() => replace.putPrepared(some, page.recipe));
        await this.#yield.after(some.length, signal);
        await replace.room();
      }
      if (head !== null) return head;
    }
  }

  #put(replace: Replace, objects: readonly IncomingObject[]): void {
    inStore(() => replace.put(objects));
    this.#context.seen?.(objects.map((object) => ({ object, deleted: false })));
  }

  /** A later page that is throttled is waited for: what is staged stays good as long as its token does. */
  async #patiently<T>(isFirst: boolean, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const { clock, random, settings } = this.#context;
    const backoff = new Backoff(clock, random, settings.backoff);
    for (let tries = 0; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        const failure = failureOf(error);
        if (isFirst || failure.kind !== 'throttled' || tries === 5) throw error;
        this.#context.budget.hold(this.#context.handle.id, failure.retryAfterSeconds);
        await clock.sleep(backoff.next(failure.retryAfterSeconds), signal);
      }
    }
  }
}

function comingPage(requested: RequestedPage): ComingPage {
  return { requested, parsed: null, token: null };
}

function leave({ requested, parsed }: ComingPage): void {
  parsed?.leave();
  requested.leave();
}

/** The token of the next page, where a body's first chunk has it. */
function tokenIn(chunk: Buffer): string | null {
  const slicer = new ListSlicer();
  slicer.push(chunk).next();
  return slicer.nextToken;
}

/** Errors that say what is wrong themselves; all others are the connection's. */
function isOurs(error: unknown): boolean {
  return error instanceof PortolanError || error instanceof StoreFailure || error instanceof ParseThreadLost;
}
