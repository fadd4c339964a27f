/**
 * Results as an event stream: GraphQL over Server-Sent Events, distinct connections mode.
 *
 *   result -> event: next, data: its JSON (written once for all receivers) -> network -> next result …
 *   the end -> event: complete
 *
 * Yoga's own stream writes each result for each receiver as a text and again as bytes. A stream of large results needs several times
 * their size.
 */
import { Readable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { jsonOf } from '../../graphql/generation/shared-results.ts';
import { completeEvent, eventEnd, eventHeaders, nextEvent, ping, pingMs } from '../connections/event-format.ts';
import { prefersEvents } from '../negotiation/accepted-type.ts';

const type = 'text/event-stream';
const headers = { 'content-type': type, connection: 'keep-alive', ...eventHeaders };

const begin = Buffer.from(nextEvent);
const end = Buffer.from(eventEnd);
const complete = Buffer.from(completeEvent + eventEnd);
const comment = Buffer.from(ping);

export function useEventStream(): Plugin {
  return {
    onResultProcess({ request, result, setResultProcessor }) {
      if (!isAsyncIterable(result) || !prefersEvents(request.headers.get('accept'))) return;
      const events = result as AsyncIterable<ExecutionResult>;
      setResultProcessor((_result, { Response }) => new Response(new EventBody(events) as never, { headers }), type);
    },
  };
}

/** The body of one stream. It asks for the next result when the network has taken the last one. */
class EventBody extends Readable {
  readonly #events: AsyncIterator<ExecutionResult>;
  readonly #pings: NodeJS.Timeout;
  #isWaiting = false;

  constructor(events: AsyncIterable<ExecutionResult>) {
    super();
    this.#events = events[Symbol.asyncIterator]();
    this.push(comment);
    this.#pings = setInterval(() => {
      if (this.readableLength === 0) this.push(comment);
    }, pingMs);
  }

  override _read(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#events.next().then(
      (step) => this.#send(step),
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#pings);
    Promise.resolve(this.#events.return?.()).then(
      () => done(error),
      () => done(error),
    );
  }

  #send({ done, value }: IteratorResult<ExecutionResult, unknown>): void {
    if (this.destroyed) return;
    if (done === true) {
      this.push(complete);
      this.push(null);
      return;
    }
    this.push(begin);
    this.push(jsonOf(value));
    this.#isWaiting = false;
    this.push(end);
  }
}
