/**
 * Describes resources of a cluster: from their CustomResourceDefinition if they have one, else from OpenAPI, else as free JSON.
 *
 * A kind with an invalid schema is left out; the other kinds are not affected. A kind whose schema is unavailable is described as
 * free JSON. This description is provisional: the caller must repeat it later.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { codeOf, messageOf } from '../../base/errors.ts';
import { type DescribeInput, describeResource } from '../../catalog/describe/describe.ts';
import type { Schemas } from '../../catalog/describe/from-openapi.ts';
import type { RelationSet } from '../../catalog/describe/relation-set.ts';
import { mayBeCustom } from '../../catalog/groups/api-group.ts';
import type { ReadHealthRules } from '../../catalog/health/read-health-rules.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { apiVersionOf, type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import { compareText } from '../../catalog/values/values.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { fetchOpenApi, type OpenApiSource } from '../../kube/discovery/openapi.ts';
import { type Crd, readCrds } from './crd-source.ts';

export interface Problem {
  /** resourceKey, the group version of a document, or `OpenAPI` if no document could be read. */
  readonly resource: string;
  readonly message: string;
  /** resourceKeys of the kinds that are left out or incomplete because of the problem. */
  readonly kinds: readonly string[];
}

/** The kept parts of a definition. */
type KnownCrd = Omit<Crd, 'name' | 'value'>;

export interface Descriptions {
  /** In the order in which the definitions were created, behind the kinds without one. */
  readonly described: readonly DescribedResource[];
  /** Kinds that are left out, and OpenAPI documents that could not be read. */
  readonly problems: readonly Problem[];
  /** resourceKeys of kinds whose schema was unavailable. */
  readonly provisional: ReadonlySet<string>;
  /** The definitions that were read, by resourceKey. */
  readonly crds: ReadonlyMap<string, KnownCrd>;
}

interface DescribeOptions {
  /** The declared relations; absent: none. */
  readonly relations?: RelationSet | undefined;
  /** The declared health rules; absent: none. */
  readonly healthRules?: readonly ReadHealthRules[];
  /** Every kind that the cluster serves; absent: `resources`. */
  readonly kinds?: readonly Resource[];
  /** The values of --redact; absent: none. */
  readonly redact?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Rejects if the CustomResourceDefinitions cannot be read, and on a stop with the signal's reason. */
export async function describeResources(
  client: RestClient,
  cluster: string,
  resources: readonly Resource[],
  { relations, healthRules = [], kinds = resources, redact = [], signal }: DescribeOptions = {},
): Promise<Descriptions> {
  const described = new Map<string, DescribedResource>();
  const problems: Problem[] = [];
  const provisional = new Set<string>();
  const crds = new Map<string, KnownCrd>();
  const describe = (input: DescribeInput): DescribedResource =>
    describeResource({ ...input, redact, healthRules, ...(relations === undefined ? {} : { relations, kinds }) });
  const wanted = new Map(resources.map((resource) => [resourceKey(resource), resource]));

  const custom = resources.filter(({ group }) => mayBeCustom(group)).map(resourceKey);
  await readCrds(
    client,
    custom,
    ({ name, value, ...crd }) => {
      const resource = wanted.get(name);
      if (resource === undefined) return;
      crds.set(name, crd);
      try {
        described.set(name, describe({ cluster, resource, crd: value }));
      } catch (error) {
        problems.push({ resource: name, message: messageOf(error), kinds: [name] });
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
        describeWith(describe, { cluster, resource }, schemas, () => provisional.add(key)),
      );
    } catch (error) {
      problems.push({ resource: key, message: messageOf(error), kinds: [key] });
    }
    await nextTurn(undefined, { signal });
  }
  return {
    described: byCreation(resources, crds).flatMap((resource) => described.get(resourceKey(resource)) ?? []),
    problems,
    provisional,
    crds,
  };
}

/**
 * Gateways without a common store give the same names, because each takes the kinds in this order. Definitions of one second are sorted by
 * their versions, then by their keys.
 */
function byCreation(resources: readonly Resource[], crds: ReadonlyMap<string, KnownCrd>): readonly Resource[] {
  const sorted = resources.map((resource) => ({ resource, key: resourceKey(resource) }));
  sorted.sort((a, b) => {
    const [one, other] = [crds.get(a.key), crds.get(b.key)];
    if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
    return (
      compareText(one.creationTimestamp, other.creationTimestamp) ||
      (compareResourceVersions(one.resourceVersion, other.resourceVersion) ?? 0) ||
      compareText(a.key, b.key)
    );
  });
  return sorted.map(({ resource }) => resource);
}

function describeWith(
  describe: (input: DescribeInput) => DescribedResource,
  input: DescribeInput,
  schemas: Schemas | undefined,
  onMissing: () => void,
): DescribedResource {
  if (schemas === undefined) return describe(input);
  try {
    return describe({ ...input, schemas });
  } catch (error) {
    if (codeOf(error) !== 'NOT_FOUND') throw error;
    onMissing();
    return describe(input);
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
    for (const { groupVersion, message } of source.failures) {
      const kinds = resources.filter((resource) => apiVersionOf(resource) === groupVersion).map(resourceKey);
      problems.push({ resource: groupVersion, message, kinds });
    }
    return source;
  } catch (error) {
    signal?.throwIfAborted();
    problems.push({ resource: 'OpenAPI', message: messageOf(error), kinds: resources.map(resourceKey) });
    return null;
  }
}

function schemasOf({ documents }: OpenApiSource, resource: Resource): Schemas | undefined {
  return (documents.get(apiVersionOf(resource)) ?? documents.get('*'))?.schemas;
}
