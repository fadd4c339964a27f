/**
 * Whether the watch of a collection brings its changes. Owned by its reflector; outlives each watch.
 *
 *   proved      a line came, or the watch was open for `provenMs`
 *   fruitless   the watch ended before that, was refused, or was not answered
 *   useless     refused, or fruitless `fruitlessAllowed` times in a row: `fault` says why, and the collection is polled. The watch is
 *               still tried between the lists, until it is proved
 *
 * So a watch from a version that the server has lost is followed by a list, although the server does not say so.
 */
import type { Clock } from '../../base/clock.ts';
import { headersMs } from '../watch/opened-watch.ts';

/** Milliseconds that a watch without a line must be open. */
export const provenMs = 4000;
/** Milliseconds that a polled collection waits for the headers of its watch. So it is right soon after its server is. */
const triedMs = 4000;
/** Fruitless watches in a row before the collection is listed. */
const fruitlessAllowed = 3;

interface FruitlessWatch {
  readonly message: string;
  /** The server accepted it. */
  readonly opened: boolean;
  /** Another one would not bring anything either. */
  readonly useless: boolean;
  /** A list was made because of the same failure. */
  readonly listed: boolean;
}

export class WatchTrust {
  readonly #clock: Clock;
  readonly #pollMs: number;
  #fruitless = 0;
  #doubted = false;
  #fault: string | null = null;
  /** The rows may differ from those of the last list. */
  #mayDiffer = false;
  /** Monotonic milliseconds. */
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, pollMs: number) {
    this.#clock = clock;
    this.#pollMs = pollMs;
  }

  /** Why the collection is polled; null while its watch is trusted. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Milliseconds that the headers of the next watch may take. */
  get answerMs(): number {
    return this.#fault === null ? headersMs : triedMs;
  }

  /** The last watch was opened and brought nothing: the next is no sign of fresh rows before it is proved. */
  get doubted(): boolean {
    return this.#doubted;
  }

  /** A list is due: the rows may differ from those of the last one, or it is as old as the time between two polls. */
  get listDue(): boolean {
    return this.#fault !== null && (this.#mayDiffer || this.#clock.monotonic() - this.#listedAt >= this.#pollMs);
  }

  /** Milliseconds until the next list is due at the latest. */
  get restMs(): number {
    return Math.max(0, this.#listedAt + this.#pollMs - this.#clock.monotonic());
  }

  listed(): void {
    this.#listedAt = this.#clock.monotonic();
    this.#mayDiffer = false;
  }

  /** A list failed as well: the watch is not to blame. */
  pardon(): void {
    this.#fault = null;
  }

  proved(): void {
    this.#fruitless = 0;
    this.#doubted = false;
    this.#fault = null;
    this.#mayDiffer = true;
  }

  /** A watch brought nothing. */
  fruitless({ message, opened, useless, listed }: FruitlessWatch): void {
    this.#fruitless += 1;
    this.#doubted = opened;
    if (!useless && this.#fault === null && this.#fruitless < fruitlessAllowed) return;
    // The version may be lost, even that of the last list.
    if (this.#fault === null && !listed) this.#mayDiffer = true;
    this.#fault = message;
  }
}
