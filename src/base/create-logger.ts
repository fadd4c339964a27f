/** Creates the logger of a process or thread. Only this file loads pino; other code receives a Logger. */
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import pino from 'pino';
import { reportClosedOutput } from './closed-output.ts';
import type { Logger, LogLevel } from './log.ts';
import { terminalLine } from './text/terminal-line.ts';

const stderr = 2;

/** A logger on standard error: lines for people on a terminal, else JSON lines. */
export function createLogger(level: LogLevel, onTerminal = isatty(stderr)): Logger {
  return pino({ level, base: null }, { write: (line) => writeLine(onTerminal ? terminalLine(line) : line) });
}

/** Writes at once, because a process that ends must not lose its last lines. A reader that is gone must not end the process. */
function writeLine(text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(stderr, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') reportClosedOutput();
      // The pipe is full: its reader is slow.
      if (code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
