/**
 * Sends the events of a subscription over a WebSocket, as `next` messages of the graphql-transport-ws protocol.
 *
 *   events.next() -> text (shared by subscribers that have the event in common) -> network -> events.next() …
 *   push(result)  -> text -> network, while events.next() waits
 *
 * graphql-ws keeps the protocol: ids, `complete`, errors before the first event. It gets an event stream that never yields.
 *
 * Invariants:
 *   - Of a subscription, at most one message and one pushed message are on their way to the network.
 *   - Nothing more is read for a subscription while its connection has more than `mostBytes` on the way.
 */
import type { ExecutionResult } from 'graphql';
import type { WebSocket } from 'ws';
import { endingGenerator } from '../base/ending-generator.ts';
import { jsonOf, type PushOutlet } from '../graphql/generation/shared-results.ts';

/** Bytes of one connection on the way to the network. */
const mostBytes = 1024 * 1024;

const text = { binary: false };

export class SocketEvents implements PushOutlet {
  readonly #socket: WebSocket;
  /** Everything before the result, for instance `{"id":"1","type":"next","payload":`. */
  readonly #begin: Buffer;
  #isPushing = false;

  constructor(socket: WebSocket, id: string) {
    this.#socket = socket;
    this.#begin = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  push(result: ExecutionResult): boolean {
    const socket = this.#socket;
    if (this.#isPushing || socket.readyState !== socket.OPEN || socket.bufferedAmount > mostBytes) return false;
    this.#isPushing = true;
    socket.send(this.#message(result), text, this.#pushed);
    return true;
  }

  readonly #pushed = (): void => {
    this.#isPushing = false;
  };

  /** The events, sent. The stream yields nothing, and ends as the events do. */
  send(events: AsyncIterable<ExecutionResult>): AsyncGenerator<ExecutionResult, void, undefined> {
    const inner = events[Symbol.asyncIterator]();
    return endingGenerator<ExecutionResult>(
      async () => {
        for (;;) {
          const step = await inner.next();
          if (step.done === true) return { done: true, value: undefined };
          await this.#send(step.value);
        }
      },
      async () => inner.return?.(),
    );
  }

  /** Resolves when the network has taken the message, so that a slow client slows its subscription. */
  #send(result: ExecutionResult): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      if (socket.readyState !== socket.OPEN) return resolve();
      socket.send(this.#message(result), text, (error) => (error ? reject(error) : resolve()));
    });
  }

  #message(result: ExecutionResult): Buffer {
    return Buffer.concat([this.#begin, jsonOf(result), end]);
  }
}

const end = Buffer.from('}');
