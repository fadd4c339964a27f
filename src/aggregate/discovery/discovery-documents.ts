/**
 * The discovery documents of the door, in both forms: one document for each path, and the aggregated one of `/apis`.
 *
 * kube-aggregator asks `/apis` for the aggregated form (apidiscovery.k8s.io) and takes the answer as such only with its own content type.
 * It asks `/apis/GROUP/VERSION` to know whether the door is available.
 */
import { apiVersionOf, discoveredVerbs, kind, plural, type ServedApi, singular } from '../protocol/served-api.ts';

/** A body with its content type. */
interface DiscoveryDocument {
  readonly type: string;
  readonly body: object;
}

/** Names of the kind besides its plural and singular ones. */
const shortNames = ['shadow'];

/** `/apis`. @param aggregated the version of apidiscovery.k8s.io that the client wants; null for the legacy form */
export function groupsDocument(api: ServedApi, aggregated: 'v2' | 'v2beta1' | null): DiscoveryDocument {
  if (aggregated === null) {
    return { type: 'application/json', body: { kind: 'APIGroupList', apiVersion: 'v1', groups: [group(api)] } };
  }
  return {
    type: `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`,
    body: {
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${aggregated}`,
      metadata: {},
      items: [
        {
          metadata: { name: api.group, creationTimestamp: null },
          versions: [
            {
              version: api.version,
              resources: [
                {
                  resource: plural,
                  responseKind: { group: api.group, version: api.version, kind },
                  scope: 'Namespaced',
                  singularResource: singular,
                  verbs: discoveredVerbs,
                  shortNames,
                },
              ],
              freshness: 'Current',
            },
          ],
        },
      ],
    },
  };
}

/** `/apis/GROUP` */
export function groupDocument(api: ServedApi): DiscoveryDocument {
  return { type: 'application/json', body: { kind: 'APIGroup', apiVersion: 'v1', ...group(api) } };
}

/** `/apis/GROUP/VERSION` */
export function resourcesDocument(api: ServedApi): DiscoveryDocument {
  return {
    type: 'application/json',
    body: {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: apiVersionOf(api),
      resources: [{ name: plural, singularName: singular, namespaced: true, kind, verbs: discoveredVerbs, shortNames }],
    },
  };
}

function group(api: ServedApi): object {
  const version = { groupVersion: apiVersionOf(api), version: api.version };
  return { name: api.group, versions: [version], preferredVersion: version };
}
