/**
 * Operations over a connection with messages (the graphql-transport-ws protocol) through the same pipeline as HTTP. Connections are
 * WebSockets, and event streams in single connection mode.
 *
 * Owns the parts that graphql-ws leaves to its user:
 *   - Operations run through Yoga's plugins.
 *   - Errors carry codes, and no fields meant for HTTP.
 *   - Failures are logged.
 *
 * Never: throws for a document that cannot be run. A thrown error would close the connection and end its other operations, so the client
 * receives an `error` message instead.
 */
import type { IncomingMessage } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, GraphQLError, GraphQLSchema, getOperationAST, parse } from 'graphql';
import { makeServer, type Server } from 'graphql-ws';
import { isAsyncIterable } from 'graphql-yoga';
import { requireValid } from '../../access/caller.ts';
import type { Admission } from '../../admission/admission.ts';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import type { Answered, Answers, AskedQuery } from '../../answers/answers.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { noTracer, type Span, type Tracer } from '../../base/tracing.ts';
import { exactJson } from '../../catalog/values/raw-json.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import { resultOfText } from '../../graphql/generation/shared-results.ts';
import type { QueryParameters } from '../../graphql/prepared/prepared-queries.ts';
import { dataEndOf, wholeText } from '../../operation/answers/answer-text.ts';
import { beginMessage } from '../graphql/request-spans.ts';
import type { Yoga } from '../graphql/yoga-server.ts';
import { addressOf, credentialsOf } from '../negotiation/credentials.ts';
import { keepDigits } from '../negotiation/request-json.ts';
import { profileIn } from '../negotiation/request-url.ts';
import { codedError } from '../plugins/coded-error.ts';
import { acceptedParameters, areIgnored } from '../plugins/request-parameters.ts';
import { type JointWrites, type MessageSocket, SocketEvents } from './socket-events.ts';
import { CloseCode } from './socket-protocol.ts';

export interface Connection {
  readonly socket: MessageSocket;
  readonly writes: JointWrites;
  /** Aborts when the connection is lost. */
  readonly signal: AbortSignal;
  readonly request: IncomingMessage;
  /** For messages. */
  readonly name: 'WebSocket' | 'event stream';
  close(code: number, reason: string): void;
  /** Null until the connection has been initialised. */
  admitted: AdmittedRequest | null;
  /** The payload of `connection_init`. */
  params: Readonly<Record<string, unknown>> | undefined;
  /** Messages that wait for their turn. */
  waiting: number;
}

type Enveloped = Pick<ReturnType<Yoga['getEnveloped']>, 'execute' | 'subscribe'>;
type Args = ExecutionArgs & { readonly rootValue: Enveloped };

interface Params {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
}

interface ProtocolOptions {
  readonly log: Logger;
  /** Milliseconds between two checks of a caller's credentials. */
  readonly checkCallersMs?: number;
  readonly tracer?: Tracer;
}

export function operationsProtocol(
  yoga: Yoga,
  admission: Admission<Generation>,
  answers: Answers | null,
  { log, checkCallersMs, tracer = noTracer }: ProtocolOptions,
): Server<Connection> {
  return makeServer<Record<string, unknown>, Connection>({
    jsonMessageReviver: keepDigits,
    execute: (args) => (args as Args).rootValue.execute(args) as Promise<ExecutionResult>,
    subscribe: (args) => (args as Args).rootValue.subscribe(args) as Promise<AsyncIterable<ExecutionResult>>,
    onConnect: async ({ extra, connectionParams }) => {
      const span = beginMessage(tracer, 'connection_init', extra.request, [connectionParams]);
      try {
        const credentials = credentialsOf(extra.request, connectionParams);
        const admitted = await admission.admit({ credentials, address: addressOf(extra.request), span });
        // A connection that is lost already has no end at which its count would end.
        if (extra.signal.aborted) return false;
        extra.admitted = admitted;
        extra.params = connectionParams;
        extra.signal.addEventListener('abort', admitted.enter('connections'), { once: true });
        const expired = (message: string): void => extra.close(CloseCode.forbidden, message);
        const stop = admitted.keepValid(expired, extra.name, checkCallersMs);
        extra.signal.addEventListener('abort', stop, { once: true });
        return true;
      } catch (error) {
        log.debug({ error: messageOf(error) }, 'a WebSocket was refused');
        const { message, extensions } = codedError(error, log);
        const code = String(extensions['code']);
        span.fail(code);
        // A client may send the same credentials again when the API server answers.
        if (code === 'UPSTREAM_UNAVAILABLE' || code === 'TOO_MANY_REQUESTS') extra.close(CloseCode.tryAgainLater, code);
        else if (code === 'INTERNAL_SERVER_ERROR') extra.close(CloseCode.internalError, message);
        else extra.close(CloseCode.forbidden, message);
        // The connection is closing already, so graphql-ws sends nothing more.
        return false;
      } finally {
        span.end();
      }
    },
    onSubscribe: async ({ extra }, id, params) => {
      const span = beginMessage(tracer, 'GraphQL Operation', extra.request, [params.extensions, extra.params]);
      try {
        await turnOf(admission, extra);
        return await prepare({ yoga, answers }, params, extra, id, span);
      } catch (error) {
        if (extra.signal.aborted) {
          span.fail('CANCELLED');
          span.end();
          return [new GraphQLError('The client has left.')];
        }
        const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
        const coded = errors.map((each) => withoutHttp(codedError(each, log)));
        span.fail(String(coded[0]?.extensions['code']));
        span.end();
        return coded;
      }
    },
  });
}

/**
 * Parses and validates as HTTP does.
 * @throws an error, or an AggregateError of several; the operation does not begin then.
 */
async function prepare(
  { yoga, answers }: { readonly yoga: Yoga; readonly answers: Answers | null },
  given: Params,
  { socket, writes, signal, request, admitted }: Connection,
  id: string,
  span: Span,
): Promise<ExecutionArgs> {
  const message = must(admitted, 'a connection is initialised before it subscribes').message(span);
  requireValid(message.caller, Date.now());
  const params = acceptedParameters(given);
  const outlet = new SocketEvents(socket, writes, id);
  const answered = areIgnored(params.extensions) ? await answers?.answer(askedQuery(message, params, signal)) : null;
  if (answered) {
    const send = (): unknown => outlet.sendOne(resultOf(answered), answered.leave);
    span.end();
    return { schema: noSchema, document: anyQuery, rootValue: { execute: async () => send() } } as unknown as Args;
  }
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>();
  const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
    outlet,
    params,
    signal,
    admitted: message,
    profile: profileIn(request),
    span,
    sent,
  });
  const document = parseCoded(parse, params.query);
  const errors: readonly unknown[] = validate(schema, document);
  if (errors.length > 0) throw new AggregateError(errors);
  if (getOperationAST(document, params.operationName) == null) {
    const message = 'Name the operation to run: the document has several, or none of that name.';
    throw new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } });
  }
  return {
    schema,
    document,
    operationName: params.operationName ?? null,
    variableValues: params.variables ?? null,
    contextValue: await contextFactory(),
    rootValue: {
      execute: async (args: ExecutionArgs) => {
        try {
          const outcome = await execute(args);
          if (!isAsyncIterable<ExecutionResult>(outcome)) return outlet.sendOne(outcome, onSent);
          // A stream counts as a subscription.
          onSent();
          return outlet.send(outcome);
        } catch (error) {
          onSent();
          throw error;
        } finally {
          span.end();
        }
      },
      subscribe: async (args: ExecutionArgs) => {
        const outcome = await subscribe(args);
        // The admission ends the span of a subscription with its first message.
        if (isAsyncIterable<ExecutionResult>(outcome)) return outlet.send(outcome);
        span.end();
        return outcome;
      },
    },
  } as unknown as ExecutionArgs;
}

/** The schema and document for graphql-ws in the place of a query that is answered already. */
const noSchema = new GraphQLSchema({});
const anyQuery = parse('{ __typename }', { noLocation: true });

function askedQuery(admitted: AdmittedRequest, params: Params, signal: AbortSignal): AskedQuery {
  const { query, operationName, variables } = params;
  const parameters: QueryParameters = {
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
  };
  // As a body of HTTP that says the same: plans are found by the text, for every sender.
  const text = exactJson({ query, operationName, variables });
  return { admitted, text, parametersOf: () => parameters, signal };
}

function resultOf(answered: Answered): ExecutionResult {
  if (answered.kept !== null) return resultOfText(answered.kept.body, answered.kept.dataEnd);
  const whole = Buffer.from(wholeText(answered.texts));
  return resultOfText(whole, dataEndOf(whole, answered.texts));
}

function parseCoded<T>(parse: (query: string) => T, query: string): T {
  try {
    return parse(query);
  } catch (error) {
    if (!(error instanceof GraphQLError) || error.extensions['code'] !== undefined) throw error;
    const { message, source, positions } = error;
    throw new GraphQLError(message, {
      ...(source === undefined ? {} : { source }),
      ...(positions === undefined ? {} : { positions }),
      extensions: { code: 'GRAPHQL_PARSE_FAILED' },
    });
  }
}

/** Removes `extensions.http`, in which Yoga keeps the HTTP status. */
function withoutHttp(error: GraphQLError): GraphQLError {
  if (error.extensions['http'] === undefined) return error;
  const { http: _, ...extensions } = error.extensions;
  const { message, nodes, source, positions, path } = error;
  return new GraphQLError(message, {
    ...(nodes === undefined ? {} : { nodes }),
    ...(source === undefined ? {} : { source }),
    ...(positions === undefined ? {} : { positions }),
    ...(path === undefined ? {} : { path }),
    extensions,
  });
}

/** Resolves when the connection's caller may begin an operation. Until then no more messages of the connection are read. */
async function turnOf({ turns }: Admission<Generation>, connection: Connection): Promise<void> {
  const { admitted, socket } = connection;
  connection.waiting += 1;
  socket.pause();
  await turns.turn(admitted?.caller.name ?? '');
  connection.waiting -= 1;
  if (connection.waiting === 0) socket.resume();
}
