/** Stores of several cells with one engine over them, without a network. Everything is closed and removed at the end of the test. */
import { onTestFinished } from 'vitest';
import type { Rights } from '../../src/access/rights.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/graphql/engine.ts';
import { openReader } from '../../src/store/read/reader.ts';
import type { IncomingEvent } from '../../src/store/types/incoming-object.ts';
import type { Reader } from '../../src/store/types/lease.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { newest, textOf } from './engine-fixture.ts';
import { storeFile } from './store-file.ts';

export interface CellsFixture {
  readonly engine: Engine;
  /** That of the cell of the cluster. */
  writer(cluster: string): StoreWriter;
  writers(): readonly StoreWriter[];
  readers(): readonly ReturnType<typeof openReader>[];
  handle(key: string, cluster: string): ResourceHandle;
  /** Declares resources in the cells of their clusters and publishes the schema. */
  declare(...described: readonly DescribedResource[]): Promise<void>;
  /** Replaces a resource's objects with these. */
  sync(key: string, objects: readonly unknown[], cluster: string): Promise<void>;
  apply(key: string, type: IncomingEvent['type'], object: unknown, cluster: string): void;
}

/** @param cellOf the cell of each cluster @param rights of all cells, or of the cell with this index */
export function cellsFixture(
  cells: number,
  cellOf: (cluster: string) => number,
  rights?: Rights | ((cell: number) => Rights),
  options: {
    readonly writer?: WriterOptions;
    readonly engine?: Pick<Partial<EngineOptions>, 'writes'>;
    /** Milliseconds that an operation may have leases; default 60,000. */
    readonly leaseMs?: number;
    /** Changes how a cell is read. */
    readonly over?: (reader: Reader, cell: number) => Reader;
  } = {},
): CellsFixture {
  const stores = Array.from({ length: cells }, () => {
    const file = storeFile();
    return {
      writer: openWriter(file, { checkpoints: 'inline', ...options.writer }),
      reader: openReader(file, { readers: 2, leaseMs: 60_000, pagesNowMs: Number.POSITIVE_INFINITY }),
    };
  });
  const engine = createEngine({
    reader: must(stores[0], 'a cell').reader,
    cells: {
      parts: stores.map(({ reader }, index) => ({
        reader: options.over?.(reader, index) ?? reader,
        pages: reader,
        ...(rights === undefined ? {} : { rights: typeof rights === 'function' ? rights(index) : rights }),
      })),
      cellOf,
      readers: 2,
      leaseMs: options.leaseMs ?? 60_000,
    },
    log: silentLogger,
    clock: systemClock,
    maxPageSize: 500,
    ...options.engine,
  });
  for (const [index, { writer }] of stores.entries()) writer.onCommit((commit) => engine.wake(commit, index));
  onTestFinished(async () => {
    engine.close();
    for (const { writer, reader } of stores) {
      writer.close();
      await reader.close();
    }
  });
  const writerOf = (cluster: string): StoreWriter => must(stores[cellOf(cluster)], 'the cell of a cluster').writer;
  const handle = (key: string, cluster: string) =>
    must(
      writerOf(cluster)
        .states(cluster)
        .find((state) => state.handle.key === key),
      `the resource ${key} in ${cluster}`,
    ).handle;
  return {
    engine,
    writer: writerOf,
    writers: () => stores.map(({ writer }) => writer),
    readers: () => stores.map(({ reader }) => reader),
    handle,
    async declare(...described) {
      for (const each of described) {
        writerOf(each.cluster).openCluster(each.cluster, `uid-${each.cluster}`);
        writerOf(each.cluster).declare(each);
      }
      await engine.refreshCatalog();
    },
    async sync(key, objects, cluster) {
      const replace = writerOf(cluster).replace(handle(key, cluster));
      replace.put(objects.map((object) => ({ text: textOf(object) })));
      await replace.commit(String(newest(objects)));
    },
    apply(key, type, object, cluster) {
      const incoming = [{ type, object: { text: textOf(object) } }];
      writerOf(cluster).apply(handle(key, cluster), incoming, String(newest([object])));
    },
  };
}
