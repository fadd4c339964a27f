/**
 * What a reflector says of itself: phase, error, restarts, and how old its collection's rows may be.
 *
 *   listed: as of now, until a watch is open -> watch open: not stale -> lost: stale since the server last showed a sign of life
 *
 * Signs are events, bookmarks, whole lists and the opening of a watch. Kept in the store, so that the serve role and a restart know
 * it too; a store that does not take it now costs nothing but that.
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
  /** The first word is always said: the store may remember another phase from an earlier run. */
  #unsaid = true;

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

  /** A whole list was committed. */
  listed(): void {
    this.#lastSignAt = this.#context.clock.now();
    this.#staleSince = this.#lastSignAt;
    this.#refused = false;
  }

  /** A watch is open. */
  opened(): void {
    this.#lastSignAt = this.#context.clock.now();
    this.#staleSince = null;
    this.#refused = false;
    // Where the phase says so already, this is all that changes.
    if (!this.#unsaid && this.#phase === 'WATCHING') this.#save();
  }

  /** So many events of a watch were committed; none: a bookmark. */
  took(events: number): void {
    this.#lastSignAt = this.#context.clock.now();
    if (events > 0) this.#lastEventAt = this.#lastSignAt;
    this.#save();
  }

  /** No watch is open any more. */
  lost(): void {
    this.#staleSince ??= this.#lastSignAt;
  }

  /** The server refuses the collection; nobody is to wait for it. */
  refused(): void {
    this.#refused = true;
  }

  /** Counts a restart. */
  count(reason: string): void {
    this.#restarts.set(reason, (this.#restarts.get(reason) ?? 0) + 1);
  }

  say(phase: IngestStatus['phase'], error: string | null): void {
    if (phase === this.#phase && error === this.#error && !this.#unsaid) return;
    this.#unsaid = false;
    this.#phase = phase;
    this.#error = error;
    this.#save();
    this.#context.changed?.();
  }

  #save(): void {
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
