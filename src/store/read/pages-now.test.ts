import { renameSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import type { PageTemplate } from '../pages/page-template.ts';
import { Database } from '../sqlite/database.ts';
import type { PageRequest } from '../types/page-reader.ts';
import type { Statement } from '../types/statement.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import { PagesNow } from './pages-now.ts';

const limits = { cacheKib: 1024, maxRows: 1000, mostMs: 4 };
const template: PageTemplate = {
  lists: [[{ is: 'column', at: 0, otherwise: 'null' }]],
  first: null,
  last: null,
  idAt: null,
  related: [],
  columns: 1,
  values: [],
  objects: [],
};

/** A page of the objects' names. Its loop calls tick() at one of eight rows, like short pages. */
function page(where: string): PageRequest {
  const text = `SELECT count(*), group_concat(json_array(k.name, json_array()), char(10)), 0, (SELECT revision || ' ' || layout_version FROM state) FROM (SELECT o.name FROM object AS o
    WHERE (((o.id * 40503 >> 16) & 7) <> 0 OR tick() = 0) AND ${where} ORDER BY o.id LIMIT 2) AS k`;
  return {
    statements: [{ sql: text, params: [] }],
    fullStatements: [],
    limit: 2,
    shown: 2,
    reversed: false,
    related: [],
    mostCharacters: 1_000_000,
    template: JSON.stringify(template),
  };
}

/** The newest object. Its loop calls tick() at every row. */
const newest: Statement = {
  sql: `SELECT count(*), group_concat(json_array(k.name, json_array()), char(10)), 0, (SELECT revision || ' ' || layout_version FROM state) FROM
    (SELECT o.name FROM object AS o WHERE tick() = 0 ORDER BY +o.id DESC LIMIT 1) AS k`,
  params: [],
};

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
  // A clock that advances with each call.
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

const counted = { sql: 'SELECT count(*) FROM object', params: [] };

test('what has been committed is seen by the next read, whatever was known', async () => {
  const { file, writer } = await filled(2);
  const pages = open(file);
  for (let revision = 1; revision < 5; revision += 1) {
    for (let again = 0; again < 4; again += 1) {
      expect(pages.read([counted], [page('1')])).toMatchObject({ revision, rows: [[[revision + 1]]] });
    }
    const object = pod({ name: `m${revision}`, rv: revision + 10 });
    writer.apply(writer.declare(describedResource()), [{ type: 'ADDED', object }], String(revision + 10));
  }
});

test('a read without pages sees what has been committed, though its rows were known', async () => {
  const { file, writer } = await filled(2);
  let now = 0;
  const pages = new PagesNow({ file, ...limits, clock: { now: () => 0, monotonic: () => now } as never });
  onTestFinished(() => pages.close());
  pages.read([counted], []);
  now = 1000;
  // Looks at the files again.
  expect(pages.read([counted], [])).toMatchObject({ revision: 1, rows: [[[2]]] });
  writer.apply(writer.declare(describedResource()), [{ type: 'ADDED', object: pod({ name: 'm', rv: 10 }) }], '10');
  expect(pages.read([counted], [])).toMatchObject({ revision: 2, rows: [[[3]]] });
});

test('a page is read anew after a change of the layout that has no revision', async () => {
  const { file } = await filled(2);
  let now = 0;
  const pages = new PagesNow({ file, ...limits, clock: { now: () => 0, monotonic: () => now } as never });
  onTestFinished(() => pages.close());
  pages.read([], [page('1')]);
  now = 1000;
  const before = pages.read([], [page('1')]) as { readonly layoutVersion: number };
  const other = new Database(file, { mustExist: true, busyMs: 0 });
  onTestFinished(() => other.close());
  other.exec('UPDATE state SET layout_version = layout_version + 1');
  expect(pages.read([], [page('1')])).toMatchObject({ revision: 1, layoutVersion: before.layoutVersion + 1 });
});

/**
 * Reads pages three times, the last two times `later` milliseconds after the first. An object is added while the first page of the last
 * time is read.
 */
async function readDuringCommit(later: number, count: number) {
  const objects = 6;
  const { file, writer } = await filled(objects);
  const handle = writer.declare(describedResource());
  let now = 0;
  let looks = 0;
  let commitAt = Number.POSITIVE_INFINITY;
  const monotonic = (): number => {
    looks += 1;
    if (looks === commitAt) writer.apply(handle, [{ type: 'ADDED', object: pod({ name: 'z', rv: 50 }) }], '50');
    return now;
  };
  const pages = new PagesNow({ file, ...limits, clock: { now: () => 0, monotonic } as never });
  onTestFinished(() => pages.close());
  const last = page(`o.name > 'n'`);
  const asked = Array.from({ length: count }, () => ({ ...last, statements: [newest] }));
  const read = () => pages.read([counted], asked);
  expect(read()).toMatchObject({ revision: 1 });
  now += later;
  expect(read()).toMatchObject({ revision: 1 });
  // A page reads the clock for its statement and for each row. Other readings are few.
  looks = 0;
  commitAt = objects;
  const answer = read();
  return { answer, pagesRead: Math.floor(looks / (objects + 2)) };
}

test('a read is of one snapshot, whatever is committed meanwhile: of the later one where no commit was expected', async () => {
  expect(await readDuringCommit(1000, 2)).toMatchObject({
    answer: { revision: 2, rows: [[[7]]], pages: [{ lists: ['["z"]'] }, { lists: ['["z"]'] }] },
    pagesRead: 4,
  });
});

test('a page that is read alone is of the snapshot in which it began, and is read once', async () => {
  expect(await readDuringCommit(1000, 1)).toMatchObject({
    answer: { revision: 1, rows: [[[6]]], pages: [{ lists: ['["n5"]'] }] },
    pagesRead: 1,
  });
});

test('soon after a commit nothing is read twice: the snapshot is held', async () => {
  expect(await readDuringCommit(1, 2)).toMatchObject({
    answer: { revision: 1, rows: [[[6]]], pages: [{ lists: ['["n5"]'] }, { lists: ['["n5"]'] }] },
    pagesRead: 2,
  });
});

test('another file in the place of the store is found', async () => {
  const [old, young] = [await filled(2), await filled(3)];
  const pages = open(old.file);
  const read = () => pages.read([counted], [page('1')]);
  read();
  old.writer.close();
  young.writer.close();
  for (let again = 0; again < 4; again += 1) expect(read()).toMatchObject({ rows: [[[2]]] });
  for (const beside of ['-wal', '-shm']) rmSync(`${old.file}${beside}`, { force: true });
  renameSync(young.file, old.file);
  await expect.poll(read).toMatchObject({ rows: [[[3]]] });
});

test('where there is no store, nothing is said', () => {
  expect(open(storeFile()).read([], [page('1')])).toBeNull();
});
