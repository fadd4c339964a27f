import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { type IngestProgress, lostProgress, sumProgress } from '../../ingest/context/progress.ts';
import { FileSeal } from '../../store/file/file-seal.ts';
import { RemoteIngest } from './remote-ingest.ts';

const whole = (rebuilds: number): IngestProgress => ({ ...sumProgress([]), rebuilds });
const fault = { kind: 'lost', error: 'another program has written into it', since: 0 } as const;
const lost = (rebuilds: number): IngestProgress => ({ ...lostProgress(sumProgress([]), fault), rebuilds });

/** A file, ingest on it, and what a reader of this process finds. */
function started() {
  const file = join(temporaryDirectory('remote-ingest'), 'portolan.db');
  writeFileSync(file, 'first');
  const ingest = new RemoteIngest(file, `${file}-copy`, whole(0), () => {});
  const reader = new FileSeal(file, ingest.seal);
  const tell = (progress: IngestProgress) => ingest.take({ type: 'progress', progress });
  return { file, reader, tell };
}

test('nothing is read from the loss of the store until it is made anew', () => {
  const { file, reader, tell } = started();
  expect(reader.broken()).toBeNull();
  tell(lost(1));
  expect(reader.broken()).not.toBeNull();
  rmSync(file);
  tell(lost(1));
  expect(reader.broken()).not.toBeNull();
  writeFileSync(file, 'second');
  tell(whole(1));
  expect(reader.broken()).toBeNull();
});

test('a process that learns late of the loss reads the new file', () => {
  const { file, reader, tell } = started();
  renameSync(file, `${file}-away`);
  writeFileSync(file, 'second');
  // Messages that came meanwhile are joined: the process sees the newest progress alone.
  tell(whole(1));
  expect(reader.broken()).toBeNull();
  writeFileSync(`${file}-third`, 'third');
  renameSync(`${file}-third`, file);
  tell(whole(3));
  expect(reader.broken()).toBeNull();
});

test('a new file with the inode of the old one is read', () => {
  const { reader, tell } = started();
  // No process has the file open. So the system may give its inode to the new file. Here it is the same file.
  tell(lost(1));
  tell(whole(1));
  expect(reader.broken()).toBeNull();
});

test('the file of the loss is not read before another one is there', () => {
  const { reader, tell } = started();
  tell(lost(1));
  tell({ ...lost(1), objects: 1 });
  expect(reader.broken()).not.toBeNull();
});
