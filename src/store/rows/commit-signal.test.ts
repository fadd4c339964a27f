import { expect, onTestFinished, test } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import { idleStatus } from '../types/progress.ts';
import { openWriter } from '../write/writer.ts';
import type { Commit } from './commit-signal.ts';

test('a listener hears of each commit that moved something, until it is removed; one that throws harms nobody', async () => {
  const writer = openWriter(storeFile(), { checkpoints: 'inline' });
  onTestFinished(() => writer.close());
  const heard: Commit[] = [];
  writer.onCommit(() => {
    throw new Error('a defect of the listener');
  });
  const stop = writer.onCommit((commit) => heard.push(commit));
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put([pod({ name: 'a', rv: 1 })]);
  await replace.commit('1');
  writer.setStatus(handle, { ...idleStatus, phase: 'WATCHING' });
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 2 })], '2');
  expect(heard).toEqual([
    { revision: 0, catalogVersion: 1, layoutVersion: 2 },
    { revision: 0, catalogVersion: 1, layoutVersion: 3 },
    { revision: 1, catalogVersion: 1, layoutVersion: 3 },
    { revision: 2, catalogVersion: 1, layoutVersion: 3 },
  ]);
  stop();
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 3 })], '3');
  expect(heard.at(-1)?.revision).toBe(2);
});
