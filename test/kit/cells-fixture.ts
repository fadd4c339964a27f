/** Stores of several cells with one engine over them, without a network. Everything is closed and removed at the end of the test. */
import { onTestFinished } from 'vitest';
import type { Rights } from '../../src/access/rights.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { createEngine, type Engine } from '../../src/graphql/engine.ts';
import { openReader } from '../../src/store/read/reader.ts';
import type { IncomingEvent } from '../../src/store/types/incoming-object.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { newest, textOf } from './engine-fixture.ts';
import { storeFile } from './store-file.ts';

export interface CellsFixture {
  readonly engine: Engine;
  /** That of the cell of the cluster. */
  writer(cluster: string): StoreWriter;
  writers(): readonly StoreWriter[];
  /** Declares resources in the cells of their clusters and publishes the schema. */
  declare(...described: readonly DescribedResource[]): Promise<void>;
  /** Replaces a resource's objects with these. */
  sync(key: string, objects: readonly unknown[], cluster: string): Promise<void>;
  apply(key: string, type: IncomingEvent['type'], object: unknown, cluster: string): void;
}

/** @param cellOf the cell of each cluster */
export function cellsFixture(cells: number, cellOf: (cluster: string) => number, rights?: Rights): CellsFixture {
  const stores = Array.from({ length: cells }, () => {
    const file = storeFile();
    return {
      writer: openWriter(file, { checkpoints: 'inline' }),
      reader: openReader(file, { readers: 2, leaseMs: 60_000, pagesNowMs: Number.POSITIVE_INFINITY }),
    };
  });
  const engine = createEngine({
    reader: must(stores[0], 'a cell').reader,
    cells: {
      parts: stores.map(({ reader }) => ({ reader, pages: reader, ...(rights === undefined ? {} : { rights }) })),
      cellOf,
    },
    log: silentLogger,
    clock: systemClock,
    maxPageSize: 500,
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
