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
  type OperationDefinitionNode,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Admission, OperationType, OutcomeCodes } from '../../admission/admission.ts';
import type { Arrival } from '../../admission/admitted-request.ts';
import type { Answers } from '../../answers/answers.ts';
import { type GivenParameters, keepResult, questionIn } from '../../answers/keep-result.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { noSpan, type Span, within } from '../../base/tracing.ts';
import { askCost } from '../../graphql/document/ask-cost.ts';
import { documentShape } from '../../graphql/document/document-shape.ts';
import type { Generation, OperationContext } from '../../graphql/generation/generation.ts';
import { subscribeAcrossGenerations } from '../../graphql/generation/subscribe.ts';
import { asksIntrospection } from '../../graphql/introspection/introspection-query.ts';
import { liveThrottle } from '../../graphql/types/live-directive.ts';
import type { Operation } from '../../operation/operation.ts';
import { awaitedBy } from '../../operation/sync-watch.ts';
import { untilShown } from '../../writes/run/write-token.ts';
import { prefersEvents } from '../negotiation/accepted-type.ts';
import { arrivalOf, type CredentialedRequest } from '../negotiation/credentials.ts';
import { codedError, codeOfThrown } from './coded-error.ts';
import { admittedIn, type EntryContext, whenWritten } from './entry-context.ts';
import { LiveStream } from './live-stream.ts';
import { codeOfResult, endingWithErrors, type Result } from './message-stream.ts';
import { withoutRepeats } from './repeated-errors.ts';

/** The context of a document, created by Yoga (over HTTP) or operations-protocol.ts. */
interface Enveloped extends EntryContext {
  readonly request?: Request;
  /** Aborts when the WebSocket is lost. */
  readonly signal?: AbortSignal;
  readonly params?: GivenParameters;
}

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

/** The arrival of a request. A Request without Node's server has only headers. */
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
  /** Executes a live query: the first result, and then a stream that begins with it. A refused query has one result. */
  const streamOf =
    (args: ExecutionArgs, throttle: number, executeFn: (args: ExecutionArgs) => unknown) =>
    async (given: ExecutionArgs): Promise<unknown> => {
      const context = given.contextValue as OperationContext & Enveloped;
      const { portolan } = context;
      const early = await shownOrRefused(context, log);
      if (early !== null) return early;
      const entered = entrance(args, 'subscriptions');
      const refused = refusal(args, log, entered);
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
      const { portolan } = args.contextValue as OperationContext;
      const type = operationOf(args)?.operation ?? 'unknown';
      const enveloped = args.contextValue as Enveloped;
      const live = liveThrottleOf(args, log);
      if (typeof live === 'number' && takesEvents(enveloped) && !portolan.trace.explains) {
        return setExecuteFn(streamOf(args, live, executeFn));
      }
      const entered = entrance(args, 'requests');
      const refused = live !== null && typeof live !== 'number' ? live : refusal(args, log, entered);
      // The result of introspection depends on the profile, too.
      const isOnce = refused === null && type === 'query' && live === null;
      const isKept = isOnce && !asksIntrospection(args.document, args.operationName ?? null);
      const question = isKept ? questionIn(enveloped.params, portolan) : null;
      // Not in onExecuteDone: Yoga does not call that for an execution that was aborted.
      setExecuteFn((given: ExecutionArgs) =>
        admission
          .run(
            portolan,
            { type, name: nameOf(args), document: () => documentShape(given) },
            codes,
            async (operation) => {
              const contextValue = { ...(given.contextValue as OperationContext), portolan: operation };
              const result =
                refused ?? (await shownOrRefused(contextValue, log)) ?? (await executeFn({ ...given, contextValue }));
              if (isAsyncIterable(result)) return result;
              const answer = withExtensions(result as Result, operation);
              if (question !== null) await keepResult(question, answer as ExecutionResult, operation, nameOf(given));
              return answer;
            },
          )
          .then((result) => {
            auditErrors(given, result);
            return result;
          })
          .finally(() => whenWritten(enveloped, () => entered.leave())),
      );
    },

    onSubscribe({ args, setSubscribeFn }) {
      const { portolan } = args.contextValue as OperationContext;
      const entered = entrance(args, 'subscriptions');
      const refused = refusal(args, log, entered);
      const { span } = portolan;
      setSubscribeFn(
        async (given) =>
          refused ??
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

/** An operation that is counted for its caller, or why it may not be. */
interface Entrance {
  readonly refusal: unknown;
  leave(): void;
}

function entrance({ contextValue }: ExecutionArgs, what: 'requests' | 'subscriptions'): Entrance {
  try {
    return { refusal: null, leave: admittedIn(contextValue).enter(what) };
  } catch (refusal) {
    return { refusal, leave: () => {} };
  }
}

/** The answer to an operation over a limit of its own or of its caller; null for an operation that may run. */
function refusal(
  args: ExecutionArgs,
  log: Logger,
  entered: Entrance,
): { readonly errors: readonly GraphQLError[] } | null {
  const { schema, document, variableValues, contextValue } = args;
  try {
    const operation = operationOf(args);
    const { cost, source } = (contextValue as OperationContext).portolan;
    if (entered.refusal !== null) throw entered.refusal;
    if (operation !== null) askCost(cost, { schema, document, operation, variables: variableValues }, source.limits);
    admittedIn(contextValue).charge(cost.asked ?? 0);
    return null;
  } catch (error) {
    const refused = codedError(error, log);
    return { errors: [isHttp(contextValue) ? asBadRequest(refused) : refused] };
  }
}

/**
 * Gives an answer without data status 400, or 429 at a limit of the caller, where the media type defines statuses (GraphQL over HTTP). Yoga
 * removes `http` from the answer.
 */
function asBadRequest({ message, nodes, extensions }: GraphQLError): GraphQLError {
  const status = extensions['code'] === 'TOO_MANY_REQUESTS' ? 429 : 400;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    extensions: { ...extensions, http: { spec: true, status } },
  });
}

/** The throttle of a live query; null for another one. A throttle that is refused gives the answer. */
function liveThrottleOf(
  args: ExecutionArgs,
  log: Logger,
): number | { readonly errors: readonly GraphQLError[] } | null {
  try {
    return liveThrottle(args.schema, operationOf(args), args.variableValues);
  } catch (error) {
    const refused = codedError(error, log);
    return { errors: [isHttp(args.contextValue) ? asBadRequest(refused) : refused] };
  }
}

/** Charges a run of a live query to its operation. The limits may have changed since the first run. */
function tooCostly(
  args: ExecutionArgs,
  { cost, source, generation }: Operation<Generation>,
  log: Logger,
): Result | null {
  const { document, variableValues } = args;
  const operation = operationOf(args);
  try {
    if (operation !== null) {
      askCost(cost, { schema: generation.schema, document, operation, variables: variableValues }, source.limits);
    }
    return null;
  } catch (error) {
    return { errors: [codedError(error, log)] };
  }
}

/** Can several results be sent? */
function takesEvents({ request }: Enveloped): boolean {
  return request === undefined || prefersEvents(request.headers.get('accept'));
}

function nameOf(args: ExecutionArgs): string | null {
  return operationOf(args)?.name?.value ?? null;
}

function operationOf({ document, operationName }: ExecutionArgs): OperationDefinitionNode | null {
  return getOperationAST(document, operationName) ?? null;
}

/** `extensions: {"portolan": {"explain": true, "after": "…"}}` of a request. */
function wishesIn(extensions: unknown): { readonly explain?: unknown; readonly after?: unknown } {
  const { portolan } = (extensions ?? {}) as { readonly portolan?: ReturnType<typeof wishesIn> | null };
  return portolan ?? {};
}

/** Waits for the writes of the token in the request. An error of the wait, as a result; null without one. */
async function shownOrRefused(context: OperationContext & Enveloped, log: Logger): Promise<Result | null> {
  const { after } = wishesIn(context.params?.extensions);
  if (after === undefined) return null;
  try {
    await untilShown(context.portolan, after);
    return null;
  } catch (error) {
    return { errors: [codedError(error, log)] };
  }
}

function isHttp(context: unknown): boolean {
  return (context as Enveloped).request !== undefined;
}

/**
 * True if the request does not select one operation of the document. Yoga calls no hook when it refuses the request. It refuses the
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
