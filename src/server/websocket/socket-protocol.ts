/**
 * The parts of the graphql-transport-ws protocol that graphql-ws leaves to its user:
 *
 *   handshake   graphql-transport-ws, if the client offers it; else the first offer, and then a close with 4406
 *   a message   its text -> graphql-ws; a message that only servers send -> a close with 4400
 *   a close     the message of an error -> a reason of at most 123 bytes
 */
import type { WebSocket } from 'ws';
import { hashOf } from '../plugins/request-parameters.ts';

/** The close codes that the gateway itself uses. graphql-ws has those of the protocol. */
export const CloseCode = {
  goingAway: 1001,
  internalError: 1011,
  tryAgainLater: 1013,
  badRequest: 4400,
  /** Not 4401: clients of graphql-ws take that one as final, and do not connect again with new credentials. */
  forbidden: 4403,
  subprotocolNotAcceptable: 4406,
} as const;

const subprotocol = 'graphql-transport-ws';
/** The subprotocol of subscriptions-transport-ws, which is older than the package graphql-ws. */
const legacySubprotocol = 'graphql-ws';

/**
 * The subprotocol of a connection. A client whose offers are all declined fails without a close code. So the first offer is taken, and
 * `refuseSubprotocol` closes the connection with a reason.
 */
export function chosenSubprotocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(subprotocol)) return subprotocol;
  const [first = false] = offered;
  return first;
}

/** Milliseconds for which a refused client may take to send its first message. */
const firstMessageMs = 3000;

/** Closes a connection of another subprotocol. False for one of graphql-transport-ws, which stays open. */
export function refuseSubprotocol(socket: WebSocket): boolean {
  if (socket.protocol === subprotocol) return false;
  const offer = socket.protocol === '' ? 'no subprotocol' : socket.protocol;
  const reason = `The client offers ${offer}; offer the subprotocol ${subprotocol}.`;
  const close = (): void => socket.close(CloseCode.subprotocolNotAcceptable, closeReason(reason));
  if (socket.protocol === legacySubprotocol) {
    // Clients of that protocol report the answer to their first message, and not the reason of the close.
    const answer = (): void => {
      socket.send(JSON.stringify({ type: 'connection_error', payload: { message: reason } }));
      close();
    };
    const late = setTimeout(close, firstMessageMs);
    socket.once('message', answer);
    socket.once('close', () => clearTimeout(late));
  } else close();
  return true;
}

const typesOfServers: ReadonlySet<unknown> = new Set(['connection_ack', 'next', 'error']);

/**
 * The text of a client's message for graphql-ws; null for a message that only servers send. graphql-ws requires a query. So a `subscribe`
 * with the hash of a query alone gets an empty one. It is answered as over HTTP.
 */
export function clientMessage(text: string): string | null {
  let message: { readonly type?: unknown; readonly payload?: unknown } | null;
  try {
    message = JSON.parse(text);
  } catch {
    // graphql-ws refuses it.
    return text;
  }
  if (typesOfServers.has(message?.type)) return null;
  const payload = message?.payload as { readonly query?: unknown; readonly extensions?: unknown } | null | undefined;
  if ((payload?.query ?? null) !== null || hashOf(payload?.extensions) === undefined) return text;
  return JSON.stringify({ ...message, payload: { ...payload, query: '' } });
}

/** The most bytes of the reason of a close: a control frame has at most 125, and two are the code (RFC 6455, 5.5). */
const mostReasonBytes = 123;

/** The text, cut between two characters if it is too long for the reason of a close. */
export function closeReason(text: string): string {
  if (Buffer.byteLength(text) <= mostReasonBytes) return text;
  const mark = '…';
  let room = mostReasonBytes - Buffer.byteLength(mark);
  let kept = '';
  for (const character of text) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    kept += character;
  }
  return `${kept}${mark}`;
}
