/**
 * The overview of a cluster: `resources { counts }` over HTTP, beside the same numbers counted from the rows by SQL. Both are asked in
 * turns; every figure is a median.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import { Database } from '../src/store/sqlite/database.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { inFolder } from './support/folder.ts';
import { load, median, startServed } from './support/page-load.ts';
import { podDescription } from './support/pods.ts';

export const about = 'the numbers of all objects by namespace and health, beside counting them by SQL';

export const help = `Usage: npm run bench -- overview [options]

  --kinds N      kinds (100)
  --objects N    objects of each kind (1000)
  --turns N      how often each is asked in turn (9)
`;

const namespaces = 20;
const cluster = 'bench';

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kinds: { type: 'string', default: '100' },
      objects: { type: 'string', default: '1000' },
      turns: { type: 'string', default: '9' },
    },
  });
  const [kinds, objects, turns] = [Number(values.kinds), Number(values.objects), Number(values.turns)];
  await inFolder(async (directory) => {
    const file = join(directory, 'store.db');
    await fill(file, kinds, objects);
    await measure(file, { kinds, objects, turns });
  });
}

async function fill(file: string, kinds: number, objects: number): Promise<void> {
  const writer = openWriter(file);
  writer.openCluster(cluster, cluster);
  for (let kind = 0; kind < kinds; kind += 1) {
    const replace = writer.replace(writer.declare(description(kind)));
    replace.put(Array.from({ length: objects }, (_, index) => ({ text: objectText(kind, index) })));
    await replace.commit('1');
  }
  writer.close();
}

async function measure(file: string, size: { kinds: number; objects: number; turns: number }): Promise<void> {
  const gateway = await startServed(new URL('./schema.child.ts', import.meta.url), [file]);
  const database = new Database(file, { readonly: true });
  try {
    gateway.child.send('refresh');
    await once(gateway.child, 'message');
    const query = (counts: string) => JSON.stringify({ query: `{ resources { cluster key ${counts} } }` });
    const [all, byHealth] = [
      query('counts { namespace health objects }'),
      query('counts(by: [HEALTH]) { health objects }'),
    ];
    const times: Record<'all' | 'byHealth' | 'sql', number[]> = { all: [], byHealth: [], sql: [] };
    for (let turn = 0; turn < size.turns; turn += 1) {
      times.all.push((await load(gateway, all, 0.5, 1)).p50Ms);
      times.byHealth.push((await load(gateway, byHealth, 0.5, 1)).p50Ms);
      const began = performance.now();
      database.statement('SELECT kind, namespace, health, count(*) FROM object GROUP BY 1, 2, 3').all();
      times.sql.push(performance.now() - began);
    }
    const figures = { overviewMs: median(times.all), healthMs: median(times.byHealth), countedMs: median(times.sql) };
    process.stdout.write(
      `by namespace and health ${figures.overviewMs.toFixed(1)} ms, by health ${figures.healthMs.toFixed(1)} ms, counted by SQL ${figures.countedMs.toFixed(1)} ms\n`,
    );
    const rounded = Object.fromEntries(
      Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(1))]),
    );
    const ratio = Number((figures.countedMs / figures.healthMs).toFixed(1));
    process.stdout.write(
      `${JSON.stringify({ bench: 'overview', ...rounded, ratio, kinds: size.kinds, objects: size.objects })}\n`,
    );
  } finally {
    database.close();
    await gateway.stop();
  }
}

function description(kind: number): DescribedResource {
  const pods = podDescription(cluster);
  const names = { group: 'example.com', plural: `kind${kind}s`, singular: `kind${kind}`, kind: `Kind${kind}` };
  const tree = { root: 'root', shapes: { root: { key: 'root', path: [], fields: [] } } };
  return { ...pods, resource: { ...pods.resource, ...names, shortNames: [] }, tree, promoted: [] };
}

function objectText(kind: number, index: number): string {
  const status = index % 17 === 0 ? 'False' : 'True';
  return JSON.stringify({
    metadata: {
      name: `object-${index}`,
      namespace: `team-${index % namespaces}`,
      uid: `${kind}-${index}`,
      resourceVersion: '1',
    },
    status: { conditions: [{ type: 'Ready', status, reason: 'Waiting' }] },
  });
}
