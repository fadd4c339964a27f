/** Compares what the gateway shows with what the API server lists: namespace, name, uid and resourceVersion of every object. */
import type { RestClient } from '../../src/kube/rest-client.ts';
import { data } from './graphql-client.ts';

interface ResourceInfo {
  readonly key: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly list: string | null;
}

interface Page {
  readonly nodes: readonly {
    readonly metadata: {
      readonly namespace: string | null;
      readonly name: string;
      readonly uid: string | null;
      readonly resourceVersion: string | null;
    };
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

/** One line for each object that the two sides do not agree on; empty when all tables are equal. */
export async function differences(api: RestClient, url: string): Promise<readonly string[]> {
  const { resources } = await data<{ resources: readonly ResourceInfo[] }>(
    url,
    '{ resources { key group version plural list } }',
  );
  const found: string[] = [];
  for (const resource of resources) {
    if (resource.list === null) {
      found.push(`${resource.key} is not in the schema`);
      continue;
    }
    const [ours, theirs] = [await listed(url, resource.list), await served(api, resource)];
    for (const line of theirs) if (!ours.has(line)) found.push(`${resource.key}: only the API server has ${line}`);
    for (const line of ours) if (!theirs.has(line)) found.push(`${resource.key}: only the gateway has ${line}`);
  }
  return found;
}

async function served(api: RestClient, { group, version, plural }: ResourceInfo): Promise<ReadonlySet<string>> {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const list = await api.get<{ items: readonly { metadata: Record<string, string | undefined> }[] | null }>(
    `${base}/${plural}`,
  );
  return new Set(
    (list.items ?? []).map(({ metadata }) =>
      line(metadata['namespace'], metadata['name'], metadata['uid'], metadata['resourceVersion']),
    ),
  );
}

async function listed(url: string, root: string): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (let after: string | null = null; ; ) {
    const page: Page = (
      await data<{ list: Page }>(
        url,
        `query ($after: String) { list: ${root}(first: 500, after: $after) {
           nodes { metadata { namespace name uid resourceVersion } } pageInfo { hasNextPage endCursor } } }`,
        { after },
      )
    ).list;
    for (const { metadata } of page.nodes)
      lines.add(line(metadata.namespace, metadata.name, metadata.uid, metadata.resourceVersion));
    if (!page.pageInfo.hasNextPage) return lines;
    after = page.pageInfo.endCursor;
  }
}

function line(...parts: readonly (string | null | undefined)[]): string {
  return parts.map((part) => part || '-').join(' ');
}
