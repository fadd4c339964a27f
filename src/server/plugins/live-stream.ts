/**
 * The results of one subscriber of a live query.
 *
 *   first()     runs the query
 *   results()   that result -> joins the cohort (src/live/query) -> the newest result that is another one -> ...
 *
 * Before each result it checks three things. The credentials must be valid. The schema must be that of the cohort. The caller must see the
 * same rows as the cohort. If not, it ends or joins another cohort, and sends a result only if that one differs.
 *
 * A result of a run is for all members of the cohort. So a run never has the data of Secrets, and a result that depends on its caller is
 * for the user's own cohort.
 */
import { type ExecutionArgs, getOperationAST } from 'graphql';
import { requireValid, userKey } from '../../access/caller.ts';
import type { Answers } from '../../answers/answers.ts';
import { endingGenerator } from '../../base/ending-generator.ts';
import { noSpan, type Span } from '../../base/tracing.ts';
import type { Generation, GraphQLSource, OperationContext } from '../../graphql/generation/generation.ts';
import { sharedByReceivers } from '../../graphql/generation/shared-results.ts';
import { requireFit } from '../../graphql/generation/subscribe.ts';
import type { AnswerPlan, PlannedDocument } from '../../graphql/prepared/answer-plan.ts';
import type { PreparedAnswer } from '../../graphql/prepared/prepared-answers.ts';
import { filteredLists, planOf } from '../../graphql/prepared/prepared-queries.ts';
import type { LiveRun, WatchedList } from '../../live/query/live-run.ts';
import type { Member, QueryCohort } from '../../live/query/query-cohort.ts';
import type { Operation } from '../../operation/operation.ts';
import { readRights } from '../../operation/operation-source.ts';
import { codeOfThrown } from './coded-error.ts';
import type { Result } from './message-stream.ts';
import { type PlannedQuery, preparedRun, shownDigest } from './prepared-run.ts';

/** Milliseconds after a result with errors until the query runs again without a change. */
const restAfterErrors = 5000;

interface LiveStreamParts {
  readonly source: GraphQLSource;
  /** The least milliseconds between two runs. */
  readonly throttle: number;
  /** Of the document, its operation and its variables. */
  readonly question: string;
  /** Executes the query. Gives the result and its operation to `run`, while the operation's snapshot is open. */
  execute(
    operation: Operation<Generation>,
    run: (result: Result, operation: Operation<Generation>) => Promise<Result>,
  ): Promise<Result>;
  /** Answers planned queries without the executor; null if there is none, or if the query is refused. */
  readonly answers: Answers | null;
  /** Gets each run without the executor. @param began milliseconds by the source's monotonic clock */
  readonly ranPrepared: (answer: PreparedAnswer, began: number, span: Span) => void;
  /** Gets each result that is sent. */
  readonly audit: (result: Result) => void;
}

/** The reason of every end. Without one, each abort makes an error with a stack. */
const over = new Error('the live query is over');

interface Joined {
  readonly cohort: QueryCohort<Result>;
  readonly generation: Generation;
  readonly isOwn: boolean;
  leave(): void;
}

export class LiveStream {
  readonly #parts: LiveStreamParts;
  readonly #args: ExecutionArgs;
  readonly #operation: Operation<Generation>;
  readonly #stop = new AbortController();
  readonly #member: Member<Result> = { digest: '', run: () => this.#run() };
  readonly #document: PlannedDocument | null;
  #first: LiveRun<Result> | null = null;
  #joined: Joined | null = null;
  /** Is the result for one user alone? */
  #isOwn = false;
  #planned: { readonly generation: Generation; readonly maxCost: number; readonly query: PlannedQuery | null } | null =
    null;

  constructor(args: ExecutionArgs, parts: LiveStreamParts) {
    this.#args = args;
    this.#parts = parts;
    this.#operation = (args.contextValue as OperationContext).portolan;
    const { document, operationName } = args;
    const operation = getOperationAST(document, operationName);
    this.#document = operation == null ? null : { document, operation };
  }

  async first(): Promise<Result> {
    const run = await this.#run(this.#operation.span);
    this.#first = run;
    this.#isOwn = run.isOwn;
    this.#parts.audit(run.result);
    return run.result;
  }

  results(): AsyncGenerator<Result, void, undefined> {
    const { signal } = this.#operation;
    const abort = (): void => this.#stop.abort(over);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const end = async (): Promise<void> => {
      signal?.removeEventListener('abort', abort);
      abort();
      this.#leave();
    };
    let isBegun = false;
    // A function of its own: the frame below holds its locals while it waits for the next result.
    const begin = (): Result | null => {
      if (isBegun || this.#first === null) return null;
      isBegun = true;
      this.#member.digest = this.#first.digest;
      return this.#first.result;
    };
    return endingGenerator<Result>(async () => {
      const first = begin();
      if (first !== null) return { done: false, value: first };
      try {
        const result = await this.#next();
        if (result !== null) return { done: false, value: result };
      } catch (error) {
        await end();
        throw error;
      }
      await end();
      return { done: true, value: undefined };
    }, end);
  }

  /** The next result that is another one; null at the end. */
  async #next(): Promise<Result | null> {
    const { source, audit } = this.#parts;
    const { caller } = this.#operation;
    while (!this.#stop.signal.aborted && !source.commits.closed) {
      requireValid(caller, source.now());
      const scopes = source.rights.now(caller);
      if (scopes === null) {
        await readRights(source, caller);
        continue;
      }
      const { cohort } = this.#join(scopes.id);
      const step = await cohort.next(this.#member, this.#stop.signal);
      if (cohort.isOwn) this.#isOwn = true;
      if (step.kind === 'interrupted') continue;
      requireValid(caller, source.now());
      // The caller's rights may have changed while the query ran.
      if (source.rights.now(caller)?.id !== cohort.scopesId || source.generation() !== this.#joined?.generation)
        continue;
      this.#member.digest = step.digest;
      audit(step.result);
      return sharedByReceivers(step.result);
    }
    return null;
  }

  /** The cohort of these scopes on the current generation. @throws PortolanError SCHEMA_RELOAD if the document does not fit it. */
  #join(scopesId: string): Joined {
    const { source, throttle, question } = this.#parts;
    const generation = source.generation();
    const known = this.#joined;
    if (known?.cohort.scopesId === scopesId && known.generation === generation && known.isOwn === this.#isOwn)
      return known;
    requireFit(generation.schema, this.#args.document);
    this.#leave();
    const { user } = this.#operation.caller;
    const owner = user === null ? 'local' : userKey(user);
    const joined = source.liveQueries.join<Result>({
      key: `${generation.id} ${question}`,
      scopesId,
      user: this.#isOwn ? owner : null,
      throttle,
    });
    this.#joined = { ...joined, generation, isOwn: this.#isOwn };
    const first = this.#first;
    this.#first = null;
    if (first !== null) joined.cohort.accept(first);
    return this.#joined;
  }

  #leave(): void {
    this.#joined?.leave();
    this.#joined = null;
  }

  /** @param span that of the operation for its first result */
  async #run(span = noSpan): Promise<LiveRun<Result>> {
    const { source, answers, ranPrepared } = this.#parts;
    const planned = answers === null || this.#isOwn ? null : this.#plannedOn(source.generation());
    if (answers === null || planned === null) return this.#execute(span);
    const began = source.monotonic();
    const { caller } = this.#operation;
    const found = await preparedRun(answers, source, planned, { caller, span }, this.#stop.signal);
    if (found === null) return this.#execute(span);
    ranPrepared(found.answer, began, span);
    return found.run;
  }

  async #execute(span: Span): Promise<LiveRun<Result>> {
    let run: LiveRun<Result> | null = null;
    const result = await this.#parts.execute(this.#operation.live(span), async (result, operation) => {
      run = { ...(await this.#stateOf(result, operation)), result, milliseconds: operation.readingMs };
      return result;
    });
    if (run !== null) return run;
    const unknown = { state: null, lists: [], scopesId: '', isOwn: true, rest: restAfterErrors, milliseconds: 0 };
    return { ...unknown, isPassing: isPassing(result), result, digest: digestOf(result) };
  }

  async #stateOf(
    result: Result,
    operation: Operation<Generation>,
  ): Promise<Pick<LiveRun<Result>, 'digest' | 'state' | 'lists' | 'scopesId' | 'isOwn' | 'isPassing' | 'rest'>> {
    const { rights } = this.#parts.source;
    const digest = digestOf(result);
    const isOwn = operation.readsMore;
    const scopesId = (operation.scopes ?? rights.now(operation.caller))?.id ?? '';
    if (!isLasting(result)) {
      return { digest, state: null, lists: [], scopesId, isOwn, isPassing: isPassing(result), rest: restAfterErrors };
    }
    const found = await operation.madeIn();
    if (found !== null) {
      const lists = this.#listsOf(operation, found.kindIds);
      return { digest, state: found.made.state, lists, scopesId, isOwn, isPassing: false, rest: 0 };
    }
    // A query that reads nothing never changes.
    const isConstant = operation.scopes === null && !operation.isTimed && !isOwn;
    const state = isConstant ? { epoch: '', kinds: [], stored: '', madeAt: 0, revision: 0 } : null;
    return { digest, state, lists: [], scopesId, isOwn, isPassing: false, rest: 0 };
  }

  /** The kinds that the query reads only by lists with filters. */
  #listsOf({ generation }: Operation<Generation>, kindIds: ReadonlyMap<string, number>): readonly WatchedList[] {
    return this.#plannedOn(generation)?.lists(kindIds) ?? [];
  }

  /** Of a query without relative times, the plan is the same in each run. */
  #plannedOn(generation: Generation): PlannedQuery | null {
    const { source } = this.#parts;
    const { maxCost } = source.limits;
    if (this.#planned?.generation !== generation || this.#planned.maxCost !== maxCost) {
      const variables = this.#args.variableValues ?? {};
      const plan = this.#document === null ? null : planOf(generation, this.#document, variables, source);
      this.#planned = { generation, maxCost, query: plan === null ? null : plannedQuery(plan, generation) };
    }
    return this.#planned.query;
  }
}

function plannedQuery(plan: AnswerPlan, generation: Generation): PlannedQuery {
  const lists = filteredLists(plan);
  return {
    plan,
    generation,
    lists: (kindIds) =>
      lists.flatMap(({ key, filter }) => {
        const kindId = kindIds.get(key);
        return kindId === undefined ? [] : [{ kindId, key, filter }];
      }),
  };
}

function digestOf({ data, ...rest }: Result): string {
  return shownDigest(Buffer.from(JSON.stringify(data ?? null)), rest);
}

/** Is every error of the result one of a stored value? The result is the same until an object changes. */
function isLasting({ errors = [] }: Result): boolean {
  return errors.every((error) => codeOfThrown(error) === 'VALUE_MISFIT');
}

/** Is every error of the result one of a read that was cut? */
function isPassing({ errors = [] }: Result): boolean {
  return errors.length > 0 && errors.every((error) => codeOfThrown(error) === 'TIMEOUT');
}
