/**
 * The health of a gateway, for operators and their tools:
 *
 *   /healthz   the process answers                              everybody
 *   /readyz    may it serve, and what is the state of its kinds everybody; details for callers who may observe
 *   /metrics   the metrics                                      callers who may observe
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Caller } from '../../access/caller.ts';
import type { Admission } from '../../admission/admission.ts';
import type { Arrival } from '../../admission/admitted-request.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import type { Drain } from '../connections/drain.ts';
import type { Metrics } from '../health/metrics.ts';
import type { Readiness } from '../health/readiness.ts';
import { encodeBody } from '../negotiation/compression.ts';
import { arrivalOf } from '../negotiation/credentials.ts';
import { refusedCallers } from '../plugins/admission-plugin.ts';
import { type Door, jsonType } from './door.ts';

interface HealthParts {
  readonly admission: Admission<Generation>;
  readonly drain: Drain;
  /** May a caller read the metrics and the details of the readiness? Absent: everybody may. */
  readonly mayObserve?: ((caller: Caller) => Promise<boolean>) | undefined;
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** Without them, there is no /metrics. */
  readonly metrics?: Metrics | undefined;
}

export function healthDoors({ admission, drain, mayObserve, readiness, metrics }: HealthParts): readonly Door[] {
  /** The refusal of a caller who may not observe the gateway; null for one who may. */
  const refusalOf = async (
    request: IncomingMessage,
    more: Pick<Arrival, 'path' | 'isPublic'>,
  ): Promise<PortolanError | null> => {
    if (mayObserve === undefined) return null;
    try {
      const admitted = await admission.admit({ ...arrivalOf(request), ...more });
      if (await mayObserve(admitted.caller)) return null;
      const refused = new PortolanError('FORBIDDEN', 'The roles of the caller must allow to get the path /metrics.');
      admitted.denied(refused);
      return refused;
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      return error;
    }
  };
  const health: Door = {
    path: '/healthz',
    answer: (request, response) => sendJson(request, response, 200, { ok: true }),
  };
  const ready: Door = {
    path: '/readyz',
    async answer(request, response) {
      const [found, refusal] = await Promise.all([readiness(), refusalOf(request, { isPublic: true })]);
      const shown: Readiness = drain.isOn ? { ...found, ready: false, status: 'draining' } : found;
      const { ready: isReady, status } = shown;
      await sendJson(request, response, isReady ? 200 : 503, refusal === null ? shown : { ready: isReady, status });
    },
  };
  if (metrics === undefined) return [health, ready];
  const served: Door = {
    path: '/metrics',
    async answer(request, response) {
      const refusal = await refusalOf(request, { path: '/metrics' });
      if (refusal === null) return sendText(request, response, 200, metrics.contentType, await metrics.text());
      const { status = 503, headers } = refusedCallers[refusal.code] ?? {};
      await sendJson(request, response, status, { error: refusal.message }, headers as OutgoingHttpHeaders);
    },
  };
  return [health, ready, served];
}

export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: object,
  more: OutgoingHttpHeaders = {},
): Promise<void> {
  return sendText(request, response, status, jsonType, `${JSON.stringify(body)}\n`, more);
}

async function sendText(
  { headers }: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  more: OutgoingHttpHeaders = {},
): Promise<void> {
  const coded = await encodeBody(text, Buffer.byteLength(text), headers['accept-encoding']);
  response.writeHead(status, { 'content-type': type, ...more, ...coded.headers }).end(coded.body);
}
