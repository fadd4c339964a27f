/**
 * The file of --audit-log: lines are appended, and nothing is ever cut.
 *
 *   line -> queue -> one append for all that wait -> the file, opened again if another one has its name
 *                                                 -> fails: the lines that are not whole are missing; tried again after a pause
 *        -> the queue is full: missing
 *   after a failure, the first line says how many are missing
 *
 * Invariants: a line is whole or missing, and every missing line is counted. A disk that stalls stops neither an answer nor the gateway.
 */

import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type AuditFacts, type AuditLog, auditLines } from '../admission/audit.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { must } from '../base/must.ts';
import { standardOutput } from '../base/output/standard-streams.ts';

export interface AuditFile {
  readonly audit: AuditLog;
  state(): AuditFacts;
  /** Writes what waits. */
  close(): Promise<void>;
}

/** Lines that wait for the disk, and their characters. */
const mostWaiting = 10_000;
const mostCharacters = 16 * 1024 * 1024;
/** Milliseconds until a failed write is tried again: at first, and at most. */
const firstPauseMs = 250;
const longestPauseMs = 5000;
/** Milliseconds that a close waits for the disk. */
const longestCloseMs = 1000;
const lineBreak = 0x0a;
/** Not blocking: the end of a pipe without a reader would never open. */
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * Opens the file, or standard output for `-`. Resolves when lines can be written.
 * @throws PortolanError CONFIGURATION for a file that cannot be written.
 */
export async function openAuditFile(path: string, log: Logger, clock: Clock = systemClock): Promise<AuditFile> {
  const writer = path === '-' ? new OutputLines() : await FileLines.open(path, log, clock);
  const later = (ms: number, callback: () => void): void => void setTimeout(callback, ms).unref();
  const audit = auditLines({ write: (line) => writer.write(line), now: () => clock.now(), later });
  return {
    audit,
    state: () => writer.state(),
    close() {
      audit.flush();
      return writer.close();
    },
  };
}

class OutputLines {
  #written = 0;

  write(line: string): void {
    this.#written += 1;
    standardOutput.write(line);
  }

  state(): AuditFacts {
    return { isWritable: true, written: this.#written, missing: 0 };
  }

  async close(): Promise<void> {}
}

class FileLines {
  readonly #path: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  #file: FileHandle | null;
  #waiting: string[] = [];
  #characters = 0;
  #writing: Promise<void> | null = null;
  readonly #stop = new AbortController();
  #written = 0;
  #missing = 0;
  /** Missing lines that the file does not tell of yet, and since when. */
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

  write(line: string): void {
    if (this.#waiting.length >= mostWaiting || this.#characters + line.length > mostCharacters) this.#miss(1);
    else {
      this.#waiting.push(line);
      this.#characters += line.length;
    }
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
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

  /** Writes until nothing waits, and the file tells of every missing line. Never rejects. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 || this.#untold > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      this.#characters = 0;
      const told = this.#untold;
      const missing = told === 0 ? [] : [this.#missingLine(told)];
      const { complete, cause } = await this.#append([...missing, ...lines]);
      const whole = Math.max(0, complete - missing.length);
      if (complete > 0) this.#untold -= told;
      this.#written += whole;
      if (cause === null) {
        if (this.#pauseMs > 0) this.#log.info({ missing: told }, 'the audit log can be written again');
        this.#pauseMs = 0;
        continue;
      }
      this.#miss(lines.length - whole);
      if (this.#pauseMs === 0) this.#log.error({ error: messageOf(cause) }, 'the audit log cannot be written');
      this.#pauseMs = Math.min(longestPauseMs, Math.max(firstPauseMs, this.#pauseMs * 2));
      if (this.#stop.signal.aborted) return;
      await this.#clock.sleep(this.#pauseMs, this.#stop.signal).catch(() => {});
    }
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
