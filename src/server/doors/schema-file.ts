/**
 * GET /schema.graphql: the SDL of the current generation, or of a profile (`?profile=`), for code generators that read a file.
 *
 * The introspection thread prints it. The caller is charged as for introspection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../../admission/admission.ts';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import type { IntrospectionAnswers } from '../../graphql/introspection/introspection-answers.ts';
import type { Profiles } from '../../graphql/introspection/profiles.ts';
import { contentCoding } from '../negotiation/accept-encoding.ts';
import { variesByCoding } from '../negotiation/compression.ts';
import { profileIn } from '../negotiation/request-url.ts';
import { bytesPerValue, offered } from '../plugins/introspection-plugin.ts';
import { admittedDoor, type Door } from './door.ts';

const schemaPath = '/schema.graphql';

interface Parts {
  readonly admission: Admission<Generation>;
  readonly introspection: IntrospectionAnswers;
  readonly profiles: Profiles;
}

export function schemaDoor(parts: Parts): Door {
  return admittedDoor(parts.admission, schemaPath, (request, response, admitted) =>
    sendSchema(request, response, admitted, parts),
  );
}

async function sendSchema(
  request: IncomingMessage,
  response: ServerResponse,
  admitted: AdmittedRequest,
  { admission, introspection, profiles }: Parts,
): Promise<void> {
  // Callers who have used up their values wait, as with any operation.
  admitted.charge(1);
  const generation = admission.source.generation();
  const kinds = profiles.kindsOf(profileIn(request), generation);
  const encoding = contentCoding(request.headers['accept-encoding'] ?? null, offered);
  const { bytes, cost } = await introspection.sdl(generation, { kinds, encoding }, admitted.caller.name);
  admitted.add(Math.ceil(cost / bytesPerValue));
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': bytes.byteLength,
    'cache-control': 'no-cache',
    vary: variesByCoding,
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  });
  response.end(bytes);
}
