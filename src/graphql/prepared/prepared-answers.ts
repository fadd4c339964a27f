/**
 * Answers planned queries (answer-plan.ts) with pages that the store writes as text, put together with the plan's own.
 *
 *   plan -> route and layout (known from a moment ago, or read in a lease) -> pages, in one snapshot -> was all that still true? -> text
 *
 * Pages that are short along a known way are read at once (answerNow); all others, and those that turn out to be long, by a
 * reader thread.
 *
 * Invariants: what was assumed (layout, clusters that are synced) is checked in the snapshot that answered, and read anew where it
 * no longer holds. Any route gives the same rows, so one that has become slow is merely slow, and not for long. Whatever cannot be
 * answered here is null, and the executor says what there is to say.
 */

import type { Scopes } from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { codeOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { encodeLiveCursor } from '../../live/live-cursor.ts';
import { missingFrom } from '../../operation/list-readiness.ts';
import { answerExtensions, type Missing } from '../../operation/operation.ts';
import type { OperationSource } from '../../operation/operation-source.ts';
import { type PlanShape, planShape } from '../../operation/operation-trace.ts';
import { neighboursOf } from '../../query/plan/plan.ts';
import { isShort, lineRequest, lineRoute } from '../../query/read/line-page.ts';
import { type Readiness, readinessIn } from '../../query/read/readiness.ts';
import { observePlans, type PlanNote } from '../../query/route/plan-note.ts';
import type { Route } from '../../query/sql/access-path.ts';
import { syncedClustersStatement } from '../../query/sql/access-path.ts';
import { type KindView, readViewAndVersion } from '../../query/sql/view.ts';
import type { PageReader, PageRequest, PagesRead, PageText } from '../../store/types/page-reader.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import type { Generation } from '../generation/generation.ts';
import type { AnswerPiece, AnswerPlan, PlannedList } from './answer-plan.ts';

/** A plan, and for whom it is answered. */
export interface PreparedQuestion {
  readonly plan: AnswerPlan;
  readonly generation: Generation;
  readonly scopes: Scopes;
}

/** An answer, and what the admission wants to know of it. */
export interface PreparedAnswer {
  /** The JSON text of the whole answer. */
  readonly text: string;
  /** Rows that were found. */
  readonly rows: number;
  readonly plans: () => readonly PlanShape[];
}

/** How a list is read, and what must still be true when it is. */
interface KnownRoute {
  /** Of the scopes that the rows were chosen by. */
  readonly scopesId: string;
  readonly epoch: string;
  readonly layoutVersion: number;
  /** JSON list of the clusters in which something of the kind is synced, and what asks for it. */
  readonly clusters: string;
  readonly askClusters: Statement;
  readonly kind: KindView;
  readonly route: Route;
  /** How the route was chosen; null where nothing was planned. */
  readonly note: PlanNote | null;
  /** On the monotonic clock. */
  readonly until: number;
}

/** Milliseconds that a way is taken without another look. */
const routeValidMs = 2000;
/** Milliseconds that a plan is left to the executor after it could not be answered. */
const retryAfterMs = 10_000;
/** Bytes that names of fields may take where values are read with them. */
const bytesBeside = 1_000_000;
/** Tries in a row after which a way is held for long: one may have been the scheduler's fault. */
const mostSpent = 3;
/** A way that no longer holds is looked for again so often. */
const attempts = 3;

export class PreparedAnswers {
  readonly #source: OperationSource;
  readonly #reader: PageReader;
  readonly #routes = new BoundedCache<KnownRoute>({ entries: 2000, weight: 2000 });
  readonly #questions = new WeakMap<AnswerPlan, Question>();
  readonly #tails = new WeakMap<AnswerPlan, Tail>();
  readonly #resting = new WeakMap<AnswerPlan, number>();
  /** How often in a row a page of this way took longer than a short one may. */
  readonly #spent = new WeakMap<KnownRoute, number>();

  constructor(source: OperationSource, reader: PageReader) {
    this.#source = source;
    this.#reader = reader;
  }

  /** May this plan be tried now? Not for a while after it had to be left to the executor. */
  isReady(plan: AnswerPlan): boolean {
    const until = this.#resting.get(plan);
    return until === undefined || this.#source.monotonic() >= until;
  }

  /** The text of the whole answer; null where the executor must give it. Throws only the signal's reason. */
  async answer(asked: PreparedQuestion, signal: AbortSignal): Promise<PreparedAnswer | null> {
    const { plan } = asked;
    try {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const routes = await this.#routesOf(asked, signal);
        if (routes === null) return null;
        const { statements, requests } = this.#question(plan, routes);
        const read = await this.#reader.pages(statements, requests, { signal });
        if (this.#holds(plan, routes, read)) return this.#answer(asked, routes, read);
      }
      return null;
    } catch (error) {
      signal.throwIfAborted();
      // The executor's try may last as long as this one did; the next time it need not be the second.
      if (codeOf(error) !== 'CACHE_NOT_READY') this.#resting.set(plan, this.#source.monotonic() + retryAfterMs);
      return null;
    }
  }

  /**
   * The same without waiting, where the page is short and how it is read is known. Null where that is not so, or something is in
   * the way; `answer` knows what.
   */
  answerNow(asked: PreparedQuestion): PreparedAnswer | null {
    const { plan } = asked;
    const { routes, statements, requests } = this.#lately(asked);
    if (routes.length === 0 || !routes.every((way, index) => this.#isShort(plan.lists[index], way))) return null;
    const read = this.#reader.pagesNow(statements, requests);
    if (read === null) return null;
    for (const way of routes) {
      if (read === 'spent') this.#spent.set(way, (this.#spent.get(way) ?? 0) + 1);
      else this.#spent.delete(way);
    }
    if (read === 'spent') return null;
    if (!this.#holds(plan, routes, read)) return null;
    try {
      return this.#answer(asked, routes, read);
    } catch {
      return null;
    }
  }

  #isShort(list: PlannedList | undefined, way: KnownRoute): boolean {
    return list !== undefined && isShort(list.list, way.route) && (this.#spent.get(way) ?? 0) < mostSpent;
  }

  #question(plan: AnswerPlan, routes: readonly KnownRoute[]): Question {
    const known = this.#questions.get(plan);
    if (known !== undefined && routes.every((way, index) => way === known.routes[index])) return known;
    const requests = plan.lists.map(({ list, projection, template }, index) => {
      const { kind, route } = must(routes[index], 'each list has its way');
      return lineRequest(list, kind, route, projection, template);
    });
    const made = { routes, statements: [plan.readiness, ...routes.map(({ askClusters }) => askClusters)], requests };
    this.#questions.set(plan, made);
    return made;
  }

  /** Is what was assumed true in the snapshot that answered? Ways that do not hold are forgotten. */
  #holds(plan: AnswerPlan, routes: readonly KnownRoute[], read: PagesRead): boolean {
    const [, ...clusters] = read.rows;
    if (routes.every((way, index) => stillHolds(way, read, String(clusters[index]?.[0]?.[0])))) return true;
    for (const [index, list] of plan.lists.entries()) {
      const way = routes[index];
      if (way !== undefined) this.#routes.delete(routeKey(list, { id: way.scopesId }));
    }
    this.#questions.delete(plan);
    return false;
  }

  /** Null where the executor must say that it is too much. Throws CACHE_NOT_READY as the executor does. */
  #answer(
    { plan, generation }: PreparedQuestion,
    routes: readonly KnownRoute[],
    read: PagesRead,
  ): PreparedAnswer | null {
    const { limits, indexAdvisor } = this.#source;
    // The executor reads more around the same values.
    if (2 * read.bytes + bytesBeside > limits.maxReadBytes) return null;
    for (const { note } of routes) if (note !== null) indexAdvisor.planned(note);
    return {
      text: answerText(plan, read, this.#tail(plan, generation, read, limits.maxCost)),
      rows: read.pages.reduce((rows, { found }) => rows + found, 0),
      plans: () =>
        routes.flatMap(({ note }, index) =>
          note === null ? [] : [planShape(plan.lists[index]?.kind.names.list ?? '', note)],
        ),
    };
  }

  /** What stands behind the data. Throws CACHE_NOT_READY as the executor does. */
  #tail(plan: AnswerPlan, generation: Generation, { revision, rows, pages }: PagesRead, allowed: number): string {
    let spent = 0;
    for (const [at, { objectCost, list }] of plan.lists.entries()) {
      spent += objectCost * Math.min(must(pages[at], 'a page for each list').found, list.plan.page.limit);
    }
    const [found = []] = rows;
    const known = this.#tails.get(plan);
    if (known?.found === found && known.revision === revision && known.spent === spent) return known.text;
    const missing = missingIn(plan, generation, readinessIn(found));
    const extensions = {
      portolan: answerExtensions(generation, { asked: plan.asked, allowed, spent }, revision, missing),
    };
    const text = `,"extensions":${JSON.stringify(extensions)}}`;
    this.#tails.set(plan, { found, revision, spent, text });
    return text;
  }

  /** A way for each list; null when one of the kinds has no tables yet. */
  async #routesOf({ plan, scopes }: PreparedQuestion, signal: AbortSignal): Promise<readonly KnownRoute[] | null> {
    const known = this.#known(plan, scopes);
    if (known !== null) return known;
    return this.#source.reader.lease(
      async (lease) => {
        const { view, layoutVersion } = await readViewAndVersion(lease, scopes);
        const routes: KnownRoute[] = [];
        for (const list of plan.lists) {
          const kind = view.get(list.kind.key);
          if (kind === undefined) return null;
          let note: PlanNote | null = null;
          observePlans(lease, (told) => {
            note = told;
          });
          const route = await lineRoute(lease, kind, list.list);
          const { epoch } = lease;
          const askClusters = syncedClustersStatement(kind);
          const [row] = await lease.all(askClusters);
          const clusters = String(row?.[0]);
          const until = this.#source.monotonic() + routeValidMs;
          const way = { scopesId: scopes.id, epoch, layoutVersion, clusters, askClusters, kind, route, note, until };
          this.#routes.set(routeKey(list, scopes), way, 1);
          routes.push(way);
        }
        return routes;
      },
      { signal },
    );
  }

  /** The routes that are known from a moment ago; null where one is not. */
  #known({ lists }: AnswerPlan, scopes: Scopes): readonly KnownRoute[] | null {
    const now = this.#source.monotonic();
    const routes: KnownRoute[] = [];
    for (const list of lists) {
      const way = this.#routes.get(routeKey(list, scopes));
      if (way === undefined || way.until <= now) return null;
      routes.push(way);
    }
    return routes;
  }

  /** The question as it was put to the store the last time, if its routes still hold for this caller; else with the routes that are known. */
  #lately({ plan, scopes }: PreparedQuestion): Question {
    const now = this.#source.monotonic();
    const lately = this.#questions.get(plan);
    if (lately?.routes.every(({ until, scopesId }) => until > now && scopesId === scopes.id) === true) return lately;
    const routes = this.#known(plan, scopes);
    return routes === null ? nothing : this.#question(plan, routes);
  }
}

/** What is asked of the store for a plan. */
interface Question {
  readonly routes: readonly KnownRoute[];
  readonly statements: readonly Statement[];
  readonly requests: readonly PageRequest[];
}

const nothing: Question = { routes: [], statements: [], requests: [] };

/** What stood behind an answer's data, and what it follows from beside the plan. */
interface Tail {
  readonly found: readonly Row[];
  readonly revision: number;
  readonly spent: number;
  readonly text: string;
}

/** Pages of one list share their way: what is looked at depends on the caller's scopes, kind, filter, order and size alone. */
function routeKey({ list: { key, fingerprint, plan } }: PlannedList, scopes: Pick<Scopes, 'id'>): string {
  return `${scopes.id} ${key} ${fingerprint} ${plan.page.limit}`;
}

function stillHolds(way: KnownRoute, read: PagesRead, clusters: string): boolean {
  return way.epoch === read.epoch && way.layoutVersion === read.layoutVersion && way.clusters === clusters;
}

/** What is missing of the lists' kinds. Throws CACHE_NOT_READY as the executor does. */
function missingIn({ lists }: AnswerPlan, generation: Generation, found: readonly Readiness[]): readonly Missing[] {
  const missing = new Map<string, Missing>();
  for (const { kind, list } of lists) {
    for (const entry of missingFrom(generation, kind, list.plan.filter, found)) {
      missing.set(`${entry.cluster}\n${entry.key}`, entry);
    }
  }
  return [...missing.values()];
}

function answerText({ data }: AnswerPlan, read: PagesRead, tail: string): string {
  let text = '{"data":';
  let at = 0;
  for (const piece of data) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const page = must(read.pages[at], 'a page for each list');
    at += 1;
    for (const each of piece.pieces) text += pieceText(each, piece, page, read);
  }
  return text + tail;
}

function pieceText(piece: AnswerPiece, { list }: PlannedList, page: PageText, read: PagesRead): string {
  if (typeof piece === 'object') return page.lists[piece.list] ?? '[]';
  switch (piece) {
    case 'next':
      return String(neighboursOf(list.plan.page, page.found).hasNextPage);
    case 'previous':
      return String(neighboursOf(list.plan.page, page.found).hasPreviousPage);
    case 'start':
      return page.first ?? 'null';
    case 'end':
      return page.last ?? 'null';
    case 'changes':
      return JSON.stringify(encodeLiveCursor({ epoch: read.epoch, sequence: read.revision }));
    default:
      return piece;
  }
}
