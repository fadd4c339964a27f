/**
 * One connection of a live client: a WebSocket that carries several operations, or a response of Server-Sent Events that carries one.
 * It can be left unread, and ended without notice.
 */
import { type IncomingMessage, request } from 'node:http';
import { WebSocket } from 'ws';

export interface Asked {
  /** Chosen by the client; unique within the channel. */
  readonly id: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A result of an operation, as the wire has it. */
export interface Result {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: unknown } }[];
}

export interface ChannelEvents {
  /** Operations can be sent. */
  opened(): void;
  next(id: string, result: Result): void;
  /** The operation is over: no message follows. */
  over(id: string): void;
  /** The connection is over. Called once. */
  closed(): void;
}

export interface Channel {
  send(asked: Asked): void;
  /** Ends one operation. The server may have sent messages of it meanwhile. */
  complete(id: string): void;
  /** Reads no more bytes until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the connection without notice. `closed` follows. */
  drop(): void;
}

export type Transport = 'websocket' | 'events';

export function openChannel(transport: Transport, url: string, token: string, events: ChannelEvents): Channel {
  return transport === 'websocket' ? openSocket(url, token, events) : openEvents(url, token, events);
}

function openSocket(url: string, token: string, events: ChannelEvents): Channel {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
  let isPaused = false;
  const send = (message: object): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  };
  socket.on('error', () => {});
  socket.on('open', () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
  socket.on('close', () => events.closed());
  socket.on('message', (text: Buffer) => {
    const message = JSON.parse(text.toString('utf8')) as { type: string; id: string; payload: unknown };
    if (message.type === 'connection_ack') events.opened();
    else if (message.type === 'next') events.next(message.id, message.payload as Result);
    else if (message.type === 'complete') events.over(message.id);
    else if (message.type === 'error') {
      events.next(message.id, { errors: message.payload as NonNullable<Result['errors']> });
      events.over(message.id);
    }
  });
  return {
    send: ({ id, query, variables }) => send({ id, type: 'subscribe', payload: { query, variables } }),
    complete: (id) => send({ id, type: 'complete' }),
    pause() {
      if (socket.readyState !== socket.OPEN) return;
      isPaused = true;
      socket.pause();
    },
    // A socket whose handshake failed has nothing to resume, and throws.
    resume() {
      if (isPaused) socket.resume();
      isPaused = false;
    },
    drop: () => socket.terminate(),
  };
}

/** The request begins with `send`, so `opened` comes at once. */
function openEvents(url: string, token: string, events: ChannelEvents): Channel {
  let answer: IncomingMessage | null = null;
  let sent: ReturnType<typeof request> | null = null;
  let isPaused = false;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    sent?.destroy();
    events.closed();
  };
  const take = (id: string, block: string): void => {
    const name = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (name === 'next' && data !== undefined) events.next(id, JSON.parse(data) as Result);
    if (name === 'complete') events.over(id);
  };
  queueMicrotask(() => {
    if (!isOver) events.opened();
  });
  return {
    send({ id, query, variables }) {
      const headers = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${token}`,
      };
      sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
        answer = response;
        if (isPaused) response.pause();
        let rest = '';
        const isStream = String(response.headers['content-type']).startsWith('text/event-stream');
        response.setEncoding('utf8');
        response.on('error', end);
        response.on('data', (text: string) => {
          const blocks = (rest + text).split('\n\n');
          rest = blocks.pop() ?? '';
          for (const block of blocks) if (!isOver) take(id, block);
        });
        response.on('close', () => {
          // A refused request has its errors as plain JSON.
          if (!isStream && rest.startsWith('{') && !isOver) events.next(id, JSON.parse(rest) as Result);
          end();
        });
      });
      sent.on('error', end);
      sent.end(JSON.stringify({ query, variables }));
    },
    complete: end,
    pause() {
      isPaused = true;
      answer?.pause();
    },
    resume() {
      isPaused = false;
      answer?.resume();
    },
    drop: end,
  };
}
