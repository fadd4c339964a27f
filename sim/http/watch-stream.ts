/**
 * One watch: a response that stays open and carries one JSON line for each event.
 *
 * - Start: the events in history after the requested revision. Without one (or with 0), synthetic ADDED events. A streaming list
 *   then adds a bookmark.
 * - Then: live events in revision order, collected for one turn of the event loop and written together.
 * - Clean end: the timeout passes (after one last bookmark), the resource is withdrawn, or more than `maxBuffered` bytes wait for
 *   a slow client.
 * - Cut: the client disconnects, the server closes or becomes unavailable, or a test drops the watches.
 *
 * With a selector, an object that starts to match is ADDED, and one that stops matching is DELETED.
 * Never: sends an event at or below the requested revision, or an event twice.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../src/base/clock.ts';
import { awaitRevision, isSelected } from '../api/list-objects.ts';
import type { ObjectStore, Stored, StoreEvent } from '../objects/object-store.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';
import type { FieldPredicate } from '../resources/field-selector.ts';
import type { LabelPredicate } from '../resources/label-selector.ts';
import { apiVersionOf, type ServedResource } from '../resources/served-resource.ts';
import type { InitialEvents } from './request-options.ts';

interface WatchQuery {
  readonly namespace: string | undefined;
  readonly labels: LabelPredicate | undefined;
  readonly fields: FieldPredicate | undefined;
  readonly resourceVersion: string;
  readonly allowBookmarks: boolean;
  readonly timeoutMs: number;
  /** `sent` makes a streaming list: all objects first, then the bookmark that marks the end of the list. */
  readonly initialEvents: InitialEvents;
}

interface WatchSettings {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly bookmarkMs: number;
  /** Writes lines to the response. */
  readonly wire: { write(lines: string): void };
  /** How a version is serialized: complete, or its metadata only. */
  readonly textOf: (stored: Stored) => string;
  /** Whether an expired revision is answered as HTTP 410 rather than as an ERROR event. */
  readonly expiredAsHttp: boolean;
}

const maxBuffered = 32 * 1024 * 1024;

export class WatchStream {
  readonly resource: ServedResource;
  readonly #response: ServerResponse;
  readonly #query: WatchQuery;
  readonly #settings: WatchSettings;
  readonly #ended = new AbortController();
  #unsubscribe: (() => void) | undefined;
  #pending = '';
  #scheduled = false;
  #sentRevision = 0;

  constructor(response: ServerResponse, resource: ServedResource, query: WatchQuery, settings: WatchSettings) {
    this.#response = response;
    this.resource = resource;
    this.#query = query;
    this.#settings = settings;
  }

  /** Starts the stream; throws a Status before anything is written when the request fails. `onEnd` is called once. */
  start(onEnd: () => void): void {
    const { store, expiredAsHttp } = this.#settings;
    const { resourceVersion, initialEvents } = this.#query;
    const from = Number(resourceVersion);
    const fromState = initialEvents === 'sent' || from === 0;
    const missed = fromState ? [] : store.eventsSince(this.resource.storage, from);
    const expired = statusErrors.expired(`too old resource version: ${from} (${store.revision})`);
    if (!missed && expiredAsHttp) throw expired;
    this.#response.on('close', () => {
      this.end();
      onEnd();
    });
    this.#response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
    this.#response.flushHeaders();
    if (!missed) this.#fail(expired);
    else if (!fromState) this.#follow(from, missed);
    else if (from > store.revision) void this.#followState(from);
    else this.#follow(store.revision, []);
  }

  /** Waits for a future revision, then follows; sends a 504 in the stream when it is not reached in time. */
  async #followState(from: number): Promise<void> {
    const { store, clock } = this.#settings;
    try {
      await awaitRevision(store, clock, from);
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#ended.signal.aborted) this.#follow(store.revision, []);
  }

  /** Sends the initial events, then live events after this revision. */
  #follow(from: number, missed: readonly StoreEvent[]): void {
    const { initialEvents, resourceVersion } = this.#query;
    this.#sentRevision = from;
    if (initialEvents === 'sent' || (initialEvents === 'by version' && Number(resourceVersion) === 0))
      this.#sendState();
    for (const event of missed) this.#onEvent(event);
    this.#unsubscribe = this.#settings.store.subscribe(this.resource.storage, (event) => this.#onEvent(event));
    void this.#tick();
  }

  /** Sends an ERROR event and ends. */
  #fail(error: unknown): void {
    if (!(error instanceof StatusError)) throw error;
    this.#push(`{"type":"ERROR","object":${JSON.stringify(error.status)}}\n`);
    this.end();
  }

  /** Ends the body cleanly after the pending lines. Idempotent. */
  end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#unsubscribe?.();
    if (this.#pending !== '') this.#settings.wire.write(this.#pending);
    this.#pending = '';
    this.#response.end();
  }

  /** Destroys the connection at once; pending lines are lost. */
  cut(): void {
    this.#ended.abort();
    this.#unsubscribe?.();
    this.#pending = '';
    this.#response.destroy();
  }

  #sendState(): void {
    const { store } = this.#settings;
    const { namespace, labels, fields, initialEvents, allowBookmarks } = this.#query;
    for (const stored of store.list(this.resource.storage, namespace)) {
      if (isSelected(stored, labels, fields)) this.#send('ADDED', stored);
    }
    if (initialEvents === 'sent' && allowBookmarks) this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  #onEvent(event: StoreEvent): void {
    const { namespace, labels, fields } = this.#query;
    if (event.revision <= this.#sentRevision) return;
    if (namespace !== undefined && event.stored.namespace !== namespace) return;
    this.#sentRevision = event.revision;
    if (!labels && !fields) {
      this.#send(event.type, event.stored);
      return;
    }
    const now = event.type !== 'DELETED' && isSelected(event.stored, labels, fields);
    const before = event.previous !== undefined && isSelected(event.previous, labels, fields);
    if (now) this.#send(before ? 'MODIFIED' : 'ADDED', event.stored);
    else if (before) this.#sendLeaving(event);
  }

  /** Sends the last version that matched, with the revision at which it stopped matching. */
  #sendLeaving(event: StoreEvent): void {
    if (event.type === 'DELETED') {
      this.#send('DELETED', event.stored);
      return;
    }
    const text = this.#settings.textOf(event.previous ?? event.stored);
    const revision = `"resourceVersion":"${event.revision}"`;
    const old = `"resourceVersion":"${event.previous?.revision}"`;
    this.#push(`{"type":"DELETED","object":${text.replace(old, revision)}}\n`);
  }

  #send(type: string, stored: Stored): void {
    this.#push(`{"type":"${type}","object":${this.#settings.textOf(stored)}}\n`);
  }

  /** No bookmark below the requested revision: until the store reaches it, the watch is silent, as on real servers. */
  #bookmark(annotations?: Record<string, string>): void {
    if (this.#settings.store.revision < this.#sentRevision) return;
    const { kind } = this.resource;
    const metadata = { resourceVersion: String(this.#settings.store.revision), annotations };
    const object = { kind, apiVersion: apiVersionOf(this.resource), metadata };
    this.#push(`{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`);
    this.#sentRevision = this.#settings.store.revision;
  }

  #push(line: string): void {
    this.#pending += line;
    if (this.#pending.length > 1_048_576) this.#flush();
    if (this.#scheduled || this.#pending === '') return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#pending === '' || this.#ended.signal.aborted) return;
    this.#settings.wire.write(this.#pending);
    this.#pending = '';
    if (this.#response.writableLength > maxBuffered) this.end();
  }

  /** Sends bookmarks, and ends the watch at its deadline. */
  async #tick(): Promise<void> {
    const { clock, bookmarkMs } = this.#settings;
    const { signal } = this.#ended;
    const deadline = clock.monotonic() + this.#query.timeoutMs;
    try {
      for (;;) {
        const left = deadline - clock.monotonic();
        const pause = this.#query.allowBookmarks ? Math.min(bookmarkMs, left) : left;
        await clock.sleep(Math.max(0, pause), signal);
        if (this.#query.allowBookmarks) this.#bookmark();
        if (clock.monotonic() >= deadline) return this.end();
      }
    } catch {
      // The watch has ended.
    }
  }
}
