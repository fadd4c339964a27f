/**
 * Discovery in both forms: one document per group version, and the aggregated one (KEP-3352). Both are derived from the registry
 * and cached by its generation.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../objects/json.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { apiVersionOf, type ServedResource } from '../resources/served-resource.ts';

interface DiscoveryAnswer {
  readonly body: JsonObject;
  readonly headers: Record<string, string>;
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Higher means preferred: GA before beta before alpha, then the higher number. */
export function versionRank(version: string): number {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!found) return -1;
  const [, major, stage, minor] = found;
  const weight = stage === undefined ? 2 : stage === 'beta' ? 1 : 0;
  return weight * 1e6 + Number(major) * 1e3 + Number(minor ?? 0);
}

function subresourceVerbs(name: string): string[] {
  if (name === 'status' || name === 'scale' || name === 'finalize')
    return name === 'finalize' ? ['update'] : ['get', 'patch', 'update'];
  if (name === 'log') return ['get'];
  return name === 'exec' ? ['create', 'get'] : ['create'];
}

function subresourceKind(resource: ServedResource, name: string): { group?: string; version?: string; kind: string } {
  if (name === 'scale') return { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  if (name === 'eviction') return { group: 'policy', version: 'v1', kind: 'Eviction' };
  if (name === 'exec') return { kind: 'PodExecOptions' };
  return { kind: name === 'binding' ? 'Binding' : resource.kind };
}

/** Subresources that this server serves. The table also has the others that real servers announce. */
function servedSubresources(resource: ServedResource): readonly string[] {
  const served = ['status', 'scale', 'finalize', 'eviction', 'log'];
  return resource.subresources.filter((name) => served.includes(name));
}

export class Discovery {
  readonly #registry: ResourceRegistry;
  #generation = -1;
  #groups = new Map<string, Map<string, ServedResource[]>>();
  #aggregated = new Map<string, DiscoveryAnswer>();

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** Whether an Accept header prefers the aggregated form. */
  static wantsAggregated(accept: string | undefined): boolean {
    return (accept ?? '')
      .split(',')
      .some((part) => part.includes('as=APIGroupDiscoveryList') && /v=v2(;|$)/.test(part));
  }

  /** The answer for /api, /apis, /apis/GROUP, /api/v1 or /apis/GROUP/VERSION; undefined for anything else. */
  answer(path: string, accept: string | undefined, aggregatedEnabled: boolean): DiscoveryAnswer | undefined {
    this.#refresh();
    const parts = path.split('/').filter((part) => part !== '');
    if (parts[0] !== 'api' && parts[0] !== 'apis') return undefined;
    const legacy = parts[0] === 'api';
    if (parts.length === 1) {
      if (aggregatedEnabled && Discovery.wantsAggregated(accept)) return this.#aggregatedAnswer(legacy);
      return plain(
        legacy ? { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] } : this.#groupList(),
      );
    }
    const group = legacy ? '' : (parts[1] ?? '');
    const versions = this.#groups.get(group);
    if (!versions) return undefined;
    if (!legacy && parts.length === 2)
      return plain({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions) });
    const version = legacy ? parts[1] : parts[2];
    const resources = version === undefined ? undefined : versions.get(version);
    if (!resources || version === undefined || parts.length !== (legacy ? 2 : 3)) return undefined;
    return plain(resourceList(group, version, resources));
  }

  #refresh(): void {
    if (this.#generation === this.#registry.generation) return;
    this.#generation = this.#registry.generation;
    this.#aggregated = new Map();
    const groups = new Map<string, Map<string, ServedResource[]>>();
    const byName = this.#registry.all().toSorted((a, b) => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0));
    for (const { group } of this.#registry.all()) groups.set(group, new Map());
    for (const resource of byName) {
      const versions = groups.get(resource.group) ?? new Map<string, ServedResource[]>();
      groups.set(resource.group, versions);
      versions.set(resource.version, [...(versions.get(resource.version) ?? []), resource]);
    }
    for (const [group, versions] of groups) {
      groups.set(group, new Map([...versions].sort(([a], [b]) => versionRank(b) - versionRank(a))));
    }
    this.#groups = groups;
  }

  #groupList(): JsonObject {
    const groups = [...this.#groups]
      .filter(([group]) => group !== '')
      .map(([group, versions]) => groupOf(group, versions));
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }

  #aggregatedAnswer(legacy: boolean): DiscoveryAnswer {
    const key = legacy ? 'api' : 'apis';
    const known = this.#aggregated.get(key);
    if (known) return known;
    const items = [...this.#groups]
      .filter(([group]) => (group === '') === legacy)
      .map(([group, versions]) => ({
        metadata: group === '' ? {} : { name: group },
        versions: [...versions].map(([version, resources]) => ({
          version,
          resources: resources.map(aggregatedResource),
          freshness: 'Current',
        })),
      }));
    const body = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
    const etag = `"${createHash('sha512').update(JSON.stringify(body)).digest('hex').toUpperCase()}"`;
    const headers = { 'Content-Type': aggregatedType, 'Cache-Control': 'public', ETag: etag, Vary: 'Accept' };
    const answer = { body, headers };
    this.#aggregated.set(key, answer);
    return answer;
  }
}

function plain(body: JsonObject): DiscoveryAnswer {
  return { body, headers: {} };
}

function groupOf(name: string, versions: ReadonlyMap<string, unknown>): JsonObject {
  const list = [...versions.keys()].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] };
}

function resourceList(group: string, version: string, resources: readonly ServedResource[]): JsonObject {
  const out: JsonObject[] = [];
  for (const resource of resources) {
    out.push({
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: resource.verbs,
      ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
      ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
      ...(resource.bare ? {} : { storageVersionHash: storageHash(resource) }),
    });
    for (const name of servedSubresources(resource)) {
      out.push({
        name: `${resource.plural}/${name}`,
        singularName: '',
        namespaced: resource.namespaced,
        ...subresourceKind(resource, name),
        verbs: subresourceVerbs(name),
      });
    }
  }
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf({ group, version }), resources: out };
}

/** Group and version of a kind are empty where they are those of the resource, as real servers write them. */
const ownGroupVersion = { group: '', version: '' };

function aggregatedResource(resource: ServedResource): JsonObject {
  const subresources = servedSubresources(resource)
    .map((name) => ({
      subresource: name,
      responseKind: { ...ownGroupVersion, ...subresourceKind(resource, name) },
      verbs: subresourceVerbs(name),
    }))
    .sort((a, b) => (a.subresource < b.subresource ? -1 : 1));
  return {
    resource: resource.plural,
    responseKind: { ...ownGroupVersion, kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

function storageHash(resource: ServedResource): string {
  return createHash('sha256').update(`${resource.group}/${resource.kind}`).digest('base64').slice(0, 11).concat('=');
}
