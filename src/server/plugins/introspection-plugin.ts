/**
 * Answers introspection of the whole schema outside the serve thread, encoded as the client accepts it.
 *
 *   execution   if the operation selects only `__schema`, comes over HTTP and accepts JSON, the introspection thread makes the answer
 *   response    its body is the bytes of that answer
 *
 * Limits, validation, cost and metrics apply as to any operation. The executor still answers introspection over WebSocket, as a stream
 * of events, and if its execution has errors.
 */
import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { OperationContext } from '../../graphql/generation/generation.ts';
import type { IntrospectionAnswers, IntrospectionQuery } from '../../graphql/introspection/introspection-answers.ts';
import { isWholeIntrospection } from '../../graphql/introspection/introspection-query.ts';
import { contentCoding } from '../negotiation/accept-encoding.ts';
import { acceptedJsonType } from '../negotiation/accepted-type.ts';
import { variesByCoding } from '../negotiation/compression.ts';

interface Encoded {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly coding: IntrospectionQuery['encoding'];
}

/** The answers are cached, so the smallest is preferred. */
const offered = ['br', 'zstd', 'gzip'] as const;

/** Must precede all plugins that replace the execution, so that they replace or wrap this one. */
export function useIntrospection(answers: IntrospectionAnswers): Plugin<OperationContext> {
  const answered = new WeakMap<Request, Encoded>();
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const { request, type } = formOf(args);
      if (request === undefined || type === null) return;
      if (!isWholeIntrospection(args.document, args.operationName ?? null)) return;
      const coding = contentCoding(request.headers.get('accept-encoding'), offered);
      setExecuteFn(async (given: ExecutionArgs) => {
        const { portolan } = given.contextValue as OperationContext;
        const bytes =
          portolan.trace.explanation() === null
            ? await answers.answer(portolan.generation, {
                document: given.document,
                operationName: given.operationName ?? null,
                variables: given.variableValues ?? {},
                extensions: { portolan: portolan.extensions() },
                encoding: coding,
              })
            : null;
        if (bytes === null) return executeFn(given);
        answered.set(request, { bytes, type, coding });
        return { data: {} };
      });
    },
    onResultProcess({ request, setResultProcessor }) {
      const found = answered.get(request);
      if (found !== undefined) setResultProcessor((_result, { Response }) => responseOf(found, Response), found.type);
    },
    onDispose: () => answers.close(),
  };
}

/** The request and the media type of its answer; no request over WebSocket. */
function formOf({ contextValue }: ExecutionArgs): {
  readonly request: Request | undefined;
  readonly type: string | null;
} {
  const { request } = contextValue as { readonly request?: Request };
  return { request, type: acceptedJsonType(request?.headers.get('accept') ?? null) };
}

function responseOf({ bytes, type, coding }: Encoded, Fetched: typeof Response): Response {
  return new Fetched(bytes, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-length': String(bytes.byteLength),
      vary: variesByCoding,
      ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    },
  });
}
