/**
 * What `demo` and `serve` share: progress while syncing, the playground's line, and the end by Ctrl-C or SIGTERM.
 *
 *   start -> playground's line -> synced -> … -> signal -> everything is closed, or cut at the deadline -> exit code 0
 */
import { messageOf } from '../base/errors.ts';
import type { Gateway } from './gateway.ts';
import { ProgressLine } from './progress-line.ts';

/** Milliseconds from a signal to the end of the process, come what may. */
const deadline = 1800;

/** Exit code: 0 after a signal, 1 when the gateway failed by itself. `release` is called last, whatever happened. */
export async function runUntilSignal(
  start: () => Promise<Gateway>,
  release: () => Promise<void> = async () => {},
): Promise<number> {
  const signalled = nextSignal().then(() => {
    setTimeout(() => process.exit(0), deadline);
  });
  const line = new ProgressLine(process.stderr, () => performance.now());
  const starting = start();
  let gateway: Gateway | null = null;
  try {
    gateway = await Promise.race([starting, signalled.then(() => null)]);
    if (gateway === null) {
      // What has begun is seen through, so that it can be closed in order.
      gateway = await starting.catch(() => null);
      return 0;
    }
    // First, because on a terminal the progress stays open as the last line.
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
    // Whatever a library still holds open must not keep the process: everything of ours is closed.
    setTimeout(() => process.exit(), 100).unref();
  }
}

/**
 * Later signals change nothing: npm passes on the one that the terminal has sent to all already, and the end is near in any case.
 */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
}
