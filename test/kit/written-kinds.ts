/** The kinds that random writes write, and their manifests. No controller is needed for any of them. */
import type { WriteVerb } from '../../src/writes/request/write-intent.ts';

export interface WrittenKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The verbs that it has besides apply, create, patch and delete. */
  readonly verbs: readonly WriteVerb[];
  /** Are `spec.replicas`, and `status.replicas` as a subresource, parts of it? */
  readonly hasReplicas: boolean;
  /** The kind of a CustomResourceDefinition. */
  readonly isCustom: boolean;
  /** What its manifests have besides names and annotations. */
  readonly body: (name: string) => Readonly<Record<string, unknown>>;
}

/** An annotation of each object, which writes change. */
export const valueAnnotation = 'example.com/value';

const group = 'writes.portolan.example';
const plain = { group: '', version: 'v1', namespaced: true, verbs: [], hasReplicas: false, isCustom: false };
const container = { name: 'app', image: 'registry.example/app:1' };

const workload = (name: string) => ({
  replicas: 1,
  selector: { matchLabels: { app: name } },
  template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
});

export const writtenKinds: readonly WrittenKind[] = [
  { ...plain, kind: 'ConfigMap', plural: 'configmaps', body: () => ({ data: { a: '1' } }) },
  {
    ...plain,
    ...{ kind: 'Secret', plural: 'secrets' },
    body: () => ({ data: { pin: Buffer.from('4711-4711').toString('base64') } }),
  },
  { ...plain, kind: 'Pod', plural: 'pods', verbs: ['evict'], body: () => ({ spec: { containers: [container] } }) },
  {
    ...plain,
    ...{
      group: 'apps',
      kind: 'Deployment',
      plural: 'deployments',
      verbs: ['scale', 'restart', 'rollback'],
      hasReplicas: true,
    },
    body: (name) => ({ spec: workload(name) }),
  },
  {
    ...plain,
    ...{
      group: 'apps',
      kind: 'StatefulSet',
      plural: 'statefulsets',
      verbs: ['scale', 'restart', 'rollback'],
      hasReplicas: true,
    },
    body: (name) => ({ spec: { ...workload(name), serviceName: name } }),
  },
  {
    ...plain,
    ...{ group, kind: 'Widget', plural: 'widgets', verbs: ['scale'], hasReplicas: true, isCustom: true },
    body: () => ({ spec: { replicas: 1 } }),
  },
  // Who writes a Role needs the rights in it: the API server compares them.
  {
    ...plain,
    ...{ group: 'rbac.authorization.k8s.io', kind: 'Role', plural: 'roles' },
    body: () => ({ rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }] }),
  },
  { ...plain, kind: 'Node', plural: 'nodes', namespaced: false, verbs: ['cordon'], body: () => ({}) },
  {
    ...plain,
    ...{ group: 'scheduling.k8s.io', kind: 'PriorityClass', plural: 'priorityclasses', namespaced: false },
    body: () => ({ value: 7 }),
  },
  { ...plain, group, kind: 'Beacon', plural: 'beacons', namespaced: false, isCustom: true, body: () => ({}) },
];

const replicas = { type: 'object', properties: { replicas: { type: 'integer' } } };
const scalePaths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

/** The definitions of the custom kinds. */
export const writtenDefinitions: readonly object[] = writtenKinds
  .filter(({ isCustom }) => isCustom)
  .map(({ kind, plural, namespaced, hasReplicas }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: {
            openAPIV3Schema: { type: 'object', properties: hasReplicas ? { spec: replicas, status: replicas } : {} },
          },
          ...(hasReplicas ? { subresources: { status: {}, scale: scalePaths } } : {}),
        },
      ],
    },
  }));

/** @param namespace null for a kind without namespaces */
export function writtenManifest(
  { group: of, version, kind, body }: WrittenKind,
  namespace: string | null,
  name: string,
  value: string,
): Readonly<Record<string, unknown>> {
  const annotations = { [valueAnnotation]: value };
  const metadata = namespace === null ? { name, annotations } : { name, namespace, annotations };
  return { apiVersion: of === '' ? version : `${of}/${version}`, kind, metadata, ...body(name) };
}
