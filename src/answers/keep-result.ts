/** Keeps answers of the executor (src/operation/answers). */
import type { ExecutionResult } from 'graphql';
import type { Generation } from '../graphql/generation/generation.ts';
import { questionKey } from '../graphql/prepared/prepared-queries.ts';
import type { Operation } from '../operation/operation.ts';

/** The parameters of a request, as Yoga and the WebSocket server read them. */
export interface GivenParameters {
  readonly query?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly extensions?: unknown;
  readonly operationName?: string | null;
}

/** The key of a query for kept answers; null for a query with an explanation. */
export function questionIn(params: GivenParameters | undefined, { trace }: Operation): string | null {
  if (typeof params?.query !== 'string' || trace.explains) return null;
  return questionKey({
    query: params.query,
    operationName: params.operationName ?? undefined,
    variables: params.variables ?? {},
  });
}

/** Keeps a result whose question was asked before, if it is the whole answer and depends on objects alone. */
export async function keepResult(
  key: string,
  result: ExecutionResult,
  operation: Operation<Generation>,
  name: string | null,
): Promise<void> {
  const { source, caller, generation, cost } = operation;
  if (result.errors !== undefined || operation.pendingRights() !== null) return;
  const scopes = source.rights.now(caller);
  if (scopes === null || !source.answers.wants({ key, scopes })) return;
  const found = await operation.madeIn();
  if (found === null) return;
  const { made, scopes: madeWith } = found;
  const texts = { data: JSON.stringify(result.data), extensions: JSON.stringify(result.extensions) };
  const answer = { texts, made, asked: cost.asked ?? 0, name };
  source.answers.keep({ key, caller, scopes: madeWith }, generation, answer);
}
