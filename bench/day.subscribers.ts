/** The subscribers of bench/day.ts, in a process of their own: they read and drop their messages. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface SubscribersOrder {
  readonly url: string;
  readonly count: number;
}

const ofOneSocket = 10;

/** Each has its own document, so that the gateway makes its messages for it alone. */
function documentOf(number: number): string {
  const prefix = `p${number}: `;
  return number % 2 === 0
    ? `query @live(throttle: 500) { ${prefix}pods(first: 20) { totalCount nodes { metadata { name } status { phase } } } }`
    : `subscription { ${prefix}podChanges { changes { type object { metadata { name } status { phase } } } cursor } }`;
}

const [{ url, count }] = (await once(process, 'message')) as [SubscribersOrder];
let waiting = count;
for (let from = 0; from < count; from += ofOneSocket) {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  const heard = new Set<string>();
  socket.on('message', (data: Buffer) => {
    const { id, type, payload } = JSON.parse(data.toString());
    if (type === 'error' || payload?.errors !== undefined) throw new Error(JSON.stringify(payload));
    if (heard.has(id)) return;
    heard.add(id);
    waiting -= 1;
    if (waiting === 0) process.send?.('ready');
  });
  for (let number = from; number < Math.min(count, from + ofOneSocket); number += 1) {
    socket.send(JSON.stringify({ type: 'subscribe', id: String(number), payload: { query: documentOf(number) } }));
  }
}
process.once('disconnect', () => process.exit(0));
