/** A WebSocket for graphql-transport-ws, message by message: a test sees exactly the messages sent. */
import { WebSocket } from 'ws';

export interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

export interface RawSocket {
  /** The subprotocol that the server chose. */
  readonly protocol: string;
  send(message: Message): void;
  sendText(text: string): void;
  /** The next message, in order of arrival; rejects when the socket closes first. */
  next(): Promise<Message>;
  /** Resolves when the socket has been closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): void;
  /** Ends the connection without a closing handshake. */
  terminate(): void;
}

/** Opens a socket to a server's `url` (http:…/graphql). */
export async function openRawSocket(
  url: string,
  {
    protocol = 'graphql-transport-ws',
    headers = {},
  }: { protocol?: string | string[]; headers?: Record<string, string> } = {},
): Promise<RawSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, { headers });
  const arrived: Message[] = [];
  const waiting: { resolve(message: Message): void; reject(error: unknown): void }[] = [];
  socket.on('message', (text: Buffer) => {
    const message = JSON.parse(text.toString('utf8')) as Message;
    const first = waiting.shift();
    if (first === undefined) arrived.push(message);
    else first.resolve(message);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString('utf8') });
      for (const each of waiting.splice(0)) each.reject(new Error(`closed with ${code} ${reason}`));
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  return {
    protocol: socket.protocol,
    send: (message) => socket.send(JSON.stringify(message)),
    sendText: (text) => socket.send(text),
    next: () =>
      new Promise((resolve, reject) => {
        const message = arrived.shift();
        if (message !== undefined) resolve(message);
        else if (socket.readyState === socket.CLOSED) reject(new Error('the socket is closed'));
        else waiting.push({ resolve, reject });
      }),
    closed,
    close: () => socket.close(),
    terminate: () => socket.terminate(),
  };
}

/** Opens a socket and initialises the connection, up to `connection_ack`. */
export async function openAcknowledged(url: string): Promise<RawSocket> {
  const socket = await openRawSocket(url);
  socket.send({ type: 'connection_init' });
  const first = await socket.next();
  if (first.type !== 'connection_ack') throw new Error(`not acknowledged: ${JSON.stringify(first)}`);
  return socket;
}
