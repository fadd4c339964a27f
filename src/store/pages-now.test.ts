import { expect, onTestFinished, test } from 'vitest';
import { Database } from './database.ts';
import type { PageTemplate } from './page-text.ts';
import { PagesNow } from './pages-now.ts';
import { describedResource, pod, storeFile } from './test-support.ts';
import type { PageRequest } from './types.ts';
import { openWriter, type StoreWriter } from './writer.ts';

const limits = { cachedStatements: 10, cacheKib: 1024, maxRows: 1000, mostMs: 4 };
const template: PageTemplate = {
  lists: [[{ is: 'column', at: 3, otherwise: 'null' }]],
  ends: null,
  values: [],
  objects: [],
};

/** A page of the objects' names, by a loop that ticks at one of eight rows as short pages do. */
function page(where: string): PageRequest {
  const text = `SELECT NULL, NULL, 0, o.name FROM object AS o
    WHERE (((o.id * 40503 >> 16) & 7) <> 0 OR tick() = 0) AND ${where} ORDER BY o.id LIMIT 2`;
  return {
    statements: [{ sql: text, params: [] }],
    limit: 2,
    shown: 2,
    reversed: false,
    template: JSON.stringify(template),
  };
}

async function filled(objects: number): Promise<{ readonly file: string; readonly writer: StoreWriter }> {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  onTestFinished(() => writer.close());
  const replace = writer.replace(writer.declare(describedResource()));
  replace.put(Array.from({ length: objects }, (_, index) => pod({ name: `n${index}`, rv: index + 1 })));
  await replace.commit(String(objects));
  return { file, writer };
}

function open(file: string, milliseconds = 0): PagesNow {
  let now = 0;
  // A clock that goes on with each look at it.
  const monotonic = (): number => {
    now += milliseconds;
    return now;
  };
  const pages = new PagesNow({ file, ...limits, clock: { now: () => 0, monotonic } as never });
  onTestFinished(() => pages.close());
  return pages;
}

test('short pages are read where they are asked for', async () => {
  const { file, writer } = await filled(100);
  const read = open(file).read([{ sql: 'SELECT count(*) FROM object', params: [] }], [page('1')]);
  expect(read).toMatchObject({ revision: 1, epoch: writer.epoch, rows: [[[100]]] });
  expect(read).toMatchObject({ pages: [{ found: 2, lists: ['["n0","n1"]'] }] });
});

test('what looks at more rows than it may is given up, however the matching ones lie', async () => {
  const { file } = await filled(6000);
  const pages = open(file);
  for (const every of [1, 2, 4, 8, 28, 64]) {
    expect(pages.read([], [page(`o.id % ${every} = 0 AND o.name = 'n5999'`)]), String(every)).toBe('spent');
  }
  expect(pages.read([], [page('1')])).toMatchObject({ pages: [{ found: 2 }] });
});

test('what lasts longer than it may is given up', async () => {
  const { file } = await filled(100);
  expect(open(file, 5).read([], [page('1')])).toBe('spent');
});

test('no snapshot is left behind: the log can be written back', async () => {
  const { file } = await filled(6000);
  const pages = open(file);
  const log = new Database(file, { mustExist: true, busyMs: 0 });
  onTestFinished(() => log.close());
  for (const where of ['1', `o.name = 'none'`, 'no_such_column = 1']) {
    pages.read([], [page(where)]);
    log.exec(`UPDATE state SET revision = revision`);
    expect(log.restartLog(0), where).toBe(true);
    expect(log.log().pendingBytes).toBe(0);
  }
});

test('where there is no store, nothing is said', () => {
  expect(open(storeFile()).read([], [page('1')])).toBeNull();
});
