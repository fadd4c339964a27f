/**
 * The events of a watch as an API server sends them: a JSON object a line.
 *
 *   {"type":"ADDED","object":{…}}
 *
 * While the client does not take what was written, nothing more is made for it. After `patienceMs` without progress it is cut off.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { ShadowResource } from '../sets/shadow-resource.ts';
import { type ShowOptions, showBookmark, showOne } from '../show/shown-sets.ts';
import type { WatchSink } from './set-watch.ts';

const patienceMs = 30_000;

export class EventLines implements WatchSink {
  readonly #response: ServerResponse;
  readonly #show: ShowOptions;
  readonly #clock: Clock;
  #isFirst = true;

  constructor(response: ServerResponse, show: ShowOptions, clock: Clock) {
    this.#response = response;
    this.#show = show;
    this.#clock = clock;
  }

  /** Sends the head of the answer, so that the client knows that the watch has begun. */
  open(): void {
    this.#response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    this.#response.flushHeaders();
  }

  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', item: ShadowResource): void {
    this.#write(type, showOne(this.#show, item, this.#isFirst));
    this.#isFirst = false;
  }

  bookmark(version: bigint, isInitial: boolean): void {
    this.#write('BOOKMARK', showBookmark(this.#show, version, isInitial));
  }

  error(status: object): void {
    this.#write('ERROR', status);
  }

  async ready(): Promise<boolean> {
    const response = this.#response;
    if (response.destroyed) return false;
    if (!response.writableNeedDrain) return true;
    const over = new AbortController();
    const { signal } = over;
    const taken = Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).catch(
      () => {},
    );
    const late = this.#clock.sleep(patienceMs, signal).then(
      () => response.destroy(),
      () => {},
    );
    await Promise.race([taken, late]);
    over.abort();
    return !response.destroyed;
  }

  #write(type: string, object: object): void {
    this.#response.write(`${JSON.stringify({ type, object })}\n`);
  }
}
