import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { WalGate } from './wal-gate.ts';

test('leases wait beyond the gate, short reads beyond a quarter more', () => {
  const clock = new ManualClock();
  let bytes = 0;
  const gate = new WalGate(() => bytes, { clock, gateBytes: 1000, patienceMs: 500 });
  const isOpen = (size: number): readonly boolean[] => {
    bytes = size;
    clock.advance(10);
    return [gate.isOpen(1), gate.isOpenForShort(1)];
  };
  expect(isOpen(1000)).toEqual([true, true]);
  expect(isOpen(1001)).toEqual([false, true]);
  expect(isOpen(1250)).toEqual([false, true]);
  expect(isOpen(1251)).toEqual([false, false]);
  expect(isOpen(0)).toEqual([true, true]);
});
