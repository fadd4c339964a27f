/**
 * LIST and REPLACE: reads a whole collection, page by page, and publishes it in one step.
 *
 *   begin a replace
 *     -> each page: its items go through the slicer into the replace
 *     -> end of the last page
 *     -> commit at the first page's resourceVersion
 *
 * The next page is requested as soon as its token is known.
 *
 * It never commits an incomplete set and never keeps more than a few items in memory. It never lists with resourceVersion=0,
 * because the answer may be older than the stored objects and may ignore `limit`. It never uses a token from an error response,
 * which would mix two versions.
 *
 * With a known resourceVersion the list must not be older. A server may be unable to serve that version: 410, or 504 for a
 * version newer than its own. Then the list is repeated once without a version. If the token of a later page has expired,
 * the list is repeated once without pages.
 */

import { Backoff } from '../../base/backoff.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Query } from '../../kube/client/rest-client.ts';
import { apiErrorFromNetwork } from '../../kube/http/api-error.ts';
import { orApiService } from '../../kube/http/api-service.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';
import type { ApplySummary, Replace } from '../../store/types/writer.ts';
import { identified } from '../bytes/bare-object.ts';
import { type ListHead, ListSlicer } from '../bytes/list-slicer.ts';
import type { SentObject } from '../bytes/packed-objects.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { collectionPath } from '../context/collections.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { BatchYield } from '../flow/batch-yield.ts';
import { failureOf, inStore, StoreFailure, storeError } from '../flow/failure.ts';
import { ParseThreadLost } from '../parse/parse-thread.ts';
import { ParsedListPage } from './parsed-list-page.ts';
import { RequestedPage } from './requested-page.ts';

/** Maximum objects and bytes per call to the store; at most one write batch. */
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
  /** The collection's resourceVersion; empty if the server sends none. */
  readonly resourceVersion: string;
  readonly summary: ApplySummary;
}

/** Lists and replaces. Rejects with the failure; nothing is published then. */
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

/** A page in progress. */
interface ComingPage {
  readonly requested: RequestedPage;
  /** Set if its bytes also go through the parse thread. */
  parsed: ParsedListPage | null;
  /** The token of the next page; null until it is known. */
  token: string | null;
}

class ListAttempt {
  /** Pages read to their end. */
  pages = 0;
  readonly #context: ReflectorContext;
  readonly #request: ListRequest;
  readonly #paged: boolean;
  readonly #yield: BatchYield;
  /** The page request that runs ahead of the current page. */
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
    // An unversioned list may come from a restored storage, which assigns the same versions again.
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
    let page: ComingPage = comingPage(this.#requestPage('', from));
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

  #requestPage(token: string, from: Query): RequestedPage {
    const { budget, client, handle, settings, resource } = this.#context;
    const path = collectionPath(resource, handle);
    const query = { limit: this.#paged ? settings.pageSize : undefined, ...from };
    const isFirst = token === '';
    return new RequestedPage(token, this.#request.signal, async (signal) => {
      if (isFirst) await budget.take(handle.id, signal);
      const options = { signal, bodyTimeoutMs: settings.listSilenceMs };
      const answer = await this.#retryThrottled(isFirst, signal, () => client.stream(path, query, options));
      this.#context.slot?.received();
      return answer.body;
    });
  }

  /** A continuation has neither resourceVersion nor resourceVersionMatch: the token contains both. */
  #requestNext(token: string): ComingPage {
    return comingPage(this.#requestPage(token, { continue: token }));
  }

  /** Requests the next page once its token is known: one page ahead of the current one. */
  #lookAhead({ requested, token }: ComingPage): void {
    if (this.#over || token === null || token === '' || token === requested.token || this.#next !== null) return;
    this.#next = this.#requestNext(token);
  }

  /** The next page; already requested if its token came before the items. */
  #take(token: string): ComingPage {
    const next = this.#next;
    this.#next = null;
    if (next?.requested.token === token) return next;
    if (next !== null) leave(next);
    return this.#requestNext(token);
  }

  async #readPage(page: ComingPage, replace: Replace): Promise<ListHead> {
    const { handle, resource } = this.#context;
    try {
      if (this.pages > 0) this.#sendToParser(page, replace);
      this.#lookAhead(page);
      if (page.parsed === null) return await this.#readHere(page, replace);
      page.parsed.sent
        .then(() => {
          if (!this.#over && this.#next !== null) this.#sendToParser(this.#next, replace);
        })
        // If this fails, #readPage tries again when the page is the current one.
        .catch(() => {});
      return await this.#readParsed(page.parsed, replace);
    } catch (error) {
      const path = collectionPath(resource, handle);
      if (this.#request.signal.aborted) throw error;
      if (error instanceof ProtocolError) throw ofRequest(error, path);
      throw isOurs(error) ? error : apiErrorFromNetwork(error, `GET ${path}`);
    } finally {
      leave(page);
    }
  }

  /** Sends a page through the parse thread, once a list is known to be long. Parses it here if that thread is not ready. */
  #sendToParser(coming: ComingPage, replace: Replace): void {
    const { parser, seen, settings } = this.#context;
    const { bare, signal } = this.#request;
    const { recipe } = replace;
    if (coming.parsed !== null || parser === undefined || seen !== undefined || recipe === null || bare) return;
    void parser.warm();
    const page = parser.page(recipe, settings.maxItemBytes);
    if (page === null) return;
    let sawFirst = false;
    const onChunk = (chunk: Buffer): void => {
      this.#context.slot?.received();
      if (sawFirst) return;
      sawFirst = true;
      coming.token = tokenIn(chunk);
      this.#lookAhead(coming);
    };
    coming.parsed = new ParsedListPage(page, recipe, coming.requested.body(), onChunk, signal);
  }

  /** Slices and parses in this thread. */
  async #readHere(page: ComingPage, replace: Replace): Promise<ListHead> {
    const { bare, signal } = this.#request;
    const slicer = new ListSlicer(this.#context.settings.maxItemBytes);
    let batch: IncomingObject[] = [];
    let bytes = 0;
    for await (const chunk of await page.requested.body()) {
      this.#context.slot?.received();
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

  /** Stores the objects from the parse thread. */
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

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, slot } = this.#context;
    if (slot !== undefined) slot.resting = true;
    await clock.sleep(ms, signal);
    if (slot === undefined) return;
    slot.resting = false;
    slot.received();
  }

  /** Repeats the request of a later page that is throttled: the staged objects stay valid as long as the token does. */
  async #retryThrottled<T>(isFirst: boolean, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const { clock, random, settings } = this.#context;
    const backoff = new Backoff(clock, random, settings.backoff);
    for (let tries = 0; ; tries += 1) {
      try {
        return await send();
      } catch (error) {
        const failure = failureOf(error);
        if (isFirst || failure.kind !== 'throttled' || tries === 5) throw error;
        this.#context.budget.hold(this.#context.handle.id, failure.retryAfterSeconds);
        await this.#rest(backoff.next(failure.retryAfterSeconds), signal);
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

/** The error with the request in its message. */
function ofRequest({ cause, message, reason }: ProtocolError, path: string): ProtocolError {
  return new ProtocolError(reason, `GET ${path}: ${message.replace(/\.$/, '')}${orApiService(path)}.`, cause);
}

/** The token of the next page, if the first chunk of a body contains it. */
function tokenIn(chunk: Buffer): string | null {
  const slicer = new ListSlicer();
  slicer.push(chunk).next();
  return slicer.nextToken;
}

/** Errors with a specific cause; all others are connection errors. */
function isOurs(error: unknown): boolean {
  return error instanceof PortolanError || error instanceof StoreFailure || error instanceof ParseThreadLost;
}
