/** The seal in another process: it has no memory in common with the writing process, but a copy in a file. */
import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { storeFile } from '../../../test/kit/store-file.ts';
import { createSealCopy, FileSeal, sealMemory } from './file-seal.ts';

function sealed() {
  const file = storeFile();
  const copy = `${file}-copy`;
  createSealCopy(copy);
  for (const each of [file, `${file}-wal`]) writeFileSync(each, 'what the store has written');
  const writer = new FileSeal(file, sealMemory({ writes: copy }));
  const reader = new FileSeal(file, sealMemory({ reads: copy }));
  onTestFinished(() => reader.release());
  return { file, copy, writer, reader };
}

/** Writes into the file, and gives it a time that is unique to this write. */
let seconds = 1_700_000_000;
function scribble(file: string): void {
  seconds += 1;
  utimesSync(file, new Date(), new Date(seconds * 1000));
}

test('a write of another program is found by a process that shares no memory with the writer', () => {
  const { file, writer, reader } = sealed();
  expect(reader.broken()).toBeNull();
  writer.open();
  writer.trust();
  for (let turn = 0; turn < 3; turn += 1) {
    writer.writing('file', () => scribble(file));
    writer.writing('log', () => scribble(`${file}-wal`));
    expect([reader.broken(), reader.isLost]).toEqual([null, false]);
  }
  scribble(file);
  expect(reader.broken()).toBe('another program has written into it');
  // The writer has not looked yet.
  writer.lose();
  expect([reader.isLost, reader.broken()]).toEqual([true, 'the file is damaged']);
  rmSync(file);
  writeFileSync(file, 'a new store');
  writer.open();
  expect([reader.isLost, reader.broken()]).toEqual([false, null]);
  writer.close();
  scribble(file);
  expect(reader.broken()).toBeNull();
});

test('times are not compared before they are trusted, and not while a write runs', () => {
  const { file, writer, reader } = sealed();
  writer.open();
  scribble(file);
  expect(reader.broken()).toBeNull();
  writer.open();
  writer.trust();
  writer.begin('file');
  scribble(file);
  expect(reader.broken()).toBeNull();
  writer.end('file');
  expect(reader.broken()).toBeNull();
  writer.distrust();
  scribble(file);
  expect(reader.broken()).toBeNull();
});

test('a file that is gone or replaced is found, and so is its log', () => {
  for (const [suffix, expected] of [
    ['', 'another file is in its place'],
    ['-wal', 'another file is in place of its write-ahead log'],
  ] as const) {
    const { file, writer, reader } = sealed();
    writer.open();
    writeFileSync(`${file}-other`, 'other');
    renameSync(`${file}-other`, `${file}${suffix}`);
    expect(reader.broken()).toBe(expected);
  }
});

test('each store that is made anew leaves no file open', () => {
  const { file, copy, reader } = sealed();
  const openFiles = (): number => readdirSync('/proc/self/fd').length;
  const before = openFiles();
  for (let store = 0; store < 20; store += 1) {
    const writer = new FileSeal(file, sealMemory({ writes: copy }));
    writer.open();
    expect(reader.broken()).toBeNull();
    writer.close();
    reader.release();
  }
  expect(openFiles()).toBe(before);
});

test('a copy that cannot be written, or read, proves nothing and harms nobody', () => {
  const { file, copy, writer, reader } = sealed();
  rmSync(copy);
  mkdirSync(copy);
  writer.open();
  writer.trust();
  writer.writing('file', () => scribble(file));
  scribble(file);
  expect([writer.broken(), reader.broken()]).toEqual(['another program has written into it', null]);
});

test('no write of Portolan is taken for one of another program, however writes and looks meet', async () => {
  const { file, copy, reader } = sealed();
  const code = `
    const { parentPort } = require('node:worker_threads');
    const { openSync, writeSync } = require('node:fs');
    import(${JSON.stringify(new URL('./file-seal.ts', import.meta.url).href)}).then(({ FileSeal, sealMemory }) => {
      const seal = new FileSeal(${JSON.stringify(file)}, sealMemory({ writes: ${JSON.stringify(copy)} }));
      seal.open();
      seal.trust();
      const files = { file: openSync(${JSON.stringify(file)}, 'r+'), log: openSync(${JSON.stringify(`${file}-wal`)}, 'r+') };
      parentPort.postMessage('begun');
      for (let at = 0; at < 20_000; at += 1) {
        const part = at % 3 === 0 ? 'file' : 'log';
        seal.begin(part);
        writeSync(files[part], String(at), 0);
        seal.end(part);
      }
      parentPort.postMessage('over');
    });`;
  const worker = new Worker(code, { eval: true });
  onTestFinished(() => void worker.terminate());
  const said: unknown[] = [];
  worker.on('message', (word: unknown) => said.push(word));
  worker.on('error', (error) => said.push(error));
  /** While the worker writes. */
  let looks = 0;
  for (let turn = 0; said.at(-1) !== 'over'; turn += 1) {
    expect(said.filter((word) => word instanceof Error)).toEqual([]);
    expect(reader.broken()).toBeNull();
    if (said.includes('begun')) looks += 1;
    if (turn % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(looks).toBeGreaterThan(100);
  scribble(file);
  expect(reader.broken()).toBe('another program has written into it');
});
