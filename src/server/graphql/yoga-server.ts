/**
 * The GraphQL endpoint as a function from Request to Response. Every feature is a small plugin; http-server.ts opens the sockets.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendNodeResponse } from '@whatwg-node/server';
import { createYoga, type Plugin, useExecutionCancellation, type YogaServerInstance } from 'graphql-yoga';
import { type Authenticate, everyoneIsLocal } from '../../access/caller.ts';
import { Admission } from '../../admission/admission.ts';
import type { AuditLog } from '../../admission/audit.ts';
import type { CallerBounds } from '../../admission/caller-limits.ts';
import type { Answers } from '../../answers/answers.ts';
import type { Logger } from '../../base/log.ts';
import { Documents } from '../../graphql/document/documents.ts';
import type { Generation, GraphQLSource, OperationContext } from '../../graphql/generation/generation.ts';
import { IntrospectionAnswers } from '../../graphql/introspection/introspection-answers.ts';
import { Profiles } from '../../graphql/introspection/profiles.ts';
import type { Metrics } from '../health/metrics.ts';
import { endpoint } from '../negotiation/request-url.ts';
import { useAdmission } from '../plugins/admission-plugin.ts';
import { useAnswers } from '../plugins/answers-plugin.ts';
import { codedError } from '../plugins/coded-error.ts';
import { useCompression } from '../plugins/compression-plugin.ts';
import { useDocuments } from '../plugins/documents-plugin.ts';
import type { EntryContext } from '../plugins/entry-context.ts';
import { useEventStream } from '../plugins/event-stream-plugin.ts';
import { useIntrospection } from '../plugins/introspection-plugin.ts';
import { useRequestParameters } from '../plugins/request-parameters.ts';

/** The largest request, over HTTP and over WebSocket. */
export const maxRequestBytes = 1024 * 1024;

export type Yoga = YogaServerInstance<EntryContext, OperationContext>;

interface YogaOptions {
  readonly source: GraphQLSource;
  /** Authenticates a request. Default: every caller is the local user. */
  readonly authenticate?: Authenticate;
  /** Limits of one caller's work in flight. */
  readonly callerBounds?: CallerBounds;
  /** Gets every denial. */
  readonly audit?: AuditLog;
  readonly log: Logger;
  /** Counts operations; without it they are not counted. */
  readonly metrics?: Metrics;
  /** Makes the introspection of answers. If null, the executor does. */
  readonly introspection?: IntrospectionAnswers | null;
  /** The profiles of the schema. Default: none. */
  readonly profiles?: Profiles;
  /** Those of other entry points of the server. Default: its own. */
  readonly documents?: Documents;
}

/** The endpoint, ready for `yoga.fetch` and `yoga.getEnveloped`. */
export function createYogaServer(options: YogaOptions): Yoga {
  return yogaOver(createAdmission(options), options);
}

/** The admission that all transports of a server share. */
export function createAdmission({
  source,
  authenticate = everyoneIsLocal,
  metrics,
  callerBounds,
  audit,
}: Pick<YogaOptions, 'source' | 'authenticate' | 'metrics' | 'callerBounds' | 'audit'>): Admission<Generation> {
  return new Admission(source, authenticate, metrics?.operations ?? null, callerBounds, audit);
}

/** The endpoint with an existing admission. @param answers answers queries that need no executor */
export function yogaOver(
  admission: Admission<Generation>,
  {
    log,
    introspection = new IntrospectionAnswers(),
    documents = new Documents(),
    profiles = new Profiles(),
  }: Pick<YogaOptions, 'log' | 'introspection' | 'documents' | 'profiles'>,
  answers: Answers | null = null,
): Yoga {
  return createYoga<EntryContext, OperationContext>({
    graphqlEndpoint: endpoint,
    plugins: [
      ...(introspection === null ? [] : [useIntrospection(introspection, profiles)]),
      useAdmission(admission, log, answers),
      useAnswers(answers, admission),
      useDocuments(documents),
      useSameSite(),
      useRequestParameters(),
      useEventStream(),
      useExecutionCancellation(),
      useCompression(),
    ],
    maskedErrors: { maskError: (error) => codedError(error, log), errorMessage: 'Portolan failed unexpectedly.' },
    // `documents` keeps valid documents.
    parserAndValidationCache: false,
    graphiql: false,
    landingPage: false,
    maxRequestBodySize: maxRequestBytes,
    multipart: false,
    batching: false,
    cors: false,
    logging: false,
  });
}

/**
 * Answers a request of Node's server.
 * @throws what Yoga throws: its own handler would answer with the stack of the error.
 */
export async function answerByYoga(
  yoga: Yoga,
  request: IncomingMessage,
  response: ServerResponse,
  context: EntryContext,
): Promise<void> {
  const ofNode = { req: request, res: response };
  const answer = await yoga.handleNodeRequestAndResponse(request, response, { ...ofNode, ...context } as EntryContext);
  await sendNodeResponse(answer, response, request, false);
}

/** Rejects content types that a page of another site could send without a CORS preflight. */
function useSameSite(): Plugin {
  const simple = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;
  return {
    onRequest({ request, endResponse, fetchAPI }) {
      if (request.method !== 'POST' || !simple.test(request.headers.get('content-type') ?? '')) return;
      const message = 'Send the query as application/json.';
      endResponse(
        fetchAPI.Response.json({ errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] }, { status: 415 }),
      );
    },
  };
}
