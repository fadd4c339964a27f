/**
 * A mutation that reports each object when it is done, for a client that does not want to wait for the whole answer.
 *
 *   begin -> 0 of 500 -> an item, 1 of 500 -> … -> the last item, 500 of 500 -> the whole report, with token and `seen`
 *
 * Clients send a subscription again when they have lost their connection. So it must be harmless to repeat: a dry run, a plan, or a
 * mutation with a `requestId`.
 *
 * Owns: the items that the client has not taken yet. They count against the bytes of the mutation. A client that takes no message for
 * `stalledMs` loses them, and the mutation is cancelled as if the client had left. Objects that are not begun are SKIPPED.
 */
import { PortolanError } from '../base/errors.ts';
import type { Operation } from '../operation/operation.ts';
import { requireWrites } from '../operation/write-access.ts';
import type { WriteTarget } from './request/write-intent.ts';
import type { WriteOptions } from './run/write-options.ts';
import type { ReportedItem } from './session/reported-item.ts';
import type { WriteReport } from './session/session-report.ts';
import type { Follower } from './session/write-session.ts';

/** One message. */
export interface WriteProgress {
  /** Objects that are done or planned. */
  readonly done: number;
  readonly total: number;
  /** Null in the first message and in the last one. */
  readonly item: ReportedItem | null;
  /** In the last message. */
  readonly report: WriteReport | null;
}

/** A mutation that can be followed: of one step (`carryOut` of mutation.ts) or of several, such as an apply of a set. */
export interface FollowableMutation {
  readonly options: WriteOptions;
  /** Calls `begun` of the follower once. @throws PortolanError as `carryOut` */
  carryOut(follower?: Follower): Promise<WriteReport>;
}

/** Milliseconds that a client may take for one message. */
const stalledMs = 30_000;

export class FollowedMutation {
  readonly #stop = new AbortController();
  readonly #waiting: WriteProgress[] = [];
  readonly #done = new Set<WriteTarget>();
  readonly #begun = Promise.withResolvers<void>();
  readonly #stalledMs: number;
  #total = 0;
  #isOver = false;
  #isDropped = false;
  #failure: unknown = null;
  #release = (): void => {};
  #more = Promise.withResolvers<void>();

  private constructor(stalled: number) {
    this.#stalledMs = stalled;
  }

  /**
   * Resolves when the objects are known. `messages` must be called then.
   * @throws PortolanError as `carryOut`; BAD_USER_INPUT for a mutation that is not harmless to repeat
   */
  static async begin(operation: Operation, wanted: FollowableMutation, stalled = stalledMs): Promise<FollowedMutation> {
    requireWrites(operation.source.writes, operation);
    const { dryRun, plan, requestId } = wanted.options;
    if (!dryRun && plan === null && requestId === null) {
      throw new PortolanError(
        'BAD_USER_INPUT',
        'Clients repeat a subscription when they have lost their connection. Give `dryRun`, `plan` or `requestId` in `options`, so that nothing is written twice.',
      );
    }
    const followed = new FollowedMutation(stalled);
    followed.#follow(operation, wanted);
    await followed.#begun.promise;
    return followed;
  }

  #follow(operation: Operation, wanted: FollowableMutation): void {
    const { signal } = operation;
    const ends = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
    wanted
      .carryOut({
        signal: ends,
        begun: (total) => {
          this.#total = total;
          this.#tell(null, null);
          this.#begun.resolve();
        },
        told: (item) => {
          this.#done.add(item.intent.target);
          this.#tell(item, null);
        },
        ended: (release) => {
          this.#release = release;
          if (this.#isDropped) release();
        },
      })
      .then(
        (report) => this.#tell(null, report),
        (error: unknown) => {
          this.#failure = error;
          this.#begun.reject(error);
        },
      )
      .finally(() => {
        this.#isOver = true;
        this.#more.resolve();
        operation.end();
      });
  }

  #tell(item: ReportedItem | null, report: WriteReport | null): void {
    if (this.#isDropped) return;
    this.#waiting.push({ done: this.#done.size, total: this.#total, item, report });
    this.#more.resolve();
  }

  /** To be called once. @param signal ends the mutation */
  messages(signal: AbortSignal): AsyncGenerator<WriteProgress, void, undefined> {
    // A generator does not run until its first message is taken, so it cannot learn of the end.
    const drop = (): void => this.#drop();
    if (signal.aborted) drop();
    signal.addEventListener('abort', drop, { once: true });
    return this.#messages(signal, drop);
  }

  async *#messages(signal: AbortSignal, drop: () => void): AsyncGenerator<WriteProgress, void, undefined> {
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (message !== undefined) {
          const stalled = setTimeout(drop, this.#stalledMs).unref();
          yield message;
          clearTimeout(stalled);
        } else if (this.#isDropped || this.#isOver) {
          break;
        } else {
          this.#more = Promise.withResolvers<void>();
          await this.#more.promise;
        }
      }
      if (this.#failure !== null && !this.#isDropped) throw this.#failure;
      if (this.#isDropped && !signal.aborted) throw stalledError(this.#stalledMs);
    } finally {
      signal.removeEventListener('abort', drop);
      drop();
    }
  }

  /** Cancels what is not begun, and lets the items go. */
  #drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#waiting.length = 0;
    this.#stop.abort(over);
    this.#release();
    this.#more.resolve();
  }
}

/** The reason of every end. Without one, each abort makes an error with a stack. */
const over = new Error('nobody follows the mutation');

function stalledError(ms: number): PortolanError {
  return new PortolanError(
    'TIMEOUT',
    `The client took no message for ${ms / 1000} seconds, so the mutation was cancelled. Send it again: what is done is not done twice.`,
  );
}
