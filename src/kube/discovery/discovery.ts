/**
 * The resources that an API server serves, in every version.
 *
 * Owns: both forms of discovery. The aggregated form (KEP-3352) is used if the server has it, otherwise one request per group
 * version. The answer's kind distinguishes them.
 * Never: reports a failed group version as removed. The failure is reported separately, and the caller keeps the last known
 * resources.
 */
import { messageOf } from '../../base/errors.ts';
import { list, record, strings, text, textOr } from '../../base/json.ts';
import type { RestClient } from '../client/rest-client.ts';
import { ApiError } from '../http/api-error.ts';
import { apiServiceName, lookAt } from '../http/api-service.ts';
import { mapBounded } from './map-bounded.ts';

/** One version of one resource, from discovery. */
interface ServedResource {
  /** The empty string is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Names without the resource's own: `status`, `scale`, `log`. */
  readonly subresources: readonly string[];
  /** True for exactly one version of a resource: the group's preferred version, or else the first version that has the resource. */
  readonly preferred: boolean;
}

/** A group version that could not be read, or whose aggregated server is unavailable. `v1` or `group/v1`. */
interface DiscoveryFailure {
  readonly groupVersion: string;
  readonly message: string;
}

interface Discovery {
  /** In the server's order of groups; in each group, versions by preference. */
  readonly resources: readonly ServedResource[];
  readonly failures: readonly DiscoveryFailure[];
}

type Unranked = Omit<ServedResource, 'preferred'>;
/** The resources of one group, versions by preference. */
interface GroupListing {
  readonly resources: readonly Unranked[];
  readonly failures: readonly DiscoveryFailure[];
}

const accept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

/** Milliseconds of silence of one group version: the others wait for it. */
const patience = { headersTimeoutMs: 10_000, bodyTimeoutMs: 10_000 };

/** The number of concurrent requests when each group version takes one. */
const parallel = 8;

/** Reads all served resources. Throws when `/api` or `/apis` fails with an error other than 404. */
export async function discover(client: RestClient, signal?: AbortSignal): Promise<Discovery> {
  const [core, groups] = await Promise.all([root(client, '/api', signal), root(client, '/apis', signal)]);
  const listings = [
    ...(isAggregated(core) ? aggregated(core) : await legacyCore(client, core, signal)),
    ...(isAggregated(groups) ? aggregated(groups) : await legacyGroups(client, groups, signal)),
  ];
  return {
    resources: listings.flatMap((listing) => rank(listing.resources)),
    failures: listings.flatMap((listing) => listing.failures),
  };
}

async function root(client: RestClient, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await client.get(path, { accept, signal });
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 404) return undefined;
    throw error;
  }
}

function isAggregated(answer: unknown): boolean {
  return record(answer)?.['kind'] === 'APIGroupDiscoveryList';
}

function aggregated(answer: unknown): GroupListing[] {
  return list(record(answer)?.['items']).map((item) => {
    const group = textOr(record(record(item)?.['metadata'])?.['name']);
    const failures: DiscoveryFailure[] = [];
    const resources = list(record(item)?.['versions']).flatMap((entry) => {
      const version = textOr(record(entry)?.['version']);
      if (record(entry)?.['freshness'] === 'Stale') {
        failures.push({
          groupVersion: groupVersionText(group, version),
          message: `the server of the APIService ${apiServiceName(group, version)} did not answer recently: ${lookAt(apiServiceName(group, version))}`,
        });
      }
      return list(record(entry)?.['resources']).flatMap((each) => aggregatedResource(group, version, each));
    });
    return { resources, failures };
  });
}

function aggregatedResource(group: string, version: string, value: unknown): Unranked[] {
  const resource = record(value);
  const plural = text(resource?.['resource']);
  const kind = text(record(resource?.['responseKind'])?.['kind']);
  // An entry without a kind has only subresources; the resource itself cannot be read.
  if (resource === undefined || plural === undefined || kind === undefined) return [];
  return [
    {
      group,
      version,
      plural,
      singular: text(resource['singularResource']) ?? kind.toLowerCase(),
      kind,
      namespaced: resource['scope'] === 'Namespaced',
      verbs: strings(resource['verbs']),
      shortNames: strings(resource['shortNames']),
      categories: strings(resource['categories']),
      subresources: list(resource['subresources']).flatMap((each) => text(record(each)?.['subresource']) ?? []),
    },
  ];
}

async function legacyCore(
  client: RestClient,
  answer: unknown,
  signal: AbortSignal | undefined,
): Promise<GroupListing[]> {
  const versions = strings(record(answer)?.['versions']);
  return merge(await mapBounded(versions, parallel, (version) => legacyVersion(client, '', version, signal)));
}

async function legacyGroups(
  client: RestClient,
  answer: unknown,
  signal: AbortSignal | undefined,
): Promise<GroupListing[]> {
  const groups = list(record(answer)?.['groups']).map((entry) => {
    const preferred = text(record(record(entry)?.['preferredVersion'])?.['version']);
    const served = list(record(entry)?.['versions']).flatMap((each) => text(record(each)?.['version']) ?? []);
    const versions = [...served].sort((a, b) => Number(b === preferred) - Number(a === preferred));
    return { name: textOr(record(entry)?.['name']), versions };
  });
  const wanted = groups.flatMap((group) => group.versions.map((version) => ({ group: group.name, version })));
  const read = await mapBounded(wanted, parallel, ({ group, version }) =>
    legacyVersion(client, group, version, signal),
  );
  return groups.flatMap((group) => merge(read.filter((_, index) => wanted[index]?.group === group.name)));
}

function merge(listings: readonly GroupListing[]): GroupListing[] {
  return [
    {
      resources: listings.flatMap((listing) => listing.resources),
      failures: listings.flatMap((listing) => listing.failures),
    },
  ];
}

async function legacyVersion(
  client: RestClient,
  group: string,
  version: string,
  signal: AbortSignal | undefined,
): Promise<GroupListing> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  try {
    const entries = list(record(await client.get(path, { signal, ...patience }))?.['resources']);
    return { resources: legacyResources(group, version, entries), failures: [] };
  } catch (error) {
    // An abort is not a failure of the group version. An authentication failure is reported once, not once per group version.
    if (signal?.aborted === true || !(error instanceof ApiError) || error.httpStatus === 401) throw error;
    const groupVersion = groupVersionText(group, version);
    return { resources: [], failures: [{ groupVersion, message: messageOf(error) }] };
  }
}

function legacyResources(group: string, version: string, entries: readonly unknown[]): Unranked[] {
  const subresources = new Map<string, string[]>();
  for (const entry of entries) {
    const [plural, ...rest] = textOr(record(entry)?.['name']).split('/');
    if (plural === undefined || rest.length === 0) continue;
    subresources.set(plural, [...(subresources.get(plural) ?? []), rest.join('/')]);
  }
  return entries.flatMap((entry) => {
    const resource = record(entry);
    const plural = text(resource?.['name']);
    const kind = text(resource?.['kind']);
    if (resource === undefined || plural === undefined || kind === undefined || plural.includes('/')) return [];
    return [
      {
        group,
        version,
        plural,
        singular: text(resource['singularName']) ?? kind.toLowerCase(),
        kind,
        namespaced: resource['namespaced'] === true,
        verbs: strings(resource['verbs']),
        shortNames: strings(resource['shortNames']),
        categories: strings(resource['categories']),
        subresources: subresources.get(plural) ?? [],
      },
    ];
  });
}

/** Marks the first version of each resource as preferred. `resources` are those of one group, versions by preference. */
function rank(resources: readonly Unranked[]): ServedResource[] {
  const seen = new Set<string>();
  return resources.map((resource) => {
    const preferred = !seen.has(resource.plural);
    seen.add(resource.plural);
    return { ...resource, preferred };
  });
}

function groupVersionText(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}
