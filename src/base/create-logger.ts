/** Creates the logger of a process or thread. Only this file loads pino; other code receives a Logger. */
import pino from 'pino';
import type { Logger, LogLevel } from './log.ts';
import { standardError } from './output/standard-streams.ts';
import { terminalLine } from './text/terminal-line.ts';

/** A logger on standard error: lines for people on a terminal, else JSON lines. */
export function createLogger(level: LogLevel): Logger {
  const { isTerminal } = standardError;
  const write = (line: string): unknown => standardError.rewrite(isTerminal ? terminalLine(line) : line);
  return pino({ level, base: null }, { write });
}
