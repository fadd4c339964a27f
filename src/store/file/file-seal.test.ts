/** The seal on real files: what Portolan writes is its own, and what others do is found. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { storeFile } from '../../../test/kit/store-file.ts';
import { FileSeal, keepsTimes, sealMemory } from './file-seal.ts';

/** The seals of the writer and of a reader. */
function sealed(isTrusted = true): { file: string; writer: FileSeal; reader: FileSeal } {
  const file = storeFile();
  for (const each of [file, `${file}-wal`]) writeFileSync(each, 'what the store has written');
  const memory = sealMemory();
  const writer = new FileSeal(file, memory);
  const reader = new FileSeal(file, memory);
  writer.open();
  if (isTrusted) writer.trust();
  return { file, writer, reader };
}

function scribble(file: string): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, 'X', 3);
  closeSync(descriptor);
  // A coarse clock may give a write the time of the one before.
  utimesSync(file, new Date(), new Date(1_700_000_000_000));
}

test('its own writes break nothing, however they overlap', () => {
  const { file, writer, reader } = sealed();
  writer.writing('file', () => scribble(file));
  writer.begin('log');
  scribble(`${file}-wal`);
  writer.begin('log');
  scribble(`${file}-wal`);
  writer.end('log');
  expect(reader.broken()).toBeNull();
  scribble(`${file}-wal`);
  writer.end('log');
  expect([reader.broken(), writer.broken()]).toEqual([null, null]);
});

test.each([
  ['written by another program', (file: string) => scribble(file), 'another program has written into it'],
  ['gone', (file: string) => rmSync(file), 'the file is gone'],
  [
    'replaced',
    (file: string) => {
      copyFileSync(file, `${file}-copy`);
      renameSync(`${file}-copy`, file);
    },
    'another file is in its place',
  ],
])('a file that is %s is found by whoever looks first, and by all others', (_what, change, reason) => {
  for (const suffix of ['', '-wal']) {
    const { file, writer, reader } = sealed();
    change(`${file}${suffix}`);
    const found = reader.broken();
    expect(found).toMatch(suffix === '' ? reason : /write-ahead log/);
    expect(writer.broken()).toBe(found);
  }
});

test('a write of another program is not hidden by a checkpoint that follows', () => {
  const { file, writer, reader } = sealed();
  scribble(file);
  writer.writing('file', () => scribble(file));
  expect(reader.broken()).toBe('another program has written into it');
});

test('what is lost stays lost until another file is opened', () => {
  const { file, writer, reader } = sealed();
  writer.lose();
  writer.close();
  expect(reader.broken()).toBe('the file is damaged');
  new FileSeal(file, writer.memory).open();
  expect(reader.broken()).toBeNull();
});

test('a closed store is not watched', () => {
  const { file, writer, reader } = sealed();
  writer.close();
  rmSync(file);
  expect(reader.broken()).toBeNull();
});

test('where times mean nothing, only the files are compared', () => {
  const { file, writer, reader } = sealed(false);
  scribble(file);
  expect(reader.broken()).toBeNull();
  writer.trust();
  writer.distrust();
  expect(reader.broken()).toBeNull();
  rmSync(file);
  expect(reader.broken()).toBe('the file is gone');
});

test('a link at the place of the probe is not followed', () => {
  const file = storeFile();
  const other = `${file}-other`;
  writeFileSync(other, 'not ours');
  symlinkSync(other, `${file}-probe`);
  expect(keepsTimes(file)).toBe(true);
  expect([readFileSync(other, 'utf8'), existsSync(`${file}-probe`)]).toEqual(['not ours', false]);
});

test('the file system of the tests sets times with the write, and a folder that is gone cannot be asked', () => {
  const file = storeFile();
  expect(keepsTimes(file)).toBe(true);
  expect(keepsTimes(`${file}-no/store.db`)).toBeNull();
});
