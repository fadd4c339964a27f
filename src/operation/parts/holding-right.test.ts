import { expect, test } from 'vitest';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { HoldingRight } from './holding-right.ts';

test('an operation that goes on without leases does not keep the right', async () => {
  const holders = { turns: new Semaphore(1), leaseMs: 20 };
  const waiting = new HoldingRight(holders, undefined, 'a');
  const other = new HoldingRight(holders, undefined, 'b');
  await waiting.enter();
  await other.enter();
  expect(holders.turns.inside).toBe(1);

  other.leave();
  other.leave();
  await expect.poll(() => holders.turns.inside).toBe(0);
});

test('an operation enters again after the time of a lease', async () => {
  const holders = { turns: new Semaphore(1), leaseMs: 20 };
  const right = new HoldingRight(holders, undefined, 'a');
  await right.enter();
  await expect.poll(() => holders.turns.inside).toBe(0);

  await right.enter();
  expect(holders.turns.inside).toBe(1);
  right.leave();
  await expect.poll(() => holders.turns.inside).toBe(0);
});
