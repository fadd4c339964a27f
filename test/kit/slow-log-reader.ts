/** A subscriber of `logs` who reads nothing from its WebSocket once it has subscribed, unless it is told to. */
import { once } from 'node:events';
import WebSocket from 'ws';

interface Message {
  readonly lines: readonly { readonly text: string }[];
  readonly notices: readonly { readonly type: string }[];
}

export class SlowLogReader {
  /** What it has read. */
  readonly texts: string[] = [];
  readonly told: string[] = [];
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open(url: string, args: string, token: string): Promise<SlowLogReader> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws');
    socket.on('error', () => {});
    await once(socket, 'open');
    const send = (message: object): void => socket.send(JSON.stringify(message));
    send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    await once(socket, 'message');
    const query = `subscription { logs(${args}) { notices { type } lines { pod time text } } }`;
    send({ id: '1', type: 'subscribe', payload: { query } });
    socket.pause();
    return new SlowLogReader(socket);
  }

  /** Reads from now on. */
  read(): void {
    this.#socket.on('message', (bytes) => {
      const { payload } = JSON.parse(String(bytes)) as { payload?: { data?: { logs?: Message } } };
      const { lines = [], notices = [] } = payload?.data?.logs ?? {};
      for (const { text } of lines) this.texts.push(text);
      for (const { type } of notices) this.told.push(type);
    });
    this.#socket.resume();
  }

  close(): void {
    this.#socket.terminate();
  }
}
