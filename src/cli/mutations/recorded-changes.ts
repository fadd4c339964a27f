/** The recorded changes of a running gateway, newest first, page by page. */
import { z } from 'zod';
import { PortolanError } from '../../base/errors.ts';
import type { GatewayClient } from '../remote/gateway-client.ts';

const change = z.object({
  at: z.string(),
  type: z.string(),
  id: z.string(),
  cluster: z.string(),
  kind: z.string(),
  namespace: z.string().nullable(),
  name: z.string(),
  resourceVersion: z.string().nullable(),
  changedPaths: z.array(z.string()).nullable(),
  managers: z.array(z.object({ manager: z.string() })),
  before: z.object({ metadata: z.object({ resourceVersion: z.string() }) }).nullable(),
});
export type RecordedChange = z.output<typeof change>;

const shape = z.object({
  changes: z.object({
    nodes: z.array(change),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
  }),
});

const fields = `nodes { at type id cluster kind namespace name resourceVersion changedPaths managers { manager }
    before { metadata { resourceVersion } } } pageInfo { hasNextPage endCursor }`;
const pageSize = 100;
/** Changes that are read at most. */
const mostRead = 10_000;
/** What is said after `cut`. */
export const cutNotice = `Only the newest ${mostRead.toLocaleString('en-US')} changes were read.`;

interface WantedChanges {
  /** A time, or one relative to now. */
  readonly since: string;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly cluster?: string | undefined;
}

/**
 * @param cut is called where older changes were not read
 * @throws PortolanError with the words of the gateway; CACHE_NOT_READY
 */
export async function* recordedChanges(
  client: GatewayClient,
  { since, kind, name, namespace, cluster }: WantedChanges,
  cut: () => void,
): AsyncGenerator<RecordedChange> {
  const given = Object.entries({ kinds: kind, namespaces: namespace, clusters: cluster }).flatMap(
    ([argument, value]) => (value === undefined ? [] : [`${argument}: [${JSON.stringify(value)}]`]),
  );
  const args = [`since: ${JSON.stringify(since)}`, ...given, `first: ${pageSize}`];
  for (let after: string | null = null, read = 0; read < mostRead; read += pageSize) {
    const page: readonly string[] = after === null ? args : [...args, `after: ${JSON.stringify(after)}`];
    const data: z.output<typeof shape> | null = await client.ask(
      `{ changes(${page.join(', ')}) { ${fields} } }`,
      shape,
    );
    if (data === null) {
      throw new PortolanError('CACHE_NOT_READY', 'The gateway cannot answer yet: try again in a moment.');
    }
    yield* data.changes.nodes.filter((each) => name === undefined || each.name === name);
    if (!data.changes.pageInfo.hasNextPage) return;
    after = data.changes.pageInfo.endCursor;
  }
  cut();
}
