/** Milliseconds after a signal until the process exits, though its output is not read or the gateway does not answer. */
const deadline = 1000;

/**
 * The exit code of a command that runs until SIGINT, SIGTERM or SIGHUP aborts its signal. The end of the reader of standard output ends the
 * process in src/main.ts.
 */
export async function untilSignal(run: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => {
    stop.abort();
    setTimeout(() => process.exit(0), deadline).unref();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return run(stop.signal);
}
