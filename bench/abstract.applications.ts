/**
 * Applications own ten objects each, over two steps. A gateway answers the first page of the applications that are not healthy, the worst first.
 * It does so before the roll-ups are stored and after. A caller who does not see all objects always gets the first of both.
 *
 *   Application -> 2 Groups -> 4 Parts each; one Part of twenty is Failed or in progress
 */
import { join } from 'node:path';
import { openWriter } from '../src/store/write/writer.ts';
import { describedKind, list } from './abstract.objects.ts';
import { load, median, startServed } from './support/page-load.ts';

const groupsOf = 2;
const partsOf = 4;

interface RollUpFigures {
  /** Milliseconds for the first page. */
  readonly rollUpMs: number;
  readonly rollUpComputedMs: number;
}

/** Fills a store in the directory, and measures its first page in both states. */
export async function rollUps(directory: string, applications: number, turns: number): Promise<RollUpFigures> {
  const file = join(directory, 'applications.db');
  const writer = openWriter(file);
  writer.openCluster('bench', 'bench');
  await list(writer, describedKind('Application'), applications, (index) =>
    objectText(`a${index}`, index, null, 'Ready'),
  );
  await list(writer, describedKind('Group'), applications * groupsOf, (index) =>
    objectText(`g${index}`, index, `a${Math.floor(index / groupsOf)}`, 'Ready'),
  );
  await list(writer, describedKind('Part'), applications * groupsOf * partsOf, (index) =>
    objectText(
      `p${index}`,
      index,
      `g${Math.floor(index / partsOf)}`,
      index % 40 === 0 ? 'Failed' : index % 40 === 20 ? 'Pending' : 'Ready',
    ),
  );
  while (writer.maintain());
  writer.close();
  const rollUpComputedMs = await firstPage(file, turns);
  const again = openWriter(file);
  again.promote({ key: 'applications.example.com', path: 'health.rollUp.severity', type: 'Int' });
  while (again.maintain());
  again.close();
  return { rollUpMs: await firstPage(file, turns), rollUpComputedMs };
}

async function firstPage(file: string, turns: number): Promise<number> {
  const gateway = await startServed(new URL('./abstract.child.ts', import.meta.url), [file]);
  try {
    const query = JSON.stringify({
      query: `{ exampleComApplications(
        first: 50, filter: { health: { rollUp: { status: { ne: Current } } } }
        orderBy: [{ path: "health.rollUp.severity", direction: DESC }]
      ) { totalCount pageInfo { hasNextPage endCursor } nodes { id metadata { name } health(rollUp: OWNED) { status reason culprit { kind metadata { name } } } } } }`,
    });
    const times: number[] = [];
    // The first turn warms up.
    for (let turn = 0; turn <= turns; turn += 1) {
      const { p50Ms } = await load(gateway, query, 1, 1);
      if (turn > 0) times.push(p50Ms);
    }
    return median(times);
  } finally {
    await gateway.stop();
  }
}

function objectText(uid: string, index: number, owner: string | null, phase: string): string {
  return JSON.stringify({
    metadata: {
      ...{ name: `object-${index}`, namespace: 'default', uid, resourceVersion: '1' },
      ...(owner === null
        ? {}
        : { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Owner', name: 'o', uid: owner }] }),
    },
    spec: { version: '1', size: index % 97, image: 'registry.example/app:1.2.3', settings: { a: 'b', c: 'd' } },
    status: { phase },
  });
}
