/**
 * A router over ordinary gateways, each with a part of the clusters, beside one gateway with all of them. The router asks all gateways for
 * the page and merges their answers by order and identity. This is the least that a router has to do: it checks no rights, counts no cost
 * and knows no schema. Pages one and two are compared.
 *
 * It shows what a lost gateway does too: the router has no page of all clusters then.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { must } from '../src/base/must.ts';
import { inFolder, type Start } from './support/folder.ts';
import { listQuery, pageSize } from './support/list-query.ts';
import { ask, cpuSeconds, type Served } from './support/page-load.ts';
import { percentile, rounded, timed } from './support/times.ts';

export const about =
  'a page over ten gateways, merged, against one gateway with all clusters (--objects N, --turns N, --cells N)';

/** The page with the cluster and the cursor of each object. */
const edges = listQuery.replace('nodes {', 'edges { cursor node { cluster').replace('pageInfo {', '} pageInfo {');

interface Edge {
  readonly cursor: string;
  readonly node: {
    readonly cluster: string;
    readonly metadata: { readonly namespace: string; readonly name: string; readonly creationTimestamp: string };
  };
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '100000' },
      turns: { type: 'string', default: '200' },
      cells: { type: 'string', default: '10' },
    },
  });
  const [objects, turns, cells] = [Number(values.objects), Number(values.turns), Number(values.cells)];
  await inFolder(async (folder, start) => {
    const one = await gateway(start, join(folder, 'one.db'), 0, 10, objects / 10);
    const many: Served[] = [];
    for (let cell = 0; cell < cells; cell += 1) {
      many.push(await gateway(start, join(folder, `${cell}.db`), (cell * 10) / cells, 10 / cells, objects / 10));
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const single = await pages([one], agent);
    if (!isDeepStrictEqual(await pages(many, agent), single)) throw new Error('the router has other pages');
    const times = { one: [] as number[], many: [] as number[] };
    const spent = { one: 0, many: 0 };
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [name, gateways] of [
        ['one', [one]],
        ['many', many],
      ] as const) {
        const before = cpuOf(gateways);
        times[name].push(await timed(() => page(gateways, null, agent)));
        spent[name] += cpuOf(gateways) - before;
      }
    }
    await must(many.at(-1), 'a gateway').stop();
    const lost = await page(many, null, agent).then(
      () => 'a page',
      () => 'no page',
    );
    agent.destroy();
    const [oneMs, manyMs] = [percentile(times.one, 0.5), percentile(times.many, 0.5)];
    process.stdout.write(
      `one gateway ${oneMs.toFixed(2)} ms, ${cells} gateways ${manyMs.toFixed(2)} ms; with one of them lost: ${lost}\n`,
    );
    process.stdout.write(
      `${JSON.stringify({
        bench: 'router',
        objects,
        cells,
        pageOverOneGateway: rounded(manyMs / oneMs),
        cpuOverOneGateway: rounded(spent.many / spent.one),
      })}\n`,
    );
  });
}

function gateway(start: Start, file: string, first: number, clusters: number, each: number): Promise<Served> {
  return start('router.child.ts', file, String(first), String(clusters), String(each));
}

/** The edges of pages one and two. */
async function pages(gateways: readonly Served[], agent: Agent): Promise<readonly Edge[]> {
  const first = await page(gateways, null, agent);
  return [...first, ...(await page(gateways, must(first.at(-1), 'an edge').cursor, agent))];
}

async function page(gateways: readonly Served[], after: string | null, agent: Agent): Promise<readonly Edge[]> {
  const text = JSON.stringify({ query: edges, variables: { after } });
  const answers = await Promise.all(gateways.map(({ url }) => ask(url, text, agent)));
  const all = answers.flatMap(
    (answer) => (JSON.parse(answer) as { data: { pods: { edges: Edge[] } } }).data.pods.edges,
  );
  return gateways.length === 1 ? all : all.sort(byOrder).slice(0, pageSize);
}

/** Descending, as the page asks: by the time, and then by identity. */
function byOrder({ node: a }: Edge, { node: b }: Edge): number {
  const keysOf = ({ cluster, metadata }: Edge['node']) => [
    metadata.creationTimestamp,
    cluster,
    metadata.namespace,
    metadata.name,
  ];
  const [left, right] = [keysOf(a), keysOf(b)];
  const at = left.findIndex((key, index) => key !== right[index]);
  return at === -1 ? 0 : must(left[at], 'a key') < must(right[at], 'a key') ? 1 : -1;
}

/** Seconds. */
function cpuOf(gateways: readonly Served[]): number {
  return gateways.reduce((sum, { child }) => sum + cpuSeconds(child), 0);
}
