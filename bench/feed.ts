/**
 * The cost of a subscription while 2,000 Pods change each second. Ingest thread, readers and change feed are the real ones. Three cases
 * take turns within one run: no subscription, a subscription on a kind that does not change, and one on Pods.
 *
 * Counted are the feed's reads of the change log. The processor time is that of the serve thread and of the readers together, for each
 * change that was committed. A quiet subscription proves at the end of its turn that it is alive: it gets a change of its own kind.
 */
import { parseArgs } from 'node:util';
import { withMeasured } from './support/measured-process.ts';

export const about =
  'reads and processor time of a quiet and of a busy subscription under 2,000 changes a second (--seconds N, --turns N, --rate N)';

export const subscriptionKinds = ['none', 'quiet', 'busy'] as const;
export type SubscriptionKind = (typeof subscriptionKinds)[number];

/** Measured in one turn of one case. */
export interface FeedFigures {
  readonly seconds: number;
  /** Changes of Pods that were committed. */
  readonly committed: number;
  /** Changes that the subscription got, and reads of the log by the feed, while they were. */
  readonly delivered: number;
  readonly leases: number;
  readonly changes: number;
  readonly bodies: number;
  readonly cpuSeconds: number;
}

/** The cases of one turn. */
export type FeedTurn = Readonly<Record<SubscriptionKind, FeedFigures>>;

const objects = 10_000;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '8' },
      turns: { type: 'string', default: '3' },
      rate: { type: 'string', default: '2000' },
    },
  });
  const [seconds, turns, perSecond] = [Number(values.seconds), Number(values.turns), Number(values.rate)];
  const program = { program: 'feed.child.ts', objects, given: [String(seconds), String(turns)] };
  await withMeasured(program, async ({ server, answer }) => {
    await answer(null);
    const measured = answer<readonly FeedTurn[]>('begin');
    // Longer than the turns can take: the child ends it.
    server.churn({ perSecond, seconds: (seconds + 10) * turns * subscriptionKinds.length }).catch(() => {});
    report(await measured);
  });
}

type Count = Exclude<keyof FeedFigures, 'seconds' | 'cpuSeconds'>;
const counts: readonly Count[] = ['committed', 'delivered', 'leases', 'changes', 'bodies'];

function report(turns: readonly FeedTurn[]): void {
  const total = (kind: SubscriptionKind, figure: keyof FeedFigures): number =>
    turns.reduce((sum, turn) => sum + turn[kind][figure], 0);
  const perSecond = (kind: SubscriptionKind, count: Count): number => total(kind, count) / total(kind, 'seconds');
  const cpuMicros = (kind: SubscriptionKind): number => (total(kind, 'cpuSeconds') / total(kind, 'committed')) * 1e6;
  const table = [
    ['subscription', ...counts.map((count) => `${count}/s`), 'processor for each committed change'],
    ...subscriptionKinds.map((kind) => [
      kind,
      ...counts.map((count) => perSecond(kind, count).toFixed(1)),
      `${cpuMicros(kind).toFixed(1)} µs`,
    ]),
  ];
  for (const row of table) process.stdout.write(`${row.map((cell) => cell.padEnd(14)).join('')}\n`);
  const quietReads = total('quiet', 'leases') + total('quiet', 'changes') + total('quiet', 'bodies');
  const kept = quietReads === 0;
  process.stdout.write(
    `reads for the quiet subscription: ${quietReads}, 0 is the bound: ${kept ? 'kept' : 'MISSED'}\n`,
  );
  const figures = subscriptionKinds.map((kind) => [
    kind,
    {
      ...Object.fromEntries(counts.map((count) => [count, Math.round(perSecond(kind, count))])),
      cpuMicros: Number(cpuMicros(kind).toFixed(1)),
    },
  ]);
  process.stdout.write(`${JSON.stringify({ bench: 'feed', quietReads, ...Object.fromEntries(figures) })}\n`);
  if (!kept) process.exitCode = 1;
}
