/**
 * Has the introspection thread make the introspection of every answer, and charges the caller for what it makes.
 *
 *   nothing but introspection, over HTTP, as JSON   the thread makes the whole answer, encoded as the client accepts it
 *   otherwise                                       the thread makes the introspection, the executor the data; both are joined
 *
 * Over WebSocket, as a stream of events and together with data, an answer is joined. Limits, validation, cost and metrics apply as to any
 * operation. Short introspection (the names of the roots) is executed.
 */
import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { OperationContext } from '../../graphql/generation/generation.ts';
import type { IntrospectionAnswers, IntrospectionQuery } from '../../graphql/introspection/introspection-answers.ts';
import { asksIntrospection, isWholeIntrospection } from '../../graphql/introspection/introspection-query.ts';
import { type Profiles, profileHeader } from '../../graphql/introspection/profiles.ts';
import { joinParts, rootPart } from '../../graphql/introspection/root-parts.ts';
import { contentCoding } from '../negotiation/accept-encoding.ts';
import { acceptedJsonType } from '../negotiation/accepted-type.ts';
import { variesByCoding } from '../negotiation/compression.ts';
import type { AdmittedContext } from './entry-context.ts';

interface Encoded {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly coding: IntrospectionQuery['encoding'];
}

/** The answers are cached, so the smallest is preferred. */
export const offered = ['br', 'zstd', 'gzip'] as const;

/** Bytes of introspection that cost as much as one value. */
export const bytesPerValue = 10;

/** Must precede all plugins that replace the execution, so that they replace or wrap this one. */
export function useIntrospection(answers: IntrospectionAnswers, profiles: Profiles): Plugin<OperationContext> {
  const answered = new WeakMap<Request, Encoded>();
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const operationName = args.operationName ?? null;
      if (!asksIntrospection(args.document, operationName)) return;
      const { request, type } = formOf(args);
      const isWhole = request !== undefined && type !== null && isWholeIntrospection(args.document, operationName);
      setExecuteFn(async (given: ExecutionArgs) => {
        const {
          portolan,
          admitted,
          profile = profileOf(request),
        } = given.contextValue as OperationContext & AdmittedContext;
        const { generation, caller } = portolan;
        const variables = given.variableValues ?? {};
        const kinds = profiles.kindsOf(profile, generation);
        const query = { document: given.document, operationName, variables, kinds };
        const charge = (bytes: number): void => admitted.add(Math.ceil(bytes / bytesPerValue));
        if (isWhole && portolan.trace.explanation() === null) {
          const encoding = contentCoding(request.headers.get('accept-encoding'), offered);
          const extensions = { portolan: portolan.extensions() };
          const answer = await answers.answer(generation, { ...query, extensions, encoding }, caller.name);
          if (answer !== null) {
            charge(answer.cost);
            answered.set(request, { bytes: answer.bytes, type, coding: encoding });
            return { data: {} };
          }
        }
        const data = { ...given, document: rootPart(given.document, operationName, 'data') };
        const [executed, part] = await Promise.all([
          executeFn(data) as ExecutionResult | Promise<ExecutionResult>,
          answers.part(generation, query, caller.name),
        ]);
        charge(part.cost);
        return joinParts({ schema: generation.schema, ...query }, executed, part.result);
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

/** The name of the profile that a request asks for. */
function profileOf(request: Request | undefined): string | null {
  if (request === undefined) return null;
  return new URL(request.url).searchParams.get('profile') ?? request.headers.get(profileHeader);
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
