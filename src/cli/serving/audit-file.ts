/**
 * The file of --audit-log: lines are appended, and nothing is ever cut.
 *
 *   line -> queue -> one append for all that wait -> the file, opened again if another one has its name
 *                                                 -> fails: the lines that are not whole are missing; tried again after a pause
 *        -> the queue is full: missing
 *   after a failure, the first line says how many are missing
 *
 * A note of a write is a line that somebody waits for. It ends the pause, and then notes alone are tried. So a disk that is still full
 * costs none of the waiting lines. Its promise settles with the append, or after `longestNoteMs`.
 *
 * Invariants: a line is whole or missing, and every missing line is counted. A disk that stalls stops neither an answer nor the gateway.
 */

import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type AuditFacts, type AuditLog, auditLines, writeLine } from '../../admission/audit.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import type { Config } from '../../config/options.ts';
import type { WriteAudit } from '../../operation/write-access.ts';

export interface AuditFile {
  readonly audit: AuditLog;
  readonly writes: WriteAudit;
  state(): AuditFacts;
  /** Where the lines go. */
  readonly lines: AuditLines;
  /** Makes lines of the denials that wait to be counted. */
  flush(): void;
  /** Writes what waits. */
  close(): Promise<void>;
}

/** Takes the lines of the audit log. */
export interface AuditLines {
  write(line: string): void;
  /** @throws PortolanError AUDIT_UNAVAILABLE if the line is not in the file in time. */
  note(line: string): Promise<void>;
  /** Counts lines that were lost before they came here. */
  missed(lines: number): void;
  state(): AuditFacts;
  close(): Promise<void>;
}

/** Lines that wait for the disk, and their characters. */
const mostWaiting = 10_000;
const mostCharacters = 16 * 1024 * 1024;
/** Milliseconds until a failed write is tried again: at first, and at most. */
const firstPauseMs = 250;
const longestPauseMs = 5000;
/** Milliseconds that a note of a write waits for the disk. */
const longestNoteMs = 2000;
/** Milliseconds that a close waits for the disk. */
const longestCloseMs = 1000;
const lineBreak = 0x0a;
/** Not blocking: the end of a pipe without a reader would never open. */
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/** Null without an audit log. @throws PortolanError CONFIGURATION */
export async function openAudit(
  { auditLog, auditRequired }: Pick<Config, 'auditLog' | 'auditRequired'>,
  log: Logger,
): Promise<AuditFile | null> {
  if (auditLog !== undefined) return openAuditFile(auditLog, log);
  if (auditRequired) throw new PortolanError('CONFIGURATION', '--audit-required needs --audit-log and a file.');
  return null;
}

/**
 * Opens the file, or standard output for `-`. Resolves when lines can be written.
 * @throws PortolanError CONFIGURATION for a file that cannot be written.
 */
export async function openAuditFile(path: string, log: Logger, clock: Clock = systemClock): Promise<AuditFile> {
  return auditOver(path === '-' ? new OutputLines() : await FileLines.open(path, log, clock), clock);
}

/** An audit log whose lines go there. */
export function auditOver(lines: AuditLines, clock: Clock): AuditFile {
  const later = (ms: number, callback: () => void): void => void setTimeout(callback, ms).unref();
  const audit = auditLines({ write: (line) => lines.write(line), now: () => clock.now(), later });
  return {
    audit,
    writes: { note: async (entry) => lines.note(writeLine(entry, clock.now())) },
    state: () => lines.state(),
    lines,
    flush: () => audit.flush(),
    close() {
      audit.flush();
      return lines.close();
    },
  };
}

class OutputLines implements AuditLines {
  #written = 0;
  #missing = 0;

  write(line: string): void {
    this.#written += 1;
    standardOutput.write(line);
  }

  /** Node writes to pipes, files and terminals before it returns. */
  async note(line: string): Promise<void> {
    this.write(line);
  }

  missed(lines: number): void {
    this.#missing += lines;
  }

  state(): AuditFacts {
    return { isWritable: true, written: this.#written, missing: this.#missing };
  }

  async close(): Promise<void> {}
}

interface Line {
  readonly text: string;
  /** Gets why the line is not in the file; null if it is. Absent for a line whose writing is not awaited. */
  readonly settle?: (cause: unknown) => void;
}

class FileLines implements AuditLines {
  readonly #path: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  #file: FileHandle | null;
  #waiting: Line[] = [];
  #characters = 0;
  #writing: Promise<void> | null = null;
  readonly #stop = new AbortController();
  /** Ends the pause. */
  #wake = new AbortController();
  #written = 0;
  #missing = 0;
  /** Missing lines that the file does not report yet, and since when. */
  #untold = 0;
  #untoldSince = 0;
  /** The last line in the file is a part of one. */
  #isTorn = false;
  /** 0 while lines can be written. */
  #pauseMs = 0;

  private constructor(path: string, file: FileHandle, log: Logger, clock: Clock) {
    this.#path = path;
    this.#file = file;
    this.#log = log;
    this.#clock = clock;
  }

  static async open(path: string, log: Logger, clock: Clock): Promise<FileLines> {
    try {
      return new FileLines(path, await open(path, flags, 0o600), log, clock);
    } catch (error) {
      throw new PortolanError('CONFIGURATION', `--audit-log: ${path} cannot be written: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }

  write(text: string): void {
    if (!this.#add({ text })) this.#miss(1);
  }

  async note(text: string): Promise<void> {
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    const settled = new AbortController();
    const settle = (cause: unknown): void => {
      settled.abort();
      if (cause === null) resolve();
      else reject(auditUnavailable(cause));
    };
    const line = { text, settle };
    if (!this.#add(line)) {
      this.#miss(1);
      throw auditUnavailable(new Error('too many lines wait for the disk'));
    }
    this.#wake.abort();
    const late = (): void => {
      this.#withdraw(line);
      settle(new Error('the disk does not answer'));
    };
    void this.#clock.sleep(longestNoteMs, settled.signal).then(late, () => {});
    await written;
  }

  /** False if the queue is full. */
  #add(line: Line): boolean {
    const isFull = this.#waiting.length >= mostWaiting || this.#characters + line.text.length > mostCharacters;
    if (!isFull) {
      this.#waiting.push(line);
      this.#characters += line.text.length;
    }
    this.#begin();
    return !isFull;
  }

  #begin(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  /** Takes back a line that is not being written yet: it must not be in the file later. */
  #withdraw(line: Line): void {
    const at = this.#waiting.indexOf(line);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    this.#characters -= line.text.length;
    this.#miss(1);
  }

  /** Takes what is to be written next out of the queue. */
  #next(notesAlone: boolean): readonly Line[] {
    const isNext = ({ settle }: Line): boolean => !notesAlone || settle !== undefined;
    const lines = this.#waiting.filter(isNext);
    this.#waiting = notesAlone ? this.#waiting.filter((line) => !isNext(line)) : [];
    this.#characters = this.#waiting.reduce((sum, { text }) => sum + text.length, 0);
    return lines;
  }

  state(): AuditFacts {
    return { isWritable: this.#pauseMs === 0, written: this.#written, missing: this.#missing };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.race([this.#writing, this.#clock.sleep(longestCloseMs)]);
    void this.#file?.close().catch(() => {});
    this.#file = null;
  }

  /** Writes until nothing waits, and the file reports every missing line. Never rejects. */
  async #writeAll(): Promise<void> {
    let isWoken = false;
    while (this.#waiting.length > 0 || this.#untold > 0) {
      const lines = this.#next(isWoken);
      isWoken = false;
      const told = this.#untold;
      const missing = told === 0 ? [] : [this.#missingLine(told)];
      const { complete, cause } = await this.#append([...missing, ...lines.map(({ text }) => text)]);
      const whole = Math.max(0, complete - missing.length);
      if (complete > 0) this.#untold -= told;
      this.#written += whole;
      for (const [index, { settle }] of lines.entries()) settle?.(index < whole ? null : cause);
      if (cause === null) {
        if (this.#pauseMs > 0) this.#log.info({ missing: told }, 'the audit log can be written again');
        this.#pauseMs = 0;
        continue;
      }
      this.#miss(lines.length - whole);
      if (this.#pauseMs === 0) this.#log.error({ error: messageOf(cause) }, 'the audit log cannot be written');
      this.#pauseMs = Math.min(longestPauseMs, Math.max(firstPauseMs, this.#pauseMs * 2));
      if (this.#stop.signal.aborted) return;
      isWoken = await this.#pause();
    }
  }

  /** Waits until the next attempt. True if a note ended the pause. */
  async #pause(): Promise<boolean> {
    // A note that came during the last append has not been tried yet.
    if (this.#waiting.some(({ settle }) => settle !== undefined)) return true;
    this.#wake = new AbortController();
    const { signal } = this.#wake;
    await this.#clock.sleep(this.#pauseMs, AbortSignal.any([this.#stop.signal, signal])).catch(() => {});
    return signal.aborted;
  }

  /** The file reports them, also if no line follows. */
  missed(lines: number): void {
    this.#miss(lines);
    this.#begin();
  }

  #miss(lines: number): void {
    if (lines === 0) return;
    if (this.#untold === 0) this.#untoldSince = this.#clock.now();
    this.#untold += lines;
    this.#missing += lines;
  }

  #missingLine(lines: number): string {
    const [time, since] = [this.#clock.now(), this.#untoldSince].map((ms) => new Date(ms).toISOString());
    return `${JSON.stringify({ time, event: 'missing', since, lines })}\n`;
  }

  /** Appends these lines. How many are in the file completely, and why the others are not; null if all are. */
  async #append(lines: readonly string[]): Promise<{ readonly complete: number; readonly cause: unknown }> {
    let bytes = Buffer.alloc(0);
    let at = 0;
    try {
      const file = await this.#current();
      // A part of a line must not become a part of the next one.
      bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${lines.join('')}`);
      while (at < bytes.length) at += (await file.write(bytes, at)).bytesWritten;
      this.#isTorn = false;
      return { complete: lines.length, cause: null };
    } catch (cause) {
      const whole = bytes.subarray(0, at).lastIndexOf(lineBreak) + 1;
      const ends = bytes.subarray(0, whole).filter((byte) => byte === lineBreak).length;
      const complete = Math.max(0, ends - (this.#isTorn ? 1 : 0));
      if (at > whole) this.#isTorn = !(await this.#cut(at - whole));
      else if (whole > 0) this.#isTorn = false;
      return { complete, cause };
    }
  }

  /** Removes the part of a line at the end of the file. */
  async #cut(bytes: number): Promise<boolean> {
    try {
      const file = must(this.#file, 'the file that was written');
      await file.truncate((await file.stat()).size - bytes);
      return true;
    } catch {
      return false;
    }
  }

  /** The file that has the name now: it may have been renamed or removed, or its file system may be another. */
  async #current(): Promise<FileHandle> {
    const named = await stat(this.#path).catch(() => null);
    const own = await this.#file?.stat().catch(() => null);
    if (this.#file !== null && named !== null && own != null && named.ino === own.ino && named.dev === own.dev) {
      return this.#file;
    }
    await this.#file?.close().catch(() => {});
    this.#file = null;
    this.#file = await open(this.#path, flags, 0o600);
    this.#isTorn = false;
    return this.#file;
  }
}

/** The refusal of a write whose note is not in the log. */
export function auditUnavailable(cause: unknown): PortolanError {
  return new PortolanError(
    'AUDIT_UNAVAILABLE',
    'Nothing is written, because the audit log cannot be: the operator must make room for it; send the request again then.',
    { cause },
  );
}
