/**
 * Decides which collections of a cluster are requested as a stream, and which are listed because the server does not
 * support it.
 *
 *   unknown:   one reflector at a time tries to stream; the others list meanwhile
 *                success                  -> supported: every collection streams
 *                refused, or failed twice -> every collection lists for an hour
 *   supported: a collection that is refused, or fails twice, lists for an hour
 *                three refusals in a row  -> every collection lists for an hour
 *
 * A stream may get no answer, stop without an end mark, or break off after half a minute. Then the collection lists at once and for an
 * hour, because another stream would probably cost the same time again. A stream may also fail twice before it opens, while other
 * collections are read. Then the collection lists once, because its server may fail only in streams.
 *
 * So a server that refuses the parameter costs one request, and one that ignores it costs two short deadlines, for any number of
 * resources.
 */
import type { Clock } from '../../base/clock.ts';
import { type Failure, failureOf, noAnswer, noEndMark } from '../flow/failure.ts';

const rememberedMs = 3_600_000;
/** Statuses by which a server refuses the parameter. */
const refusals = new Set([400, 405, 406, 422]);
const failuresAllowed = 2;
/** Milliseconds after which a stream that fails is too expensive to try again. */
const longMs = 30_000;
/** Maximum milliseconds without an object while nothing is known of the server. Short, because a list costs little. */
const trialSilenceMs = 5000;
const refusalsAllowed = 3;

/** One attempt; ends with one of the last three methods. */
export interface StreamTurn {
  /** Maximum milliseconds without another object or the end mark. */
  readonly silenceMs: number;
  /** The server has accepted the request: a later failure may come from the stream itself. */
  opened(): void;
  worked(): void;
  /**
   * The attempt failed with this error. `isLocal`: other collections of the cluster are read. True: list at once instead; false: a list
   * would have failed too.
   */
  failed(error: unknown, isLocal: boolean): boolean;
  /** The attempt was abandoned without a result. */
  left(): void;
}

interface StreamingSettings {
  /** False: no collection is streamed. */
  readonly streamingLists: boolean;
  /** Maximum milliseconds without an object, from a server that is known to support streams. */
  readonly streamSilenceMs: number;
}

export class StreamingLists {
  readonly #clock: Clock;
  readonly #enabled: boolean;
  readonly #silenceMs: number;
  readonly #resources = new Map<string, { failures: number; until: number }>();
  /** Failures before a stream was opened, by collection. */
  readonly #unopenedFailures = new Map<string, number>();
  #supported = false;
  #trialRunning = false;
  #until = Number.NEGATIVE_INFINITY;
  /** Failures before the first success; refusals in a row after it. */
  #failures = 0;
  #refusals = 0;

  constructor(clock: Clock, { streamingLists, streamSilenceMs }: StreamingSettings) {
    this.#clock = clock;
    this.#enabled = streamingLists;
    this.#silenceMs = streamSilenceMs;
  }

  /** `key` identifies the collection. Null: list it. */
  begin(key: string): StreamTurn | null {
    const now = this.#clock.monotonic();
    if (!this.#enabled || now < this.#until || now < (this.#resources.get(key)?.until ?? now)) return null;
    const isTrial = !this.#supported;
    if (isTrial && this.#trialRunning) return null;
    if (isTrial) this.#trialRunning = true;
    const left = (): void => {
      if (isTrial) this.#trialRunning = false;
    };
    let openedAt: number | null = null;
    return {
      silenceMs: isTrial ? Math.min(trialSilenceMs, this.#silenceMs) : this.#silenceMs,
      left,
      opened: () => {
        openedAt = this.#clock.monotonic();
      },
      worked: () => {
        left();
        this.#supported = true;
        this.#failures = 0;
        this.#refusals = 0;
        this.#resources.delete(key);
        this.#unopenedFailures.delete(key);
      },
      failed: (error, isLocal) => {
        left();
        return this.#failed(key, failureOf(error), openedAt, isLocal);
      },
    };
  }

  #failed(key: string, { kind, reason, status }: Failure, openedAt: number | null, isLocal: boolean): boolean {
    // A caller may have the right to list one resource but not to watch it. This refusal is no evidence about the server.
    if (status === 403) return this.#avoid(key);
    // A stream was asked for without a version too: this server cannot begin one.
    if (kind === 'expired' || kind === 'too new') return this.#avoid(key);
    if (refusals.has(status)) {
      this.#refusals += 1;
      if (!this.#supported || this.#refusals >= refusalsAllowed) this.#avoidAll();
      return this.#avoid(key);
    }
    const opened = reason === noAnswer || openedAt !== null;
    const ofStream = opened ? kind === 'server' || kind === 'network' || kind === 'protocol' : status === 500;
    if (!ofStream) return isLocal && (kind === 'server' || kind === 'network') && this.#unopened(key);
    this.#unopenedFailures.delete(key);
    const failures = (this.#resources.get(key)?.failures ?? 0) + 1;
    this.#resources.set(key, { failures, until: 0 });
    if (!this.#supported) {
      this.#failures += 1;
      if (this.#failures >= failuresAllowed) this.#avoidAll();
    }
    const now = this.#clock.monotonic();
    const expensive = reason === noEndMark || reason === noAnswer || (openedAt !== null && now - openedAt >= longMs);
    return expensive || now < this.#until || failures >= failuresAllowed ? this.#avoid(key) : false;
  }

  /** True for each second failure of a collection. */
  #unopened(key: string): boolean {
    const failures = (this.#unopenedFailures.get(key) ?? 0) + 1;
    this.#unopenedFailures.set(key, failures % failuresAllowed);
    return failures >= failuresAllowed;
  }

  #avoid(key: string): true {
    this.#resources.set(key, { failures: 0, until: this.#clock.monotonic() + rememberedMs });
    return true;
  }

  #avoidAll(): void {
    this.#supported = false;
    this.#failures = 0;
    this.#refusals = 0;
    this.#until = this.#clock.monotonic() + rememberedMs;
  }
}
