/**
 * One watch: a response that stays open and carries one JSON line for each event.
 *
 * Life: the events after the asked revision that are still in history (or synthetic ADDED events and, for streaming
 * lists, the closing bookmark) -> live events in revision order, gathered for one turn of the event loop and written at
 * once -> the end: the client leaves, the timeout passes (after one last bookmark), the resource is withdrawn, the
 * server closes, or the client reads so slowly that more than `maxBuffered` bytes wait; all but the first are a clean
 * end of the body. With a selector, an object that comes to match is ADDED, one that ceases to match is DELETED.
 * Never: sends an event at or below the asked revision, or an event twice.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { awaitRevision, isSelected } from '../api/list-objects.ts';
import type { ObjectStore, Stored, StoreEvent } from '../objects/object-store.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';
import type { FieldPredicate } from '../resources/field-selector.ts';
import type { LabelPredicate } from '../resources/label-selector.ts';
import { apiVersionOf, type ServedResource } from '../resources/served-resource.ts';
import type { InitialEvents } from './request-options.ts';

export interface WatchQuery {
  readonly namespace: string | undefined;
  readonly labels: LabelPredicate | undefined;
  readonly fields: FieldPredicate | undefined;
  readonly resourceVersion: string;
  readonly allowBookmarks: boolean;
  readonly timeoutMs: number;
  /** `sent` makes a streaming list: the state first, then the bookmark that says it is complete. */
  readonly initialEvents: InitialEvents;
}

export interface WatchSettings {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly bookmarkMs: number;
  /** What carries lines to the response. */
  readonly wire: { write(lines: string): void };
  /** How a version is written: as it is, or its metadata only. */
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

  /** Starts the stream; throws the Status of a refusal before anything is written. `onEnd` is called once. */
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

  /** Waits for a revision of the future, then follows; a 504 inside the stream when it does not come. */
  async #followState(from: number): Promise<void> {
    const { store, clock } = this.#settings;
    try {
      await awaitRevision(store, clock, from);
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#ended.signal.aborted) this.#follow(store.revision, []);
  }

  /** The beginning, then live events after this revision. */
  #follow(from: number, missed: readonly StoreEvent[]): void {
    const { initialEvents, resourceVersion } = this.#query;
    this.#sentRevision = from;
    if (initialEvents === 'sent' || (initialEvents === 'by version' && Number(resourceVersion) === 0))
      this.#sendState();
    for (const event of missed) this.#onEvent(event);
    this.#unsubscribe = this.#settings.store.subscribe(this.resource.storage, (event) => this.#onEvent(event));
    void this.#tick();
  }

  /** An ERROR event, and the end. */
  #fail(error: unknown): void {
    if (!(error instanceof StatusError)) throw error;
    this.#push(`{"type":"ERROR","object":${JSON.stringify(error.status)}}\n`);
    this.end();
  }

  /** Ends the body cleanly after what has been gathered. Idempotent. */
  end(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#unsubscribe?.();
    if (this.#pending !== '') this.#settings.wire.write(this.#pending);
    this.#pending = '';
    this.#response.end();
  }

  /** Cuts the connection in the middle of whatever it was doing. */
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

  /** The object as it was while it matched, with the revision at which it left. */
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

  /** Nothing below what was asked for: a watch from a revision that is not reached yet is silent until then, as real servers are. */
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

  /** Bookmarks and the deadline. */
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
      // Ended: nothing is left to do.
    }
  }
}
