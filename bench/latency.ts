/**
 * The time from a watch event of an API server until a subscriber has it. A bare watch on the same server runs in the same process at
 * the same time. Each step of the way is timed:
 *
 *   commit     the event is sent -> its row is committed (`at` of the change)
 *   signal     committed -> the serve thread learns of it
 *   delivery   the serve thread learns of it -> the subscriber has the message
 *
 * Two rates take turns, each without and with pages being read.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { must } from '../src/base/must.ts';
import { decodeLiveCursor } from '../src/live/log/live-cursor.ts';
import { gatewayFlags } from './support/gateway-flags.ts';
import { listQuery } from './support/list-query.ts';
import { withMeasured } from './support/measured-process.ts';
import { type PodServer, versionsPerMs } from './support/pod-server.ts';

export const about =
  'time from a watch event to a subscriber, beside a bare watch (--objects N, --seconds N, --rates N,N, --readers N)';

/** From the gateway: when the serve thread learned of which revision, in milliseconds since 1970. */
export interface Wakes {
  readonly wakes: readonly (readonly [revision: number, at: number])[];
  /** The longest time in which the event loop did nothing else. */
  readonly longestMs: number;
}

/** Milliseconds by which p99 may be above that of a bare watch. */
const bound = 20;

/** A change that the subscriber got, in milliseconds since 1970. */
interface Got {
  readonly sent: number;
  readonly committed: number;
  readonly got: number;
  /** The message has the changes up to this revision. */
  readonly upTo: number;
}

interface Figures {
  readonly rate: number;
  readonly readers: number;
  readonly changes: number;
  readonly watch: Percentiles;
  readonly subscriber: Percentiles;
  readonly steps: Readonly<Record<'commit' | 'signal' | 'delivery', Percentiles>>;
  readonly longestMs: number;
}

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '15' },
      rates: { type: 'string', default: '200,1000' },
      readers: { type: 'string', default: '2' },
    },
  });
  const rates = values.rates.split(',').map(Number);
  const found = await latencies({
    ...{ of: 'pods', objects: Number(values.objects), seconds: Number(values.seconds) },
    rounds: rates.flatMap((rate) => [0, Number(values.readers)].map((readers) => ({ rate, readers }))),
  });
  const overWatchP99Ms = overWatch(found.filter(({ readers }) => readers === 0));
  const busyOverWatchP99Ms = overWatch(found.filter(({ readers }) => readers > 0));
  process.stdout.write(`${JSON.stringify({ bench: 'latency', overWatchP99Ms, busyOverWatchP99Ms })}\n`);
  if (overWatchP99Ms > bound) process.exitCode = 1;
}

interface Latencies {
  /** What the subscriber follows: Pods, or an abstract kind whose only member are Pods. */
  readonly of: Followed;
  readonly objects: number;
  readonly seconds: number;
  readonly rounds: readonly Pick<Figures, 'rate' | 'readers'>[];
}

/** Prints a line for each round too. */
export function latencies({ of, objects, seconds, rounds }: Latencies): Promise<readonly Figures[]> {
  const program = { program: 'latency.child.ts', objects, given: [of], execArgv: gatewayFlags() };
  return withMeasured(program, async ({ server, answer }) => {
    const { url } = await answer<{ url: string }>(null);
    const found: Figures[] = [];
    for (const { rate, readers } of rounds) {
      found.push(await measure({ server, url, rate, readers, seconds, of, answer }));
      report(must(found.at(-1), 'figures'));
    }
    return found;
  });
}

/** By how many milliseconds p99 of the subscriber is above that of the bare watch, in the worst round. */
export function overWatch(figures: readonly Figures[]): number {
  return Number(Math.max(...figures.map(({ subscriber, watch }) => subscriber.p99 - watch.p99)).toFixed(1));
}

interface Measured {
  readonly server: PodServer;
  readonly url: string;
  readonly rate: number;
  readonly readers: number;
  readonly seconds: number;
  readonly of: Followed;
  answer<T>(order: string): Promise<T>;
}

async function measure({ server, url, rate, readers, seconds, of, answer }: Measured): Promise<Figures> {
  const watched: number[] = [];
  const stopWatch = await watchPods(server.url, (age) => watched.push(age));
  const got: Got[] = [];
  const socket = await subscribe(url, of, got);
  let isOver = false;
  const reading = Promise.all(
    Array.from({ length: readers }, async () => {
      while (!isOver) await readPage(url);
    }),
  );
  // Code is compiled and connections are open before anything counts.
  await server.churn({ perSecond: rate, seconds: 2 });
  await sleep(300);
  watched.length = 0;
  got.length = 0;
  await answer('begin');
  const sent = await server.churn({ perSecond: rate, seconds });
  for (let waited = 0; waited < 10_000 && (watched.length < sent || got.at(-1) === undefined); waited += 50)
    await sleep(50);
  await sleep(500);
  isOver = true;
  await reading;
  const { wakes, longestMs } = await answer<Wakes>('end');
  stopWatch();
  const closed = once(socket, 'close');
  socket.close();
  await closed;
  const wokenAt = (upTo: number): number => wakes.find(([revision]) => revision >= upTo)?.[1] ?? Number.NaN;
  const steps = got.map(({ sent: from, committed, got: at, upTo }) => {
    const woken = wokenAt(upTo);
    return { commit: committed - from, signal: Math.max(0, woken - committed), delivery: at - woken };
  });
  return {
    rate,
    readers,
    changes: got.length,
    watch: percentiles(watched),
    subscriber: percentiles(got.map(({ sent: from, got: at }) => at - from)),
    steps: {
      commit: percentiles(steps.map(({ commit }) => commit)),
      signal: percentiles(steps.map(({ signal }) => signal)),
      delivery: percentiles(steps.map(({ delivery }) => delivery)),
    },
    longestMs,
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** A bare watch. @param take gets the age of each event in milliseconds */
async function watchPods(server: string, take: (age: number) => void): Promise<() => void> {
  const request = get(new URL('/api/v1/pods?watch=1', server));
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer> & { setEncoding(name: string): void }];
  response.setEncoding('latin1');
  const reading = (async () => {
    let rest = '';
    for await (const chunk of response as unknown as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      const at = now();
      for (const line of lines) {
        if (!line.startsWith('{"type":"MODIFIED"')) continue;
        // Parsed, because a client that watches must do it too.
        const { object } = JSON.parse(line) as { object: { metadata: { resourceVersion: string } } };
        take(at - Number(object.metadata.resourceVersion) / versionsPerMs);
      }
    }
  })();
  reading.catch(() => {});
  return () => void request.destroy();
}

/** What a subscriber follows, and where the resourceVersion of the Pod stands in its messages. */
type Followed = keyof typeof subscriptions;
const subscriptions = {
  pods: 'podChanges(snapshot: false) { phase cursor changes { at object { metadata { resourceVersion } } } }',
  abstract: 'podInstanceChanges(snapshot: false) { phase cursor changes { at object { version } } }',
};

async function subscribe(url: string, of: Followed, got: Got[]): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), ['graphql-transport-ws']);
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  const synced = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer) => {
    const at = now();
    const { payload } = JSON.parse(data.toString('utf8')) as {
      payload: {
        data: {
          followed: {
            phase: string;
            cursor: string;
            changes: { at: string; object: { version?: string; metadata?: { resourceVersion: string } } }[];
          };
        };
      };
    };
    const { phase, cursor, changes } = payload.data.followed;
    if (phase === 'SYNCED') synced.resolve();
    if (phase === 'GAP') throw new Error('the subscriber has lost changes');
    const upTo = decodeLiveCursor(cursor).sequence;
    for (const { at: committed, object } of changes) {
      const sent = Number(object.version ?? object.metadata?.resourceVersion) / versionsPerMs;
      got.push({ sent, committed: Date.parse(committed), got: at, upTo });
    }
  });
  const query = `subscription { followed: ${subscriptions[of]} }`;
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  await synced.promise;
  return socket;
}

async function readPage(url: string): Promise<void> {
  const body = JSON.stringify({ query: listQuery });
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await answer.text();
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const at = (share: number): number =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1));
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

function report({ rate, readers, changes, watch, subscriber, steps, longestMs }: Figures): void {
  const line = ({ p50, p99, max }: Percentiles): string => `${p50} / ${p99} / ${max}`;
  process.stdout.write(
    `${rate} events/s, ${readers} readers of pages: ${changes} changes; p50 / p99 / max in ms: ` +
      `watch ${line(watch)}, subscriber ${line(subscriber)} (commit ${line(steps.commit)}, signal ${line(steps.signal)}, ` +
      `delivery ${line(steps.delivery)}); longest turn of the serve thread ${longestMs.toFixed(0)} ms\n`,
  );
}
