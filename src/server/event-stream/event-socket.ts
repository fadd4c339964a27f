/**
 * An event stream in the place of a WebSocket. Messages of the graphql-transport-ws protocol become the events of single connection mode
 * (GraphQL over Server-Sent Events, https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md).
 *
 *   {"id":"1","type":"next","payload":{…}}    event: next      data: the message
 *   {"id":"1","type":"error","payload":[…]}   event: next      data: {"id":"1","payload":{"errors":[…]}}, and then complete
 *   {"id":"1","type":"complete"}              event: complete  data: the message
 *   connection_ack, ping, pong                nothing
 *
 * A message is JSON without line breaks, so it is one line of data. Clients ignore the member `type`.
 */
import type { ServerResponse } from 'node:http';
import { completeEvent, eventEnd, eventHeaders, nextEvent, ping, pingMs } from '../connections/event-format.ts';

type Done = (error?: Error | null) => void;

const headers = { 'content-type': 'text/event-stream; charset=utf-8', ...eventHeaders };

export class EventSocket {
  readonly OPEN = 1;
  readonly #response: ServerResponse;
  /** Is a message begun whose last part has not come? */
  #isInMessage = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Sends the head of the answer. */
  begin(): void {
    const response = this.#response;
    response.writeHead(200, headers);
    response.write(ping);
    const pings = setInterval(() => {
      if (this.readyState === this.OPEN && response.writableLength === 0) response.write(ping);
    }, pingMs);
    response.once('close', () => clearInterval(pings));
  }

  get readyState(): 1 | 3 {
    // `writable` is true of a response that has ended.
    return this.#response.writableEnded || this.#response.destroyed ? 3 : this.OPEN;
  }

  get bufferedAmount(): number {
    return this.#response.writableLength;
  }

  /** A stream has no messages from the client. */
  pause(): void {}
  resume(): void {}

  /** Writes a part of a `next` message (SocketEvents). `done` is called when the network has taken it. */
  send(part: Buffer, { fin = true }: { readonly fin?: boolean }, done: Done = () => {}): void {
    const response = this.#response;
    if (this.readyState !== this.OPEN) {
      done();
      return;
    }
    if (!this.#isInMessage) response.write(nextEvent);
    this.#isInMessage = !fin;
    response.write(part, done);
    if (fin) response.write(eventEnd);
  }

  /** Writes any other message of the protocol. Resolves when the network has taken it. */
  sendMessage(text: string): Promise<void> {
    const message = JSON.parse(text) as { readonly id?: string; readonly type: string; readonly payload?: unknown };
    const { id = '', type, payload } = message;
    if (type === 'next') return this.#event(nextEvent, text);
    if (type === 'error') {
      void this.#event(nextEvent, JSON.stringify({ id, payload: { errors: payload } }));
      return this.#complete(id);
    }
    return type === 'complete' ? this.#complete(id) : Promise.resolve();
  }

  #complete(id: string): Promise<void> {
    return this.#event(`${completeEvent} `, JSON.stringify({ id }));
  }

  #event(begin: string, data: string): Promise<void> {
    if (this.readyState !== this.OPEN) return Promise.resolve();
    return new Promise((resolve) => {
      this.#response.write(`${begin}${data}${eventEnd}`, () => resolve());
    });
  }
}
