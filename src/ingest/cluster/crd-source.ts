/**
 * Reads CustomResourceDefinitions, one at a time: they are large (up to a megabyte), and a cluster may have a thousand.
 */

import { PortolanError } from '../../base/errors.ts';
import { recordOr, textOr } from '../../base/json.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError, apiErrorFromNetwork } from '../../kube/http/api-error.ts';
import { ListSlicer } from '../bytes/list-slicer.ts';

/** The name of a CRD is the name of its resource: `plural.group`. */
export interface Crd {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** RFC 3339, to the second. */
  readonly creationTimestamp: string;
  readonly value: unknown;
}

export const crdKey = 'customresourcedefinitions.apiextensions.k8s.io';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Up to this many definitions are requested by name; more are read from one list. */
const maxByName = 8;
const pageSize = 50;

/**
 * Calls `visit` with each definition of `names` that the cluster has, and possibly with others. If the server has no CRDs (404) or
 * forbids reading them (403), nothing is visited: OpenAPI describes these kinds too.
 */
export async function readCrds(
  client: RestClient,
  names: readonly string[],
  visit: (crd: Crd) => void,
  signal?: AbortSignal,
): Promise<void> {
  if (names.length === 0) return;
  if (names.length > maxByName) return readAll(client, visit, signal);
  for (const name of names) {
    const value = await orNothing(client.get(`${path}/${encodeURIComponent(name)}`, { signal }));
    if (value !== undefined) visit(crdOf(value));
  }
}

/** Reads the metadata of a definition. `value` is the whole object. */
export function crdOf(value: unknown): Crd {
  const metadata = recordOr(recordOr(value)['metadata']);
  return {
    name: textOr(metadata['name']),
    uid: textOr(metadata['uid']),
    resourceVersion: textOr(metadata['resourceVersion']),
    creationTimestamp: textOr(metadata['creationTimestamp']),
    value,
  };
}

async function readAll(client: RestClient, visit: (crd: Crd) => void, signal: AbortSignal | undefined): Promise<void> {
  let token: string | undefined;
  do {
    const query = { limit: pageSize, continue: token };
    const answer = await orNothing(client.stream(path, query, { signal, bodyTimeoutMs: 60_000 }));
    if (answer === undefined) return;
    const slicer = new ListSlicer();
    try {
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        for (const item of slicer.push(chunk)) visit(crdOf(JSON.parse(item.text)));
      }
    } catch (error) {
      if (signal?.aborted === true || error instanceof PortolanError) throw error;
      throw apiErrorFromNetwork(error, `GET ${path}`);
    }
    token = slicer.end().continueToken;
  } while (token !== '');
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && (error.httpStatus === 403 || error.httpStatus === 404)) return undefined;
    throw error;
  }
}
