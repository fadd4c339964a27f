/**
 * Decisions of API servers by SubjectAccessReview (authorization.k8s.io/v1), kept for a minute. They hold whatever authorizers a server
 * has: RBAC, a webhook, the access policies of a cloud.
 *
 *   question -> known and fresh: the decision    -> old: the decision, and a review in the background
 *            -> unknown or expired: null until the review that starts now has an answer
 *
 * Fails closed: a question without an answer is refused. Decisions for a namespace end with the namespace.
 */
import { type UserInfo, userKey } from '../../access/caller.ts';
import type { RequestAttributes } from '../../access/policy-rule.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { reviewSubject } from './subject-access-review.ts';

/** A request to the API server of a cluster that a user may or may not make. */
export interface AccessQuestion {
  readonly cluster: string;
  readonly request: RequestAttributes;
}

interface AccessReviewsOptions {
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
/** Decisions that are kept for a user, and of all users. */
const mostOfUser = 10_000;
const mostKept = 200_000;
const mostUsers = 10_000;
const mostRunning = 20;
/** Reviews of one user that wait. */
const mostWaiting = 5000;

/** The knowledge about one user. */
interface Known {
  readonly decisions: BoundedCache<Decision>;
  /** Unique, so that a version that was dropped never comes back. */
  version: number;
  /** The namespaces in which something was allowed. */
  readonly places: Set<string>;
}

export class AccessReviews {
  readonly #options: AccessReviewsOptions;
  readonly #users = new BoundedCache<Known>({ entries: mostUsers, weight: mostKept });
  readonly #reviews = new Map<string, Promise<boolean>>();
  readonly #places = new Semaphore(mostRunning);
  #failedAt = Number.NEGATIVE_INFINITY;
  #lastVersion = 0;
  #rolesChangedAt = Number.NEGATIVE_INFINITY;
  /** When namespaces were deleted, if decisions from before may be kept. The oldest come first. */
  readonly #deletedAt = new Map<string, number>();

  constructor(options: AccessReviewsOptions) {
    this.#options = options;
  }

  /** Changes when a decision about the user differs from the one before. Without one, the user was refused. */
  versionOf(user: UserInfo): number {
    return this.#users.get(userKey(user))?.version ?? 0;
  }

  /** Notes a change of roles or bindings: what was allowed before may have been allowed by them. */
  rolesChanged(): void {
    this.#rolesChangedAt = this.#options.clock.monotonic();
  }

  /** Notes a deletion: what was allowed in the namespace before is asked again. */
  namespaceDeleted(cluster: string, namespace: string): void {
    const now = this.#options.clock.monotonic();
    const place = placeOf(cluster, namespace);
    this.#deletedAt.delete(place);
    this.#deletedAt.set(place, now);
    for (const [each, at] of this.#deletedAt) {
      if (now - at <= validMs) break;
      this.#deletedAt.delete(each);
    }
    for (const known of this.#users.values()) if (known.places.delete(place)) known.version = this.#nextVersion();
  }

  /** The decision, if one holds; null otherwise: then the caller must take it for a refusal. An old one is asked again. */
  known(user: UserInfo, question: AccessQuestion): boolean | null {
    const found = this.#find(user, question);
    if (found === undefined) return null;
    if (!this.#holds(question, found)) {
      found.isMissed = true;
      return null;
    }
    if (this.#options.clock.monotonic() - found.at > renewMs) void this.review(user, question);
    return found.isAllowed;
  }

  /** Is there a decision that holds? */
  isKnown(user: UserInfo, question: AccessQuestion): boolean {
    const found = this.#find(user, question);
    return found !== undefined && this.#holds(question, found);
  }

  #find(user: UserInfo, question: AccessQuestion): Decision | undefined {
    return this.#users.get(userKey(user))?.decisions.get(keyOf(question));
  }

  #holds(question: AccessQuestion, { isAllowed, at, isHasty }: Decision): boolean {
    const age = this.#options.clock.monotonic() - at;
    const deletedAt = this.#deletedAt.get(placeIn(question) ?? '') ?? Number.NEGATIVE_INFINITY;
    const endedAt = Math.max(this.#rolesChangedAt, deletedAt);
    return age <= (isHasty ? settleMs : validMs) && !(isAllowed && at < endedAt);
  }

  /** Asks the API server. Requests for the same decision share a review. Never rejects. */
  review(user: UserInfo, question: AccessQuestion): Promise<boolean> {
    const key = `${userKey(user)} ${keyOf(question)}`;
    const running = this.#reviews.get(key);
    if (running !== undefined) return running;
    const review = this.#review(user, question).finally(() => this.#reviews.delete(key));
    this.#reviews.set(key, review);
    return review;
  }

  async #review(user: UserInfo, question: AccessQuestion): Promise<boolean> {
    // The time of the question: a change of roles between question and answer must not be missed.
    const asked = this.#options.clock.monotonic();
    const decision = await this.ask(user, question);
    const isAllowed = decision === true;
    const at = decision === null ? asked - validMs + failedMs : asked;
    const isHasty = isAllowed && asked - this.#rolesChangedAt < settleMs;
    this.#decided(user, question, { isAllowed, at, isHasty, isMissed: false });
    return isAllowed;
  }

  /** Asks the API server, whatever is known. Users take turns. Null without an answer; never rejects. */
  async ask(user: UserInfo, { cluster, request }: AccessQuestion): Promise<boolean | null> {
    const client = this.#options.clients.get(cluster);
    if (client === undefined || this.#places.waitingOf(user.user) >= mostWaiting) return null;
    const leave = await this.#places.enter(undefined, user.user);
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

  #nextVersion(): number {
    this.#lastVersion += 1;
    return this.#lastVersion;
  }

  #decided(user: UserInfo, question: AccessQuestion, decision: Decision): void {
    const key = keyOf(question);
    const known = this.#users.get(userKey(user)) ?? { decisions: decisionsOfUser(), version: 0, places: new Set() };
    const before = known.decisions.get(key);
    if ((before?.isAllowed === true && !before.isMissed) !== decision.isAllowed) {
      known.version = this.#nextVersion();
    }
    const place = placeIn(question);
    if (decision.isAllowed && place !== null) known.places.add(place);
    const [oldest = ''] = known.places;
    // Decisions about it are noticed when scopes are made again.
    if (known.places.size > mostOfUser) known.places.delete(oldest);
    known.decisions.set(key, decision, 1);
    this.#users.set(userKey(user), known, known.decisions.size);
  }
}

function placeOf(cluster: string, namespace: string): string {
  return `${cluster}\n${namespace}`;
}

/** The namespace that a question is about; null for the whole cluster. */
function placeIn({ cluster, request }: AccessQuestion): string | null {
  return 'path' in request || request.namespace === '' ? null : placeOf(cluster, request.namespace);
}

function decisionsOfUser(): BoundedCache<Decision> {
  return new BoundedCache({ entries: mostOfUser, weight: mostOfUser });
}

function keyOf({ cluster, request }: AccessQuestion): string {
  return 'path' in request
    ? JSON.stringify([cluster, request.verb, request.path])
    : JSON.stringify([
        ...[cluster, request.verb, request.group, request.resource],
        ...[request.subresource, request.namespace, request.name],
      ]);
}
