import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { SchemaWatch } from './schema-watch.ts';

const minute = 60_000;

function setUp() {
  const clock = new ManualClock();
  const watch = new SchemaWatch(clock, 5 * minute);
  const look = async (mark: string, ms = minute): Promise<readonly string[]> => {
    await clock.advance(ms);
    return watch.look(new Map([['apps/v1', mark]]));
  };
  return { clock, watch, look };
}

test('what has not changed is never read anew', async () => {
  const { look } = setUp();
  for (let round = 0; round < 20; round += 1) expect(await look('old')).toEqual([]);
});

test('a change is taken once it has stood for five minutes, and once', async () => {
  const { look } = setUp();
  await look('old');
  for (let round = 0; round < 5; round += 1) expect(await look('new')).toEqual([]);
  expect(await look('new')).toEqual(['apps/v1']);
  expect(await look('new', 10 * minute)).toEqual([]);
});

test('a rolling upgrade, in which two servers answer by turns, changes nothing until it is over', async () => {
  const { look } = setUp();
  await look('old');
  for (let round = 0; round < 30; round += 1) expect(await look(round % 2 === 0 ? 'new' : 'old')).toEqual([]);
  for (let round = 0; round < 5; round += 1) expect(await look('new')).toEqual([]);
  expect(await look('new')).toEqual(['apps/v1']);
});

test('one that was taken back is read anew too: what was described may be of either server', async () => {
  const { look } = setUp();
  await look('old');
  await look('new');
  for (let round = 0; round < 5; round += 1) expect(await look('old')).toEqual([]);
  expect(await look('old')).toEqual(['apps/v1']);
});

test('a group version that is missing for a while is no change', async () => {
  const { clock, watch, look } = setUp();
  await look('old');
  await clock.advance(10 * minute);
  expect(watch.look(new Map())).toEqual([]);
  expect(await look('old', 10 * minute)).toEqual([]);
});
