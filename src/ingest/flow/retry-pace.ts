/**
 * The pace of retries in one cluster, by the number of collections that wait after a failure.
 *
 * A few sick kinds are tried again every few seconds, so that they are right soon after their server is. In an outage the delays grow
 * with the number of waiting collections, up to the cap of the backoff. So all retries together stay at a few a second.
 */

/** The longest delay while few collections wait, and the part of each waiting collection in it, in milliseconds. */
const leastCapMs = 4000;
const eachMs = 400;

export class RetryPace {
  readonly #total: () => number;
  #waiting = 0;

  /** @param total the number of collections in the cluster. */
  constructor(total: () => number) {
    this.#total = total;
  }

  /** Maximum milliseconds of a delay now. */
  get capMs(): number {
    return Math.max(leastCapMs, eachMs * this.#waiting);
  }

  /** True for a failure that concerns a part of the cluster: at least half of the collections do not wait. */
  get isLocal(): boolean {
    return (this.#waiting + 1) * 2 <= this.#total();
  }

  /** A collection waits until the result is called. */
  enter(): () => void {
    this.#waiting += 1;
    return () => {
      this.#waiting -= 1;
    };
  }
}
