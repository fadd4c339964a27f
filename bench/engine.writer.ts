/**
 * The writer thread of bench/engine.ts: a first sync, then changes at a steady rate through the real Writer.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import type { IncomingEvent } from '../src/store/types/incoming-object.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { podDescription, podText } from './support/pods.ts';

export interface WriterFigures {
  readonly synced: number;
  readonly syncPerSecond: number;
  readonly changes: number;
  readonly changesPerSecond: number;
  readonly commitP50: number;
  readonly commitP99: number;
  readonly commitMax: number;
}

const { file, churnMs } = workerData as { readonly file: string; readonly churnMs: number };
const port = must(parentPort, 'the port of a worker thread');
const objects = 10_000;
const perSecond = 1000;
const phases = ['Running', 'Pending', 'Failed', 'Succeeded'];

const writer = openWriter(file);
const handle = writer.declare(podDescription('bench'));
let version = 0;
let closing = false;

const started = performance.now();
const replace = writer.replace(handle);
for (let first = 0; first < objects; first += 100) {
  replace.put(
    Array.from({ length: 100 }, (_, index) => ({ text: podText(first + index, 'Running', first + index + 1) })),
  );
}
version = objects;
await replace.commit(String(version));
const syncSeconds = (performance.now() - started) / 1000;
port.postMessage('ready');

port.on('message', async (message: string) => {
  if (message === 'churn') {
    const figures = await churn();
    if (!closing) port.postMessage(figures);
  } else {
    closing = true;
    writer.close();
    port.close();
  }
});

/** Applies what is due as soon as the last commit is done, as a reflector does. */
async function churn(): Promise<WriterFigures> {
  const times: number[] = [];
  const begun = performance.now();
  let done = 0;
  for (;;) {
    const elapsed = performance.now() - begun;
    if (elapsed >= churnMs || closing) break;
    const due = Math.floor((elapsed * perSecond) / 1000) - done;
    if (due > 0) {
      const events = Array.from({ length: Math.min(due, 50) }, () => nextEvent());
      const before = performance.now();
      writer.apply(handle, events, String(version));
      times.push(performance.now() - before);
      done += events.length;
    } else {
      writer.maintain();
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    synced: objects,
    syncPerSecond: objects / syncSeconds,
    changes: done,
    changesPerSecond: (done * 1000) / (performance.now() - begun),
    commitP50: at(0.5),
    commitP99: at(0.99),
    commitMax: at(1),
  };
}

function nextEvent(): IncomingEvent {
  version += 1;
  const index = (version * 7919) % objects;
  return { type: 'MODIFIED', object: { text: podText(index, phases[version % phases.length] ?? 'Running', version) } };
}
