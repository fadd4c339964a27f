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

import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { encodeLiveCursor } from '../../live/live-cursor.ts';
import { answerExtensions, type Missing } from '../../operation/operation.ts';
import type { OperationSource } from '../../operation/operation-source.ts';
import { planShape } from '../../operation/operation-trace.ts';
import { servingClusters } from '../../operation/serving-clusters.ts';
import { missingOf, type Readiness, readinessIn } from '../../query/read/readiness.ts';
import { isShort, moreOf, textRequest, textRoute } from '../../query/read/text-page.ts';
import { observePlans, type PlanNote } from '../../query/route/plan-note.ts';
import type { Route } from '../../query/sql/access-path.ts';
import { syncedClustersStatement } from '../../query/sql/access-path.ts';
import { type KindView, readViewAndVersion } from '../../query/sql/view.ts';
import type { PageReader, PageRequest, PagesRead, PageText } from '../../store/types/page-reader.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import type { Generation } from '../generation/generation.ts';
import type { AnswerPiece, AnswerPlan, PlannedList } from './answer-plan.ts';

/** How a list is read, and what must still be true when it is. */
interface Way {
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
  readonly #clock: Clock;
  readonly #ways = new BoundedCache<Way>({ entries: 2000, weight: 2000 });
  readonly #questions = new WeakMap<AnswerPlan, Question>();
  readonly #tails = new WeakMap<AnswerPlan, Tail>();
  readonly #resting = new WeakMap<AnswerPlan, number>();
  /** How often in a row a page of this way took longer than a short one may. */
  readonly #spent = new WeakMap<Way, number>();

  constructor(source: OperationSource, reader: PageReader, clock: Clock) {
    this.#source = source;
    this.#reader = reader;
    this.#clock = clock;
  }

  /** May this plan be tried now? Not for a while after it had to be left to the executor. */
  isReady(plan: AnswerPlan): boolean {
    const until = this.#resting.get(plan);
    return until === undefined || this.#clock.monotonic() >= until;
  }

  /** The text of the whole answer; null where the executor must give it. Throws only the signal's reason. */
  async answer(plan: AnswerPlan, generation: Generation, signal: AbortSignal): Promise<string | null> {
    const began = this.#clock.monotonic();
    try {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const ways = await this.#waysOf(plan, signal);
        if (ways === null) return null;
        const { statements, requests } = this.#question(plan, ways);
        const read = await this.#reader.pages(statements, requests, { signal });
        if (this.#holds(plan, ways, read)) return this.#text(plan, generation, ways, read, began);
      }
      return null;
    } catch (error) {
      signal.throwIfAborted();
      // The executor's try may last as long as this one did; the next time it need not be the second.
      if (codeOf(error) !== 'CACHE_NOT_READY') this.#resting.set(plan, this.#clock.monotonic() + restMs);
      return null;
    }
  }

  /**
   * The same without waiting, where the page is short and how it is read is known. Null where that is not so, or something is in
   * the way; `answer` knows what.
   */
  answerNow(plan: AnswerPlan, generation: Generation): string | null {
    const began = this.#clock.monotonic();
    const { ways, statements, requests } = this.#lately(plan, began);
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
      return this.#text(plan, generation, ways, read, began);
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
    for (const list of plan.lists) this.#ways.delete(wayKey(list));
    this.#questions.delete(plan);
    return false;
  }

  /** Null where the executor must say that it is too much. Throws CACHE_NOT_READY as the executor does. */
  #text(plan: AnswerPlan, generation: Generation, ways: readonly Way[], read: PagesRead, began: number): string | null {
    const { maxReadBytes, maxCost } = this.#source.limits;
    // The executor reads more around the same values.
    if (2 * read.bytes + bytesBeside > maxReadBytes) return null;
    this.#tell(plan, ways, read, this.#clock.monotonic() - began);
    return answerText(plan, read, this.#tail(plan, generation, read, maxCost));
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

  /** Which paths were needed, and whether it took long. */
  #tell({ lists }: AnswerPlan, ways: readonly Way[], { pages }: PagesRead, milliseconds: number): void {
    const { slowQueries, wishes } = this.#source;
    for (const { note } of ways) if (note !== null) wishes.planned(note);
    slowQueries.note({
      milliseconds,
      rows: pages.reduce((rows, { found }) => rows + found, 0),
      operation: null,
      plans: () =>
        ways.flatMap(({ note }, index) =>
          note === null ? [] : [planShape(lists[index]?.kind.names.list ?? '', note)],
        ),
    });
  }

  /** A way for each list; null when one of the kinds has no tables yet. */
  async #waysOf(plan: AnswerPlan, signal: AbortSignal): Promise<readonly Way[] | null> {
    const known = this.#known(plan);
    if (known !== null) return known;
    return this.#source.reader.lease(
      async (lease) => {
        const { view, layoutVersion } = await readViewAndVersion(lease);
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
          const until = this.#clock.monotonic() + wayMs;
          const way = { epoch, layoutVersion, clusters, askClusters, kind, route, note, until };
          this.#ways.set(wayKey(list), way, 1);
          ways.push(way);
        }
        return ways;
      },
      { signal },
    );
  }

  /** The ways that are known from a moment ago; null where one is not. */
  #known({ lists }: AnswerPlan): readonly Way[] | null {
    const now = this.#clock.monotonic();
    const ways: Way[] = [];
    for (const list of lists) {
      const way = this.#ways.get(wayKey(list));
      if (way === undefined || way.until <= now) return null;
      ways.push(way);
    }
    return ways;
  }

  /** What was asked of the plan the last time, if its ways are known still; else as they are known. */
  #lately(plan: AnswerPlan, now: number): Question {
    const lately = this.#questions.get(plan);
    if (lately?.ways.every(({ until }) => until > now) === true) return lately;
    const ways = this.#known(plan);
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

/** Pages of one list share their way: what is looked at depends on kind, filter, order and size alone. */
function wayKey({ list: { key, fingerprint, plan } }: PlannedList): string {
  return `${key} ${fingerprint} ${plan.page.limit}`;
}

function stillHolds(way: Way, read: PagesRead, clusters: string): boolean {
  return way.epoch === read.epoch && way.layoutVersion === read.layoutVersion && way.clusters === clusters;
}

/** What is missing of the lists' kinds. Throws CACHE_NOT_READY as the executor does. */
function missingIn({ lists }: AnswerPlan, generation: Generation, found: readonly Readiness[]): readonly Missing[] {
  const missing = new Map<string, Missing>();
  for (const { kind, list } of lists) {
    const clusters = servingClusters(generation, kind, list.plan.filter);
    if (clusters.length === 0) continue;
    const asked = found.filter(({ key, cluster }) => key === kind.key && clusters.includes(cluster));
    for (const entry of missingOf(asked, [kind.key], clusters)) missing.set(`${entry.cluster}\n${entry.key}`, entry);
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
      return String(moreOf(list, page.found).next);
    case 'previous':
      return String(moreOf(list, page.found).previous);
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
