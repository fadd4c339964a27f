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
import { type Readiness, readinessIn } from '../../query/read/readiness.ts';
import { isShort, textRequest, textRoute } from '../../query/read/text-page.ts';
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
interface Way {
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
const wayMs = 2000;
/** Milliseconds that a plan is left to the executor after it could not be answered. */
const restMs = 10_000;
/** Bytes that names of fields may take where values are read with them. */
const bytesBeside = 1_000_000;
/** Tries in a row after which a way is held for long: one may have been the scheduler's fault. */
const mostSpent = 3;
/** A way that no longer holds is looked for again so often. */
const attempts = 3;

export class PreparedAnswers {
  readonly #source: OperationSource;
  readonly #reader: PageReader;
  readonly #ways = new BoundedCache<Way>({ entries: 2000, weight: 2000 });
  readonly #questions = new WeakMap<AnswerPlan, Question>();
  readonly #tails = new WeakMap<AnswerPlan, Tail>();
  readonly #resting = new WeakMap<AnswerPlan, number>();
  /** How often in a row a page of this way took longer than a short one may. */
  readonly #spent = new WeakMap<Way, number>();

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
        const ways = await this.#waysOf(asked, signal);
        if (ways === null) return null;
        const { statements, requests } = this.#question(plan, ways);
        const read = await this.#reader.pages(statements, requests, { signal });
        if (this.#holds(plan, ways, read)) return this.#answer(asked, ways, read);
      }
      return null;
    } catch (error) {
      signal.throwIfAborted();
      // The executor's try may last as long as this one did; the next time it need not be the second.
      if (codeOf(error) !== 'CACHE_NOT_READY') this.#resting.set(plan, this.#source.monotonic() + restMs);
      return null;
    }
  }

  /**
   * The same without waiting, where the page is short and how it is read is known. Null where that is not so, or something is in
   * the way; `answer` knows what.
   */
  answerNow(asked: PreparedQuestion): PreparedAnswer | null {
    const { plan } = asked;
    const { ways, statements, requests } = this.#lately(asked);
    if (ways.length === 0 || !ways.every((way, index) => this.#isShort(plan.lists[index], way))) return null;
    const read = this.#reader.pagesNow(statements, requests);
    if (read === null) return null;
    for (const way of ways) {
      if (read === 'spent') this.#spent.set(way, (this.#spent.get(way) ?? 0) + 1);
      else this.#spent.delete(way);
    }
    if (read === 'spent') return null;
    if (!this.#holds(plan, ways, read)) return null;
    try {
      return this.#answer(asked, ways, read);
    } catch {
      return null;
    }
  }

  #isShort(list: PlannedList | undefined, way: Way): boolean {
    return list !== undefined && isShort(list.list, way.route) && (this.#spent.get(way) ?? 0) < mostSpent;
  }

  #question(plan: AnswerPlan, ways: readonly Way[]): Question {
    const known = this.#questions.get(plan);
    if (known !== undefined && ways.every((way, index) => way === known.ways[index])) return known;
    const requests = plan.lists.map(({ list, projection, template }, index) => {
      const { kind, route } = must(ways[index], 'each list has its way');
      return textRequest(list, kind, route, projection, template);
    });
    const made = { ways, statements: [plan.readiness, ...ways.map(({ askClusters }) => askClusters)], requests };
    this.#questions.set(plan, made);
    return made;
  }

  /** Is what was assumed true in the snapshot that answered? Ways that do not hold are forgotten. */
  #holds(plan: AnswerPlan, ways: readonly Way[], read: PagesRead): boolean {
    const [, ...clusters] = read.rows;
    if (ways.every((way, index) => stillHolds(way, read, String(clusters[index]?.[0]?.[0])))) return true;
    for (const [index, list] of plan.lists.entries()) {
      const way = ways[index];
      if (way !== undefined) this.#ways.delete(wayKey(list, { id: way.scopesId }));
    }
    this.#questions.delete(plan);
    return false;
  }

  /** Null where the executor must say that it is too much. Throws CACHE_NOT_READY as the executor does. */
  #answer({ plan, generation }: PreparedQuestion, ways: readonly Way[], read: PagesRead): PreparedAnswer | null {
    const { limits, wishes } = this.#source;
    // The executor reads more around the same values.
    if (2 * read.bytes + bytesBeside > limits.maxReadBytes) return null;
    for (const { note } of ways) if (note !== null) wishes.planned(note);
    return {
      text: answerText(plan, read, this.#tail(plan, generation, read, limits.maxCost)),
      rows: read.pages.reduce((rows, { found }) => rows + found, 0),
      plans: () =>
        ways.flatMap(({ note }, index) =>
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
  async #waysOf({ plan, scopes }: PreparedQuestion, signal: AbortSignal): Promise<readonly Way[] | null> {
    const known = this.#known(plan, scopes);
    if (known !== null) return known;
    return this.#source.reader.lease(
      async (lease) => {
        const { view, layoutVersion } = await readViewAndVersion(lease, scopes);
        const ways: Way[] = [];
        for (const list of plan.lists) {
          const kind = view.get(list.kind.key);
          if (kind === undefined) return null;
          let note: PlanNote | null = null;
          observePlans(lease, (told) => {
            note = told;
          });
          const route = await textRoute(lease, kind, list.list);
          const { epoch } = lease;
          const askClusters = syncedClustersStatement(kind);
          const [row] = await lease.all(askClusters);
          const clusters = String(row?.[0]);
          const until = this.#source.monotonic() + wayMs;
          const way = { scopesId: scopes.id, epoch, layoutVersion, clusters, askClusters, kind, route, note, until };
          this.#ways.set(wayKey(list, scopes), way, 1);
          ways.push(way);
        }
        return ways;
      },
      { signal },
    );
  }

  /** The ways that are known from a moment ago; null where one is not. */
  #known({ lists }: AnswerPlan, scopes: Scopes): readonly Way[] | null {
    const now = this.#source.monotonic();
    const ways: Way[] = [];
    for (const list of lists) {
      const way = this.#ways.get(wayKey(list, scopes));
      if (way === undefined || way.until <= now) return null;
      ways.push(way);
    }
    return ways;
  }

  /** The question as it was put to the store the last time, if its ways still hold for this caller; else with the ways that are known. */
  #lately({ plan, scopes }: PreparedQuestion): Question {
    const now = this.#source.monotonic();
    const lately = this.#questions.get(plan);
    if (lately?.ways.every(({ until, scopesId }) => until > now && scopesId === scopes.id) === true) return lately;
    const ways = this.#known(plan, scopes);
    return ways === null ? nothing : this.#question(plan, ways);
  }
}

/** What is asked of the store for a plan. */
interface Question {
  readonly ways: readonly Way[];
  readonly statements: readonly Statement[];
  readonly requests: readonly PageRequest[];
}

const nothing: Question = { ways: [], statements: [], requests: [] };

/** What stood behind an answer's data, and what it follows from beside the plan. */
interface Tail {
  readonly found: readonly Row[];
  readonly revision: number;
  readonly spent: number;
  readonly text: string;
}

/** Pages of one list share their way: what is looked at depends on the caller's scopes, kind, filter, order and size alone. */
function wayKey({ list: { key, fingerprint, plan } }: PlannedList, scopes: Pick<Scopes, 'id'>): string {
  return `${scopes.id} ${key} ${fingerprint} ${plan.page.limit}`;
}

function stillHolds(way: Way, read: PagesRead, clusters: string): boolean {
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
