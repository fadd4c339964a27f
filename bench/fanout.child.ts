/**
 * The gateway of bench/fanout.ts, with a writer thread, and bare WebSockets beside it in the same thread.
 *
 *   argv: store file, objects -> message: { url, bareUrl } -> orders and answers (fanout.world.ts) -> disconnect
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { WebSocketServer } from 'ws';
import type { CommittedChanges } from '../src/store/types/change.ts';
import { documents, type GatewayAnswer, type GatewayOrder } from './fanout.world.ts';
import { type LongestTurn, threadCpuMs, watchTurns } from './support/loop-turns.ts';
import { serveStore } from './support/serve-store.ts';
import { threadCpuSeconds } from './support/thread-cpu.ts';

/** The name that the readers' threads have. */
const readerThread = 'reader';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const [file = '', objects = '0'] = process.argv.slice(2);
const writer = new Worker(new URL('./fanout.writer.ts', import.meta.url), {
  workerData: { file, objects: Number(objects) },
});
await once(writer, 'message');
// One caller has all subscriptions here.
const callerBounds = {
  requests: Number.POSITIVE_INFINITY,
  costPerMinute: Number.POSITIVE_INFINITY,
  subscriptions: Number.POSITIVE_INFINITY,
  connections: Number.POSITIVE_INFINITY,
  logs: 200,
  logBytes: 1e9,
};
const served = await serveStore(file, { prepared: true, callerBounds });
writer.on('message', (message: { readonly committed?: CommittedChanges }) => {
  if (message.committed !== undefined) served.engine.wake(message.committed);
});

const bareServer = createServer();
const bare = new WebSocketServer({ server: bareServer, perMessageDeflate: false });
bareServer.listen(0, '127.0.0.1');
await once(bareServer, 'listening');
const bareUrl = `ws://127.0.0.1:${(bareServer.address() as AddressInfo).port}`;

let [cpu, began, readers] = [0, 0, 0];
let turns: (() => LongestTurn) | null = null;

/**
 * Sends what the gateway sends, in the same order: in each round, one message to each subscriber of one document. `each` subscribers have a
 * connection in common.
 */
async function sendBare({ bytes, rounds, perSecond, each }: Extract<GatewayOrder, { ask: 'bare' }>): Promise<void> {
  const text = Buffer.alloc(bytes, 'x');
  const start = performance.now();
  const sockets = [...bare.clients];
  for (let round = 0; round < rounds; round += 1) {
    await sleep(Math.max(0, start + (round * 1000) / perSecond - performance.now()));
    const receivers = sockets.filter((_, index) => index % documents === round % documents);
    for (let at = 0; at < each; at += 1) for (const socket of receivers) socket.send(text, { binary: false });
  }
}

async function answer(order: GatewayOrder): Promise<GatewayAnswer | null> {
  switch (order.ask) {
    case 'begin':
      [cpu, began, readers] = [threadCpuMs(), performance.now(), threadCpuSeconds(readerThread)];
      turns = watchTurns();
      return null;
    case 'end':
      return {
        readersMs: (threadCpuSeconds(readerThread) - readers) * 1000,
        cpuMs: threadCpuMs() - cpu,
        elapsedMs: performance.now() - began,
        longestMs: turns?.().elapsedMs ?? 0,
      };
    case 'bare':
      await sendBare(order);
      return null;
    case 'write':
      writer.postMessage(order.order);
      for (;;) {
        const [message] = (await once(writer, 'message')) as [{ readonly written?: number }];
        if (message.written !== undefined) return { written: message.written };
      }
    case 'swap':
      writer.postMessage('declare');
      for (;;) {
        const [message] = (await once(writer, 'message')) as [{ readonly written?: number }];
        if (message.written !== undefined) break;
      }
      await served.engine.refreshCatalog();
      // The subscribers begin again on the new generation.
      await sleep(3000);
      return null;
    case 'memory': {
      for (let round = 0; round < 3; round += 1) {
        collect();
        await sleep(50);
      }
      const { heapUsed, external } = process.memoryUsage();
      return { heapBytes: heapUsed + external };
    }
  }
}

process.on('message', async (order: GatewayOrder) => {
  process.send?.((await answer(order)) ?? 'done');
});
process.once('disconnect', async () => {
  bare.close();
  for (const socket of bare.clients) socket.terminate();
  bareServer.close();
  await served.close();
  writer.postMessage('close');
});
process.send?.({ url: served.url, bareUrl } satisfies GatewayAnswer);
