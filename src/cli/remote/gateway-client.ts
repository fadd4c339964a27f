/** Requests of the command line to a running gateway. */
import { z } from 'zod';
import { messageOf, PortolanError } from '../../base/errors.ts';

/** Milliseconds to wait for each answer of the gateway. */
const patience = 10_000;

const refusal = z.object({ error: z.string() });

/** The GraphQL endpoint. @param url the endpoint, or the gateway's root. */
export function endpointOf(url: string): URL {
  const endpoint = new URL(url);
  if (endpoint.pathname === '/') endpoint.pathname = '/graphql';
  return endpoint;
}

const errors = z
  .array(z.object({ message: z.string(), extensions: z.object({ code: z.string() }).partial().optional() }))
  .optional();

/**
 * The data of a query; null while the gateway has no schema yet.
 * @param shape of the data.
 * @throws PortolanError UPSTREAM_UNAVAILABLE, with a message that contains instructions.
 */
export async function askGateway<T>(endpoint: URL, query: string, shape: z.ZodType<T>): Promise<T | null> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ query }) };
  const answer = await fetched(endpoint, endpoint, request, z.object({ data: shape.nullish(), errors }));
  if (answer.data != null) return answer.data;
  if (answer.errors?.some(({ extensions }) => extensions?.code === 'CACHE_NOT_READY') === true) return null;
  const why = answer.errors?.[0]?.message ?? 'nothing';
  const { href } = endpoint;
  throw new PortolanError('UPSTREAM_UNAVAILABLE', `Ask again: the gateway at ${href} answers ${JSON.stringify(why)}.`);
}

/** The JSON answer of an address. @throws PortolanError UPSTREAM_UNAVAILABLE, with a message that contains instructions. */
export async function fetched<T>(endpoint: URL, target: URL, request: RequestInit, shape: z.ZodType<T>): Promise<T> {
  const text = await textOf(endpoint.href, target, request);
  const found = shape.safeParse(parsed(text));
  if (found.success) return found.data;
  const refused = refusal.safeParse(parsed(text));
  const detail = refused.success ? `, it answers ${JSON.stringify(refused.data.error)}` : '';
  throw new PortolanError(
    'UPSTREAM_UNAVAILABLE',
    `The server at ${endpoint.href} cannot be queried as a Portolan gateway${detail}; name the endpoint with --url.`,
  );
}

async function textOf(shown: string, target: URL, request: RequestInit): Promise<string> {
  try {
    return await (await fetch(target, { ...request, signal: AbortSignal.timeout(patience) })).text();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      `No gateway answers at ${shown} (${messageOf(cause) || 'refused'}); start one with portolan serve, or name it with --url.`,
      { cause: error },
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
