/**
 * The doors of the HTTP server beside the GraphQL endpoint. A door is a path and a function that answers its requests; http-server.ts has
 * the list of doors.
 *
 *   admittedDoor   request -> admitted (who calls) -> in flight until the answer is sent -> answer(request, response, admitted)
 *                          -> a PortolanError: the audit is told, and the answer is JSON with its code
 *   operate        an operation of the caller: its requested cost is charged -> one snapshot -> counted, logged if slow
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, OutcomeCodes } from '../../admission/admission.ts';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import { codeOf, PortolanError } from '../../base/errors.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import { awaitedBy } from '../../operation/sync-watch.ts';
import { whenSent } from '../connections/unsent-answers.ts';
import { arrivalOf } from '../negotiation/credentials.ts';
import { refusedCallers } from '../plugins/admission-plugin.ts';

export interface Door {
  /** The path of its URL. */
  readonly path: string;
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** @param leave ends the count of the request before its answer is sent, for a stream that counts in another way */
export type AdmittedAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  admitted: AdmittedRequest,
  leave: () => void,
) => Promise<void>;

export const jsonType = 'application/json; charset=utf-8';

/** A door that answers callers whom the admission knows. Errors without a code are thrown, and so are all once an answer has begun. */
export function admittedDoor(admission: Admission<Generation>, path: string, answer: AdmittedAnswer): Door {
  return { path, answer: (request, response) => answerAdmitted(admission, path, request, response, answer) };
}

/** Answers one request as `admittedDoor` does. */
export async function answerAdmitted(
  admission: Admission<Generation>,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  answer: AdmittedAnswer,
): Promise<void> {
  let admitted: AdmittedRequest | null = null;
  try {
    admitted = await admission.admit(arrivalOf(request, undefined, path));
    const leave = admitted.enter('requests');
    whenSent(response, leave);
    await answer(request, response, admitted, leave);
  } catch (error) {
    if (!(error instanceof PortolanError) || response.headersSent) throw error;
    admitted?.denied(error);
    sendRefusal(response, error);
  }
}

/** Statuses of the codes that a door answers with, besides those of callers who are refused. */
const statuses: Readonly<Record<string, number>> = { BAD_USER_INPUT: 400, NOT_FOUND: 404, CONFLICT: 409 };

/** The answer to a request that is refused: the status and the code of the error. */
export function sendRefusal(response: ServerResponse, { code, message }: PortolanError): void {
  const { status = statuses[code] ?? 503, headers } = refusedCallers[code] ?? {};
  response.writeHead(status, { 'content-type': jsonType, ...(headers as object) });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}

/** An operation of a door. */
interface DoorOperation {
  /** For logs and metrics of slow queries. */
  readonly name: string;
  /** Values that it asks for; charged before it runs. */
  readonly cost: number;
  /** Ends the operation when it aborts, as when the client is gone. */
  readonly signal?: AbortSignal | undefined;
  /** A mutation is executed once. Default: query. */
  readonly type?: 'query' | 'mutation';
}

/**
 * Runs a query of an admitted caller.
 * @param execute is called again if a kind was in its first sync, or if the caller may see more than was known.
 * @throws PortolanError TOO_MANY_REQUESTS, CACHE_NOT_READY, and what `execute` throws
 */
export async function operate<T, G extends ServedKinds = Generation>(
  admission: Admission<G>,
  admitted: AdmittedRequest,
  { name, cost, signal, type = 'query' }: DoorOperation,
  execute: (operation: Operation<G>) => Promise<T>,
): Promise<T> {
  admitted.charge(cost);
  await admission.turns.turn(admitted.caller.name);
  let operation: Operation<G>;
  try {
    operation = admission.begin({ admitted, signal, explain: false });
  } catch (error) {
    admission.refuse(type, codeOf(error), admitted.span);
    throw error;
  }
  const outcome = await admission.run<Outcome<T>>(operation, { type, name, document: () => name }, codes, (current) =>
    execute(current).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    ),
  );
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

/** The outcome of one execution. An error is no exception here: the admission may execute again. */
type Outcome<T> = { readonly result: T } | { readonly error: unknown };

const codes: OutcomeCodes<Outcome<unknown>> = {
  ofResult: (outcome) => ('error' in outcome ? codeOf(outcome.error) : 'OK'),
  ofThrown: codeOf,
  awaited: (outcome) => ('error' in outcome ? [awaitedBy(outcome.error) ?? []].flat() : []),
};
