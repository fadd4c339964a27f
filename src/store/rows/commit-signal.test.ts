import { expect, onTestFinished, test } from 'vitest';
import { describedResource, event, pod, storeFile } from '../../../test/kit/store-file.ts';
import { open, read } from '../../../test/kit/written-store.ts';
import { joinCommits } from '../types/change.ts';
import { idleStatus, type ResourceHandle } from '../types/progress.ts';
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
  const { epoch } = writer;
  expect(heard).toEqual([
    { epoch, after: 0, revision: 0, kindIds: [], catalogVersion: 1, layoutVersion: 2 },
    { epoch, after: 0, revision: 0, kindIds: [], catalogVersion: 1, layoutVersion: 3 },
    { epoch, after: 0, revision: 1, kindIds: [1], catalogVersion: 1, layoutVersion: 3 },
    { epoch, after: 1, revision: 2, kindIds: [1], catalogVersion: 1, layoutVersion: 3 },
  ]);
  stop();
  writer.apply(handle, [event('MODIFIED', { name: 'a', rv: 3 })], '3');
  expect(heard.at(-1)?.revision).toBe(2);
});

test('commits follow each other in the log, and each names the kinds of its entries', async () => {
  const { writer, file } = open({ maxDifferences: 2, changeLog: { maxBytes: 1e9 } });
  const heard: Commit[] = [];
  writer.onCommit((commit) => heard.push(commit));
  writer.openCluster('east', 'first');
  const [pods, nodes] = ['pods', 'nodes'].map((plural) => writer.declare(describedResource({ plural })));
  if (pods === undefined || nodes === undefined) throw new Error('two resources were declared');
  const relist = async (handle: ResourceHandle, ...names: readonly string[]): Promise<void> => {
    const replace = writer.replace(handle);
    replace.put(names.map((name, index) => pod({ name, rv: 100 + index })));
    await replace.commit('200');
  };
  await relist(pods, 'a', 'b');
  await relist(nodes, 'c');
  writer.apply(pods, [event('DELETED', { name: 'a', rv: 201 }), event('ADDED', { name: 'd', rv: 202 })], '202');
  // Few differences are changes; many are a RESET.
  await relist(pods, 'b', 'e');
  await relist(nodes, 'f', 'g', 'h', 'i');
  writer.retain(nodes, { maxObjects: 1, maxAgeMs: 1e12 });
  await writer.drop(nodes);
  writer.openCluster('east', 'second');
  while (writer.maintain());
  const kinds = ({ after, revision }: Commit): unknown[] =>
    read(file, `SELECT DISTINCT kind FROM change WHERE seq > ${after} AND seq <= ${revision} ORDER BY 1`).flat();
  expect(heard.map(({ kindIds }) => kindIds.toSorted())).toEqual(heard.map(kinds));
  expect(heard.slice(1).map(({ after }) => after)).toEqual(heard.slice(0, -1).map(({ revision }) => revision));
  expect(new Set(heard.map(({ kindIds }) => kindIds.join()))).toEqual(new Set(['', '1', '2']));
});

test('joined commits are those entries together', () => {
  const first = { epoch: 'e', after: 10, revision: 12, kindIds: [1, 2] };
  const second = { epoch: 'e', after: 12, revision: 15, kindIds: [2, 3] };
  expect(joinCommits(first, second)).toEqual({ epoch: 'e', after: 10, revision: 15, kindIds: [1, 2, 3] });
});
