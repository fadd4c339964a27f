/**
 * Tells the main thread that the reader of standard error is gone. Only a write finds this out, and other threads write too.
 *
 *   any thread: a write fails with EPIPE -> `reportClosedOutput` -> main thread: `onClosedOutput`
 */
const channelName = 'portolan-closed-output';

/** Calls the listener once, at the first report. Does not keep the process alive. */
export function onClosedOutput(listener: () => void): void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = () => {
    channel.close();
    listener();
  };
  (channel as unknown as { unref(): void }).unref();
}

/** Reports from any thread that a write found the reader of standard error gone. */
export function reportClosedOutput(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage('closed');
  channel.close();
}
