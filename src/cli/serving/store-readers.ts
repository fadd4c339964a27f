/** The reader threads of a process that answers requests. */
import type { Logger } from '../../base/log.ts';
import type { Config } from '../../config/options.ts';
import { defaultReaders } from '../../config/table/query-options.ts';
import type { SealMemory } from '../../store/file/file-seal.ts';
import { openReader, type PooledReader } from '../../store/read/reader.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { Shutdown } from '../parts/shutdown.ts';

/** Sizes of a gateway's store, in memory and on disk. */
export interface StoreSizes {
  readonly changeLogBytes: number;
  readonly walGateBytes: number;
  /** KiB of pages that the writer keeps in memory, and each reader. */
  readonly writerCacheKib: number;
  readonly readerCacheKib: number;
  /** Reader threads, where the configuration names no number. */
  readonly readers: number;
}

interface ReadersParts {
  readonly file: string;
  readonly seal: SealMemory;
  readonly sizes: StoreSizes | undefined;
  /** Called when a statement has found the file damaged: ingest recreates it. */
  readonly damaged: (damage: FileDamage) => void;
  readonly shutdown: Shutdown;
  readonly log: Logger;
}

/** The reader threads, until the shutdown. */
export function openReaders(
  { readers, leaseMs }: Pick<Config, 'readers' | 'leaseMs'>,
  { file, seal, sizes, damaged, shutdown, log }: ReadersParts,
): PooledReader & PageReader {
  const reader = openReader(file, {
    readers: readers ?? sizes?.readers ?? defaultReaders,
    leaseMs,
    seal,
    ...(sizes === undefined ? {} : { cacheKib: sizes.readerCacheKib, walGateBytes: sizes.walGateBytes }),
    log,
    onDamage: damaged,
  });
  shutdown.add(() => reader.close());
  return reader;
}
