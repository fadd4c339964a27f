/**
 * A data folder whose disk is full, or that cannot be written, under a running gateway, while fifty subscribers and queries run.
 *
 * The disk is a small file system in memory, which only root can mount.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/log.ts';
import { openStore } from '../../src/store/file/open-store.ts';
import { data } from '../kit/graphql-client.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { type DataFolder, dataFolder, type Readiness } from './data-folder-bench.ts';

const isRoot = process.geteuid?.() === 0;

/** The fault is said in five seconds, answers are right or say their age, and everything is right thirty seconds after the mend. */
async function isSaid(
  bench: DataFolder,
  said: Partial<Readiness>,
  { mend, stops }: { readonly mend: () => void; readonly stops: boolean },
): Promise<void> {
  const kind = String(said.fault?.kind);
  const saidMs = await bench.saysWithin((readiness) =>
    expect(readiness).toMatchObject({ ready: true, status: 'degraded', ...said }),
  );
  const lines = () => bench.gateway.log.filter(({ level, fault }) => level === 50 && fault === kind);
  expect(lines()).toHaveLength(1);
  expect(await bench.gateway.metrics()).toContain(`portolan_store_fault{kind="${kind}"} 1`);
  if (stops) await bench.outdated();
  await bench.answered();
  if (stops) {
    expect(bench.judged.stale).toBeGreaterThan(0);
    const { resources } = await data<{ resources: unknown[] }>(
      bench.gateway.url,
      '{ resources(kinds: ["ConfigMap"]) { phase staleSince error } }',
    );
    expect(resources).toEqual([
      { phase: expect.stringMatching(/PARKED|BACKOFF/), staleSince: expect.any(String), error: expect.any(String) },
    ]);
  }
  mend();
  const wellMs = await bench.wellWithin();
  expect(bench.judged.wrong).toEqual([]);
  expect(lines()).toHaveLength(1);
  process.stdout.write(`${kind}: said after ${saidMs} ms, well ${wellMs} ms after the mend\n`);
}

/** A folder on a file system of its own. */
function smallDisk(bytes: number): string {
  const folder = temporaryDirectory('disk');
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
  });
  return join(folder, 'data');
}

describe.skipIf(!isRoot)('a disk of its own, which only root can mount', () => {
  test('a full disk', { timeout: 180_000 }, async () => {
    const bench = await dataFolder(smallDisk(96 * 1024 * 1024));
    const filler = join(bench.folder, 'filler');
    fill(filler);
    await isSaid(
      bench,
      { fault: { kind: 'full', error: expect.stringContaining('is full') }, disk: { tight: true } },
      {
        mend: () => rmSync(filler),
        stops: true,
      },
    );
    await bench.end();
  });

  test('files and a folder that cannot be changed', { timeout: 180_000 }, async () => {
    const folder = join(temporaryDirectory('data'), 'data');
    const bench = await dataFolder(folder);
    const chattr = (flag: string): void => {
      const files = readdirSync(folder).map((name) => join(folder, name));
      execFileSync('chattr', [flag, ...files, folder]);
    };
    onTestFinished(() => chattr('-i'));
    chattr('+i');
    await isSaid(
      bench,
      { fault: { kind: 'readonly', error: expect.stringContaining('read-only') } },
      {
        mend: () => chattr('-i'),
        stops: stopsWriters(temporaryDirectory('data')),
      },
    );
    await bench.end();
  });

  test('a start on a full disk, and in a folder that cannot be changed', () => {
    const onDisk = smallDisk(1024 * 1024);
    fill(`${onDisk}-filler`);
    const start = (file: string) => (): void => openStore(file, { log: silentLogger }).close();
    expect(start(`${onDisk}.db`)).toThrow(expect.objectContaining({ code: 'CONFIGURATION', kind: 'full' }));
    expect(start(`${onDisk}.db`)).toThrow('free some space');
    const folder = temporaryDirectory('data');
    execFileSync('chattr', ['+i', folder]);
    try {
      expect(start(join(folder, 'portolan.db'))).toThrow(expect.objectContaining({ kind: 'readonly' }));
    } finally {
      execFileSync('chattr', ['-i', folder]);
    }
  });
});

/** Does the file system here refuse writes into a file that became immutable while it was open? */
function stopsWriters(folder: string): boolean {
  const file = join(folder, 'open');
  const descriptor = openSync(file, 'w');
  execFileSync('chattr', ['+i', file]);
  try {
    writeSync(descriptor, 'more');
    return false;
  } catch {
    return true;
  } finally {
    execFileSync('chattr', ['-i', file]);
    closeSync(descriptor);
  }
}

/** Writes until the disk is full. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (const bytes of [1024 * 1024, 4096]) {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(bytes, 1));
      } catch {
        // Full for pieces of this size.
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
