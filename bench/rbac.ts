/**
 * Access control under load. Callers who see few and many namespaces read pages beside a caller who sees everything. Then bindings
 * change, many callers come, and rights are revoked under many subscribers.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RbacFigures, RbacQuestion } from './rbac.child.ts';
import { admin, measured, nameOf, type RbacWorld, seenBy } from './rbac.world.ts';
import { inFolder, type Start } from './support/folder.ts';
import { listQuery } from './support/list-query.ts';
import { type Load, load, median, medianLoad, type Served } from './support/page-load.ts';

export const about = 'access control: pages of callers with 15, 500 and 5,000 namespaces; --help tells its options';

export const help = `Usage: npm run bench -- rbac [options]

  --pods N         Pods, evenly in 5,000 namespaces (100000)
  --bindings N     RoleBindings (15000)
  --callers N      callers besides those that are measured (1000)
  --subscribers N  subscribers of a group whose binding is deleted (10000)
  --turns N        how often each page is asked in turn (9)
  --seconds N      how long each load lasts (1)

A run under a minute: --pods 20000 --subscribers 500 --turns 3 --seconds 0.3
`;

/** The bounds of the figures. */
const bounds = { ms15: 0.05, ms500: 0.2, ms5000: 1, listRatio: 0.9, revokedMs: 1000 };
const namespaces = 5000;
const connections = 8;
/** The page, of all Pods that the caller sees. */
const body = JSON.stringify({ query: listQuery, variables: { after: null } });
/** The same page for a caller who sees everything, with the namespaces of the other caller as a filter. */
const within = (names: readonly string[]): string =>
  JSON.stringify({
    query: listQuery
      .replace('($after: String)', '($after: String, $namespaces: [String!])')
      .replace('filter: { ', 'filter: { namespaces: $namespaces, '),
    variables: { after: null, namespaces: names },
  });

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pods: { type: 'string', default: '100000' },
      bindings: { type: 'string', default: '15000' },
      callers: { type: 'string', default: '1000' },
      subscribers: { type: 'string', default: '10000' },
      turns: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '1' },
    },
  });
  const world = {
    pods: Number(values.pods),
    namespaces,
    bindings: Number(values.bindings),
    callers: Number(values.callers),
  };
  const [subscribers, turns, seconds] = [Number(values.subscribers), Number(values.turns), Number(values.seconds)];
  await inFolder((directory, start) => measure(world, directory, start, { subscribers, turns, seconds }));
}

interface Options {
  readonly subscribers: number;
  readonly turns: number;
  readonly seconds: number;
}

async function measure(
  world: RbacWorld,
  directory: string,
  start: Start,
  { subscribers, turns, seconds }: Options,
): Promise<void> {
  const file = join(directory, 'store.db');
  const gateway = await start('rbac.child.ts', file, JSON.stringify(world));
  const bare = await start('list.plain.ts', 'sql', file, JSON.stringify(seenBy(500, namespaces)));
  const loads = new Map(measured.map((count) => [count, { own: [] as Load[], beside: [] as Load[] }]));
  const whole: Load[] = [];
  const many: { ours: Load[]; bare: Load[] } = { ours: [], bare: [] };
  for (let turn = 0; turn < turns; turn += 1) {
    whole.push(await load(gateway, body, seconds, 1, bearer(admin)));
    for (const [count, { own, beside }] of loads) {
      own.push(await load(gateway, body, seconds, 1, bearer(nameOf(count))));
      // A caller who sees every namespace sees the rows of the page without a filter.
      const same = count >= namespaces ? body : within(seenBy(count, namespaces));
      beside.push(await load(gateway, same, seconds, 1, bearer(admin)));
    }
    many.ours.push(await load(gateway, body, seconds, connections, bearer(nameOf(500))));
    many.bare.push(await load(bare, body, seconds, connections));
  }
  await bare.stop();
  const added = (count: (typeof measured)[number]): number => {
    const { own, beside } = loads.get(count) ?? { own: [], beside: [] };
    return median(own.map(({ p50Ms }, turn) => p50Ms - (beside[turn]?.p50Ms ?? 0)));
  };
  const { changeMs = [] } = await ask(gateway, { ask: 'changes', times: 50, namespaces: 5000 });
  const { callersMb = Number.NaN } = await ask(gateway, { ask: 'callers' });
  const { firstMs = Number.NaN, lastMs = Number.NaN } = await ask(gateway, { ask: 'revoke', subscribers });
  await gateway.stop();

  const figures = {
    bench: 'rbac',
    ms15: rounded(added(15)),
    ms500: rounded(added(500)),
    ms5000: rounded(added(5000)),
    perChangeMs: rounded(median(changeMs)),
    listRatio: rounded(median(many.ours.map(({ perSecond }, turn) => perSecond / (many.bare[turn]?.perSecond ?? 0)))),
    callersMb: rounded(callersMb),
    revokedFirstMs: Math.round(firstMs),
    revokedLastMs: Math.round(lastMs),
    pods: world.pods,
    bindings: world.bindings,
    subscribers,
  };
  const page = (some: readonly Load[]): string => medianLoad(some).p50Ms.toFixed(3);
  process.stdout.write(
    [
      `a page of all Pods, for one who sees everything: ${page(whole)} ms`,
      ...[...loads].map(
        ([count, { own, beside }]) =>
          `a page of a caller with ${count} namespaces: ${page(own)} ms; the same rows by a filter: ${page(beside)} ms`,
      ),
      `a change of a binding, 5,000 namespaces  ${median(changeMs).toFixed(2)} ms`,
      `${world.callers} callers                      ${callersMb.toFixed(1)} MB`,
      `a revocation, ${subscribers} subscribers       first ${Math.round(firstMs)} ms, last ${Math.round(lastMs)} ms`,
      '',
    ].join('\n'),
  );
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  const isKept =
    figures.ms15 <= bounds.ms15 &&
    figures.ms500 <= bounds.ms500 &&
    figures.ms5000 <= bounds.ms5000 &&
    figures.listRatio >= bounds.listRatio &&
    figures.revokedFirstMs <= bounds.revokedMs;
  if (!isKept) process.exitCode = 1;
}

async function ask({ child }: Served, question: RbacQuestion): Promise<RbacFigures> {
  child.send(question);
  const [figures] = (await once(child, 'message')) as [RbacFigures];
  return figures;
}

function bearer(name: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${name}` };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
