/** Values for objects and filters: those that are hard to compare, those of the wrong type, those that are not there. */
import type { LeafType } from '../../src/catalog/tree/field-tree.ts';
import { rawJson } from '../../src/catalog/values/raw-json.ts';
import { checkValue } from '../../src/catalog/values/values.ts';
import { pools, types } from '../kit/leaf-values.ts';
import type { Dice } from './dice.ts';

const suffixes = [
  '',
  'n',
  'u',
  'm',
  'k',
  'M',
  'G',
  'T',
  'P',
  'E',
  'Ki',
  'Mi',
  'Gi',
  'Ti',
  'Pi',
  'Ei',
  'e3',
  'E-3',
  'e18',
];
const numbers = ['0', '1', '-1', '+1', '.5', '5.', '1.50', '1000', '1024', '0.001', '00012', '9007199254740993'];

/** Names, keys and texts that break a quote, a path, a C string or an order. */
export const hostileKeys = [
  'a',
  'app',
  'x/y.z',
  'o"d.n\\a[0]\0',
  '',
  '0',
  '__proto__',
  'cpu',
  'é',
  '😀',
  '$',
  '*',
  'length',
];

/** A value that a leaf of this type is meant to have; some of them do not fit all the same. */
export function madeValue(type: LeafType, dice: Dice): unknown {
  if (type === 'Quantity' && dice.chance(0.6)) return dice.pick(numbers) + dice.pick(suffixes);
  if (type === 'JSON' && dice.chance(0.5)) return freeJson(dice, 3);
  return dice.pick(pools[type]);
}

/** A value that a leaf of this type may be compared with. */
export function comparableOf(type: LeafType, dice: Dice): unknown {
  for (;;) {
    const value = madeValue(type, dice);
    if (checkValue(type, value) === null) return value;
  }
}

/** What should not stand there at all. */
export function strayValue(dice: Dice): unknown {
  return dice.choose<unknown>([
    [4, () => null],
    [4, () => madeValue(dice.pick(types), dice)],
    [1, () => ({})],
    [1, () => []],
    [1, () => [null, [], 'a', 5, rawJson('9007199254740993')]],
    [1, () => ({ a: null, type: 'Ready', name: 5 })],
  ]);
}

export const freeNames = ['a', 'b', 'list', 'o"d'];

/** A document of a free-form field; its names are few, so that paths meet them. */
export function freeJson(dice: Dice, depth: number): unknown {
  return dice.choose<unknown>([
    [3, () => dice.pick(pools.JSON)],
    [1, () => dice.pick(pools.String)],
    [1, () => null],
    [
      depth > 0 ? 3 : 0,
      () => Object.fromEntries(dice.sample(freeNames, 3).map((name) => [name, freeJson(dice, depth - 1)])),
    ],
    [depth > 0 ? 2 : 0, () => dice.times(dice.below(4), () => freeJson(dice, depth - 1))],
  ]);
}
