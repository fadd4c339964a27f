/**
 * A data folder that is emptied, replaced by an older one, or overwritten under a running gateway, while fifty subscribers and queries run.
 *
 * PORTOLAN_SEEDS is the number of seeds for the overwritten file (2); PORTOLAN_SEED=n plays that one alone.
 */
import { closeSync, cpSync, fstatSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { randomRuns } from '../kit/random-runs.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { type DataFolder, dataFolder } from './data-folder-bench.ts';

const { PORTOLAN_SEED, PORTOLAN_SEEDS } = process.env;
const seeds =
  PORTOLAN_SEED === undefined
    ? Array.from({ length: Number(PORTOLAN_SEEDS ?? randomRuns(2, 5)) }, (_, index) => index + 1)
    : [Number(PORTOLAN_SEED)];

const pageBytes = 4096;

/** The store is lost: said in five seconds, and everything is right thirty seconds later. */
async function isMadeAnew(bench: DataFolder, lose: () => void): Promise<void> {
  const before = (await bench.readyz()).rebuilds;
  lose();
  const said = await bench.saysWithin(({ rebuilds }) => expect(rebuilds).toBeGreaterThan(before));
  const well = await bench.wellWithin();
  // Whoever copies several files may overwrite one that is new already.
  const { rebuilds } = await bench.readyz();
  const errors = bench.gateway.log.filter(({ level, msg }) => level === 50 && msg.includes('is lost'));
  expect(errors).toHaveLength(rebuilds);
  expect(bench.judged.wrong).toEqual([]);
  took.said.push(said);
  took.well.push(well);
}

/** Milliseconds of each fault of a test. */
const took = { said: [] as number[], well: [] as number[] };

afterEach(({ task }) => {
  const [said, well] = [took.said, took.well].map((each) => `${Math.min(...each)} to ${Math.max(...each)} ms`);
  if (took.well.length > 0)
    process.stdout.write(`${task.name}: ${took.well.length} faults, said after ${said}, well ${well} later\n`);
  took.said.length = 0;
  took.well.length = 0;
});

function emptied(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

test('a folder that is emptied, removed, or moved away', { timeout: 180_000 }, async () => {
  const bench = await dataFolder(join(temporaryDirectory('data'), 'data'));
  await isMadeAnew(bench, () => emptied(bench.folder));
  await isMadeAnew(bench, () => rmSync(bench.folder, { recursive: true }));
  await isMadeAnew(bench, () => renameSync(bench.folder, `${bench.folder}-moved`));
  await bench.end();
});

test('a folder of a gateway with two serve processes that is emptied, moved away, and overwritten', {
  timeout: 240_000,
}, async () => {
  const bench = await dataFolder(join(temporaryDirectory('data'), 'data'), 1, ['--processes', '2']);
  await isMadeAnew(bench, () => emptied(bench.folder));
  await isMadeAnew(bench, () => renameSync(bench.folder, `${bench.folder}-moved`));
  await isMadeAnew(bench, () => overwrite(bench.file, seededRandom(3), true));
  await isMadeAnew(bench, () => overwrite(bench.file, seededRandom(4), false));
  await bench.end();
});

test('an older folder in place of the folder: moved there, and copied over it', { timeout: 180_000 }, async () => {
  const bench = await dataFolder(join(temporaryDirectory('data'), 'data'));
  const older = `${bench.folder}-older`;
  cpSync(bench.folder, older, { recursive: true });
  await bench.wellWithin();
  cpSync(older, `${older}-moved`, { recursive: true });
  await isMadeAnew(bench, () => {
    renameSync(bench.folder, `${bench.folder}-away`);
    renameSync(`${older}-moved`, bench.folder);
  });
  await isMadeAnew(bench, () => cpSync(older, bench.folder, { recursive: true, force: true }));
  await bench.end();
});

test('pages overwritten at random places, the first among them', {
  timeout: 60_000 + seeds.length * 40_000,
}, async () => {
  const bench = await dataFolder(join(temporaryDirectory('data'), 'data'));
  for (const seed of seeds) {
    const random = seededRandom(seed);
    await bench.answered();
    await isMadeAnew(bench, () => overwrite(seed % 4 === 0 ? `${bench.file}-wal` : bench.file, random, seed % 3 === 0));
  }
  await bench.end();
});

/** Overwrites one to twenty pages with random bytes. */
function overwrite(file: string, random: () => number, first: boolean): void {
  const descriptor = openSync(file, 'r+');
  try {
    const pages = Math.max(1, Math.floor(fstatSync(descriptor).size / pageBytes));
    const count = 1 + Math.floor(random() * 20);
    for (let index = 0; index < count; index += 1) {
      const page = first && index === 0 ? 0 : Math.floor(random() * pages);
      const bytes = Buffer.from(Array.from({ length: pageBytes }, () => Math.floor(random() * 256)));
      writeSync(descriptor, bytes, 0, pageBytes, page * pageBytes);
    }
  } finally {
    closeSync(descriptor);
  }
}
