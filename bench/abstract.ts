/**
 * The first page of an abstract kind over twelve kinds, ordered by a column, beside the same page of one kind with as many objects. Both are
 * asked over HTTP in turns; each figure is a median. Then objects of members change. One figure is the time from the commit of a change to
 * the commit of the changed object of the abstract kind. The other is the delay of a subscriber after a bare watch. Last,
 * the first page of applications by their rolled-up health.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { readAbstractKinds } from '../src/catalog/abstract/read-abstract-kinds.ts';
import { AbstractKinds } from '../src/ingest/derive/abstract-kinds.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { rollUps } from './abstract.applications.ts';
import { cluster, describedKind, list } from './abstract.objects.ts';
import { latencies, overWatch } from './latency.ts';
import { inFolder } from './support/folder.ts';
import { load, median, startServed } from './support/page-load.ts';

export const about = 'a page of an abstract kind over 12 kinds, beside the page of one kind of the same size';

export const help = `Usage: npm run bench -- abstract [options]

  --objects N    objects of all members together, and of the one kind (1000000)
  --turns N      how often each page is asked for in turn (9)
  --changes N    changes of members, one after the other (500)
  --applications N   applications with ten owned objects each, for the page of rolled-up healths (10000)
  --seconds N    how long changes are pushed to a subscriber, beside a bare watch (15)
`;

const members = 12;
const first = (index: number): string => objectText(index, '1');

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '1000000' },
      turns: { type: 'string', default: '9' },
      changes: { type: 'string', default: '500' },
      applications: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '15' },
    },
  });
  const [objects, turns, changes] = [Number(values.objects), Number(values.turns), Number(values.changes)];
  await inFolder(async (directory) => {
    const file = join(directory, 'store.db');
    const delays = await fill(file, objects, changes);
    const pages = await measure(file, turns);
    const overWatchP99Ms = overWatch(
      await latencies({
        ...{ of: 'abstract', objects: Number(values.applications), seconds: Number(values.seconds) },
        rounds: [{ rate: 200, readers: 0 }],
      }),
    );
    const { rollUpMs, rollUpComputedMs } = await rollUps(directory, Number(values.applications), turns);
    const at = (share: number): number => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
    process.stdout.write(
      `first page of ${values.applications} applications that are not healthy: ${rollUpMs.toFixed(1)} ms, ${rollUpComputedMs.toFixed(1)} ms where roll-ups are not stored\n`,
    );
    process.stdout.write(
      `abstract kind ${pages.abstractMs.toFixed(2)} ms, one kind ${pages.oneMs.toFixed(2)} ms; a change is derived after ${at(0.5).toFixed(1)} ms (p50), ${at(0.99).toFixed(1)} ms (p99)\n`,
    );
    const overOneKind = Number((pages.abstractMs / pages.oneMs).toFixed(2));
    process.stdout.write(
      `${JSON.stringify({ bench: 'abstract', overOneKind, pageMs: Number(pages.abstractMs.toFixed(2)), rollUpMs: Number(rollUpMs.toFixed(1)), overWatchP99Ms, derivedAfterP50Ms: Number(at(0.5).toFixed(1)), derivedAfterP99Ms: Number(at(0.99).toFixed(1)), objects })}\n`,
    );
  });
}

/** Fills the store, and measures the changes. Returns the delays in milliseconds, sorted. */
async function fill(file: string, objects: number, changes: number): Promise<readonly number[]> {
  const writer = openWriter(file);
  writer.openCluster(cluster, cluster);
  const each = Math.ceil(objects / members);
  for (let kind = 0; kind < members; kind += 1) await list(writer, describedKind(`App${kind}`), each, first);
  await list(writer, describedKind('Whole'), objects, first);
  const { kinds } = readAbstractKinds({
    abstractKinds: [
      {
        name: 'instances',
        columns: { version: 'String', size: 'Int64' },
        members: Array.from({ length: members }, (_, kind) => ({
          resource: `app${kind}s.example.com`,
          columns: { version: 'spec.version', size: 'spec.size' },
        })),
      },
    ],
  });
  const abstract = new AbstractKinds({
    writer,
    clock: systemClock,
    membersKnown: () => true,
    log: silentLogger,
    isRestricted: false,
  });
  abstract.declare(kinds);
  let derived: (() => void) | null = null;
  const abstractId = (): number | null => writer.members.kindId('instances.abstract');
  writer.onCommit(({ kindIds }) => {
    abstract.wake(kindIds, false);
    if (kindIds.includes(abstractId() ?? -1)) derived?.();
  });
  const stop = new AbortController();
  const running = abstract.run(stop.signal);
  while (writer.states().filter(({ handle, synced }) => handle.key === 'instances.abstract' && synced).length < members)
    await sleep(50);
  const delays: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    const kind = change % members;
    const handle = writer.states(cluster).find((state) => state.handle.key === `app${kind}s.example.com`)?.handle;
    if (handle === undefined) throw new Error('the member is declared');
    const heard = new Promise<void>((resolve) => {
      derived = resolve;
    });
    const version = String(10 + change);
    writer.apply(handle, [{ type: 'MODIFIED', object: { text: objectText(change, version, `w${change}`) } }], version);
    const began = performance.now();
    await heard;
    delays.push(performance.now() - began);
  }
  stop.abort();
  await running;
  while (writer.maintain());
  writer.close();
  return delays.sort((a, b) => a - b);
}

async function measure(file: string, turns: number): Promise<{ readonly abstractMs: number; readonly oneMs: number }> {
  const gateway = await startServed(new URL('./abstract.child.ts', import.meta.url), [file]);
  try {
    const page = (root: string, path: string, fields: string) =>
      JSON.stringify({
        query: `{ ${root}(first: 50, orderBy: [{ path: "${path}" }]) { pageInfo { hasNextPage endCursor } nodes { id metadata { name namespace } ${fields} } } }`,
      });
    const abstract = page('instances', 'version', 'version size');
    const one = page('exampleComWholes', 'spec.version', 'spec { version size }');
    const times: Record<'abstract' | 'one', number[]> = { abstract: [], one: [] };
    // The first turn warms up.
    for (let turn = 0; turn <= turns; turn += 1) {
      const found = {
        abstract: (await load(gateway, abstract, 1, 1)).p50Ms,
        one: (await load(gateway, one, 1, 1)).p50Ms,
      };
      if (turn === 0) continue;
      times.abstract.push(found.abstract);
      times.one.push(found.one);
    }
    return { abstractMs: median(times.abstract), oneMs: median(times.one) };
  } finally {
    await gateway.stop();
  }
}

function objectText(index: number, resourceVersion: string, version = `v${(index * 7919) % 1000003}`): string {
  return JSON.stringify({
    metadata: { name: `object-${index}`, namespace: `team-${index % 20}`, uid: `u${index}`, resourceVersion },
    spec: { version, size: index % 97, image: 'registry.example/app:1.2.3', settings: { a: 'b', c: 'd' } },
    status: { phase: 'Ready' },
  });
}
