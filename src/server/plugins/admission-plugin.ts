/**
 * Connects Yoga to the admission (src/admission/admission.ts), over HTTP and WebSocket. It gives every document the current generation
 * and an Operation. It refuses an operation over the cost limit before anything is read. It counts each operation once.
 *
 *   HTTP        onRequest: the request is admitted      WebSocket   the message's admitted request is in the context
 *   onEnveloped: operation begins, schema set -> onParse, onValidate: refusals are counted -> onExecute: cost, then admission.run
 *                                                                                         -> onSubscribe: cost, then events
 *
 * The schema is set in onEnveloped, which runs for both transports. Yoga's option `schema` as a function does not run over WebSocket.
 */
import { randomUUID } from 'node:crypto';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  Kind,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Admission, OperationType, OutcomeCodes } from '../../admission/admission.ts';
import type { Arrival } from '../../admission/admitted-request.ts';
import type { Answers } from '../../answers/answers.ts';
import { keepResult, questionIn } from '../../answers/keep-result.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { noSpan, type Span, within } from '../../base/tracing.ts';
import { documentShape } from '../../graphql/document/document-shape.ts';
import type { Generation, OperationContext } from '../../graphql/generation/generation.ts';
import { subscribeAcrossGenerations } from '../../graphql/generation/subscribe.ts';
import { asksIntrospection } from '../../graphql/introspection/introspection-query.ts';
import type { Operation } from '../../operation/operation.ts';
import { awaitedBy } from '../../operation/sync-watch.ts';
import { prefersEvents } from '../negotiation/accepted-type.ts';
import { arrivalOf, type CredentialedRequest } from '../negotiation/credentials.ts';
import { codedError, codeOfThrown } from './coded-error.ts';
import {
  admittedIn,
  type EntryContext,
  type Enveloped,
  isHttp,
  nameOf,
  operationOf,
  whenWritten,
} from './entry-context.ts';
import { LiveStream } from './live-stream.ts';
import { codeOfResult, endingWithErrors, type Result } from './message-stream.ts';
import { type Entrance, enter, liveThrottleOf, shownOrRefused, tooCostly, wishesIn } from './refusals.ts';
import { withoutRepeats } from './repeated-errors.ts';

const unresolved = 'OPERATION_RESOLUTION_FAILURE';

const codes: OutcomeCodes<unknown> = {
  ofResult: codeOfResult,
  ofThrown: codeOfThrown,
  awaited(result) {
    const errors = (result as Result | null)?.errors ?? [];
    return errors.flatMap((error) => {
      return (error instanceof GraphQLError ? awaitedBy(error.originalError) : null) ?? [];
    });
  },
};

/** Status and headers of the answer when the caller is not authenticated, by the code of the error. */
export const refusedCallers: Readonly<Record<string, ResponseInit>> = {
  UNAUTHENTICATED: { status: 401, headers: { 'www-authenticate': 'Bearer' } },
  FORBIDDEN: { status: 403 },
  TOO_MANY_REQUESTS: { status: 429, headers: { 'retry-after': '1' } },
  UPSTREAM_UNAVAILABLE: { status: 503 },
};

function spanIn(context: unknown): Span {
  return (context as Enveloped | null | undefined)?.span ?? noSpan;
}

/** Tells the audit of every error that is a denial. */
function auditErrors(args: ExecutionArgs, result: unknown): void {
  for (const error of (result as Result | null)?.errors ?? []) {
    if (!(error instanceof GraphQLError)) continue;
    const { message, path, originalError } = error;
    const details = originalError instanceof PortolanError ? originalError.details : {};
    const at = { operation: nameOf(args), ...(path === undefined ? {} : { path }) };
    admittedIn(args.contextValue).denied({ code: codeOfThrown(error), message, details }, at);
  }
}

/** What arrives with a request. A Request without Node's server has only headers. */
function arrivalIn(request: Request, context: unknown): Arrival {
  const { req, span } = (context ?? {}) as Enveloped & { readonly req?: CredentialedRequest };
  if (req !== undefined) return arrivalOf(req, span);
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  const credentials = {
    header,
    headers: (name: string) => [header(name) ?? []].flat(),
    headerNames: (prefix: string) => [...request.headers.keys()].filter((name) => name.startsWith(prefix)),
  };
  return { credentials, address: null, span };
}

interface Parts {
  readonly admission: Admission<Generation>;
  readonly log: Logger;
  readonly answers: Answers | null;
}

type Execute = (args: ExecutionArgs) => unknown;

/**
 * Must be the first plugin, so that it counts the documents that later plugins reject. Yoga answers the request for the playground's page
 * before any plugin, so that request needs no credentials.
 * @param answers answers live queries that need no executor
 */
export function useAdmission(
  admission: Admission<Generation>,
  log: Logger,
  answers: Answers | null = null,
): Plugin<OperationContext> {
  const parts: Parts = { admission, log, answers };
  return {
    async onRequest({ request, serverContext, endResponse, fetchAPI }) {
      const span = spanIn(serverContext);
      try {
        const admitted = await admission.admit(arrivalIn(request, serverContext));
        Object.assign(serverContext, { admitted } satisfies EntryContext);
      } catch (error) {
        const code = codeOfThrown(error);
        admission.refuse('unknown', code, span);
        const body = { errors: [codedError(error, log)] };
        endResponse(fetchAPI.Response.json(body, refusedCallers[code] ?? { status: 500 }));
      }
    },

    onEnveloped({ setSchema, extendContext, context }) {
      const enveloped = (context ?? {}) as Enveloped;
      const { request, signal, params } = enveloped;
      try {
        const operation = admission.begin({
          admitted: admittedIn(context),
          signal: request?.signal ?? signal,
          isSafe: request?.method === 'GET',
          explain: wishesIn(params?.extensions).explain === true,
        });
        setSchema(operation.generation.schema);
        extendContext({ portolan: operation } as Partial<OperationContext>);
      } catch (error) {
        admission.refuse('unknown', codeOfThrown(error), enveloped.span);
        throw error;
      }
    },

    onParse() {
      return ({ result, context }) => {
        const span = spanIn(context);
        if (result instanceof Error) admission.refuse('unknown', codeOr(result, 'GRAPHQL_PARSE_FAILED'), span);
        else if (isHttp(context) && isUnresolved(result as DocumentNode, context))
          admission.refuse('unknown', unresolved, span);
      };
    },

    onValidate({ params: { documentAST }, context }) {
      return ({ valid, result }) => {
        const span = spanIn(context);
        if (!valid) admission.refuse(firstType(documentAST), codeOr(result[0], 'GRAPHQL_VALIDATION_FAILED'), span);
        else if (!isHttp(context) && isUnresolved(documentAST, context)) admission.refuse('unknown', unresolved, span);
      };
    },

    onExecute({ args, executeFn, setExecuteFn }) {
      const throttle = liveThrottleOf(args, log);
      const isStream =
        typeof throttle === 'number' &&
        takesEvents(args.contextValue as Enveloped) &&
        !(args.contextValue as OperationContext).portolan.trace.explains;
      setExecuteFn(
        isStream ? executeLive(parts, args, throttle, executeFn) : executeOnce(parts, args, throttle, executeFn),
      );
    },

    onSubscribe({ args, setSubscribeFn }) {
      const { portolan } = args.contextValue as OperationContext;
      const entered = enter(args, 'subscriptions', log);
      const { span } = portolan;
      setSubscribeFn(
        async (given) =>
          entered.refused ??
          (await shownOrRefused(given.contextValue as OperationContext & Enveloped, log)) ??
          within(span, () => subscribeAcrossGenerations(given)),
      );
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) {
            entered.leave();
            auditErrors(args, result);
            admission.refuse('subscription', codes.ofResult(result), span);
            return;
          }
          admission.subscriptionBegan(nameOf(args), span);
          const context = args.contextValue as OperationContext & Enveloped;
          const begin = openStream(admission, context, entered);
          setResult(endingWithErrors(result as AsyncIterable<Result>, log, { begin, span }) as never);
        },
      };
    },
  };
}

/** Executes a live query: the first result, and then a stream that begins with it. A refused query has one result. */
function executeLive(
  { admission, log, answers }: Parts,
  args: ExecutionArgs,
  throttle: number,
  executeFn: Execute,
): Execute {
  return async (given) => {
    const context = given.contextValue as OperationContext & Enveloped;
    const { portolan } = context;
    const early = await shownOrRefused(context, log);
    if (early !== null) return early;
    const entered = enter(args, 'subscriptions', log);
    const { refused } = entered;
    const name = nameOf(given);
    const document = (): string => documentShape(given);
    const live = new LiveStream(given, {
      source: portolan.source,
      throttle,
      question: questionIn(context.params, portolan) ?? randomUUID(),
      execute: (operation, run) =>
        admission.run<Result>(operation, { type: 'query', name, document }, codes, async (current) => {
          const contextValue = { ...context, portolan: current };
          const { schema } = current.generation;
          const result =
            refused ?? tooCostly(given, current, log) ?? (await executeFn({ ...given, schema, contextValue }));
          return run(withExtensions(result as Result, current), current);
        }),
      answers: refused === null ? answers : null,
      ranPrepared: ({ rows, plans }, began, span) =>
        admission.finish({ type: 'query', code: 'OK', began, name, document, rows, plans, span }),
      audit: (result) => auditErrors(given, result),
    });
    try {
      const first = await live.first();
      if (refused !== null) {
        entered.leave();
        return first;
      }
    } catch (error) {
      entered.leave();
      throw error;
    }
    const begin = openStream(admission, context, entered);
    return endingWithErrors(live.results(), log, { begin, span: noSpan });
  };
}

/** Executes an operation once. Of a live query, the client takes one result only. */
function executeOnce(
  { admission, log }: Parts,
  args: ExecutionArgs,
  throttle: ReturnType<typeof liveThrottleOf>,
  executeFn: Execute,
): Execute {
  const { portolan } = args.contextValue as OperationContext;
  const type = operationOf(args)?.operation ?? 'unknown';
  const enveloped = args.contextValue as Enveloped;
  const { refused, leave } = enter(args, 'requests', log, typeof throttle === 'number' ? null : throttle);
  const isOnce = refused === null && type === 'query' && throttle === null;
  // What introspection shows depends on the profile, too.
  const isKept = isOnce && !asksIntrospection(args.document, args.operationName ?? null);
  const question = isKept ? questionIn(enveloped.params, portolan) : null;
  // Not in onExecuteDone: Yoga does not call that for an execution that was aborted.
  return (given) =>
    admission
      .run(portolan, { type, name: nameOf(args), document: () => documentShape(given) }, codes, async (operation) => {
        const contextValue = { ...(given.contextValue as OperationContext), portolan: operation };
        const result =
          refused ?? (await shownOrRefused(contextValue, log)) ?? (await executeFn({ ...given, contextValue }));
        if (isAsyncIterable(result)) return result;
        const answer = withExtensions(result as Result, operation);
        if (question !== null) await keepResult(question, answer as ExecutionResult, operation, nameOf(given));
        return answer;
      })
      .then((result) => {
        auditErrors(given, result);
        return result;
      })
      .finally(() => whenWritten(enveloped, leave));
}

/**
 * Counts a stream of messages as open from the call on, until the function that it returns is called. Over HTTP, the credentials are
 * checked meanwhile: the stream itself ends when they are invalid. Over WebSocket, the connection checks them.
 */
function openStream(
  admission: Admission<Generation>,
  context: OperationContext & Enveloped,
  entered: Entrance,
): () => () => void {
  return () => {
    const ended = admission.subscribed();
    const stop = isHttp(context) ? admittedIn(context).keepValid(() => {}, 'stream') : () => {};
    return () => {
      stop();
      ended();
      entered.leave();
    };
  };
}

/** Can several results be sent? */
function takesEvents({ request }: Enveloped): boolean {
  return request === undefined || prefersEvents(request.headers.get('accept'));
}

/**
 * True if the request does not select one operation of the document. Yoga calls no hook when it refuses such a request. It refuses the
 * request after parsing over HTTP, and after validation over WebSocket.
 */
function isUnresolved(document: DocumentNode, context: unknown): boolean {
  return getOperationAST(document, (context as Enveloped).params?.operationName) == null;
}

function codeOr(error: unknown, otherwise: string): string {
  const code = error instanceof GraphQLError ? error.extensions['code'] : undefined;
  return typeof code === 'string' ? code : otherwise;
}

/** The type of the first operation, to count a document that was refused. */
function firstType({ definitions }: DocumentNode): OperationType {
  return definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)?.operation ?? 'unknown';
}

function withExtensions(result: Result, operation: Operation): Result {
  return { ...withoutRepeats(result), extensions: { ...result.extensions, portolan: operation.extensions() } };
}
