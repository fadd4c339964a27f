/**
 * The resources that an API server serves, asked as the caller: for manifests of any kind, also of one that is not ingested.
 *
 *   { apiVersion: apps/v1, kind: Deployment }  ->  GET /apis/apps/v1  ->  deployments, namespaced
 *
 * Owns: the answers of one mutation, one request for each group version of a cluster. Never: guesses a plural from a kind.
 */

import { list, record, text } from '../../base/json.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { CallerClient } from '../../upstream/caller-clients.ts';
import { type WriteError, writeError, writeErrorOf } from '../outcome/write-error.ts';
import type { TargetResource } from '../request/write-intent.ts';

type Client = Pick<CallerClient, 'get'>;

interface Listed {
  /** The plural, or `plural/subresource`. */
  readonly name: string;
  readonly resource: TargetResource;
}

export class ServedResources {
  readonly #client: (cluster: string) => Promise<Client>;
  readonly #signal: AbortSignal | undefined;
  readonly #lists = new Map<string, Promise<readonly Listed[] | WriteError>>();

  constructor(client: (cluster: string) => Promise<Client>, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
  }

  /** The resource of a manifest. An error is data: it concerns one manifest. */
  async ofManifest(cluster: string, apiVersion: string, kind: string): Promise<TargetResource | WriteError> {
    const found = await this.#listed(cluster, apiVersion);
    if (isError(found)) return found;
    const listed = found.find(({ name, resource }) => resource.kind === kind && !name.includes('/'));
    return listed?.resource ?? unserved(cluster, apiVersion, kind);
  }

  /** The resource in a version that this cluster serves: `given`, or else the preferred one. */
  async inCluster(cluster: string, given: TargetResource): Promise<TargetResource | WriteError> {
    const isIt = ({ name }: Listed): boolean => name === given.plural;
    const found = await this.#listed(cluster, apiVersionOf(given));
    const listed = isError(found) ? undefined : found.find(isIt);
    if (listed !== undefined) return listed.resource;
    if (isError(found) && found.code !== 'NOT_FOUND') return found;
    for (const version of await this.#versions(cluster, given.group)) {
      const other = await this.#listed(cluster, apiVersionOf({ group: given.group, version }));
      const there = isError(other) ? undefined : other.find(isIt);
      if (there !== undefined) return there.resource;
    }
    return unserved(cluster, apiVersionOf(given), given.kind);
  }

  /** `policy/v1`, or `policy/v1beta1` of servers before 1.22. */
  async evictionVersion(cluster: string): Promise<string> {
    const found = await this.#listed(cluster, 'v1');
    const eviction = isError(found) ? undefined : found.find(({ name }) => name === 'pods/eviction');
    return eviction === undefined ? 'policy/v1' : apiVersionOf(eviction.resource);
  }

  #listed(cluster: string, apiVersion: string): Promise<readonly Listed[] | WriteError> {
    const key = `${cluster} ${apiVersion}`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const read = this.#read(cluster, apiVersion);
    this.#lists.set(key, read);
    return read;
  }

  async #read(cluster: string, apiVersion: string): Promise<readonly Listed[] | WriteError> {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
    if (!/^[a-z0-9.-]*$/.test(group) || !/^[a-z0-9]+$/.test(version)) {
      return writeError(
        'INVALID_FIELD',
        `${JSON.stringify(apiVersion)} is no apiVersion, such as v1 or apps/v1.`,
        'apiVersion',
      );
    }
    try {
      const client = await this.#client(cluster);
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      const answer = record(await client.get(path, { signal: this.#signal }));
      return list(answer?.['resources']).flatMap((entry) => listedOf(entry, group, version));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.httpStatus === 404) return writeError('NOT_FOUND', `The cluster ${cluster} serves no ${apiVersion}.`);
      return writeErrorOf(error, { holdsUid: false, dryRun: true });
    }
  }

  /** The versions of a group, the preferred one first. */
  async #versions(cluster: string, group: string): Promise<readonly string[]> {
    if (group === '') return [];
    try {
      const answer = record(await (await this.#client(cluster)).get(`/apis/${group}`, { signal: this.#signal }));
      const versions = [record(answer?.['preferredVersion']), ...list(answer?.['versions']).map(record)];
      return [...new Set(versions.flatMap((each) => text(each?.['version']) ?? []))];
    } catch (error) {
      if (error instanceof ApiError) return [];
      throw error;
    }
  }
}

export function isError(value: object): value is WriteError {
  return 'code' in value;
}

function listedOf(entry: unknown, group: string, version: string): readonly Listed[] {
  const found = record(entry);
  const [name, kind] = [text(found?.['name']), text(found?.['kind'])];
  if (name === undefined || kind === undefined) return [];
  // A subresource may be of another group version than the list.
  const own = { group: text(found?.['group']) ?? group, version: text(found?.['version']) ?? version };
  return [{ name, resource: { ...own, plural: name, kind, namespaced: found?.['namespaced'] === true } }];
}

function unserved(cluster: string, apiVersion: string, kind: string): WriteError {
  return writeError(
    'NOT_FOUND',
    `The cluster ${cluster} serves no ${kind} of ${apiVersion}: look at the apiVersion, or create its CustomResourceDefinition first.`,
    'kind',
  );
}
