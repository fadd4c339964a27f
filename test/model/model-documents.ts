/** What the model's server says of itself: discovery in its aggregated form, OpenAPI v3, and the namespace that tells clusters apart. */
import { apiVersionOf, type ModelResource, modelResources } from './model-storage.ts';

export interface Announced {
  readonly resources: readonly ModelResource[];
  /** Groups whose own server is away. */
  readonly stale: ReadonlySet<string>;
  /** Of the namespace kube-system. */
  readonly uid: string;
}

/** The document at a path that is no collection; null where there is none. */
export function documentAt(path: string, announced: Announced): object | null {
  if (path === '/api' || path === '/apis') return discoveryOf(announced, path === '/api');
  if (path === '/openapi/v3') return openApiIndex();
  if (path === '/api/v1/namespaces/kube-system') return { metadata: { name: 'kube-system', uid: announced.uid } };
  const kind = modelResources.find((resource) => path === `/openapi/v3/${openApiPlace(resource)}`);
  return kind === undefined ? null : openApiOf(kind);
}

const groupOf = (resource: ModelResource): string => resource.group;

/** The answer to /api (the core group) or /apis (the others). */
export function discoveryOf({ resources, stale }: Pick<Announced, 'resources' | 'stale'>, core: boolean): object {
  const groups = [...new Set(modelResources.map(groupOf))].filter((group) => (group === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: groups.map((group) => ({
      metadata: { name: group },
      versions: [
        {
          version: 'v1',
          freshness: stale.has(group) ? 'Stale' : 'Current',
          resources: stale.has(group) ? [] : resources.filter((each) => each.group === group).map(announced),
        },
      ],
    })),
  };
}

function announced({ plural, kind }: ModelResource): object {
  return {
    resource: plural,
    responseKind: { group: '', version: 'v1', kind },
    scope: 'Namespaced',
    singularResource: kind.toLowerCase(),
    verbs: ['get', 'list', 'watch'],
  };
}

export function openApiIndex(): object {
  const paths = modelResources.map((resource) => {
    const place = openApiPlace(resource);
    return [place, { serverRelativeURL: `/openapi/v3/${place}?hash=${resource.plural}` }] as const;
  });
  return { paths: Object.fromEntries(paths) };
}

export function openApiPlace(resource: ModelResource): string {
  return resource.group === '' ? 'api/v1' : `apis/${apiVersionOf(resource)}`;
}

export function openApiOf({ group, kind }: ModelResource): object {
  const text = { type: 'string' };
  return {
    components: {
      schemas: {
        [`model.${kind}`]: {
          type: 'object',
          properties: {
            apiVersion: text,
            kind: text,
            metadata: { type: 'object' },
            data: { type: 'object', properties: { value: text, count: { type: 'integer', format: 'int64' } } },
          },
          'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
        },
      },
    },
  };
}
