/**
 * Decisions of API servers by SubjectAccessReview (authorization.k8s.io/v1), kept for a minute. They hold whatever authorizers a server
 * has: RBAC, a webhook, the access policies of a cloud.
 *
 *   question -> known and fresh: the decision    -> old: the decision, and a review in the background
 *            -> unknown or expired: null until the review that starts now has an answer
 *
 * Fails closed: a question without an answer is refused.
 */
import { type UserInfo, userKey } from '../../access/caller.ts';
import type { RequestAttributes } from '../../access/policy-rule.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { Semaphore } from '../../base/semaphore.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { reviewSubject } from './subject-access-review.ts';

/** A request to the API server of a cluster that a user may or may not make. */
export interface AccessQuestion {
  readonly cluster: string;
  readonly request: RequestAttributes;
}

export interface AccessReviewsOptions {
  /** Sends the reviews as the gateway, by cluster. */
  readonly clients: ReadonlyMap<string, Pick<RestClient, 'post'>>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Decision {
  readonly isAllowed: boolean;
  readonly at: number;
  /** Shortly after a change of roles, of which the API server may not have known. */
  readonly isHasty: boolean;
  /** It was needed after it had expired. So the user was refused. */
  isMissed: boolean;
}

/** Milliseconds that a decision holds, and after which it is asked again in the background. */
const validMs = 60_000;
const renewMs = 40_000;
/** Milliseconds in which an API server learns of a change of roles, and that a decision holds which was made meanwhile. */
const settleMs = 5000;
/** Milliseconds until a review that failed is tried again. */
const failedMs = 5000;
const patienceMs = 5000;
const mostKept = 100_000;
const mostRunning = 20;

export class AccessReviews {
  readonly #options: AccessReviewsOptions;
  readonly #decisions = new BoundedCache<Decision>({ entries: mostKept, weight: mostKept });
  readonly #reviews = new Map<string, Promise<boolean>>();
  readonly #places = new Semaphore(mostRunning);
  #failedAt = Number.NEGATIVE_INFINITY;
  /** By user. Unique, so that a version that was dropped never comes back. */
  readonly #versions = new BoundedCache<number>({ entries: mostKept, weight: mostKept });
  #lastVersion = 0;
  #rolesChangedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AccessReviewsOptions) {
    this.#options = options;
  }

  /** Changes when a decision about the user differs from the one before. Without one, the user was refused. */
  versionOf(user: UserInfo): number {
    return this.#versions.get(userKey(user)) ?? 0;
  }

  /** Notes a change of roles or bindings: what was allowed before may have been allowed by them. */
  rolesChanged(): void {
    this.#rolesChangedAt = this.#options.clock.monotonic();
  }

  /** The decision, if one holds; null otherwise: then the caller must take it for a refusal. An old one is asked again. */
  known(user: UserInfo, question: AccessQuestion): boolean | null {
    const found = this.#decisions.get(keyOf(user, question));
    if (found === undefined) return null;
    if (!this.#holds(found)) {
      found.isMissed = true;
      return null;
    }
    if (this.#options.clock.monotonic() - found.at > renewMs) void this.review(user, question);
    return found.isAllowed;
  }

  /** Is there a decision that holds? */
  isKnown(user: UserInfo, question: AccessQuestion): boolean {
    const found = this.#decisions.get(keyOf(user, question));
    return found !== undefined && this.#holds(found);
  }

  #holds({ isAllowed, at, isHasty }: Decision): boolean {
    const age = this.#options.clock.monotonic() - at;
    return age <= (isHasty ? settleMs : validMs) && !(isAllowed && at < this.#rolesChangedAt);
  }

  /** Asks the API server. Requests for the same decision share a review. Never rejects. */
  review(user: UserInfo, question: AccessQuestion): Promise<boolean> {
    const key = keyOf(user, question);
    const running = this.#reviews.get(key);
    if (running !== undefined) return running;
    const review = this.#review(user, question, key).finally(() => this.#reviews.delete(key));
    this.#reviews.set(key, review);
    return review;
  }

  async #review(user: UserInfo, question: AccessQuestion, key: string): Promise<boolean> {
    // The time of the question: a change of roles between question and answer must not be missed.
    const asked = this.#options.clock.monotonic();
    const decision = await this.ask(user, question);
    const isAllowed = decision === true;
    const at = decision === null ? asked - validMs + failedMs : asked;
    const isHasty = isAllowed && asked - this.#rolesChangedAt < settleMs;
    this.#decided(user, key, { isAllowed, at, isHasty, isMissed: false });
    return isAllowed;
  }

  /** Asks the API server, whatever is known. Null without an answer; never rejects. */
  async ask(user: UserInfo, { cluster, request }: AccessQuestion): Promise<boolean | null> {
    const client = this.#options.clients.get(cluster);
    if (client === undefined) return null;
    const leave = await this.#places.enter();
    try {
      return (await reviewSubject(client, user, request, patienceMs)).allowed;
    } catch (error) {
      this.#failed(cluster, error);
      return null;
    } finally {
      leave();
    }
  }

  /** At most one warning in a minute. */
  #failed(cluster: string, error: unknown): void {
    const { clock, log } = this.#options;
    const now = clock.monotonic();
    if (now - this.#failedAt < validMs) return;
    this.#failedAt = now;
    log.warn(
      { cluster, code: codeOf(error), error: messageOf(error) },
      'rights could not be reviewed: callers see only what roles and bindings grant; Portolan needs create on subjectaccessreviews.authorization.k8s.io',
    );
  }

  #decided(user: UserInfo, key: string, decision: Decision): void {
    const before = this.#decisions.get(key);
    if ((before?.isAllowed === true && !before.isMissed) !== decision.isAllowed) {
      this.#lastVersion += 1;
      this.#versions.set(userKey(user), this.#lastVersion, 1);
    }
    this.#decisions.set(key, decision, 1);
  }
}

function keyOf(user: UserInfo, { cluster, request }: AccessQuestion): string {
  return 'path' in request
    ? JSON.stringify([userKey(user), cluster, request.verb, request.path])
    : JSON.stringify([
        userKey(user),
        cluster,
        request.verb,
        request.group,
        request.resource,
        request.subresource,
        request.namespace,
        request.name,
      ]);
}
