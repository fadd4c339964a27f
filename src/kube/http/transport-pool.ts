/**
 * The connections to one API server through its current transport. A changed transport (for example another certificate) gets a
 * new dispatcher. The old dispatcher ends with its last stream.
 *
 * Never: shares a socket or a TLS session with another pool. The library undici keeps TLS sessions for each dispatcher. So a
 * session with a client certificate is resumed only in its own pool.
 */
import type { Dispatcher } from 'undici';
import { createDispatcher, type Transport } from './dispatcher.ts';

export class TransportPool {
  #current: { readonly fingerprint: string; readonly dispatcher: Dispatcher } | undefined;
  readonly #retired = new Set<Dispatcher>();

  /** @param fingerprint equal exactly for transports that may share connections. */
  dispatcherFor(transport: Transport, fingerprint: string): Dispatcher {
    const current = this.#current;
    if (current?.fingerprint === fingerprint) return current.dispatcher;
    const dispatcher = createDispatcher(transport);
    this.#current = { fingerprint, dispatcher };
    if (current !== undefined) this.#retire(current.dispatcher);
    return dispatcher;
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    const dispatchers = [...this.#retired, ...(this.#current === undefined ? [] : [this.#current.dispatcher])];
    this.#current = undefined;
    this.#retired.clear();
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  #retire(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher);
    const ended = (): void => void this.#retired.delete(dispatcher);
    dispatcher.close().then(ended, ended);
  }
}
