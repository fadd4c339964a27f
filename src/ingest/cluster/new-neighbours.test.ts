import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import { NewNeighbours } from './new-neighbours.ts';

function resource(group: string, kind: string): Resource {
  const plural = `${kind.toLowerCase()}s`;
  return {
    group,
    version: 'v1',
    plural,
    singular: '',
    kind,
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
  };
}

const cart = resource('shop.example.com', 'Cart');
const bill = resource('pay.example.com', 'Bill');
const pod = resource('', 'Pod');

test('custom resources of an API are due once, when its kinds have stayed the same for a while', () => {
  const clock = new ManualClock();
  const neighbours = new NewNeighbours(clock);
  const dueAt = (kinds: readonly Resource[]): boolean[] => {
    neighbours.see(kinds);
    return [cart, bill, pod].map((each) => neighbours.isDue(each));
  };
  expect(dueAt([cart, pod])).toEqual([false, false, false]);
  clock.advance(60_000);
  expect(dueAt([cart, pod])).toEqual([false, false, false]);
  expect(dueAt([cart, bill, pod])).toEqual([false, false, false]);
  clock.advance(29_000);
  expect(dueAt([cart, bill, pod])).toEqual([false, false, false]);
  clock.advance(1000);
  expect(dueAt([cart, bill, pod])).toEqual([true, true, false]);
  // The round failed: the same again.
  expect(dueAt([cart, bill, pod])).toEqual([true, true, false]);
  neighbours.done();
  expect(dueAt([cart, bill, pod])).toEqual([false, false, false]);
});

test('other kinds meanwhile begin the wait again', () => {
  const clock = new ManualClock();
  const neighbours = new NewNeighbours(clock);
  neighbours.see([cart]);
  neighbours.see([cart, bill]);
  clock.advance(20_000);
  neighbours.see([cart, bill, resource('shop.example.com', 'Item')]);
  clock.advance(20_000);
  neighbours.see([cart, bill, resource('shop.example.com', 'Item')]);
  expect(neighbours.isDue(cart)).toBe(false);
});
