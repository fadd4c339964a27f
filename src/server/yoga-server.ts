/**
 * The GraphQL endpoint as Request in, Response out. Every feature is a small plugin; sockets are opened elsewhere (http-server.ts).
 */

import { createYoga, type Plugin, useExecutionCancellation, type YogaServerInstance } from 'graphql-yoga';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { GraphQLSource, OperationContext } from '../graphql/generation/generation.ts';
import type { Metrics } from './health/metrics.ts';
import { playground } from './playground.ts';
import type { PlaygroundTab } from './playground-tabs.ts';
import { codedError } from './plugins/coded-error.ts';
import { useCost } from './plugins/cost-plugin.ts';
import { useLimits } from './plugins/limits-plugin.ts';
import { useMetrics } from './plugins/metrics-plugin.ts';
import { useOperation } from './plugins/operation-plugin.ts';

export const endpoint = '/graphql';

/** The largest request, over HTTP and over WebSocket. */
export const maxRequestBytes = 1024 * 1024;

export type Yoga = YogaServerInstance<Record<string, unknown>, OperationContext>;

export interface YogaOptions {
  readonly source: GraphQLSource;
  readonly log: Logger;
  /** What the playground opens with; without tabs there is GraphiQL's own welcome. */
  readonly tabs: readonly PlaygroundTab[];
  /** Where operations are counted; nowhere without it. */
  readonly metrics?: Metrics;
  /** What durations are measured by. */
  readonly clock?: Clock;
}

/** The endpoint, ready for `yoga.fetch` and `yoga.getEnveloped`. */
export function createYogaServer({ source, log, tabs, metrics, clock = systemClock }: YogaOptions): Yoga {
  return createYoga<Record<string, unknown>, OperationContext>({
    graphqlEndpoint: endpoint,
    plugins: [
      useCost(log),
      ...(metrics === undefined ? [] : [useMetrics(metrics.operations, source, clock)]),
      useOperation(source, log, metrics?.operations),
      useLimits(),
      useSameSite(),
      usePageRules(),
      useExecutionCancellation(),
    ],
    maskedErrors: { maskError: (error) => codedError(error, log), errorMessage: 'Portolan failed unexpectedly.' },
    // A cached parse error is thrown before any other plugin hears of it, and would not be counted.
    parserAndValidationCache: { errorCache: { get: () => undefined, set: () => {} } },
    ...playground(tabs),
    landingPage: false,
    maxRequestBodySize: maxRequestBytes,
    multipart: false,
    batching: false,
    cors: false,
    logging: false,
  });
}

/** Bodies that a web page of another site could send without being asked first are refused. */
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

/** Holds the browser to what the playground is: one page that talks to this gateway and stands in nobody's frame. */
const pageRules = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'font-src data:',
  'img-src data: blob:',
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function usePageRules(): Plugin {
  return {
    onResponse({ response }) {
      if (!response.headers.get('content-type')?.startsWith('text/html')) return;
      response.headers.set('content-security-policy', pageRules);
      response.headers.set('x-content-type-options', 'nosniff');
      response.headers.set('referrer-policy', 'no-referrer');
    },
  };
}
