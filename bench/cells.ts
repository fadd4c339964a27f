/**
 * The cost of several cells: the same Pods of ten clusters in one store and in ten, with one engine over each. Pages, counts, groups and
 * pages of one named cluster take turns. All answers are executed, and those of the cells must equal those of the one store.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type DocumentNode, execute, parse } from 'graphql';
import { localUser } from '../src/access/caller.ts';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { must } from '../src/base/must.ts';
import { createEngine, type Engine } from '../src/graphql/engine.ts';
import { beginOperation } from '../src/operation/operation.ts';
import { openReader } from '../src/store/read/reader.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { inFolder } from './support/folder.ts';
import { listQuery, phaseOf, treedPods } from './support/list-query.ts';
import { podText } from './support/pods.ts';
import { percentile, rounded } from './support/times.ts';

export const about = 'pages over ten cells against one store (--objects N, --turns N, --cells N)';

const reach = { pageOverOneCell: 2.5, namedOverOneCell: 1.1 };

const questions = {
  page: listQuery,
  named: listQuery.replace('filter: {', 'filter: { clusters: ["cluster-3"],'),
  count: '{ pods(filter: { status: { phase: { eq: "Pending" } } }) { totalCount } }',
  groups: '{ pods { aggregate { groups(by: ["status.phase"]) { keys aggregate { count } } } } }',
} as const;

type Question = keyof typeof questions;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: 'string', default: '100000' },
      turns: { type: 'string', default: '9' },
      cells: { type: 'string', default: '10' },
    },
  });
  const [objects, turns, count] = [Number(values.objects), Number(values.turns), Number(values.cells)];
  const clusters = Array.from({ length: 10 }, (_, index) => `cluster-${index}`);
  await inFolder(async (folder) => {
    const one = await fill(folder, 'one', [clusters], objects / clusters.length);
    const shares = Array.from({ length: count }, (_, cell) =>
      clusters.filter((_name, index) => index % count === cell),
    );
    const many = await fill(folder, 'many', shares, objects / clusters.length);
    try {
      const ratios: Record<Question, number> = { page: 0, named: 0, count: 0, groups: 0 };
      for (const name of Object.keys(questions) as Question[]) {
        const document = parse(questions[name]);
        await same(one.engine, many.engine, document, name);
        const times = { one: [] as number[], many: [] as number[] };
        for (let turn = 0; turn < turns; turn += 1) {
          times.one.push(await timed(one.engine, document));
          times.many.push(await timed(many.engine, document));
        }
        ratios[name] = rounded(median(times.many) / median(times.one));
        process.stdout.write(
          `${name.padEnd(8)} one store ${median(times.one).toFixed(2)} ms   ${count} cells ${median(times.many).toFixed(2)} ms\n`,
        );
      }
      const { page, named } = ratios;
      const line = { bench: 'cells', objects, cells: count, pageOverOneCell: page, namedOverOneCell: named };
      process.stdout.write(
        `${JSON.stringify({ ...line, countOverOneCell: ratios.count, groupsOverOneCell: ratios.groups })}\n`,
      );
      if (page > reach.pageOverOneCell || named > reach.namedOverOneCell) process.exitCode = 1;
    } finally {
      await one.close();
      await many.close();
    }
  });
}

interface Filled {
  readonly engine: Engine;
  close(): Promise<void>;
}

/** @param cells the clusters of each @param each Pods of a cluster */
async function fill(
  folder: string,
  name: string,
  cells: readonly (readonly string[])[],
  each: number,
): Promise<Filled> {
  const stores = cells.map((clusters, index) => {
    const file = `${folder}/${name}-${index}.db`;
    return { clusters, writer: openWriter(file, { checkpoints: 'inline' }), file };
  });
  let version = 0;
  for (const { clusters, writer } of stores) {
    for (const cluster of clusters) {
      writer.openCluster(cluster, `uid-${cluster}`);
      const place = Number(cluster.slice('cluster-'.length)) * each;
      const replace = writer.replace(writer.declare(treedPods(cluster)));
      for (let from = 0; from < each; from += 500) {
        const some = Array.from({ length: Math.min(500, each - from) }, (_, at) => place + from + at);
        replace.put(some.map((index) => ({ text: podText(index, phaseOf(index), index + 1) })));
        version = Math.max(version, place + from + some.length);
      }
      await replace.commit(String(version));
    }
  }
  const readers = stores.map(({ file }) => openReader(file, { readers: 1 }));
  const [first, ...others] = readers;
  const reader = must(first, 'a store');
  const cellOf = (cluster: string): number =>
    Math.max(
      0,
      cells.findIndex((some) => some.includes(cluster)),
    );
  const engine = createEngine({
    reader,
    ...(others.length === 0
      ? {}
      : { cells: { parts: readers.map((each) => ({ reader: each })), cellOf, readers: 1, leaseMs: 1000 } }),
    log: silentLogger,
    clock: systemClock,
    maxPageSize: 500,
  });
  await engine.refreshCatalog();
  return {
    engine,
    async close() {
      engine.close();
      for (const { writer } of stores) writer.close();
      await Promise.all(readers.map((each) => each.close()));
    },
  };
}

async function answer({ source }: Engine, document: DocumentNode): Promise<unknown> {
  const portolan = beginOperation(source, localUser);
  try {
    const { schema } = portolan.generation;
    const { data, errors } = await execute({ schema, document, contextValue: { portolan } });
    if (errors !== undefined) throw errors[0];
    return data;
  } finally {
    portolan.end();
  }
}

/** @throws if the answers differ */
async function same(one: Engine, many: Engine, document: DocumentNode, name: string): Promise<void> {
  const [wanted, found] = [await answer(one, document), await answer(many, document)];
  const text = (data: unknown): unknown => JSON.parse(JSON.stringify(data));
  if (!isDeepStrictEqual(text(wanted), text(found))) throw new Error(`the answers to ${name} differ`);
}

const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Milliseconds of one of fifty answers. */
async function timed(engine: Engine, document: DocumentNode): Promise<number> {
  const began = performance.now();
  for (let index = 0; index < 50; index += 1) await answer(engine, document);
  return (performance.now() - began) / 50;
}
