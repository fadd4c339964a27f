/**
 * The messages that one serve process has not got yet. A process that is busy reads its channel late. Commits, progress and facts that it has not
 * read then are joined, so what waits for it does not grow.
 *
 *   tell -> the channel is free -> sent -> the system has taken it -> the channel is free
 *                       is not  -> joined with what waits of the same type
 */
import { type CommittedChanges, joinCommits } from '../../store/types/change.ts';
import type { ToProcess } from './process-messages.ts';

/** The messages that are joined. */
export type JoinedMessage = Extract<ToProcess, { type: 'wake' | 'progress' | 'catalog' | 'facts' }>;

export class Outbox {
  readonly #send: (message: ToProcess, taken: () => void) => void;
  #isBusy = false;
  /** One for each epoch of the store. */
  #commits: CommittedChanges[] = [];
  /** The newest of each other type. */
  readonly #newest = new Map<JoinedMessage['type'], JoinedMessage>();

  /** @param send hands a message to the channel, and calls `taken` when the channel has no more of it in memory */
  constructor(send: (message: ToProcess, taken: () => void) => void) {
    this.#send = send;
  }

  tell(message: JoinedMessage): void {
    if (message.type === 'wake') this.#join(message.committed);
    else this.#newest.set(message.type, message);
    this.#next();
  }

  #join(committed: CommittedChanges): void {
    const last = this.#commits.at(-1);
    if (last?.epoch === committed.epoch) this.#commits[this.#commits.length - 1] = joinCommits(last, committed);
    else this.#commits.push(committed);
  }

  /** Commits first: a catalog is read from the tables. */
  #next(): void {
    if (this.#isBusy) return;
    const committed = this.#commits.shift();
    const [newest] = this.#newest.values();
    const message: ToProcess | undefined = committed === undefined ? newest : { type: 'wake', committed };
    if (message === undefined) return;
    if (committed === undefined) this.#newest.delete(message.type as JoinedMessage['type']);
    this.#isBusy = true;
    this.#send(message, () => {
      this.#isBusy = false;
      this.#next();
    });
  }
}
