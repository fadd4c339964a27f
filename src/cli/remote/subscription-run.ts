/**
 * One subscription on one WebSocket, until it ends or the connection is lost. It is never resumed here.
 *
 *   connect with the token -> ack -> subscribe -> messages … -> an Outcome
 *
 * Backpressure: the socket is not read while `take` asks to wait. The gateway makes the next message when it could send the last one, so
 * it waits too. Without reads no ping is answered, and the gateway would end the connection; so pongs are sent by time.
 *
 * A connection that is lost without a sign, such as by a firewall, is found by pings of the protocol.
 */
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { exactNumbers } from './exact-json.ts';
import type { GatewayClient } from './gateway-client.ts';

interface SubscribeRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** An error as the gateway writes it. */
export interface WrittenError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string };
}

/** The form of a gateway's message. Another server may send anything. */
const messageShape = z.looseObject({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(
      z.looseObject({
        message: z.string(),
        path: z.array(z.unknown()).optional(),
        extensions: z.looseObject({ code: z.string().optional() }).optional(),
      }),
    )
    .optional(),
});

export type Outcome =
  /** The signal was aborted. */
  | { readonly kind: 'stopped' }
  /** The gateway ended the subscription, without an error. */
  | { readonly kind: 'completed' }
  /** The gateway refused the subscription, or ended it with errors. */
  | { readonly kind: 'failed'; readonly errors: readonly WrittenError[] }
  /** The connection could not be opened, or it was lost. `code` is that of the close, 1006 without one. */
  | { readonly kind: 'lost'; readonly code: number; readonly reason: string };

export interface SubscriptionHandlers {
  /** Called when the gateway accepted the connection. */
  connected(): void;
  /** Takes one message, with the numbers of exact-json.ts. False asks to read no more until the output drains. */
  take(data: Readonly<Record<string, unknown>>, errors: readonly WrittenError[]): boolean;
}

/** A stream that says when it can take more. */
export interface DrainingOutput {
  on(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}

const forbidden = 4403;

/** Milliseconds between pings, and until an answer must have come. */
const heartbeat = 12_000;
/** Less than the gateway's own heartbeat. */
const pongEvery = 5000;
const acknowledgeWithin = 10_000;
/** Milliseconds until a connection that does not close is cut. */
const closeWithin = 1000;

/**
 * Runs the subscription.
 * @throws PortolanError UNAUTHENTICATED if the gateway closes it for the token; UPSTREAM_UNAVAILABLE for a message that no gateway sends;
 *   and what `take` throws.
 */
export function runSubscription(
  gateway: GatewayClient,
  request: SubscribeRequest,
  handlers: SubscriptionHandlers,
  output: DrainingOutput,
  signal: AbortSignal,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let socket: WebSocket | null = null;
    let isPaused = false;
    let unanswered: NodeJS.Timeout | undefined;
    let pongs: NodeJS.Timeout | undefined;
    let failure = '';

    const pause = (): void => {
      if (isPaused || socket === null) return;
      isPaused = true;
      socket.pause();
      pongs = setInterval(() => socket?.pong(), pongEvery);
    };
    const resume = (): void => {
      isPaused = false;
      clearInterval(pongs);
      socket?.resume();
    };
    const awaitPong = (): void => {
      clearTimeout(unanswered);
      unanswered = setTimeout(() => {
        if (isPaused) awaitPong();
        else socket?.terminate();
      }, heartbeat);
    };

    const client = createClient({
      url: gateway.endpoint.href.replace(/^http/, 'ws'),
      webSocketImpl: class extends WebSocket {
        constructor(address: string, protocols: string) {
          super(address, protocols, { headers: gateway.headers });
        }
      },
      connectionAckWaitTimeout: acknowledgeWithin,
      keepAlive: heartbeat,
      retryAttempts: 0,
      jsonMessageReviver: exactNumbers,
      on: {
        opened: (opened) => {
          socket = opened as WebSocket;
        },
        connected: () => handlers.connected(),
        ping: (received) => {
          if (!received) awaitPong();
        },
        pong: (received) => {
          if (received) clearTimeout(unanswered);
        },
        error: (error) => {
          failure = causeOf(error);
        },
      },
    });
    const refusals: WrittenError[] = [];
    const end = (outcome: Outcome): void => {
      signal.removeEventListener('abort', stop);
      output.off('drain', resume);
      clearTimeout(unanswered);
      clearInterval(pongs);
      void client.dispose();
      setTimeout(() => socket?.terminate(), closeWithin).unref();
      if (signal.aborted || outcome.kind === 'stopped') resolve({ kind: 'stopped' });
      else if (refusals.length > 0) resolve({ kind: 'failed', errors: refusals });
      else if (outcome.kind === 'lost' && outcome.code === forbidden)
        reject(gateway.needsToken(`it closed the WebSocket with ${closeText(outcome)}`));
      else resolve(outcome);
    };
    const stop = (): void => {
      unsubscribe();
      end({ kind: 'stopped' });
    };
    output.on('drain', resume);
    const unsubscribe = client.subscribe(request, {
      next: (message) => {
        try {
          if (!messageShape.safeParse(message).success) throw gateway.notPortolan('');
          const { data, errors = [] } = message as MessageOf;
          // The end of a subscription comes in a message too: data of null with errors.
          if (data == null) refusals.push(...errors);
          else if (!handlers.take(data, errors)) pause();
        } catch (error) {
          reject(error);
          stop();
        }
      },
      complete: () => end({ kind: 'completed' }),
      error: (error) => end(outcomeOf(error, failure)),
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

interface MessageOf {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly WrittenError[];
}

/** The code and the reason of a close. */
export function closeText({ code, reason }: Extract<Outcome, { kind: 'lost' }>): string {
  return `${code} ${reason}`.trim();
}

const abnormal = 1006;

/** @param failure the message of the socket's error; a close alone does not say why */
function outcomeOf(error: unknown, failure: string): Outcome {
  if (Array.isArray(error)) return { kind: 'failed', errors: error as readonly WrittenError[] };
  const { code, reason } = error as { readonly code?: unknown; readonly reason?: unknown };
  if (typeof code === 'number') return { kind: 'lost', code, reason: String(reason ?? '') || failure };
  return { kind: 'lost', code: abnormal, reason: failure };
}

/** The message of a socket's error event. The addresses of a name fail together, without a message of their own. */
function causeOf(event: unknown): string {
  const { error = event } = event as { readonly error?: unknown };
  const { errors: [first] = [] } = error as { readonly errors?: readonly unknown[] };
  return messageOf(error) || messageOf(first);
}
