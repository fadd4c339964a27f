/**
 * Describes resources of a cluster: from their CustomResourceDefinition where they have one, else from OpenAPI, else as free JSON.
 *
 * A kind that cannot be understood costs itself alone. A kind whose schema could not be had now is described as free JSON and is
 * provisional: the caller asks again later.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { codeOf, messageOf } from '../../base/errors.ts';
import { describeResource } from '../../catalog/describe/describe.ts';
import type { Schemas } from '../../catalog/describe/from-openapi.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { apiVersionOf, type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { fetchOpenApi, type OpenApiSource } from '../../kube/discovery/openapi.ts';
import { type Crd, readCrds } from './crd-source.ts';

export interface Problem {
  /** resourceKey, or the group version of a document. */
  readonly resource: string;
  readonly message: string;
}

export interface Descriptions {
  readonly described: readonly DescribedResource[];
  /** Kinds that are left out, and documents that are missing. */
  readonly problems: readonly Problem[];
  /** resourceKeys that were described without the schema they should have. */
  readonly provisional: ReadonlySet<string>;
  /** uid and resourceVersion of the definitions that were read, by resourceKey. */
  readonly crds: ReadonlyMap<string, Pick<Crd, 'uid' | 'resourceVersion'>>;
}

export async function describeResources(
  client: RestClient,
  cluster: string,
  resources: readonly Resource[],
  signal?: AbortSignal,
): Promise<Descriptions> {
  const described = new Map<string, DescribedResource>();
  const problems: Problem[] = [];
  const provisional = new Set<string>();
  const crds = new Map<string, Pick<Crd, 'uid' | 'resourceVersion'>>();
  const wanted = new Map(resources.map((resource) => [resourceKey(resource), resource]));

  const custom = resources.filter(({ group }) => mayBeCustom(group)).map(resourceKey);
  await readCrds(
    client,
    custom,
    ({ name, uid, resourceVersion, value }) => {
      const resource = wanted.get(name);
      if (resource === undefined) return;
      crds.set(name, { uid, resourceVersion });
      try {
        described.set(name, describeResource({ cluster, resource, crd: value }));
      } catch (error) {
        problems.push({ resource: name, message: messageOf(error) });
      }
    },
    signal,
  );

  const others = resources.filter((resource) => !crds.has(resourceKey(resource)));
  const openApi = others.length === 0 ? null : await openApiOf(client, others, problems, signal);
  for (const resource of others) {
    const key = resourceKey(resource);
    const schemas = openApi === null ? undefined : schemasOf(openApi, resource);
    if (schemas === undefined) provisional.add(key);
    try {
      described.set(
        key,
        describeWith(cluster, resource, schemas, () => provisional.add(key)),
      );
    } catch (error) {
      problems.push({ resource: key, message: messageOf(error) });
    }
    await nextTurn(undefined, { signal });
  }
  return {
    described: resources.flatMap((resource) => described.get(resourceKey(resource)) ?? []),
    problems,
    provisional,
    crds,
  };
}

/** Groups of custom resources have a dot; those of kube-apiserver that have one end in k8s.io, as those of add-ons may. */
function mayBeCustom(group: string): boolean {
  return group.includes('.') && !builtInGroups.has(group);
}

/** Groups that kube-apiserver serves itself: no definition is asked for by name. */
const builtInGroups: ReadonlySet<string> = new Set(
  [
    'admissionregistration',
    'apiextensions',
    'authentication',
    'authorization',
    'certificates',
    'coordination',
    'discovery',
    'events',
    'flowcontrol.apiserver',
    'internal.apiserver',
    'networking',
    'node',
    'rbac.authorization',
    'resource',
    'scheduling',
    'storage',
    'storagemigration',
  ].map((name) => `${name}.k8s.io`),
);

function describeWith(
  cluster: string,
  resource: Resource,
  schemas: Schemas | undefined,
  unknown: () => void,
): DescribedResource {
  if (schemas === undefined) return describeResource({ cluster, resource });
  try {
    return describeResource({ cluster, resource, schemas });
  } catch (error) {
    if (codeOf(error) !== 'NOT_FOUND') throw error;
    unknown();
    return describeResource({ cluster, resource });
  }
}

async function openApiOf(
  client: RestClient,
  resources: readonly Resource[],
  problems: Problem[],
  signal: AbortSignal | undefined,
): Promise<OpenApiSource | null> {
  try {
    const source = await fetchOpenApi(client, [...new Set(resources.map(apiVersionOf))], { signal });
    for (const { groupVersion, message } of source.failures) problems.push({ resource: groupVersion, message });
    return source;
  } catch (error) {
    signal?.throwIfAborted();
    problems.push({ resource: 'OpenAPI', message: messageOf(error) });
    return null;
  }
}

function schemasOf({ documents }: OpenApiSource, resource: Resource): Schemas | undefined {
  return (documents.get(apiVersionOf(resource)) ?? documents.get('*'))?.schemas;
}
