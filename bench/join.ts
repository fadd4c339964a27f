/**
 * Joins of 100,000 Pods over HTTP. The first join is 50 Services with their Pods and Nodes. The same join by hand-written SQL and a client
 * that lists by label selector are measured too. Orders and filters through a relation and the first page of `usedBy` follow. Then a first
 * sync and a stream of events, each with relations and without them. Everything is done in turns; figures are medians.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareEvents } from './events.ts';
import { bigNamespace, fillWorld, type World } from './join.world.ts';
import { inFolder } from './support/folder.ts';
import { ask, load, median, type Served } from './support/page-load.ts';
import { compareSyncs } from './sync.ts';

export const about = 'joins, orders and filters through relations, beside SQL and a client; --help tells its options';

export const help = `Usage: npm run bench -- join [options]

  --objects N    Pods (100000)
  --turns N      how often everything is asked in turn (5)
  --seconds N    how long each load lasts (1)
  --no-ingest    leaves out the first syncs and the events

A run under a minute: --objects 20000 --turns 3 --seconds 0.5 --no-ingest
`;

const name = 'metadata { name }';
const queries = {
  page: `{ services(first: 50) { nodes { metadata { name namespace } pods { nodes { ${name} status { phase } node { ${name} } } } } } }`,
  orderByName: `{ pods(orderBy: [{ path: "node.metadata.name" }]) { nodes { ${name} } } }`,
  orderByLeaf: `{ pods(orderBy: [{ path: "node.status.nodeInfo.kubeletVersion", direction: DESC }]) { nodes { ${name} } } }`,
  filterOne: `{ pods(filter: { node: { is: { labelSelector: "pool=rare" } } }) { nodes { ${name} } } }`,
  filterFew: `{ pods(filter: { node: { is: { metadata: { name: { eq: "node-0" } } } }, labelSelector: "app=app-3" }) { nodes { ${name} } } }`,
  filterMany: `{ pods(filter: { node: { is: { labelSelector: "zone=zone-1" } } }) { nodes { ${name} } } }`,
  usedByNode: `{ node(name: "node-0") { usedBy { nodes { ${name} } } } }`,
  usedByAccount: `{ serviceAccount(namespace: "${bigNamespace}", name: "worker") { usedBy { nodes { ${name} } } } }`,
  podsOfAccount: `{ serviceAccount(namespace: "${bigNamespace}", name: "worker") { pods { nodes { ${name} } } } }`,
  podsOfLabel: `{ service(namespace: "${bigNamespace}", name: "all") { pods { nodes { ${name} } } } }`,
} as const;
type Asked = keyof typeof queries;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      objects: { type: 'string', default: '100000' },
      turns: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      ingest: { type: 'boolean', default: true },
    },
  });
  const [objects, turns, seconds] = [Number(values.objects), Number(values.turns), Number(values.seconds)];
  await inFolder(async (directory, start) => {
    const file = join(directory, 'store.db');
    const world = await fillWorld(file, directory, objects);
    const gateway = await start('join.child.ts', file);
    const sql = await start('join.plain.ts', 'sql', file);
    const lists = await start('join.plain.ts', 'lists', file);
    const found = await measure({ gateway, sql, lists }, turns, seconds);
    for (const each of [gateway, sql, lists]) await each.stop();
    const ingest = values.ingest ? await compareIngest(objects) : null;
    report(world, objects, found, ingest);
  });
}

interface Found {
  readonly times: Readonly<Record<Asked, number>>;
  readonly sqlMs: number;
  readonly clientMs: number;
  readonly overSql: number;
  readonly overClient: number;
  readonly statements: number;
}

async function measure(
  { gateway, sql, lists }: Readonly<Record<'gateway' | 'sql' | 'lists', Served>>,
  turns: number,
  seconds: number,
): Promise<Found> {
  const times = Object.fromEntries(Object.keys(queries).map((asked) => [asked, [] as number[]])) as Record<
    Asked,
    number[]
  >;
  const [bare, client] = [[] as number[], [] as number[]];
  await sameAnswers(gateway, sql);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [asked, query] of Object.entries(queries) as [Asked, string][]) {
      times[asked].push((await load(gateway, JSON.stringify({ query }), seconds, 1)).p50Ms);
    }
    bare.push((await load(sql, '{}', seconds, 1)).p50Ms);
    client.push(await listAsClient(lists.url));
  }
  const ratios = (of: readonly number[], to: readonly number[]): number =>
    median(of.map((each, turn) => each / (to[turn] ?? Number.NaN)));
  return {
    times: Object.fromEntries(Object.entries(times).map(([asked, each]) => [asked, median(each)])) as Record<
      Asked,
      number
    >,
    sqlMs: median(bare),
    clientMs: median(client),
    overSql: ratios(times.page, bare),
    overClient: ratios(client, times.page),
    statements: await statementsOf(gateway, queries.page),
  };
}

/** A faster answer that is another answer would prove nothing. */
async function sameAnswers(gateway: Served, sql: Served): Promise<void> {
  const [ours, theirs] = await Promise.all([
    ask(gateway.url, JSON.stringify({ query: queries.page })),
    ask(sql.url, '{}'),
  ]);
  const podsIn = (text: string): string[] =>
    (JSON.parse(text) as { data: { services: { nodes: { pods: { nodes: unknown[] } }[] } } }).data.services.nodes.map(
      ({ pods }) => JSON.stringify(pods.nodes),
    );
  const [a, b] = [podsIn(ours), podsIn(theirs)];
  if (JSON.stringify(a) !== JSON.stringify(b))
    throw new Error('the gateway and the hand-written SQL give different joins');
}

/** The requests of a client that joins by itself: Services, the Pods of each, and all Nodes. */
async function listAsClient(url: string): Promise<number> {
  const began = performance.now();
  const get = async (path: string): Promise<{ items: Record<string, Record<string, never>>[] }> =>
    (await (await fetch(new URL(path, url))).json()) as never;
  const { items: services } = await get('/services?limit=50');
  const { items: nodes } = await get('/nodes');
  const byName = new Map(nodes.map((node) => [node['metadata']?.['name'], node]));
  let joined = 0;
  for (const { metadata, spec } of services) {
    const selector = encodeURIComponent(JSON.stringify(spec?.['selector'] ?? {}));
    const { items } = await get(`/pods?namespace=${metadata?.['namespace']}&selector=${selector}`);
    for (const pod of items.slice(0, 20)) if (byName.has(pod['spec']?.['nodeName'])) joined += 1;
  }
  if (joined === 0) throw new Error('the client has found no Pods');
  return performance.now() - began;
}

async function statementsOf({ url }: Served, query: string): Promise<number> {
  const text = await ask(url, JSON.stringify({ query, extensions: { portolan: { explain: true } } }));
  return text.split('"sql":').length - 1;
}

interface Ingest {
  readonly syncRatio: number;
  readonly eventsShare: number;
}

async function compareIngest(objects: number): Promise<Ingest> {
  const syncRatio = await compareSyncs(objects, 3);
  const eventsShare = await compareEvents(20, 2000);
  return { syncRatio, eventsShare };
}

function report(world: World, objects: number, found: Found, ingest: Ingest | null): void {
  const { times, overSql, overClient, statements, sqlMs, clientMs } = found;
  const orderMs = Math.max(times.orderByName, times.orderByLeaf);
  const filterMs = Math.max(times.filterOne, times.filterFew, times.filterMany);
  const usedByMs = Math.max(times.usedByNode, times.usedByAccount);
  const full = objects >= 100_000;
  const rows: (readonly [string, string, string, boolean])[] = [
    ['50 Services with Pods, Nodes', `${overSql.toFixed(2)} times the SQL`, '<= 1.5', overSql <= 1.5],
    ['  a client that lists', `${overClient.toFixed(1)} times ours`, '>= 20', overClient >= 20 || !full],
    ['order through a relation', `${orderMs.toFixed(1)} ms`, '<= 50 ms', orderMs <= 50],
    ['filter through a relation', `${filterMs.toFixed(1)} ms`, '<= 50 ms', filterMs <= 50],
    ['usedBy, first page', `${usedByMs.toFixed(1)} ms`, '<= 10 ms', usedByMs <= 10],
    ['references of all objects', `${(world.relatedMs / 1000).toFixed(1)} s`, '<= 15 s', world.relatedMs <= 15_000],
  ];
  for (const [what, value, bound, kept] of rows) {
    process.stdout.write(`${what.padEnd(30)} ${value.padEnd(26)} ${bound.padEnd(10)} ${kept ? 'kept' : 'MISSED'}\n`);
  }
  process.stdout.write(`${objects} Pods, ${world.nodes} Nodes, ${world.services} Services; ${statements} statements\n`);
  process.stdout.write(
    `page ${times.page.toFixed(2)} ms, SQL ${sqlMs.toFixed(2)} ms, client ${clientMs.toFixed(0)} ms\n`,
  );
  for (const [asked, ms] of Object.entries(times)) process.stdout.write(`  ${asked.padEnd(16)} ${ms.toFixed(2)} ms\n`);
  const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
  process.stdout.write(
    `${JSON.stringify({
      bench: 'join',
      overClient: round(overClient, 1),
      overSql: round(overSql),
      orderMs: round(orderMs),
      usedByMs: round(usedByMs),
      statements,
      syncRatio: ingest === null ? null : round(ingest.syncRatio, 3),
      eventsShare: ingest === null ? null : round(ingest.eventsShare, 3),
      filterMs: round(filterMs),
      relatedSeconds: round(world.relatedMs / 1000, 1),
      objects,
    })}\n`,
  );
  if (rows.some(([, , , kept]) => !kept)) process.exitCode = 1;
}
