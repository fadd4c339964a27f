/** Compares the gateway's objects with the API server's lists: identity, uid, resourceVersion and body of every object. */
import { isDeepStrictEqual } from 'node:util';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import { data } from './graphql-client.ts';

interface ResourceInfo {
  readonly key: string;
  readonly cluster: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly list: string | null;
}

interface KubeObject {
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface Shown {
  readonly raw: KubeObject;
  /** Top-level fields that are redacted. */
  readonly redacted: readonly string[];
}

interface Page {
  readonly nodes: readonly Shown[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

/** One line for each object that differs; empty when all tables are equal. Every cluster must be this API server. */
export async function differences(api: RestClient, url: string): Promise<readonly string[]> {
  const { resources } = await data<{ resources: readonly ResourceInfo[] }>(
    url,
    '{ resources { key cluster group version plural list } }',
  );
  const found: string[] = [];
  for (const resource of resources) {
    const of = `${resource.cluster} ${resource.key}`;
    if (resource.list === null) {
      found.push(`${of} is not in the schema`);
      continue;
    }
    const [ours, theirs] = [await listed(url, resource.list, resource.cluster), await served(api, resource)];
    for (const [line, object] of theirs) {
      const shown = ours.get(line);
      if (shown === undefined) found.push(`${of}: only the API server has ${line}`);
      else if (!isDeepStrictEqual(comparable(object, shown.redacted), comparable(shown.raw, shown.redacted)))
        found.push(`${of}: the bodies of ${line} differ`);
    }
    for (const line of ours.keys()) if (!theirs.has(line)) found.push(`${of}: only the gateway has ${line}`);
  }
  return found;
}

async function served(
  api: RestClient,
  { group, version, plural }: ResourceInfo,
): Promise<ReadonlyMap<string, KubeObject>> {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const list = await api.get<{ items: readonly KubeObject[] | null }>(`${base}/${plural}`);
  return new Map((list.items ?? []).map((object) => [line(object), object]));
}

async function listed(url: string, root: string, cluster: string): Promise<ReadonlyMap<string, Shown>> {
  const lines = new Map<string, Shown>();
  for (let after: string | null = null; ; ) {
    const page: Page = (
      await data<{ list: Page }>(
        url,
        `query ($after: String, $clusters: [String!]) { list: ${root}(first: 500, after: $after, filter: { clusters: $clusters }) {
           nodes { raw redacted } pageInfo { hasNextPage endCursor } } }`,
        { after, clusters: [cluster] },
      )
    ).list;
    for (const shown of page.nodes) lines.set(line(shown.raw), shown);
    if (!page.pageInfo.hasNextPage) return lines;
    after = page.pageInfo.endCursor;
  }
}

function line({ metadata }: KubeObject): string {
  const { namespace, name, uid, resourceVersion } = metadata;
  return [namespace, name, uid, resourceVersion].map((part) => part || '-').join(' ');
}

/** An object without the fields that list items lack (kind, apiVersion), that are never stored, and that are redacted. */
function comparable(object: KubeObject, redacted: readonly string[]): object {
  const { managedFields: _managed, annotations, ...metadata } = object.metadata;
  const { 'kubectl.kubernetes.io/last-applied-configuration': _last, ...kept } = (annotations ?? {}) as Record<
    string,
    unknown
  >;
  const { apiVersion: _version, kind: _kind, ...rest } = object as Readonly<Record<string, unknown>> & KubeObject;
  const shown = Object.fromEntries(Object.entries(rest).filter(([field]) => !redacted.includes(field)));
  return { ...shown, metadata: Object.keys(kept).length > 0 ? { ...metadata, annotations: kept } : metadata };
}
