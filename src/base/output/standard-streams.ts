/**
 * Standard output and standard error. This file alone writes to them.
 *
 * Owns: what reaches a terminal. Texts of gateways, API servers and objects may have characters that a terminal obeys: they move the
 * cursor, hide lines or set the title. Each text passes `visibleText` here, from any source. Never: sends a control sequence but
 * that of `rewrite` and those of `styles`.
 *
 * Only a write finds out that the reader of standard error is gone, and other threads write too. The main thread learns it:
 *
 *   any thread: a write fails with EPIPE -> `reportClosedOutput` -> main thread: `onClosedOutput`
 */
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { visibleText } from '../text/visible-text.ts';

/** To the start of the line, which is cleared. */
const startOfLine = '\r\x1b[K';

/** Select Graphic Rendition (ECMA-48): the parameter of each style. */
const styles = {
  ...{ title: 1, removed: 31, added: 32, place: 36 },
  ...{ pod1: 36, pod2: 33, pod3: 32, pod4: 35, pod5: 34, pod6: 31 },
} as const;

/** A text in one style; null for none. */
export interface StyledText {
  readonly text: string;
  readonly style: keyof typeof styles | null;
}

export interface Output {
  readonly isTerminal: boolean;
  /** False if the reader is slow. */
  write(text: string): boolean;
  /** Writes over the last line of a terminal. Elsewhere the same as `write`. */
  rewrite(text: string): boolean;
  /** Writes the texts one after the other, in their styles. */
  writeStyled(parts: readonly StyledText[]): boolean;
}

/** Of the main thread. `drain` comes after a `write` that returned false. */
export const standardOutput = {
  ...outputTo(1, (text) => process.stdout.write(text)),
  on: (event: 'drain', listener: () => void): unknown => process.stdout.on(event, listener),
  off: (event: 'drain', listener: () => void): unknown => process.stdout.off(event, listener),
};

/** Of every thread. */
export const standardError: Output = outputTo(2, (text) => writeAtOnce(2, text));

function outputTo(descriptor: number, send: (text: string) => boolean): Output {
  const isTerminal = isatty(descriptor);
  const shown = (text: string): string => visibleText(text, isTerminal ? 'all' : 'controls');
  const styled = ({ text, style }: StyledText): string =>
    style === null ? shown(text) : `\x1b[${styles[style]}m${shown(text)}\x1b[0m`;
  return {
    isTerminal,
    writeStyled: (parts) => send(parts.map(styled).join('')),
    write: (text) => send(shown(text)),
    rewrite: (text) => send(`${isTerminal ? startOfLine : ''}${shown(text)}`),
  };
}

/** A process that ends must not lose its last lines. A reader that is gone must not end the process. */
function writeAtOnce(descriptor: number, text: string): boolean {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') reportClosedOutput();
      // The pipe is full: its reader is slow.
      if (code !== 'EAGAIN') return true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
}

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
function reportClosedOutput(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage('closed');
  channel.close();
}
