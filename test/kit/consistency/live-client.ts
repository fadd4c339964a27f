/**
 * A client with one connection and what it follows there. A connection that ends is opened again, and each live list continues at its
 * cursor.
 */
import type { FollowedList } from './followed-list.ts';
import type { FollowedQuery } from './followed-query.ts';
import { type Channel, openChannel, type Result, type Transport } from './live-channel.ts';

export interface LiveClientOptions {
  readonly url: string;
  readonly user: string;
  readonly token: string;
  readonly transport: Transport;
  /** More than one needs a WebSocket. */
  readonly followed: readonly (FollowedList | FollowedQuery)[];
  /** Called when a message breaks the protocol. */
  readonly broken: (error: unknown) => void;
}

/** Milliseconds before a connection is opened again, and before a refused operation is sent again. */
const againMs = 40;

export class LiveClient {
  readonly options: LiveClientOptions;
  #channel: Channel | null = null;
  /** The operations that run, by id. */
  readonly #running = new Map<string, FollowedList | FollowedQuery>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isStopped = false;
  #asked = 0;
  isPaused = false;

  constructor(options: LiveClientOptions) {
    this.options = options;
    this.#connect();
  }

  pause(): void {
    this.isPaused = true;
    this.#channel?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.#channel?.resume();
  }

  /** Loses the connection. */
  drop(): void {
    this.#channel?.drop();
  }

  /** Ends one subscription of the connection and begins it again at its cursor. */
  subscribeAgain(index: number): void {
    const followed = this.options.followed[index % this.options.followed.length];
    for (const [id, each] of [...this.#running]) {
      if (each !== followed) continue;
      this.#running.delete(id);
      this.#channel?.complete(id);
      if (this.options.transport === 'websocket') this.#ask(each);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#channel?.drop();
  }

  #connect(): void {
    if (this.#isStopped) return;
    const { transport, url, token, followed } = this.options;
    const channel = openChannel(transport, url, token, {
      opened: () => {
        for (const each of followed) this.#ask(each);
      },
      next: (id, result) => this.#next(id, result),
      over: (id) => this.#over(id),
      closed: () => {
        if (this.#channel === channel) this.#channel = null;
        this.#running.clear();
        this.#later(() => this.#connect());
      },
    });
    this.#channel = channel;
    if (this.isPaused) channel.pause();
  }

  #ask(followed: FollowedList | FollowedQuery): void {
    this.#asked += 1;
    const id = `${this.#asked}`;
    this.#running.set(id, followed);
    followed.begin();
    this.#channel?.send({ id, ...followed.asked() });
  }

  #next(id: string, result: Result): void {
    const followed = this.#running.get(id);
    // Messages that were on their way when the client ended the operation.
    if (followed === undefined) return;
    try {
      followed.take(result);
    } catch (error) {
      this.options.broken(new Error(`${this.options.transport}: ${error}`));
    }
  }

  #over(id: string): void {
    const followed = this.#running.get(id);
    this.#running.delete(id);
    if (followed === undefined) return;
    const channel = this.#channel;
    this.#later(() => {
      if (this.#channel !== channel || channel === null) return;
      if (this.options.transport === 'events') channel.drop();
      else this.#ask(followed);
    });
  }

  #later(work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#isStopped) work();
    }, againMs);
    this.#timers.add(timer);
  }
}
