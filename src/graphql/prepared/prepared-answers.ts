/**
 * Answers planned queries (answer-plan.ts): joins the plan's constant texts with page texts that the store writes.
 *
 * Owns: the cached route of each list, the store request of each plan, and how long both may be used.
 * Never: reports an error. A query that cannot be answered here yields null, and the executor answers it or reports the error.
 *
 *   plan -> routes and layout (cached, or read in a lease)
 *        -> pages, all in one snapshot
 *        -> check of the cached facts in this snapshot
 *        -> text
 *
 * If the facts are outdated, it starts again with new routes, at most 3 times.
 *
 * `answerNow` reads a page on this thread when its route is cached and the page is short. `answer` reads all other pages on a
 * reader thread, also pages that took long before.
 *
 *   { pods(first: 2) { nodes { kind } } }
 *     '{"data":' + '{"pods":' + '{"nodes":' + the page's list + '}' + '}' + ',"extensions":{"portolan":{…}}}'
 *
 * Invariants:
 *   - The layout, the synced clusters and the rights that a cached route assumes are checked in the snapshot that answers.
 *   - Every route gives the same rows. An outdated route can be slow, never wrong. It expires after `routeValidMs`; one of a short page
 *     only when it was not used for `shortValidMs`, or when its pages become long.
 */

import type { Caller } from '../../access/caller.ts';
import type { Scopes } from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { codeOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { type Span, within } from '../../base/tracing.ts';
import { answerExtensions, type Missing, shownRevision } from '../../operation/answers/answer-extensions.ts';
import type { AnswerTexts } from '../../operation/answers/answer-text.ts';
import type { MadeIn } from '../../operation/answers/kept-answers.ts';
import { type KnownClusters, missingFrom } from '../../operation/list-readiness.ts';
import type { OperationSource } from '../../operation/operation-source.ts';
import { mostAnswerCharacters } from '../../operation/parts/operation-cost.ts';
import { type PlanShape, planShape } from '../../operation/parts/operation-trace.ts';
import { requireVisible } from '../../operation/require-visible.ts';
import { shortCount } from '../../query/read/count.ts';
import { countedBy, type PreparedCount } from '../../query/read/kept-counts.ts';
import { kindState, stateStatement } from '../../query/read/kind-state.ts';
import { isShort, linePaths, lineRequest } from '../../query/read/line-page.ts';
import { missingOf, type Readiness, readinessIn } from '../../query/read/readiness.ts';
import { relatedRequest } from '../../query/related/related-lines.ts';
import { observePlans, type PlanNote } from '../../query/route/plan-note.ts';
import { syncedClustersStatement } from '../../query/sql/access-path.ts';
import { readView, type View } from '../../query/sql/view.ts';
import type {
  PageReader,
  PageRequest,
  PagesRead,
  RelatedRequest,
  RelatedTally,
} from '../../store/types/page-reader.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import type { Generation } from '../generation/generation.ts';
import type { AnswerPlan, PlannedList, PlannedRelated } from './answer-plan.ts';
import { clusterRowsOf, rowsOf, statementsOf } from './answer-statements.ts';
import { dataText } from './answer-text.ts';
import { isValid, type KnownRoute, routeKey } from './known-route.ts';
import { beginPages } from './page-spans.ts';

/** A plan and its caller. */
export interface PreparedQuestion {
  readonly plan: AnswerPlan;
  readonly generation: Generation;
  readonly caller: Caller;
  /** The newest scopes of the caller that are known. */
  readonly scopes: Scopes;
  readonly span: Span;
}

/** An answer, with the figures that the admission records. */
export interface PreparedAnswer {
  readonly texts: AnswerTexts;
  /** Rows that were found. */
  readonly rows: number;
  readonly plans: () => readonly PlanShape[];
  /** The state of the plan's kinds in its snapshot. */
  readonly made: MadeIn;
  /** The ids of these kinds, by resourceKey. */
  readonly kindIds: ReadonlyMap<string, number>;
}

/** Codes of failures that depend on the caller or pass in a moment. */
const ofTheMoment: ReadonlySet<string> = new Set(['CACHE_NOT_READY', 'RESOURCE_REFUSED', 'FORBIDDEN']);
/** Milliseconds that a cached route is used. */
const routeValidMs = 2000;
/** The same for a route of a short page, since its last use. If the page becomes long, its reads are cut, and the route expires as others do. */
const shortValidMs = 30_000;
/** Milliseconds that the executor answers a plan after an attempt here failed. */
const retryAfterMs = 10_000;
/** Bytes allowed for member names, which the executor reads together with the values. */
const memberNameBytes = 1_000_000;
/** A route counts as long after this many long reads in a row. A single long read may be the scheduler's fault. */
const maxLongReads = 3;
/** Attempts to answer, each with new routes where the cached ones were outdated. */
const attempts = 3;

export class PreparedAnswers {
  readonly #source: OperationSource;
  readonly #reader: PageReader;
  readonly #routes = new BoundedCache<KnownRoute>({ entries: 2000, weight: 2000 });
  readonly #requests = new WeakMap<AnswerPlan, StoreRequest>();
  readonly #extensions = new WeakMap<AnswerPlan, KnownExtensions>();
  /** The time of the next attempt, for plans whose last attempt failed. */
  readonly #retryAt = new WeakMap<AnswerPlan, number>();
  /** Pages in a row that took longer than a short page may. */
  readonly #longReads = new WeakMap<KnownRoute, number>();

  constructor(source: OperationSource, reader: PageReader) {
    this.#source = source;
    this.#reader = reader;
  }

  /** May this plan be tried now? A failed attempt leaves the plan to the executor for `retryAfterMs`. */
  isReady(plan: AnswerPlan): boolean {
    const until = this.#retryAt.get(plan);
    return until === undefined || this.#source.monotonic() >= until;
  }

  /**
   * The text of the whole answer; null when the executor must answer.
   * @throws the signal's reason, and nothing else.
   */
  async answer(question: PreparedQuestion, signal: AbortSignal): Promise<PreparedAnswer | null> {
    const { plan } = question;
    try {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const routes = await this.#routesOf(question, signal);
        if (routes === null) return null;
        const { statements, requests } = this.#storeRequest(plan, routes);
        const counts = this.#countsOf(question, routes);
        if (counts === null) return null;
        const { name: client } = question.caller;
        const end = beginPages(question.span, plan, routes);
        let read: PagesRead | null = null;
        try {
          read = await this.#reader.pages(counts.after(statements), requests, { signal, client });
        } finally {
          end(read);
        }
        if (!this.#hasRights(question, read)) return null;
        if (this.#validate(plan, routes, read)) return this.#answer(question, routes, counts, read);
      }
      return null;
    } catch (error) {
      signal.throwIfAborted();
      // The executor may take as long again to fail. Until `retryAfterMs` has passed, only the executor tries.
      const code = codeOf(error);
      if (!ofTheMoment.has(code)) this.#retryAt.set(plan, this.#source.monotonic() + retryAfterMs);
      // A route holds the view in which a relation was not ready.
      else this.#forget(plan, question.scopes);
      return null;
    }
  }

  /** The answer, read synchronously. Null when a route is not cached, a page is long or the read fails; call `answer` then. */
  answerNow(question: PreparedQuestion): PreparedAnswer | null {
    const { plan } = question;
    // Related pages take long on this thread, and their relations may not be ready.
    if (plan.lists.some(({ related }) => related.length > 0)) return null;
    const { routes, statements, requests } = this.#cachedRequest(question);
    if (routes.length === 0 || !routes.every((route, index) => this.#isShort(plan.lists[index], route))) return null;
    const counts = this.#countsOf(question, routes);
    if (counts === null) return null;
    const end = beginPages(question.span, plan, routes);
    const read = this.#reader.pagesNow(counts.after(statements), requests);
    end(read === 'spent' ? null : read);
    if (read === null) return null;
    if (read === 'spent') {
      for (const route of routes) this.#noteLong(route);
      return null;
    }
    for (const [at, route] of routes.entries()) this.#noteShort(must(plan.lists[at], 'a list for each route'), route);
    if (!this.#hasRights(question, read) || !this.#validate(plan, routes, read)) return null;
    try {
      return this.#answer(question, routes, counts, read);
    } catch {
      return null;
    }
  }

  /** The statements that count the lists whose count is selected; null when one must be counted by the executor. */
  #countsOf({ plan }: PreparedQuestion, routes: readonly KnownRoute[]): PlannedCounts | null {
    if (!plan.lists.some(({ counts }) => counts)) return noCounts;
    const found: (PreparedCount | null)[] = [];
    for (const [at, { list, counts }] of plan.lists.entries()) {
      const { kind, count: short } = must(routes[at], 'each list has its route');
      const kept = counts && short === null ? this.#source.counts.prepared(list.plan, kind) : null;
      const count = counts && short !== null ? countedBy(short) : kept;
      if (counts && count === null) return null;
      found.push(count);
    }
    return {
      after: (statements) => [...statements, ...found.flatMap((count) => count?.statement ?? [])],
      read(snapshot, rows) {
        let next = 0;
        const totals: (number | null)[] = [];
        for (const count of found) {
          const total = count === null ? null : count.read(snapshot, rows[next++] ?? []);
          if (count !== null && total === null) return null;
          totals.push(total);
        }
        return totals;
      },
    };
  }

  /**
   * The most characters of values that an answer may have here. The executor reads the same values together with names and brackets.
   * The estimate for these is `memberNameBytes`, and once more the characters of the values. Above the bound, the executor might exceed
   * `maxReadBytes`, so it must answer.
   */
  get #mostCharacters(): number {
    return mostAnswerCharacters(this.#source.limits) - memberNameBytes / 2;
  }

  #isShort(list: PlannedList | undefined, known: KnownRoute): boolean {
    return list !== undefined && isShort(list.list, known.route) && (this.#longReads.get(known) ?? 0) < maxLongReads;
  }

  /** A route is used for as long as its pages are short: live queries read them again and again. */
  #noteShort({ counts }: PlannedList, known: KnownRoute): void {
    const wasLong = this.#longReads.delete(known);
    if (wasLong || (counts && known.count === null)) return;
    known.until = this.#source.monotonic() + shortValidMs;
  }

  #noteLong(known: KnownRoute): void {
    this.#longReads.set(known, (this.#longReads.get(known) ?? 0) + 1);
    known.until = Math.min(known.until, this.#source.monotonic() + routeValidMs);
  }

  #storeRequest(plan: AnswerPlan, routes: readonly KnownRoute[]): StoreRequest {
    const cached = this.#requests.get(plan);
    if (cached !== undefined && routes.every((route, index) => route === cached.routes[index])) return cached;
    const requests = plan.lists.map(({ list, projection, template, related }, index) => {
      const { kind, route } = must(routes[index], 'each list has its route');
      const written = { template, related: relatedRequests(kind.view, related), mostCharacters: this.#mostCharacters };
      return lineRequest(list, kind, route, projection, written);
    });
    const { statement: rights } = this.#source.rights;
    const layouts = routes[0]?.kind.view.layouts;
    const kindIds = new Map<string, number>();
    for (const key of plan.keys) {
      const id = layouts?.get(key)?.kindId;
      if (id !== undefined) kindIds.set(key, id);
    }
    const statements = statementsOf({
      readiness: plan.readiness,
      state: stateStatement([...kindIds.values()], 0),
      rights,
      clusters: routes.map(({ askClusters }) => askClusters),
    });
    const made = { routes, statements, requests, kindIds };
    this.#requests.set(plan, made);
    return made;
  }

  /** Are the scopes of the question those of the snapshot that answered? Otherwise the executor reads the rights. */
  #hasRights({ caller, scopes }: PreparedQuestion, read: PagesRead): boolean {
    const { rights } = this.#source;
    const isCurrent = rights.statement === null || rights.isCurrent(read.epoch, rowsOf(read.rows, 'rights'));
    return isCurrent && rights.now(caller)?.id === scopes.id && rights.pending(caller, scopes) === null;
  }

  /** Are the routes' assumptions true in the snapshot that answered? Otherwise the routes are dropped from the cache. */
  #validate(plan: AnswerPlan, routes: readonly KnownRoute[], read: PagesRead): boolean {
    const clusters = clusterRowsOf(read.rows, this.#source.rights.statement);
    if (routes.every((route, index) => isValid(route, read, String(clusters[index]?.[0]?.[0])))) return true;
    const [first] = routes;
    if (first !== undefined) this.#forget(plan, { id: first.scopesId });
    return false;
  }

  /** Drops the routes of a plan from the cache. */
  #forget(plan: AnswerPlan, scopes: Pick<Scopes, 'id'>): void {
    for (const list of plan.lists) this.#routes.delete(routeKey(list, scopes));
    this.#requests.delete(plan);
  }

  /**
   * Null when the read limit may be exceeded; the executor reports it.
   * @throws PortolanError CACHE_NOT_READY as the executor does, QUERY_TOO_COSTLY for an answer that the executor may refuse.
   */
  #answer(
    question: PreparedQuestion,
    routes: readonly KnownRoute[],
    counts: PlannedCounts,
    read: PagesRead,
  ): PreparedAnswer | null {
    const { plan } = question;
    const { limits, indexAdvisor } = this.#source;
    // The executor warns of names that do not exist, and of letter case.
    if (plan.lists.some(({ mayWarn }, at) => mayWarn && read.pages[at]?.found === 0)) return null;
    if (read.bytes > this.#mostCharacters) return null;
    const totals = counts.read(read, clusterRowsOf(read.rows, this.#source.rights.statement).slice(routes.length));
    if (totals === null) return null;
    for (const { note } of routes) if (note !== null) indexAdvisor.planned(note);
    const extensions = this.#extensionsOf(question, read, limits.maxCost);
    const data = dataText(plan, { read, kinds: routes.map(({ kind }) => kind), totals });
    // The executor reports it, and attempts here would write it again.
    if (data.length > mostAnswerCharacters(limits)) throw new PortolanError('QUERY_TOO_COSTLY', 'A long answer.');
    return {
      texts: { data, extensions },
      rows: read.pages.reduce((rows, { found }) => rows + found, 0),
      plans: () =>
        routes.flatMap(({ note }, index) =>
          note === null ? [] : [planShape(plan.lists[index]?.kind.names.list ?? '', note)],
        ),
      ...this.#madeIn(plan, routes, read),
    };
  }

  #madeIn(plan: AnswerPlan, routes: readonly KnownRoute[], read: PagesRead): Pick<PreparedAnswer, 'made' | 'kindIds'> {
    const { kindIds } = this.#storeRequest(plan, routes);
    const [row] = rowsOf(read.rows, 'state');
    const { layoutVersion } = read;
    const state = kindState([...kindIds.values()], read, row);
    return { made: { state, layoutVersion, isOfRevision: plan.showsRevision }, kindIds };
  }

  /**
   * The text of the extensions. Cached while the revision, the cost and the readiness are the same.
   * @throws PortolanError CACHE_NOT_READY as the executor does.
   */
  #extensionsOf(
    { plan, generation, scopes }: PreparedQuestion,
    { revision, rows, pages }: PagesRead,
    allowed: number,
  ): string {
    let spent = 0;
    const relatedKinds = new Set<string>();
    for (const [at, { objectCost, list, related }] of plan.lists.entries()) {
      const page = must(pages[at], 'a page for each list');
      spent += objectCost * Math.min(page.found, list.plan.page.limit);
      for (const { each, parents, rows: objects } of talliesOf(related, page.related)) {
        spent += each.objectCost * objects;
        if (parents > 0) relatedKinds.add(each.list.key);
      }
    }
    const found = rowsOf(rows, 'readiness');
    const known = this.#extensions.get(plan);
    const { staleness } = this.#source;
    const stale = staleness.of((key) => generation.isSource(key, plan.keys), scopes);
    const isKnown = known?.found === found && known.revision === revision && known.spent === spent;
    if (isKnown && known.isCurrent && stale.length === 0) return known.text;
    const missing = missingIn(plan, { generation, source: this.#source }, readinessIn(found), relatedKinds);
    const shown = shownRevision(this.#source.cell, revision);
    const extensions = {
      portolan: answerExtensions(generation, { asked: plan.asked, allowed, spent }, shown, { missing, stale }),
    };
    const text = JSON.stringify(extensions);
    this.#extensions.set(plan, { found, revision, spent, text, isCurrent: stale.length === 0 });
    return text;
  }

  /** A route for each list, cached or read in a lease; null when one of the kinds has no tables yet. */
  async #routesOf(question: PreparedQuestion, signal: AbortSignal): Promise<readonly KnownRoute[] | null> {
    const { plan, scopes, span } = question;
    const cached = this.#cachedRoutes(plan, scopes);
    if (cached !== null) return cached;
    const lease = span.child('lease');
    return within(span, () => this.#planRoutes(question, signal)).finally(() => lease.end());
  }

  async #planRoutes({ plan, scopes }: PreparedQuestion, signal: AbortSignal): Promise<readonly KnownRoute[] | null> {
    return this.#source.reader.lease(
      async (lease) => {
        const view = await readView(lease, scopes);
        const routes: KnownRoute[] = [];
        for (const list of plan.lists) {
          requireVisible([view], [list.kind.key], list.list.plan.filter);
          const kind = view.get(list.kind.key);
          if (kind === undefined) return null;
          let note: PlanNote | null = null;
          observePlans(lease, (planned) => {
            note = planned;
          });
          const askClusters = syncedClustersStatement(kind);
          const [{ route, best }, [row]] = await Promise.all([
            linePaths(lease, kind, list.list),
            lease.all(askClusters),
          ]);
          const count = list.counts ? shortCount(kind, list.list.plan.filter, best) : null;
          const { epoch, layoutVersion } = lease;
          const clusters = String(row?.[0]);
          const isShortPage = isShort(list.list, route) && (!list.counts || count !== null);
          const until = this.#source.monotonic() + (isShortPage ? shortValidMs : routeValidMs);
          const facts = { scopesId: scopes.id, epoch, layoutVersion, clusters, askClusters, until };
          const known = { ...facts, kind, route, count, note };
          this.#routes.set(routeKey(list, scopes), known, 1);
          routes.push(known);
        }
        return routes;
      },
      { signal },
    );
  }

  /** The cached routes of all lists; null when one is missing or has expired. */
  #cachedRoutes({ lists }: AnswerPlan, scopes: Scopes): readonly KnownRoute[] | null {
    const now = this.#source.monotonic();
    const routes: KnownRoute[] = [];
    for (const list of lists) {
      const known = this.#routes.get(routeKey(list, scopes));
      if (known === undefined || known.until <= now) return null;
      routes.push(known);
    }
    return routes;
  }

  /** The plan's last request, if its routes have not expired and belong to this caller's scopes; else one made from cached routes. */
  #cachedRequest({ plan, scopes }: PreparedQuestion): StoreRequest {
    const now = this.#source.monotonic();
    const last = this.#requests.get(plan);
    if (last?.routes.every(({ until, scopesId }) => until > now && scopesId === scopes.id) === true) return last;
    const routes = this.#cachedRoutes(plan, scopes);
    return routes === null ? noRequest : this.#storeRequest(plan, routes);
  }
}

/** The counts of a plan's lists. */
interface PlannedCounts {
  /** These statements, and after them those of the counts. */
  after(statements: readonly Statement[]): readonly Statement[];
  /** For each list its total count, null where it is not selected. Null when a kept count is no longer true. */
  read(snapshot: PagesRead, rows: readonly (readonly Row[])[]): readonly (number | null)[] | null;
}

const noCounts: PlannedCounts = { after: (statements) => statements, read: () => [] };

/** The statements and page requests that answer a plan along these routes. */
interface StoreRequest {
  readonly routes: readonly KnownRoute[];
  readonly statements: readonly Statement[];
  readonly requests: readonly PageRequest[];
  readonly kindIds: ReadonlyMap<string, number>;
}

const noRequest: StoreRequest = { routes: [], statements: [], requests: [], kindIds: new Map() };

/** The text of an answer's extensions, and the facts besides the plan that it depends on. */
interface KnownExtensions {
  readonly found: readonly Row[];
  readonly revision: number;
  readonly spent: number;
  readonly text: string;
  /** No resource was stale. */
  readonly isCurrent: boolean;
}

/**
 * The clusters in which the lists' kinds are not ready.
 * @param related the kinds of which related objects were read.
 * @throws PortolanError CACHE_NOT_READY as the executor does.
 */
function missingIn(
  { lists }: AnswerPlan,
  clusters: KnownClusters,
  found: readonly Readiness[],
  related: ReadonlySet<string>,
): readonly Missing[] {
  const entries = [
    ...lists.flatMap(({ kind, list }) => missingFrom(clusters, kind, list.plan.filter, found)),
    ...[...related].flatMap((key) =>
      missingOf(
        found.filter((state) => state.key === key),
        [key],
      ),
    ),
  ];
  return [...new Map(entries.map((entry) => [`${entry.cluster}\n${entry.key}`, entry])).values()];
}

/** @throws PortolanError CACHE_NOT_READY while a relation is not ready. */
function relatedRequests(view: View, related: readonly PlannedRelated[]): readonly RelatedRequest[] {
  return related.map((each) => relatedRequest(view, each.list, each.projection, relatedRequests(view, each.related)));
}

/** The tallies of each related template of a page, outer ones first, as the executor reads them. */
function talliesOf(
  related: readonly PlannedRelated[],
  tallies: readonly RelatedTally[],
): readonly (RelatedTally & { readonly each: PlannedRelated })[] {
  const found: (RelatedTally & { readonly each: PlannedRelated })[] = [];
  for (let level = related; level.length > 0; level = level.flatMap((each) => each.related)) {
    for (const each of level) found.push({ parents: 0, rows: 0, ...tallies[each.number], each });
  }
  return found;
}
