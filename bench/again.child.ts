/**
 * A server of bench/again.ts.
 *
 *   argv: store file, bytes of answers in memory     a gateway over a filled store
 *   argv: 'constant', file with an answer            bare node:http that sends the same bytes each time
 *
 *   message: { url } -> disconnect
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveStore } from './support/serve-store.ts';

async function constant(path: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const body = readFileSync(path);
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length };
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.writeHead(200, headers).end(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: async () => server.closeAllConnections() };
}

const [file = '', given = '0'] = process.argv.slice(2);
const served =
  file === 'constant'
    ? await constant(given)
    : await serveStore(file, { prepared: true, answerCacheBytes: Number(given) });
process.once('disconnect', async () => {
  await served.close();
  process.exit();
});
process.send?.({ url: served.url });
