/**
 * GET /schema.graphql: the SDL of the current generation, or of a profile (`?profile=`), for code generators that read a file.
 *
 * The introspection thread prints it. The caller is authenticated, has one more request in flight, and is charged as for introspection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../access/caller.ts';
import { PortolanError } from '../base/errors.ts';
import type { Generation } from '../graphql/generation/generation.ts';
import type { IntrospectionAnswers } from '../graphql/introspection/introspection-answers.ts';
import { type Profiles, profileHeader } from '../graphql/introspection/profiles.ts';
import type { Admission } from '../operation/admission.ts';
import { denialCodes } from '../operation/audit.ts';
import { whenSent } from './connections/unsent-answers.ts';
import { contentCoding } from './negotiation/accept-encoding.ts';
import { variesByCoding } from './negotiation/compression.ts';
import { credentialsOf } from './negotiation/credentials.ts';
import { refusedCallers } from './plugins/admission-plugin.ts';
import { bytesPerValue, offered } from './plugins/introspection-plugin.ts';

export const schemaPath = '/schema.graphql';

interface Parts {
  readonly admission: Admission<Generation>;
  readonly introspection: IntrospectionAnswers;
  readonly profiles: Profiles;
}

/**
 * Answers the request. A refusal is JSON with the status and the code of the error.
 * @throws errors without a code, before anything was sent
 */
export async function answerSchema(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const { admission } = parts;
  let caller: Caller | null = null;
  try {
    caller = await admission.callerOf(credentialsOf(request));
    whenSent(response, admission.limits.enter(caller, 'requests'));
    await sendSchema(request, response, caller, parts);
  } catch (error) {
    const code = error instanceof PortolanError ? error.code : 'INTERNAL_SERVER_ERROR';
    if (!(error instanceof PortolanError) || response.headersSent) throw error;
    if (denialCodes.has(code)) {
      const address = request.socket.remoteAddress ?? null;
      admission.audit.denied({ caller, code, message: error.message, address, path: [schemaPath] });
    }
    const { status = code === 'BAD_USER_INPUT' ? 400 : 503, headers } = refusedCallers[code] ?? {};
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...(headers as object) });
    response.end(JSON.stringify({ errors: [{ message: error.message, extensions: { code } }] }));
  }
}

async function sendSchema(
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
  { admission, introspection, profiles }: Parts,
): Promise<void> {
  // Callers who have used up their values wait, as with any operation.
  admission.limits.charge(caller, 1);
  const generation = admission.source.generation();
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const [named] = [request.headers[profileHeader]].flat();
  const kinds = profiles.kindsOf(searchParams.get('profile') ?? named, generation);
  const encoding = contentCoding(request.headers['accept-encoding'] ?? null, offered);
  const { bytes, cost } = await introspection.sdl(generation, { kinds, encoding }, caller.name);
  admission.limits.add(caller, Math.ceil(cost / bytesPerValue));
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': bytes.byteLength,
    'cache-control': 'no-cache',
    vary: variesByCoding,
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  });
  response.end(bytes);
}
