/**
 * Runs the gateway of `demo` and `serve`: prints the playground's URL and the progress of the first sync, and ends at Ctrl-C or
 * SIGTERM.
 *
 *   start -> URL printed -> synced -> … -> signal -> gateway closed, or process exit at the deadline -> exit code 0
 */
import { onClosedOutput } from '../base/closed-output.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Gateway } from './gateway.ts';
import { ProgressLine } from './progress-line.ts';

/** The process exits at the latest this many milliseconds after a signal. */
const deadline = 1800;

/** Returns the exit code: 0 after a signal, 1 when the gateway failed. `release` is called last in every case. */
export async function runUntilSignal(
  start: (signal: AbortSignal) => Promise<Gateway>,
  log: Logger,
  release: () => Promise<void> = async () => {},
): Promise<number> {
  const stop = new AbortController();
  const signalled = nextSignal().then(() => {
    setTimeout(() => process.exit(0), deadline);
    log.info({}, 'the gateway ends');
    stop.abort(new Error('the start was interrupted'));
  });
  const line = new ProgressLine(process.stderr, log, () => performance.now());
  const starting = start(stop.signal);
  let gateway: Gateway | null = null;
  try {
    gateway = await Promise.race([starting, signalled.then(() => null)]);
    if (gateway === null) {
      // The start ends early, and closes what runs already.
      gateway = await starting.catch(() => null);
      return 0;
    }
    // Before the progress, whose line must stay the last one on a terminal because it is rewritten.
    process.stdout.write(`Playground: ${gateway.url}\n`);
    line.show(gateway.progress());
    gateway.onProgress((progress) => line.show(progress));
    void gateway.synced.then(
      () => line.finish(),
      () => {},
    );
    return await Promise.race([
      signalled.then(() => 0),
      gateway.failed.catch((error: unknown) => {
        process.stderr.write(`portolan: ${messageOf(error)}\n`);
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

/**
 * Resolves at the first signal, or at the first write to an output whose reader is gone. Later signals have no effect: npm forwards
 * the signal that the terminal has already sent to the whole process group.
 */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => resolve());
    onClosedOutput(resolve);
  });
}
