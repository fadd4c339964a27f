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
 * allowed more (src/operation/admission.ts).
 */
import { type Caller, isRestricted, type UserInfo, userKey } from '../../access/caller.ts';
import { type RequestAttributes, type ResourceAttributes, resourceOf } from '../../access/policy-rule.ts';
import type { GrantedSubject, LogPlace, Rights } from '../../access/rights.ts';
import {
  type Access,
  allRows,
  type ClusterScope,
  changedScopes,
  noRows,
  partIn,
  type Scope,
  type Scopes,
  scopeIn,
  type WantedRows,
} from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import type { AccessQuestion, AccessReviews } from './access-reviews.ts';
import type { RightsCheck } from './rights-check.ts';

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

export interface ReviewedRightsOptions {
  /** Null for the mode `review`. */
  readonly granted: GrantedRights | null;
  readonly reviews: AccessReviews;
  readonly clock: Clock;
  /** Gets samples of what the roles grant; null for none. */
  readonly check: RightsCheck | null;
  /** The clusters whose users the callers are, read at each use. `clustersChanged` must be called after a change. */
  readonly clusters: readonly string[];
  /** The number of clusters of the gateway; Infinity if more may come. */
  readonly served: number;
}

/** Callers whose state is kept. */
const mostCallers = 10_000;
/** Milliseconds after which decisions are looked at again: one may have expired, and is asked again then. */
const lookAgainMs = 5000;
/** Namespaces and objects of one kind that are remembered for a caller. */
const mostWanted = 200;

/** The verbs of each access. All verbs of one list are enough. */
const verbsOf: Readonly<Record<Access, readonly (readonly string[])[]>> = {
  get: [['get'], ['list']],
  list: [['list']],
  watch: [['list', 'watch']],
};

const nothing: Scopes = Object.freeze({ id: 'none', of: () => noRows });
const noPart: ClusterScope = Object.freeze({ namespaces: new Set<string>(), names: new Map<string, Set<string>>() });

export class ReviewedRights implements Rights {
  readonly #options: ReviewedRightsOptions;
  readonly #states = new BoundedCache<CallerState>({ entries: mostCallers, weight: mostCallers });

  /** What the roles grant in clusters without an alarm, by what they grant in all. */
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

  /** Call it after `clusters` has changed. Nobody can answer questions about a cluster that is gone, and they are forgotten. */
  clustersChanged(): void {
    const { check, clusters } = this.#options;
    check?.clustersChanged(clusters);
    this.#trusted = null;
    for (const state of this.#states.values()) state.clustersChanged();
  }

  /** What the roles grant, without the clusters of alarms. The same object for each call, because other scopes would mean other rights. */
  #base(caller: Caller): Scopes {
    const { granted, check, clusters } = this.#options;
    if (granted === null) return nothing;
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
    if (state === null) return nothing;
    await Promise.all(state.expired().map((question) => this.#options.reviews.review(state.user, question)));
    return state.scopes(this.#base(caller));
  }

  #stateOf({ user }: Caller): CallerState | null {
    if (user === null) return null;
    const key = userKey(user);
    const known = this.#states.get(key) ?? new CallerState(user, this.#options);
    this.#states.set(key, known, 1);
    return known;
  }
}

let made = 0;

interface MadeScopes {
  readonly base: Scopes;
  /** That of the decisions. */
  readonly version: number;
  readonly at: number;
  readonly scopes: Scopes;
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

/** What has been asked for one caller. */
class CallerState {
  readonly user: UserInfo;
  /** Roles alone grant nothing to the caller. */
  readonly #isRestricted: boolean;
  readonly #options: ReviewedRightsOptions;
  readonly #wanted = new Map<string, WantedRows[]>();
  /** Questions that were allowed, by their text. */
  readonly #allowed = new Map<string, AccessQuestion>();
  readonly #pending = new Set<Promise<unknown>>();
  #lookAt = Number.NEGATIVE_INFINITY;
  #scopes: MadeScopes | null = null;

  constructor(user: UserInfo, options: ReviewedRightsOptions) {
    this.user = user;
    this.#isRestricted = isRestricted(user);
    this.#options = options;
  }

  /** The scopes with the decisions of now. Their id stays the same until a decision or `base` changes. */
  scopes(base: Scopes): Scopes {
    const version = this.#options.reviews.versionOf(this.user);
    const now = this.#options.clock.monotonic();
    const known = this.#scopes;
    const isSame = known?.base === base && known.version === version;
    if (isSame && now - known.at < lookAgainMs) return known.scopes;
    if (!isSame) made += 1;
    const id = isSame ? known.scopes.id : `reviewed ${made}`;
    this.#scopes = { base, version, at: now, scopes: this.#make(base, id) };
    return this.#scopes.scopes;
  }

  /** Allowed questions whose decisions no longer hold. Looked at once in a second. */
  expired(): readonly AccessQuestion[] {
    const { reviews, clock } = this.#options;
    const now = clock.monotonic();
    if (now < this.#lookAt) return [];
    const found = [...this.#allowed.values()].filter((question) => !reviews.isKnown(this.user, question));
    if (found.length === 0) this.#lookAt = now + 1000;
    return found;
  }

  clustersChanged(): void {
    const { clusters } = this.#options;
    const isGone = ({ cluster }: { readonly cluster: string }): boolean => !clusters.includes(cluster);
    for (const [text, question] of this.#allowed) if (isGone(question)) this.#allowed.delete(text);
    for (const [of, rows] of this.#wanted) {
      if (rows.some(isGone))
        this.#wanted.set(
          of,
          rows.filter((each) => !isGone(each)),
        );
    }
    this.#scopes = null;
  }

  /** The reviews that run; null for none. */
  pending(): Promise<unknown> | null {
    return this.#pending.size === 0 ? null : Promise.all(this.#pending);
  }

  #make(base: Scopes, id: string): Scopes {
    const known = new Map<string, Scope>();
    return {
      id,
      ...(base.unknown === undefined ? {} : { unknown: base.unknown }),
      of: (key, access = 'list') => {
        const of = `${access} ${key}`;
        const found = known.get(of) ?? this.#scopeOf(base.of(key, access), key, access);
        known.set(of, found);
        // A refusal of a restricted caller says nothing about the roles.
        if (access === 'list' && !this.#isRestricted)
          this.#options.check?.offer(
            this.user,
            () => sampleOf(key, base.of(key), this.#options.clusters),
            (sample) => this.#isGranted(key, sample),
          );
        return found;
      },
      want: (key, access, clusters, rows) => {
        const own = this.#options.clusters;
        for (const cluster of own.filter((each) => clusters?.includes(each) ?? true)) {
          this.#want(key, access, { cluster, ...rows });
        }
      },
    };
  }

  #scopeOf(from: Scope, key: string, access: Access): Scope {
    if (from.rows === 'all' && !this.#isRestricted) return from;
    const { clusters, served } = this.#options;
    const parts = new Map<string, ClusterScope>();
    for (const cluster of clusters) {
      const granted = partIn(from, cluster) ?? noPart;
      const part = this.#isRestricted
        ? this.#partOf(noPart, cluster, key, access, rowsIn(granted, cluster))
        : this.#partOf(granted, cluster, key, access, []);
      if (part === 'all' || part.namespaces.size > 0 || part.names.size > 0) parts.set(cluster, part);
    }
    if (parts.size === 0) return noRows;
    const isAll = parts.size === served && [...parts.values()].every((part) => part === 'all');
    return isAll ? allRows : { rows: 'some', clusters: parts };
  }

  /** @param proposed rows that are asked for if the caller does not see the whole cluster */
  #partOf(
    granted: ClusterScope,
    cluster: string,
    key: string,
    access: Access,
    proposed: readonly WantedRows[],
  ): ClusterScope {
    const whole = { cluster, namespace: '', name: '' };
    if (granted === 'all' || this.#isAllowed(access, key, whole)) return 'all';
    const wanted = (this.#wanted.get(`${access} ${key}`) ?? []).filter((rows) => rows.cluster === cluster);
    const isRefused = this.#isKnown(access, key, whole);
    if (!isRefused && proposed.length > 0) this.#track(this.#ask(access, key, whole, proposed));
    const allowed = [...wanted, ...(isRefused ? proposed : [])].filter((rows) => this.#isAllowed(access, key, rows));
    if (allowed.length === 0) return granted;
    const namespaces = new Set(granted.namespaces);
    const names = new Map([...granted.names].map(([namespace, some]) => [namespace, new Set(some)]));
    for (const { namespace, name } of allowed) {
      if (name === '') namespaces.add(namespace);
      else names.set(namespace, (names.get(namespace) ?? new Set()).add(name));
    }
    return { namespaces, names };
  }

  #isGranted(key: string, { cluster, request }: AccessQuestion): boolean {
    if ('path' in request) return false;
    const { namespace } = request;
    const scope = this.#options.granted?.granted({ name: '', user: this.user, validUntil: null }).of(key) ?? noRows;
    const part = partIn(scope, cluster);
    return part === 'all' || part?.namespaces.has(namespace) === true;
  }

  /** False while it is not known: then it is asked. */
  #isAllowed(access: Access, key: string, rows: WantedRows): boolean {
    const decisions = verbsOf[access].map((verbs) => verbs.map((verb) => this.#decision(questionOf(verb, key, rows))));
    return decisions.some((all) => all.every((decision) => decision === true));
  }

  #isKnown(access: Access, key: string, rows: WantedRows): boolean {
    return verbsOf[access].flat().every((verb) => this.#decision(questionOf(verb, key, rows)) !== null);
  }

  /** Asks for the whole, and for the parts if it is refused. */
  async #ask(access: Access, key: string, whole: WantedRows, parts: readonly WantedRows[]): Promise<void> {
    const { reviews } = this.#options;
    const verbs = verbsOf[access].flat();
    const review = (rows: WantedRows): Promise<boolean[]> =>
      Promise.all(verbs.map((verb) => reviews.review(this.user, questionOf(verb, key, rows))));
    await review(whole);
    if (!this.#isAllowed(access, key, whole)) await Promise.all(parts.map(review));
  }

  #decision(question: AccessQuestion): boolean | null {
    const { reviews } = this.#options;
    const known = reviews.known(this.user, question);
    const text = JSON.stringify(question);
    if (known === true) this.#allowed.set(text, question);
    if (known === false) this.#allowed.delete(text);
    if (known === null) this.#track(reviews.review(this.user, question));
    return known;
  }

  #track(review: Promise<unknown>): void {
    this.#pending.add(review);
    void review.finally(() => this.#pending.delete(review));
  }

  /** Remembers rows that an operation names. */
  #want(key: string, access: Access, rows: WantedRows): void {
    const of = `${access} ${key}`;
    const known = this.#wanted.get(of) ?? [];
    if (
      known.some(
        (each) => each.cluster === rows.cluster && each.namespace === rows.namespace && each.name === rows.name,
      )
    )
      return;
    this.#wanted.set(of, [...known.slice(-mostWanted + 1), rows]);
    // The scopes that the operation has were made without these rows.
    if (this.#isAllowed(access, key, rows)) this.#scopes = null;
  }
}

/** Rows that make up the scope, as many as are remembered for a caller; none for a whole cluster. */
function rowsIn(scope: ClusterScope, cluster: string): readonly WantedRows[] {
  if (scope === 'all') return [];
  const namespaces = [...scope.namespaces].map((namespace) => ({ cluster, namespace, name: '' }));
  const named = [...scope.names].flatMap(([namespace, names]) =>
    [...names].map((name) => ({ cluster, namespace, name })),
  );
  return [...namespaces, ...named].slice(0, mostWanted);
}

/** A random list that the scope allows; null if it allows single objects alone. */
function sampleOf(key: string, scope: Scope, clusters: readonly string[]): AccessQuestion | null {
  const found =
    scope.rows === 'some'
      ? [...scope.clusters]
      : scope.rows === 'all'
        ? clusters.map((each) => [each, 'all'] as const)
        : [];
  const [cluster, part] = found[Math.floor(Math.random() * found.length)] ?? [];
  if (cluster === undefined || part === undefined) return null;
  if (part === 'all') return questionOf('list', key, { cluster, namespace: '', name: '' });
  const namespaces = [...part.namespaces];
  const namespace = namespaces[Math.floor(Math.random() * namespaces.length)];
  return namespace === undefined ? null : questionOf('list', key, { cluster, namespace, name: '' });
}

function questionOf(verb: string, key: string, { cluster, namespace, name }: WantedRows): AccessQuestion {
  // For a request to get one Namespace, its name is the namespace of the request; for a list by name it is not.
  const within = key === 'namespaces' && verb === 'get' ? name : namespace;
  return { cluster, request: { verb, ...resourceOf(key), subresource: '', namespace: within, name } };
}
