/**
 * The rights of callers by roles and bindings and by reviews of the API servers.
 *
 *   auto     what the roles grant; the API server decides the rest
 *            a restricted user (src/access/caller.ts): the API server decides everything; the roles tell what may be worth a question
 *   review   the API server decides everything
 *
 * Questions about a kind: the whole cluster first, then the namespaces and objects that operations have named. A list that names no
 * namespace shows the namespaces that were named before.
 *
 * An operation never waits for a review before it reads. It reads with what is known, and is repeated if a review that it caused has
 * allowed more (src/admission/admission.ts).
 */
import { type Caller, isRestricted, userKey } from '../../access/caller.ts';
import type { RequestAttributes, ResourceAttributes } from '../../access/policy-rule.ts';
import type { GrantedSubject, LogPlace, Rights } from '../../access/rights.ts';
import { changedScopes, noRows, noScopes, type Scope, type Scopes, scopeIn } from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import type { AccessQuestion } from './access-reviews.ts';
import { ReviewedCaller, type ReviewedCallerOptions } from './reviewed-caller.ts';

/** The rights by roles and bindings. */
export interface GrantedRights extends Pick<Rights, 'isCurrent' | 'allows' | 'whoCan'> {
  readonly statement: Statement;
  /** Makes the rights at least as new as the lease's snapshot. */
  catchUp(lease: Lease): Promise<void>;
  /** Resolves when the rights are known up to this change; null if they are. */
  whenKnown(place: LogPlace): Promise<void> | null;
  /** The scopes by the newest rights that are known. A cluster whose rights are not known grants nothing. */
  granted(caller: Caller): Scopes;
}

interface ReviewedRightsOptions extends ReviewedCallerOptions {
  readonly granted: GrantedRights | null;
}

/** Callers whose state is kept. */
const mostCallers = 10_000;
export class ReviewedRights implements Rights {
  readonly #options: ReviewedRightsOptions;
  readonly #states = new BoundedCache<ReviewedCaller>({ entries: mostCallers, weight: mostCallers });

  /** Scopes in the clusters without an alarm, by the scopes in all clusters. */
  #trusted: { readonly alarmed: ReadonlySet<string>; readonly scopes: WeakMap<Scopes, Scopes> } | null = null;

  constructor(options: ReviewedRightsOptions) {
    this.#options = options;
  }

  get statement(): Statement | null {
    return this.#options.granted?.statement ?? null;
  }

  isCurrent(epoch: string, rows: readonly Row[]): boolean {
    return this.#options.granted?.isCurrent(epoch, rows) ?? true;
  }

  now(caller: Caller): Scopes | null {
    const state = this.#stateOf(caller);
    return state === null || state.expired().length > 0 ? null : state.scopes(this.#base(caller));
  }

  async at(lease: Lease, caller: Caller): Promise<Scopes> {
    await this.#options.granted?.catchUp(lease);
    return this.#settled(caller);
  }

  after(place: LogPlace, caller: Caller): Scopes | Promise<Scopes> {
    const known = this.#options.granted?.whenKnown(place) ?? null;
    if (known !== null) return known.then(() => this.#settled(caller));
    return this.now(caller) ?? this.#settled(caller);
  }

  pending(caller: Caller, scopes: Scopes): Promise<boolean> | null {
    const state = this.#stateOf(caller);
    if (state === null) return null;
    const isOther = (): boolean => state.scopes(this.#base(caller)).id !== scopes.id;
    return state.pending()?.then(isOther) ?? (isOther() ? Promise.resolve(true) : null);
  }

  /** By the roles, or else by the API server. */
  async allows(caller: Caller, cluster: string, request: RequestAttributes): Promise<boolean | null> {
    const { granted, check, reviews } = this.#options;
    if (caller.user === null) return null;
    if (
      granted !== null &&
      !isRestricted(caller.user) &&
      check?.alarmedIn.has(cluster) !== true &&
      (await granted.allows(caller, cluster, request)) === true
    ) {
      return true;
    }
    const question: AccessQuestion = { cluster, request };
    return reviews.known(caller.user, question) ?? reviews.review(caller.user, question);
  }

  whoCan(cluster: string, request: ResourceAttributes): readonly GrantedSubject[] | null {
    return this.#options.granted?.whoCan(cluster, request) ?? null;
  }

  /** Call it after `clusters` has changed. Questions about a cluster that is gone have no answer, so they are forgotten. */
  clustersChanged(): void {
    const { check, clusters } = this.#options;
    check?.clustersChanged(clusters);
    this.#trusted = null;
    for (const state of this.#states.values()) state.clustersChanged();
  }

  /**
   * The scopes that the roles grant, without the clusters of alarms. The same object for each call, because other scopes would mean other
   * rights.
   */
  #base(caller: Caller): Scopes {
    const { granted, check, clusters } = this.#options;
    if (granted === null) return noScopes;
    const scopes = granted.granted(caller);
    const alarmed = check?.alarmedIn;
    if (alarmed === undefined || alarmed.size === 0) return scopes;
    if (this.#trusted?.alarmed !== alarmed) this.#trusted = { alarmed, scopes: new WeakMap() };
    const found = this.#trusted.scopes.get(scopes) ?? trustedScopes(scopes, clusters, alarmed);
    this.#trusted.scopes.set(scopes, found);
    return found;
  }

  /** The scopes, once the decisions that they had are renewed. */
  async #settled(caller: Caller): Promise<Scopes> {
    const state = this.#stateOf(caller);
    if (state === null) return noScopes;
    await Promise.all(state.expired().map((question) => this.#options.reviews.review(state.user, question)));
    return state.scopes(this.#base(caller));
  }

  #stateOf({ user }: Caller): ReviewedCaller | null {
    if (user === null) return null;
    const key = userKey(user);
    const known = this.#states.get(key) ?? new ReviewedCaller(user, this.#options);
    this.#states.set(key, known, 1);
    return known;
  }
}

/** The scopes without the clusters of alarms. @param clusters all of the gateway */
function trustedScopes(scopes: Scopes, clusters: readonly string[], alarmed: ReadonlySet<string>): Scopes {
  const trusted = clusters.filter((each) => !alarmed.has(each));
  const parts = new Map(trusted.map((each) => [each, 'all'] as const));
  const all: Scope = parts.size === 0 ? noRows : { rows: 'some', clusters: parts };
  return changedScopes(scopes, `${scopes.id} in ${JSON.stringify(trusted)}`, (scope) =>
    scope.rows === 'all' ? all : scopeIn(scope, trusted),
  );
}
