/** WebSockets over plain sockets: for clients that do not do what a library would do. */
import { once } from 'node:events';
import type { Socket } from 'node:net';

/** Upgrades the connection. Returns the status line. */
export async function upgrade(socket: Socket): Promise<string> {
  const lines = [
    ...['GET /graphql HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
    'Sec-WebSocket-Protocol: graphql-transport-ws',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString().split('\r\n', 1)[0] ?? '';
}

/** A masked frame (RFC 6455, 5.2) with a mask of zeros, so that its text is as it is. */
export function frame(text: string, fin = true): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(14);
  head[0] = (fin ? 0x80 : 0) | 1;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}
