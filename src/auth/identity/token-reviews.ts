/**
 * Authenticates bearer tokens by TokenReview (authentication.k8s.io/v1): the API server of the callers' cluster decides.
 *
 *   token -> SHA-256 -> known as valid: the caller, at once    known as invalid: refused, at once
 *                    -> soon no longer known as valid: the caller, at once, and a review
 *                    -> unknown: one review, shared by the requests that wait for it
 *
 * A token has one Caller as long as its user stays the same, so a subscription sees how long its token is valid.
 *
 * Owns: what is known of tokens, for a bounded time and a bounded number. A token itself is kept only while its review runs.
 * Invalid tokens have a cache of their own, so that they cannot push valid ones out.
 * Fails closed: without an answer of the API server, no caller is authenticated.
 */
import { createHash } from 'node:crypto';
import { type Caller, type Extra, noExtra, type UserInfo, userKey } from '../../access/caller.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import { type Leave, Semaphore } from '../../base/concurrency/semaphore.ts';
import { codeOf, messageOf, PortolanError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import { noSpan, type Span, within } from '../../base/tracing.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';

interface TokenReviewsOptions {
  /** Sends the reviews as the gateway. */
  readonly client: Pick<RestClient, 'post'>;
  /** The audiences of which a token must have one; empty for those of the API server. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tokens that are known as valid, and as invalid. */
const mostKnown = 20_000;
/** Milliseconds until a valid token is reviewed again, and an invalid one. */
const validMs = 60_000;
const invalidMs = 10_000;
/** Milliseconds before the end of its validity in which a token is reviewed again. */
const renewMs = 20_000;
/** Reviews at a time, and requests that wait for theirs. */
const mostRunning = 20;
const mostWaiting = 1000;
/** Milliseconds that one review may take. */
const patienceMs = 10_000;

/** The caller of a token. */
class TokenCaller implements Caller {
  readonly user: UserInfo;
  validUntil: number;

  constructor(user: UserInfo, validUntil: number) {
    this.user = user;
    this.validUntil = validUntil;
  }

  get name(): string {
    return this.user.user;
  }

  isSame(user: UserInfo): boolean {
    return userKey(this.user) === userKey(user);
  }
}

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly error?: string;
  readonly audiences?: readonly string[] | null;
  readonly user?: {
    readonly username?: string;
    readonly groups?: readonly string[] | null;
    readonly uid?: string;
    readonly extra?: Extra | null;
  } | null;
}

export class TokenReviews {
  readonly #options: TokenReviewsOptions;
  readonly #valid = new BoundedCache<TokenCaller>({ entries: mostKnown, weight: mostKnown });
  /** Until when each token is known as invalid. */
  readonly #invalid = new BoundedCache<number>({ entries: mostKnown, weight: mostKnown });
  readonly #reviews = new Map<string, Promise<Caller>>();
  readonly #places = new Semaphore(mostRunning);

  constructor(options: TokenReviewsOptions) {
    this.#options = options;
  }

  /**
   * The caller of a token; synchronous for a known token. A review is a part of the span.
   * @throws PortolanError UNAUTHENTICATED for a token that the API server rejects; UPSTREAM_UNAVAILABLE without its answer;
   * TOO_MANY_REQUESTS while too many reviews wait.
   */
  callerOf(token: string, span: Span = noSpan): Caller | Promise<Caller> {
    const hash = createHash('sha256').update(token).digest('base64');
    const now = this.#options.clock.now();
    const known = this.#valid.get(hash);
    if (known !== undefined && now < known.validUntil) {
      // The next request gets a refusal.
      if (now > known.validUntil - renewMs && !this.#reviews.has(hash)) this.#begin(token, hash, span).catch(() => {});
      return known;
    }
    if (now < (this.#invalid.get(hash) ?? 0)) throw rejected();
    return this.#reviews.get(hash) ?? this.#begin(token, hash, span);
  }

  #begin(token: string, hash: string, span: Span): Promise<Caller> {
    const review = within(span, () => this.#review(token, hash)).finally(() => this.#reviews.delete(hash));
    this.#reviews.set(hash, review);
    return review;
  }

  async #review(token: string, hash: string): Promise<Caller> {
    const { clock } = this.#options;
    const leave = await this.#enter();
    try {
      const status = await this.#ask(token);
      const user = this.#userIn(status);
      if (user === null) {
        this.#invalid.set(hash, clock.now() + invalidMs, 1);
        const known = this.#valid.get(hash);
        if (known !== undefined) known.validUntil = 0;
        this.#valid.delete(hash);
        throw rejected();
      }
      const until = Math.min(clock.now() + validMs, expiryOf(token) ?? Number.POSITIVE_INFINITY);
      const known = this.#valid.get(hash);
      const caller = known?.isSame(user) === true ? known : new TokenCaller(user, until);
      caller.validUntil = until;
      this.#valid.set(hash, caller, 1);
      return caller;
    } finally {
      leave();
    }
  }

  /** Waits for one of the places. @throws PortolanError TOO_MANY_REQUESTS */
  async #enter(): Promise<Leave> {
    if (this.#places.waiting >= mostWaiting) {
      throw new PortolanError(
        'TOO_MANY_REQUESTS',
        'Too many tokens wait for their review by the API server; send the request again in a moment.',
      );
    }
    return this.#places.enter();
  }

  async #ask(token: string): Promise<TokenReviewStatus> {
    const { client, audiences, log } = this.#options;
    const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
    try {
      const signal = AbortSignal.timeout(patienceMs);
      const review = await client.post<{ readonly status?: TokenReviewStatus }>(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        body,
        { signal },
      );
      return review.status ?? {};
    } catch (error) {
      log.warn({ code: codeOf(error), error: messageOf(error) }, 'a token could not be reviewed');
      throw unreviewed(error);
    }
  }

  /**
   * Null for a token that is not authenticated for one of the audiences.
   * @throws PortolanError UPSTREAM_UNAVAILABLE for a user of another form: a part that is left out could be a restriction.
   */
  #userIn({ authenticated, audiences: granted, user, error }: TokenReviewStatus): UserInfo | null {
    const { audiences, log } = this.#options;
    if (error !== undefined && error !== '') log.debug({ error }, 'a token was rejected');
    if (authenticated !== true || typeof user?.username !== 'string' || user.username === '') return null;
    // A server that does not know audiences leaves them out. Its answer then says nothing about them.
    if (audiences.length > 0 && granted?.some((each) => audiences.includes(each)) !== true) return null;
    const { username, uid = '' } = user;
    const groups = user.groups ?? [];
    const extra = user.extra ?? noExtra;
    if (isTexts(groups) && typeof uid === 'string' && isExtra(extra)) return { user: username, groups, uid, extra };
    log.warn({ user: username }, 'a token could not be reviewed: the API server answers with a user of another form');
    throw unreviewed(null);
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isExtra(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isTexts);
}

/** When a JWT expires, in milliseconds since the epoch; null for another token. Not verified: the API server does that. */
function expiryOf(token: string): number | null {
  const [, payload] = token.split('.');
  if (payload === undefined) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { readonly exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : null;
  } catch {
    return null;
  }
}

function rejected(): PortolanError {
  return new PortolanError(
    'UNAUTHENTICATED',
    'The API server rejects the bearer token: it is wrong, expired or for another audience. Send a new one.',
  );
}

function unreviewed(error: unknown): PortolanError {
  if (error instanceof ApiError && error.httpStatus === 403) {
    return new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      'Portolan may not review tokens: grant it create on tokenreviews.authentication.k8s.io (portolan rbac prints the role).',
      { cause: error },
    );
  }
  return new PortolanError(
    'UPSTREAM_UNAVAILABLE',
    'The API server does not answer whether the bearer token is valid; send the request again in a moment.',
    { cause: error },
  );
}
