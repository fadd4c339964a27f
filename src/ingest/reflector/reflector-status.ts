/**
 * The status of a reflector: phase, error, restarts, and the possible age of its collection's rows.
 *
 *   listed         stale since the list
 *   watch open     not stale; the time of the last sign moves only when the watch is proved (watch-trust.ts)
 *   watch silent   bookmarks are overdue: stale since the last event, bookmark or proof
 *   watch closed   stale since the last event, bookmark, complete list or proof
 *
 * The status is stored, so that the serve thread and a restarted gateway can read it. A failed status write is ignored.
 */
import { messageOf } from '../../base/errors.ts';
import type { IngestStatus } from '../../store/types/progress.ts';
import type { ReflectorContext } from '../context/reflector-context.ts';
import { inStore } from '../flow/failure.ts';

type StatusContext = Pick<ReflectorContext, 'changed' | 'clock' | 'handle' | 'log' | 'writer'>;

export class ReflectorStatus {
  readonly #context: StatusContext;
  readonly #restarts = new Map<string, number>();
  #phase: IngestStatus['phase'] = 'IDLE';
  #error: string | null = null;
  #lastEventAt: number | null;
  #lastSignAt: number | null;
  #staleSince: number | null;
  #refused: boolean;
  #refusal: number | null = null;
  /** Something changed that the next `say` must save. True at first, because the store may hold the phase of an earlier run. */
  #unsaved = true;

  constructor(context: StatusContext) {
    this.#context = context;
    const { status } = context.writer.state(context.handle);
    this.#lastEventAt = status.lastEventAt;
    this.#lastSignAt = status.lastSignAt;
    this.#staleSince = status.staleSince ?? status.lastSignAt;
    this.#refused = status.refused;
  }

  get phase(): IngestStatus['phase'] {
    return this.#phase;
  }

  get error(): string | null {
    return this.#error;
  }

  /** The HTTP status of the last refusal; null if the last request was not refused. */
  get refusal(): number | null {
    return this.#refusal;
  }

  /** A complete list was committed. */
  listed(): void {
    this.#lastSignAt = this.#context.clock.now();
    this.#staleSince = this.#lastSignAt;
    this.#refused = false;
    this.#refusal = null;
    this.#unsaved = true;
  }

  /** A watch is open that can be expected to bring the changes. */
  opened(): void {
    this.#staleSince = null;
    this.accepted();
    this.#unsaved = true;
  }

  /** The open watch brings the changes. */
  proved(): void {
    this.opened();
    this.#lastSignAt = this.#context.clock.now();
  }

  /** A watch committed this many events; 0 for a bookmark. */
  took(events: number): void {
    this.#lastSignAt = this.#context.clock.now();
    if (events > 0) this.#lastEventAt = this.#lastSignAt;
    this.#staleSince = null;
    this.#save();
  }

  /** The watch is open, but its bookmarks are overdue. */
  silent(): void {
    this.#staleSince ??= this.#lastSignAt;
    this.#save();
  }

  /** The watch has closed. */
  lost(): void {
    this.#staleSince ??= this.#lastSignAt;
  }

  /** The watch has closed without a failure, and the next one is not open yet. */
  closed(): void {
    this.lost();
    this.#save();
  }

  /** The last failure was no refusal. */
  accepted(): void {
    this.#refused = false;
    this.#refusal = null;
  }

  /** The server refuses the collection with this HTTP status; callers must not wait for it. */
  refused(httpStatus: number): void {
    this.#refused = true;
    this.#refusal = httpStatus;
  }

  /** Counts a restart. */
  count(reason: string): void {
    this.#restarts.set(reason, (this.#restarts.get(reason) ?? 0) + 1);
  }

  say(phase: IngestStatus['phase'], error: string | null): void {
    const same = phase === this.#phase && error === this.#error;
    if (same && !this.#unsaved) return;
    this.#phase = phase;
    this.#error = error;
    this.#save();
    if (!same) this.#context.changed?.();
  }

  #save(): void {
    this.#unsaved = false;
    const { writer, handle, log } = this.#context;
    try {
      inStore(() =>
        writer.setStatus(handle, {
          phase: this.#phase,
          lastEventAt: this.#lastEventAt,
          lastSignAt: this.#lastSignAt,
          staleSince: this.#staleSince,
          error: this.#error,
          restarts: Object.fromEntries(this.#restarts),
          refused: this.#refused,
        }),
      );
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'the status of a collection was not saved');
    }
  }
}
