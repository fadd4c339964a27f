/**
 * Runs of live queries without the executor: a planned query is answered as text by the store's readers (src/graphql/prepared).
 *
 * Invariant: the executor and a prepared answer make the same text of a run. So members get a result only if it is another one.
 */
import { createHash } from 'node:crypto';
import type { Answers } from '../../answers/answers.ts';
import type { Generation, GraphQLSource } from '../../graphql/generation/generation.ts';
import { resultOfText } from '../../graphql/generation/shared-results.ts';
import type { AnswerPlan } from '../../graphql/prepared/answer-plan.ts';
import type { PreparedAnswer, PreparedQuestion } from '../../graphql/prepared/prepared-answers.ts';
import type { LiveRun } from '../../live/query/live-run.ts';
import { dataBegin, dataEndOf, wholeText } from '../../operation/answers/answer-text.ts';
import type { Result } from './message-stream.ts';

/** A planned query on a generation. */
export interface PlannedQuery {
  readonly plan: AnswerPlan;
  readonly generation: Generation;
  /** The kinds that it reads only by lists, by their ids in the store. */
  readonly lists: (kindIds: ReadonlyMap<string, number>) => LiveRun<Result>['lists'];
}

interface PreparedRun {
  readonly run: LiveRun<Result>;
  readonly answer: PreparedAnswer;
}

/** Null if the executor must run the query. */
export async function preparedRun(
  answers: Answers,
  source: GraphQLSource,
  { plan, generation, lists }: PlannedQuery,
  { caller, span }: Pick<PreparedQuestion, 'caller' | 'span'>,
  signal: AbortSignal,
): Promise<PreparedRun | null> {
  // The state of a run has a part for each cell.
  if (source.cells !== undefined) return null;
  const scopes = source.rights.now(caller);
  if (scopes === null) return null;
  const question = { plan, generation, caller, scopes, span };
  const began = source.monotonic();
  const answer = await Promise.resolve(answers.prepared(question, signal)).catch(() => null);
  if (answer === null) return null;
  const text = Buffer.from(wholeText(answer.texts));
  const dataEnd = dataEndOf(text, answer.texts);
  const extensions = JSON.parse(answer.texts.extensions) as Record<string, unknown>;
  const run = {
    result: resultOfText(text, dataEnd) as Result,
    digest: shownDigest(text.subarray(dataBegin, dataEnd), { extensions }),
    state: answer.made.state,
    lists: lists(answer.kindIds),
    scopesId: scopes.id,
    isOwn: false,
    milliseconds: source.monotonic() - began,
    isPassing: false,
    rest: 0,
  };
  return { run, answer };
}

/** Bytes of data from which a result is known by its hash. A subscriber keeps what its result is known by. */
const leastHashed = 1024;

/**
 * The parts by which results differ: not their revision, their cost, or the id of their generation.
 * @param data its data as JSON
 */
export function shownDigest(data: Buffer, { errors, extensions }: Omit<Result, 'data'>): string {
  const {
    generation: _,
    revision: __,
    revisions: ____,
    cost: ___,
    ...more
  } = (extensions?.['portolan'] ?? {}) as Record<string, unknown>;
  const known = data.length < leastHashed ? data.toString() : createHash('sha256').update(data).digest('base64');
  return `${known}\n${JSON.stringify([errors ?? null, more])}`;
}
