/**
 * Holds requests to their bounds (I5): lists and watches of a cluster within the rate that was set, none before the time that the
 * server asked for. What is found is kept until somebody asks, since whoever made the request would swallow an error.
 */
import type { Clock, Random } from '../../src/base/clock.ts';
import type { RequestRate } from '../../src/ingest/flow/request-budget.ts';

export class RequestJudge {
  readonly findings: string[] = [];
  /** Lists (first pages) of whole collections, or streams of them, since it was set to 0. */
  lists = 0;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #rate: RequestRate;
  readonly #notBefore = new Map<string, number>();
  #tokens: number;
  #at: number;

  constructor(clock: Clock, random: Random, rate: RequestRate) {
    this.#clock = clock;
    this.#random = random;
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#at = clock.monotonic();
  }

  asked(key: string, query: URLSearchParams): void {
    if (query.get('continue') !== null || isProbe(query)) return;
    const now = this.#clock.monotonic();
    const until = this.#notBefore.get(key);
    if (until !== undefined && now < until) this.findings.push(`I5: ${key} was asked for ${until - now} ms too early`);
    const watches = query.get('watch') === 'true' && query.get('sendInitialEvents') !== 'true';
    // What is compared only is not taken.
    if (!watches && query.get('resourceVersionMatch') !== 'Exact') this.lists += 1;
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(Math.max(burst, this.#tokens), this.#tokens + ((now - this.#at) * perSecond) / 1000) - 1;
    this.#at = now;
    if (this.#tokens < -0.001) this.findings.push(`I5: more lists and watches than ${burst} and ${perSecond} a second`);
  }

  /** Seconds that the server asks for. */
  holdOff(key: string, query: URLSearchParams): number {
    const seconds = 1 + Math.floor(this.#random() * 3);
    // Who looks at one object only to see how the server is, is not the one who must wait.
    if (!isProbe(query)) this.#notBefore.set(key, this.#clock.monotonic() + seconds * 1000);
    return seconds;
  }

  /** Somebody else asks for this collection from now on. */
  forget(key: string): void {
    this.#notBefore.delete(key);
  }

  /** Nobody got a turn for a while: what was due meanwhile comes all at once. */
  heldUp(): void {
    this.#tokens = 3 * this.#rate.burst;
    this.#at = this.#clock.monotonic();
  }

  /** Another process asks: it has not heard, and has a budget of its own. */
  restart(): void {
    this.#notBefore.clear();
    this.#tokens = this.#rate.burst;
  }
}

function isProbe(query: URLSearchParams): boolean {
  return query.get('limit') === '1';
}
