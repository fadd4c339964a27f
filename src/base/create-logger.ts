/** Creates the logger of a process or thread. Only this file loads pino; other code receives a Logger. */
import pino from 'pino';
import type { Logger, LogLevel } from './log.ts';

/** A logger of JSON lines on standard error. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
