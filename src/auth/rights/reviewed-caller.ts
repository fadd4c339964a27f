/**
 * The result of reviews for one caller: the scopes that the decisions make, and the questions that they leave open.
 *
 *   an operation reads a kind     -> the decisions that are known make the scope; those that are not known are asked for
 *                names rows       -> they are remembered and asked for, unless the scope has them
 *   before an operation           -> decisions in use that no longer hold are renewed
 *
 * Invariants: what is remembered has a bound; a decision is renewed only while operations use its kind.
 */
import { type Caller, isRestricted, type UserInfo } from '../../access/caller.ts';
import { resourceOf } from '../../access/policy-rule.ts';
import {
  type Access,
  allRows,
  type ClusterScope,
  isVisible,
  noRows,
  partIn,
  type Scope,
  type Scopes,
  type WantedRows,
} from '../../access/scope.ts';
import type { Clock } from '../../base/clock.ts';
import type { AccessQuestion, AccessReviews } from './access-reviews.ts';
import type { RightsCheck } from './rights-check.ts';
import { WantedOfCaller } from './wanted-of-caller.ts';

export interface ReviewedCallerOptions {
  /** The rights by roles and bindings; null for the mode `review`. */
  readonly granted: { granted(caller: Caller): Scopes } | null;
  readonly reviews: AccessReviews;
  readonly clock: Clock;
  /** Gets samples of what the roles grant; null for none. */
  readonly check: RightsCheck | null;
  /** The clusters whose users the callers are, read at each use. `clustersChanged` must be called after a change. */
  readonly clusters: readonly string[];
  /** The number of clusters of the gateway; Infinity if more may come. */
  readonly served: number;
}

/** Milliseconds after which decisions are looked at again: one may have expired, and is asked again then. */
const lookAgainMs = 5000;
/** Milliseconds after its last use in which the decisions about a kind are renewed before they are used. */
const usedMs = 60_000;
/** Namespaces and objects of one kind for which reviews are sent because roles grant them to a restricted caller. */
const mostProposed = 50;

/** The verbs of each access. All verbs of one list are enough. */
const verbsOf: Readonly<Record<Access, readonly (readonly string[])[]>> = {
  get: [['get'], ['list']],
  list: [['list']],
  watch: [['list', 'watch']],
};

const noPart: ClusterScope = Object.freeze({ namespaces: new Set<string>(), names: new Map<string, Set<string>>() });

let made = 0;

interface MadeScopes {
  readonly base: Scopes;
  /** That of the decisions. */
  readonly version: number;
  readonly at: number;
  readonly scopes: Scopes;
}

/** The decisions about one caller, and the scopes that they make. */
export class ReviewedCaller {
  readonly user: UserInfo;
  /** Roles alone grant nothing to the caller. */
  readonly #isRestricted: boolean;
  readonly #options: ReviewedCallerOptions;
  readonly #wanted = new WantedOfCaller();
  /** Questions that were allowed, by their text, for each access to a kind. */
  readonly #allowed = new Map<string, Map<string, AccessQuestion>>();
  /** When scopes of each access to a kind were made last. */
  readonly #usedAt = new Map<string, number>();
  readonly #pending = new Set<Promise<unknown>>();
  #lookAt = Number.NEGATIVE_INFINITY;
  #scopes: MadeScopes | null = null;

  constructor(user: UserInfo, options: ReviewedCallerOptions) {
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

  /**
   * Allowed questions that are in use, and whose decisions no longer hold. Live lists use theirs for as long as they run, also between
   * changes. Looked at once in a second.
   */
  expired(): readonly AccessQuestion[] {
    const { reviews, clock } = this.#options;
    const now = clock.monotonic();
    if (now < this.#lookAt) return [];
    const found: AccessQuestion[] = [];
    for (const [of, questions] of this.#allowed) {
      const isUsed = of.startsWith('watch ') || now - (this.#usedAt.get(of) ?? Number.NEGATIVE_INFINITY) < usedMs;
      if (!isUsed) this.#allowed.delete(of);
      else found.push(...[...questions.values()].filter((question) => !reviews.isKnown(this.user, question)));
    }
    if (found.length === 0) this.#lookAt = now + 1000;
    return found;
  }

  clustersChanged(): void {
    const isServed = ({ cluster }: { readonly cluster: string }): boolean => this.#options.clusters.includes(cluster);
    for (const questions of this.#allowed.values()) {
      for (const [text, question] of questions) if (!isServed(question)) questions.delete(text);
    }
    this.#wanted.keep(isServed);
    this.#scopes = null;
  }

  /** The reviews that run; null for none. */
  pending(): Promise<unknown> | null {
    return this.#pending.size === 0 ? null : Promise.all(this.#pending);
  }

  #make(base: Scopes, id: string): Scopes {
    const known = new Map<string, Scope>();
    const scopeOf = (key: string, access: Access): Scope => {
      const of = `${access} ${key}`;
      const found = known.get(of) ?? this.#scopeOf(base.of(key, access), key, access);
      known.set(of, found);
      return found;
    };
    return {
      id,
      ...(base.unknown === undefined ? {} : { unknown: base.unknown }),
      of: (key, access = 'list') => {
        const found = scopeOf(key, access);
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
          const wanted = { cluster, ...rows };
          // Rows that the caller sees anyway need no review.
          if (!isWithin(scopeOf(key, access), wanted)) this.#want(key, access, wanted);
        }
      },
    };
  }

  #scopeOf(from: Scope, key: string, access: Access): Scope {
    if (from.rows === 'all' && !this.#isRestricted) return from;
    const { clusters, clock, served } = this.#options;
    this.#usedAt.set(`${access} ${key}`, clock.monotonic());
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
    const wanted = this.#wanted.of(access, key).filter((rows) => rows.cluster === cluster);
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
    const decisions = verbsOf[access].map((verbs) =>
      verbs.map((verb) => this.#decision(`${access} ${key}`, questionOf(verb, key, rows))),
    );
    return decisions.some((all) => all.every((decision) => decision === true));
  }

  #isKnown(access: Access, key: string, rows: WantedRows): boolean {
    return verbsOf[access]
      .flat()
      .every((verb) => this.#decision(`${access} ${key}`, questionOf(verb, key, rows)) !== null);
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

  #decision(of: string, question: AccessQuestion): boolean | null {
    const { reviews } = this.#options;
    const known = reviews.known(this.user, question);
    const text = JSON.stringify(question);
    if (known === true) this.#allowed.set(of, (this.#allowed.get(of) ?? new Map()).set(text, question));
    if (known === false) this.#allowed.get(of)?.delete(text);
    if (known === null) this.#track(reviews.review(this.user, question));
    return known;
  }

  #track(review: Promise<unknown>): void {
    this.#pending.add(review);
    void review.finally(() => this.#pending.delete(review));
  }

  /** Remembers rows that an operation names. */
  #want(key: string, access: Access, rows: WantedRows): void {
    if (!this.#wanted.add(access, key, rows)) return;
    // The scopes that the operation has were made without these rows.
    if (this.#isAllowed(access, key, rows)) this.#scopes = null;
  }
}

/** Are all these rows in the scope? */
function isWithin(scope: Scope, { cluster, namespace, name }: WantedRows): boolean {
  if (name !== '') return isVisible(scope, { cluster, namespace, name });
  const part = partIn(scope, cluster);
  return part === 'all' || part?.namespaces.has(namespace) === true;
}

/** Rows that make up the scope, at most `mostProposed`; none for a whole cluster. */
function rowsIn(scope: ClusterScope, cluster: string): readonly WantedRows[] {
  if (scope === 'all') return [];
  const namespaces = [...scope.namespaces].map((namespace) => ({ cluster, namespace, name: '' }));
  const named = [...scope.names].flatMap(([namespace, names]) =>
    [...names].map((name) => ({ cluster, namespace, name })),
  );
  return [...namespaces, ...named].slice(0, mostProposed);
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
