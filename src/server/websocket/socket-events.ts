/**
 * Sends the results of an operation over a WebSocket, as `next` messages of the graphql-transport-ws protocol. A subscription has events, a
 * query has one result.
 *
 *   events.next() -> text (shared by subscribers that have the event in common) -> network -> events.next() …
 *   push(result)  -> text -> network, while events.next() waits
 *
 * graphql-ws keeps the protocol: ids, `complete`, errors before the first event. It gets an event stream that never yields.
 *
 * Invariant: a connection that does not take its bytes gets no more than one message for each subscription, and `mostPushed` bytes of pushed
 * ones. The next message of a subscription has everything that happened meanwhile.
 */
import type { Socket } from 'node:net';
import type { ExecutionResult } from 'graphql';
import { endingGenerator } from '../../base/ending-generator.ts';
import { jsonOf, type PushOutlet } from '../../graphql/generation/shared-results.ts';

/** A WebSocket, or an event stream in its place. */
export interface MessageSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** Bytes that wait for the network. */
  readonly bufferedAmount: number;
  /** Sends a part of a message. @param done called when the network has taken it */
  send(
    part: Buffer,
    options: { readonly fin: boolean; readonly binary: boolean },
    done?: (error?: Error | null) => void,
  ): void;
  /** Takes no messages of the client until `resume`. */
  pause(): void;
  resume(): void;
}

type Connection = Pick<Socket, 'cork' | 'uncork'>;

/**
 * Writes the messages of one connection that are made in the same turn of the event loop together. That is one system call instead of one
 * for each message. A connection often has several subscriptions that one change concerns.
 */
export class JointWrites {
  readonly #connection: Connection;
  readonly #onWritten: () => void;
  #isHeld = false;

  /**
   * @param connection the connection under the WebSocket
   * @param onWritten called after each message
   */
  constructor(connection: Connection, onWritten: () => void = () => {}) {
    this.#connection = connection;
    this.#onWritten = onWritten;
  }

  /** Holds what is written from now on until the end of the turn. */
  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#connection.cork();
    process.nextTick(() => this.release());
  }

  /** Notes that a message was written. */
  written(): void {
    this.#onWritten();
  }

  /** Writes what is held. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#connection.uncork();
  }
}

/** Bytes of a connection that wait for the network, above which nothing is pushed. */
const mostPushed = 64 * 1024;

/** Bytes of a result from which it is not copied. */
const leastFragment = 4096;

const whole = { binary: false, fin: true };
const part = { binary: false, fin: false };
const end = Buffer.from('}');

export class SocketEvents implements PushOutlet {
  readonly #socket: MessageSocket;
  /** Everything before the result, for instance `{"id":"1","type":"next","payload":`. */
  readonly #begin: Buffer;

  readonly #writes: JointWrites;

  constructor(socket: MessageSocket, writes: JointWrites, id: string) {
    this.#socket = socket;
    this.#writes = writes;
    this.#begin = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  push(result: unknown): boolean {
    const socket = this.#socket;
    // Held messages count as waiting too.
    if (socket.bufferedAmount > mostPushed) this.#writes.release();
    if (socket.readyState !== socket.OPEN || socket.bufferedAmount > mostPushed) return false;
    this.#write(result as ExecutionResult);
    return true;
  }

  /** As `send`, for one result. @param onSent called when the network has taken it, or when it is not wanted any more; maybe again */
  sendOne(result: ExecutionResult, onSent: () => void): AsyncGenerator<ExecutionResult, void, undefined> {
    return endingGenerator<ExecutionResult>(
      async () => {
        await this.#send(result).finally(onSent);
        return { done: true, value: undefined };
      },
      async () => onSent(),
    );
  }

  /** The events, sent. The stream yields nothing, and ends as the events do. */
  send(events: AsyncIterable<ExecutionResult>): AsyncGenerator<ExecutionResult, void, undefined> {
    const inner = events[Symbol.asyncIterator]();
    return endingGenerator<ExecutionResult>(
      async () => {
        while (await this.#pass(inner));
        return { done: true, value: undefined };
      },
      async () => inner.return?.(),
    );
  }

  /** Sends the next event; false at the end. A call of its own, because its frame holds the event until it returns. */
  async #pass(inner: AsyncIterator<ExecutionResult>): Promise<boolean> {
    const step = await inner.next();
    if (step.done === true) return false;
    try {
      await this.#send(step.value);
      return true;
    } catch (error) {
      // The connection is lost. A loop over the events would end them, and this is one.
      await inner.return?.();
      throw error;
    }
  }

  /** Resolves when the network has taken the message, so that a slow client slows its subscription. */
  #send(result: ExecutionResult): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      if (socket.readyState !== socket.OPEN) return resolve();
      this.#write(result, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** A long result is sent as a fragment of its own (RFC 6455, 5.4): so its bytes are not copied for each subscriber. */
  #write(result: ExecutionResult, done?: (error?: Error | null) => void): void {
    const socket = this.#socket;
    const payload = jsonOf(result);
    this.#writes.hold();
    if (payload.length < leastFragment) {
      socket.send(this.#message(payload), whole, done);
    } else {
      socket.send(this.#begin, part);
      socket.send(payload, part);
      socket.send(end, whole, done);
    }
    this.#writes.written();
  }

  #message(payload: Buffer): Buffer {
    const begin = this.#begin;
    const message = Buffer.allocUnsafe(begin.length + payload.length + 1);
    begin.copy(message);
    payload.copy(message, begin.length);
    end.copy(message, message.length - 1);
    return message;
  }
}
