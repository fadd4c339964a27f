/** The recorded changes of a running gateway, newest first, page by page, and how far they reach back. */
import { z } from 'zod';
import { systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { absoluteTime } from '../../catalog/values/relative-time.ts';
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

const reachShape = z.object({
  changes: z.object({ reaches: z.array(z.object({ kind: z.string(), since: z.string().nullable() })) }),
});

const fields = `nodes { at type id cluster kind namespace name resourceVersion changedPaths managers { manager }
    before { metadata { resourceVersion } } } pageInfo { hasNextPage endCursor }`;
const pageSize = 100;
/** Changes that are read at most. */
const mostRead = 10_000;
/** The notice for `cut`. */
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
  wanted: WantedChanges,
  cut: () => void,
): AsyncGenerator<RecordedChange> {
  const args = [...argumentsOf(wanted), `first: ${pageSize}`];
  for (let after: string | null = null, read = 0; read < mostRead; read += pageSize) {
    const page: readonly string[] = after === null ? args : [...args, `after: ${JSON.stringify(after)}`];
    const { changes }: z.output<typeof shape> = await asked(
      client,
      `{ changes(${page.join(', ')}) { ${fields} } }`,
      shape,
    );
    yield* changes.nodes.filter((each) => wanted.name === undefined || each.name === wanted.name);
    if (!changes.pageInfo.hasNextPage) return;
    after = changes.pageInfo.endCursor;
  }
  cut();
}

/**
 * The kinds of which not all changes are recorded since that time, and from when on they are; null if all changes are recorded.
 * @throws PortolanError as `recordedChanges`
 */
export async function missingChanges(
  client: GatewayClient,
  wanted: WantedChanges,
): Promise<{ readonly kinds: readonly string[]; readonly since: string } | null> {
  const { changes } = await asked(
    client,
    `{ changes(${argumentsOf(wanted).join(', ')}, first: 0) { reaches { kind since } } }`,
    reachShape,
  );
  const begin = Date.parse(absoluteTime(wanted.since, systemClock.now()) ?? wanted.since);
  const late = changes.reaches.flatMap(({ kind, since }) =>
    since !== null && Date.parse(since) > begin ? [{ kind, since }] : [],
  );
  const latest = late
    .map(({ since }) => since)
    .toSorted((one, other) => Date.parse(one) - Date.parse(other))
    .at(-1);
  return latest === undefined ? null : { kinds: [...new Set(late.map(({ kind }) => kind))].sort(), since: latest };
}

function argumentsOf({ since, kind, namespace, cluster }: WantedChanges): readonly string[] {
  const given = Object.entries({ kinds: kind, namespaces: namespace, clusters: cluster }).flatMap(
    ([argument, value]) => (value === undefined ? [] : [`${argument}: [${JSON.stringify(value)}]`]),
  );
  return [`since: ${JSON.stringify(since)}`, ...given];
}

async function asked<T>(client: GatewayClient, query: string, of: z.ZodType<T>): Promise<T> {
  const data = await client.ask(query, of);
  if (data !== null) return data;
  throw new PortolanError('CACHE_NOT_READY', 'The gateway cannot answer yet: try again in a moment.');
}
