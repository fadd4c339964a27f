/**
 * Checks by samples that an API server allows what its roles and bindings grant. It refuses more if another authorizer decides before
 * RBAC.
 *
 *   a grant that a caller uses -> at most one in `everyMs` -> review: allowed                         nothing
 *                                                          -> refused -> again after `settleMs`: refused, and still granted: alarm in
 *                                                                                                                             that cluster
 *
 * The API server learns of a change of roles by a watch of its own, so one refusal proves nothing.
 */
import type { UserInfo } from '../../access/caller.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { AccessQuestion, AccessReviews } from './access-reviews.ts';

interface RightsCheckOptions {
  readonly reviews: Pick<AccessReviews, 'ask'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once, when the API server refuses what the roles grant. */
  readonly alarm: () => void;
}

/** Milliseconds between two samples. */
const everyMs = 10_000;
/** Milliseconds until a refusal is asked again. */
const settleMs = 5000;

export class RightsCheck {
  readonly #options: RightsCheckOptions;
  #nextAt = Number.NEGATIVE_INFINITY;
  #checked = 0;
  /** Clusters whose API server refuses what their roles grant. A new object for each change. */
  #alarmed: ReadonlySet<string> = new Set();

  constructor(options: RightsCheckOptions) {
    this.#options = options;
  }

  /** Samples that were compared. */
  get checked(): number {
    return this.#checked;
  }

  get alarmed(): boolean {
    return this.#alarmed.size > 0;
  }

  /** The clusters of the alarms. The same object until there are others. */
  get alarmedIn(): ReadonlySet<string> {
    return this.#alarmed;
  }

  /** Forgets the alarms of other clusters than these: a later one of the same name may be another. */
  clustersChanged(clusters: readonly string[]): void {
    if ([...this.#alarmed].every((each) => clusters.includes(each))) return;
    this.#alarmed = new Set([...this.#alarmed].filter((each) => clusters.includes(each)));
  }

  /** Offers a grant as a sample. @param isGranted whether the roles still grant it */
  offer(user: UserInfo, question: () => AccessQuestion | null, isGranted: (question: AccessQuestion) => boolean): void {
    const now = this.#options.clock.monotonic();
    if (now < this.#nextAt) return;
    const sample = question();
    if (sample === null || this.#alarmed.has(sample.cluster)) return;
    this.#nextAt = now + everyMs;
    void this.#check(user, sample, isGranted);
  }

  /** Never rejects: a review without an answer is no refusal. */
  async #check(
    user: UserInfo,
    sample: AccessQuestion,
    isGranted: (question: AccessQuestion) => boolean,
  ): Promise<void> {
    const { reviews, clock, log, alarm } = this.#options;
    for (const wait of [0, settleMs, settleMs]) {
      if (wait > 0) await clock.sleep(wait);
      const decision = await reviews.ask(user, sample);
      if (decision === null) return;
      this.#checked += wait > 0 ? 0 : 1;
      if (decision || this.#alarmed.has(sample.cluster) || !isGranted(sample)) return;
    }
    const { cluster, request } = sample;
    this.#alarmed = new Set([...this.#alarmed, cluster]);
    log.error(
      { cluster, user: user.user, ...request },
      'the API server refuses what roles and bindings grant, so another authorizer decides too: from now on rights in this cluster are reviewed, as with --authorization-mode review',
    );
    alarm();
  }
}
