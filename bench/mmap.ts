/**
 * The gain of SQLite's `mmap_size`. Two read connections with the cache of a reader, one of them with the file mapped, read the same
 * in turns. A ratio is the median of the turns. docs/performance.md says why nothing is mapped.
 */
import { join } from 'node:path';
import { seededRandom } from '../sim/objects/seeded-random.ts';
import { must } from '../src/base/must.ts';
import { Database } from '../src/store/sqlite/database.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { inFolder } from './support/folder.ts';
import { phaseOf } from './support/list-query.ts';
import { median } from './support/page-load.ts';
import { podDescription, podText } from './support/pods.ts';

export const about =
  'reads of a store whose file is mapped into memory, beside reads that are not [Pods, default 30000]';

const turns = 15;
const cacheKib = 16 * 1024;
const one = 'SELECT json(body) FROM body WHERE id = ?';

export async function run([count = '30000']: readonly string[]): Promise<void> {
  await inFolder(async (directory) => {
    const file = join(directory, 'store.db');
    await fill(file, Number(count));
    const plain = opened(file, 0);
    const mapped = opened(file, 2 ** 30);
    const ids = plain
      .statement('SELECT id FROM body')
      .all()
      .map(([id]) => Number(id));
    const random = seededRandom(1);
    const at = (share: number): number => must(ids[Math.floor(share * ids.length)], 'an object');
    const pages = (database: Database, idOf: (index: number) => number): void => {
      for (let index = 0; index < 10_000; index += 1) database.statement(one).get(idOf(index));
    };
    const works: Readonly<Record<string, (database: Database) => void>> = {
      samePage: (database) => pages(database, (index) => at((index % 50) / 50)),
      randomPages: (database) => pages(database, () => at(random())),
      scan: (database) =>
        void database.statement(`SELECT count(*) FROM body WHERE json_extract(body, '$.spec.nodeName') = ''`).get(),
    };
    const ratios = Object.entries(works).map(([name, work]) => [name, ratioOf(work, plain, mapped)] as const);
    for (const [name, ratio] of ratios) process.stdout.write(`${name.padEnd(12)} ${ratio}\n`);
    process.stdout.write(`${JSON.stringify({ bench: 'mmap', pods: ids.length, ...Object.fromEntries(ratios) })}\n`);
    plain.close();
    mapped.close();
  });
}

async function fill(file: string, pods: number): Promise<void> {
  const writer = openWriter(file, { checkpoints: 'inline' });
  try {
    const replace = writer.replace(writer.declare(podDescription('bench')));
    for (let index = 0; index < pods; index += 500) {
      const length = Math.min(500, pods - index);
      replace.put(Array.from({ length }, (_, each) => ({ text: podText(index + each, phaseOf(index + each), 1) })));
    }
    await replace.commit('1');
  } finally {
    writer.close();
  }
}

function opened(file: string, mmapBytes: number): Database {
  const database = new Database(file, { readonly: true, slowMs: Number.POSITIVE_INFINITY });
  database.pragma(`cache_size = -${cacheKib}`);
  database.pragma(`mmap_size = ${mmapBytes}`);
  return database;
}

/** Processor time with the mapped file, divided by the time without. */
function ratioOf(work: (database: Database) => void, plain: Database, mapped: Database): number {
  const timeOf = (database: Database): number => {
    const began = process.cpuUsage();
    work(database);
    const { user, system } = process.cpuUsage(began);
    return user + system;
  };
  const ratios = Array.from({ length: turns }, (_, turn) => {
    if (turn % 2 === 0) return timeOf(mapped) / timeOf(plain);
    const before = timeOf(plain);
    return timeOf(mapped) / before;
  });
  return Number(median(ratios).toFixed(2));
}
