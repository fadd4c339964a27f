/** Slots of requests: who holds one, who waits without one, and who is ended. */
import { expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { type Slot, Slots } from './slots.ts';

const never = new AbortController().signal;

function bench(places: number) {
  const clock = new ManualClock();
  const slots = new Slots(clock, places);
  const entered: { readonly name: string; readonly slot: Slot }[] = [];
  const enter = (name: string, group = ''): void => {
    void slots.enter(group, never).then((slot) => entered.push({ name, slot }));
  };
  return { clock, slots, entered, enter, names: () => entered.map(({ name }) => name) };
}

test('a request without a byte gives its slot back, one that receives keeps it', async () => {
  const { clock, entered, enter, names } = bench(2);
  enter('hangs');
  enter('receives');
  enter('next');
  enter('last');
  await settle();
  await clock.advance(900);
  entered[1]?.slot.received();
  await clock.advance(200);
  expect(names()).toEqual(['hangs', 'receives', 'next']);
  entered[0]?.slot.leave();
  await settle();
  expect(names()).toHaveLength(3);
  entered[1]?.slot.leave();
  await settle();
  expect(names()).toEqual(['hangs', 'receives', 'next', 'last']);
});

test('groups take turns: a request of another group does not wait for all that hang', async () => {
  const { clock, enter, names } = bench(1);
  for (let index = 0; index < 50; index += 1) enter(`sick${index}`, 'sick');
  enter('sound', 'sound');
  await settle();
  await clock.advance(1100);
  await clock.advance(1100);
  expect(names().indexOf('sound')).toBeGreaterThanOrEqual(0);
  expect(names().length).toBeLessThan(5);
});

test('more than sixty-four that wait end the one that has waited longest', async () => {
  const { clock, entered, enter } = bench(4);
  for (let index = 0; index < 80; index += 1) enter(`hangs${index}`);
  for (let second = 0; second < 19; second += 1) await clock.advance(1000);
  const ended = entered.filter(({ slot }) => slot.signal.aborted).map(({ name }) => name);
  expect(ended.slice(0, 4)).toEqual(['hangs0', 'hangs1', 'hangs2', 'hangs3']);
  expect(ended.length).toBeLessThanOrEqual(16);
  expect(entered[0]?.slot.signal.reason).toMatchObject({ message: expect.stringContaining('sent nothing for') });
});
