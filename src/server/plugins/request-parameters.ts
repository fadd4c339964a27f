/**
 * Every entry point checks the parameters of a request here, before it reads a document. The Yoga plugin does it for HTTP and event streams,
 * operations-protocol.ts for WebSockets, query-request.ts for kept and prepared answers over HTTP.
 *
 *   extensions.persistedQuery without a query   refused, so that the client sends the whole query
 *   extensions.persistedQuery with a query      the query is answered
 *   operationName ""                            the same as none
 *   a list of requests                          refused; the message names the remedy
 *   variables or extensions of a GET            refused if they are not JSON
 *   integers beyond 2^53 in the JSON            keep their digits (request-json.ts)
 */
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { parseRequestJson } from '../negotiation/request-json.ts';

interface Parameters {
  readonly query?: string | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: unknown;
}

/**
 * Clients decide by the message. Apollo Client and urql look for NotSupported first: they then send no more hashes. Apollo iOS and Apollo
 * Kotlin send the whole query only after NotFound. So the answer has both.
 */
const unknownHash = [
  ['PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED'],
  ['PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND'],
] as const;

/**
 * The parameters, without an operation name that is empty.
 * @throws AggregateError of GraphQLErrors for the hash of a query without the query.
 */
export function acceptedParameters<P extends Parameters>(params: P): P {
  if ((params.query ?? '') === '' && hashOf(params.extensions) !== undefined) {
    // Apollo iOS reads no error of an answer with another status.
    const http = { status: 200 };
    throw new AggregateError(
      unknownHash.map(([message, code]) => new GraphQLError(message, { extensions: { code, http } })),
    );
  }
  if (params.operationName !== '') return params;
  const { operationName: _, ...others } = params;
  return others as P;
}

/** Do the extensions of a query change nothing of its answer? Clients put hashes and their own names there. */
export function areIgnored(extensions: unknown): boolean {
  if (extensions === undefined || extensions === null) return true;
  return typeof extensions === 'object' && !Array.isArray(extensions) && !('portolan' in extensions);
}

/** The persisted query in the extensions, whatever a client has put there; undefined without one. */
export function hashOf(extensions: unknown): unknown {
  return (extensions as { readonly persistedQuery?: unknown } | null | undefined)?.persistedQuery ?? undefined;
}

function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
}

/** The request, whose `json` keeps all digits. Yoga's parser of JSON calls nothing else. */
function readExactly(request: Request): Request {
  const json = async (): Promise<unknown> => parseRequestJson(await request.text());
  return new Proxy(request, {
    get: (target, name) => {
      if (name === 'json') return json;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** The parameters in the URL of a GET, with all digits of their variables. */
function withExactVariables<P>(parsed: P, url: string): P {
  const written = new URLSearchParams(url.slice(url.indexOf('?'))).get('variables');
  return written === null || written === '' ? parsed : { ...parsed, variables: parseRequestJson(written) };
}

/** Yoga calls it before its own checks of the parameters. */
export function useRequestParameters(): Plugin {
  return {
    onRequestParse({ request, requestParser, setRequestParser }) {
      if (request.method === 'GET' && requestParser !== undefined) {
        setRequestParser((given) => {
          try {
            return withExactVariables(requestParser(given), given.url);
          } catch {
            throw badRequest('The parameters variables and extensions of a GET must be JSON.');
          }
        });
      }
      if (request.method === 'POST' && requestParser !== undefined) {
        setRequestParser((given) => requestParser(readExactly(given)));
      }
      return {
        onRequestParseDone({ requestParserResult }) {
          if (!Array.isArray(requestParserResult)) return;
          throw badRequest(
            'The body is a list of requests, and this gateway answers one request at a time. Turn batching off in the client; with Apollo Client, use HttpLink instead of BatchHttpLink.',
          );
        },
      };
    },
    onParams({ params, setParams }) {
      setParams(acceptedParameters(params));
    },
  };
}
