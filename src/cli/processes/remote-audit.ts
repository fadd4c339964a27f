/**
 * The audit log of a serve process. The ingest process writes the lines of all. If the disk takes only a part of a line, the writer repairs
 * the file, and two writers could not.
 *
 *   line  -> the channel -> the file of the ingest process
 *         -> too many wait for the channel: missing, and counted there later
 *   note  -> the channel -> the file -> noted
 *   close -> what waits is in the channel
 */
import type { AuditFacts } from '../../admission/audit.ts';
import { type AuditLines, auditUnavailable } from '../serving/audit-file.ts';
import { PendingAnswers } from './pending-answers.ts';
import type { FromProcess } from './process-messages.ts';

/** Lines that wait for the channel, and their characters. */
const mostWaiting = 10_000;
const mostCharacters = 16 * 1024 * 1024;

export class RemoteAuditLines implements AuditLines {
  readonly #send: (message: FromProcess, sent: () => void) => void;
  readonly #state: () => AuditFacts;
  /** Notes that wait, by the error of each; null for none. */
  readonly #notes = new PendingAnswers<string | null>();
  #waiting = 0;
  #characters = 0;
  #missed = 0;
  /** Called when nothing waits any more. */
  #emptied: () => void = () => {};

  /** @param state what the ingest process says of the log */
  constructor(send: (message: FromProcess, sent: () => void) => void, state: () => AuditFacts) {
    this.#send = send;
    this.#state = state;
  }

  write(line: string): void {
    this.#post({ type: 'audit', text: line, id: null });
  }

  async note(line: string): Promise<void> {
    const error = await this.#notes.ask((id) => {
      const isSent = this.#post({ type: 'audit', text: line, id });
      if (!isSent) this.#notes.answered(id, 'too many lines wait for the ingest process');
    });
    if (error !== null) throw auditUnavailable(new Error(error));
  }

  /** The ingest process has the note in the file, or says why not. */
  noted(id: number, error: string | null): void {
    this.#notes.answered(id, error);
  }

  missed(lines: number): void {
    this.#missed += lines;
  }

  state(): AuditFacts {
    return this.#state();
  }

  async close(): Promise<void> {
    this.#tellMissed();
    if (this.#waiting > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
  }

  #post(message: Extract<FromProcess, { type: 'audit' }>): boolean {
    const { length } = message.text;
    if (this.#waiting >= mostWaiting || this.#characters + length > mostCharacters) {
      this.#missed += 1;
      return false;
    }
    this.#tellMissed();
    this.#sendCounted(message, length);
    return true;
  }

  #tellMissed(): void {
    if (this.#missed > 0) this.#sendCounted({ type: 'missed', lines: this.#missed }, 0);
    this.#missed = 0;
  }

  #sendCounted(message: FromProcess, characters: number): void {
    this.#waiting += 1;
    this.#characters += characters;
    this.#send(message, () => {
      this.#waiting -= 1;
      this.#characters -= characters;
      if (this.#waiting === 0) this.#emptied();
    });
  }
}
