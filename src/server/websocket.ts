/**
 * GraphQL over WebSocket (the graphql-transport-ws protocol) through the same pipeline as HTTP.
 *
 * A document that does not parse or validate is answered with an `error` message: thrown, it would close the socket with all
 * that runs on it.
 */
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';

import { useServer } from 'graphql-ws/use/ws';
import type { WebSocketServer } from 'ws';
import type { Logger } from '../base/log.ts';
import { codedError } from './coded-error.ts';
import type { Yoga } from './yoga-server.ts';

type Enveloped = Pick<ReturnType<Yoga['getEnveloped']>, 'execute' | 'subscribe'>;
type Args = ExecutionArgs & { readonly rootValue: Enveloped };

/** Answers the protocol on every connection of `sockets`; the returned `dispose` ends them with 1001. */
export function serveWebSockets(
  yoga: Yoga,
  sockets: WebSocketServer,
  log: Logger,
): { dispose(): Promise<void> | void } {
  return useServer<Record<string, unknown>>(
    {
      execute: (args) => (args as Args).rootValue.execute(args) as Promise<ExecutionResult>,
      subscribe: (args) => (args as Args).rootValue.subscribe(args) as Promise<AsyncIterable<ExecutionResult>>,
      async onSubscribe(_context, _id, params) {
        try {
          const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({ params });
          const document = parse(params.query);
          const errors = validate(schema, document) as readonly GraphQLError[];
          if (errors.length > 0) return errors.map((error) => codedError(error, log));
          return {
            schema,
            document,
            operationName: params.operationName ?? null,
            variableValues: params.variables ?? null,
            contextValue: await contextFactory(),
            rootValue: { execute, subscribe },
          } as unknown as ExecutionArgs;
        } catch (error) {
          return [codedError(error, log)];
        }
      },
    },
    sockets,
  );
}
