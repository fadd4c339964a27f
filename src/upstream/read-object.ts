/** Reads one object from an API server as a caller. */
import { PortolanError } from '../base/errors.ts';
import type { Resource } from '../catalog/resources/resource.ts';
import { ApiError } from '../kube/http/api-error.ts';
import { resourcePath } from '../kube/http/resource-path.ts';
import type { CallerClient } from './caller-clients.ts';

/** Milliseconds until the headers of the answer, and between two parts of its body. */
const patienceMs = 10_000;

/**
 * The object as the API server sends it now; null if there is none of this name.
 * @throws PortolanError FORBIDDEN if the caller may not get it, UPSTREAM_UNAVAILABLE for every other answer and without one.
 */
export async function readObject(
  client: Pick<CallerClient, 'get'>,
  resource: Pick<Resource, 'group' | 'version' | 'plural' | 'namespaced'>,
  { namespace, name }: { readonly namespace: string | null; readonly name: string },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const path = resourcePath(resource, namespace ?? undefined, name);
  try {
    return await client.get(path, { signal, headersTimeoutMs: patienceMs, bodyTimeoutMs: patienceMs });
  } catch (error) {
    if (!(error instanceof ApiError) || error.httpStatus === 403) throw error;
    if (error.httpStatus === 404 && error.reason === 'NotFound') return null;
    throw new PortolanError('UPSTREAM_UNAVAILABLE', error.message, { cause: error, details: error.details });
  }
}
