/**
 * Runs the gateway of `demo` and `serve`: prints the playground's URL and the progress of the first sync, and ends at Ctrl-C or
 * SIGTERM.
 *
 *   start -> URL printed -> synced -> … -> signal -> drained -> gateway closed, or process exit at the deadline -> exit code 0
 *
 * A second signal, a second or more after the first, ends the drain.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { onClosedOutput, standardError, standardOutput } from '../base/output/standard-streams.ts';
import { oneLine } from '../base/text/terminal-line.ts';
import type { Gateway } from './gateway.ts';
import { ProgressLine } from './progress-line.ts';

/** The process exits at the latest this many milliseconds after a signal, or after the drain. */
const deadline = 1800;
/** A signal this many milliseconds after the first is meant as another one. */
const apart = 1000;

interface RunOptions {
  /** Milliseconds in which clients move to another gateway; default 0. Called at the signal. */
  readonly drainMs?: () => number;
  /** Called last in every case. */
  readonly release?: () => Promise<void>;
}

/** Returns the exit code: 0 after a signal, 1 when the gateway failed. */
export async function runUntilSignal(
  start: (signal: AbortSignal) => Promise<Gateway>,
  log: Logger,
  { drainMs = () => 0, release = async () => {} }: RunOptions = {},
): Promise<number> {
  const stop = new AbortController();
  const signals = onSignals();
  const signalled = signals.first.then(() => stop.abort(new Error('the start was interrupted')));
  const end = async (): Promise<void> => {
    await signalled;
    const milliseconds = drainMs();
    if (gateway !== null && milliseconds > 0) {
      log.info({ milliseconds }, 'clients move to another gateway; a second signal ends this one at once');
      await gateway.drain(milliseconds, signals.again);
    }
    setTimeout(() => process.exit(0), deadline);
    log.info({}, 'the gateway ends');
  };
  const line = new ProgressLine(standardError, log, () => performance.now());
  const starting = start(stop.signal);
  let gateway: Gateway | null = null;
  try {
    gateway = await Promise.race([starting, signalled.then(() => null)]);
    if (gateway === null) {
      await end();
      // The start ends early, and closes what runs already.
      gateway = await starting.catch(() => null);
      return 0;
    }
    // Before the progress, whose line must stay the last one on a terminal because it is rewritten.
    standardOutput.write(`Playground: ${gateway.page}\n`);
    line.show(gateway.progress());
    gateway.onProgress((progress) => line.show(progress));
    void gateway.synced.then(
      () => line.finish(),
      () => {},
    );
    return await Promise.race([
      end().then(() => 0),
      gateway.failed.catch((error: unknown) => {
        standardError.write(`portolan: ${oneLine(messageOf(error))}\n`);
        return 1;
      }),
    ]);
  } finally {
    await gateway?.close();
    await release();
    // Our own handles are closed. A handle that a library left open must not keep the process alive.
    setTimeout(() => process.exit(), 100).unref();
  }
}

interface Signals {
  /** Resolves at the first signal, or at the first write to an output whose reader is gone. */
  readonly first: Promise<void>;
  /** Aborts at a later signal. npm forwards the first one although the terminal has sent it to the whole process group. */
  readonly again: AbortSignal;
}

function onSignals(): Signals {
  const again = new AbortController();
  const { promise: first, resolve } = Promise.withResolvers<void>();
  let firstAt: number | null = null;
  const onSignal = (): void => {
    const now = performance.now();
    firstAt ??= now;
    if (now - firstAt > apart) again.abort();
    resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // A short command ends at once when the reader of its output is gone (src/main.ts). A gateway ends in order.
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', () => resolve());
  onClosedOutput(resolve);
  return { first, again: again.signal };
}
