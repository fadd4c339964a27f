import { expect, test } from 'vitest';
import { WriteGate } from './write-gate.ts';

test('a cluster that hangs holds its own places, and callers take turns for them', async () => {
  const gate = new WriteGate();
  const hanging = await Promise.all(Array.from({ length: 64 }, () => gate.enter('sick', 'mallory', undefined)));
  const order: string[] = [];
  const enter = (client: string) => gate.enter('sick', client, undefined).then(() => order.push(client));
  const waiting = [enter('mallory'), enter('mallory'), enter('jane')];
  // Another cluster has places of its own.
  (await gate.enter('sound', 'jane', undefined))();
  expect(order).toEqual([]);
  for (const leave of hanging) leave();
  await Promise.all(waiting);
  expect(order.indexOf('jane')).toBeLessThan(2);
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(gate.enter('sick', 'jane', gone)).rejects.toThrow('gone');
});

test('what one mutation holds is bounded, and what all hold, until they end', () => {
  const gate = new WriteGate();
  const mebibyte = 2 ** 20;
  const one = gate.held();
  one.add(32 * mebibyte);
  expect(() => one.add(1)).toThrow(expect.objectContaining({ code: 'QUERY_TOO_COSTLY' }));
  one.end();
  const many = Array.from({ length: 8 }, () => gate.held());
  for (const held of many) held.add(32 * mebibyte);
  const other = gate.held();
  expect(() => other.add(1)).toThrow(expect.objectContaining({ code: 'TOO_MANY_REQUESTS' }));
  other.end();
  many[0]?.end();
  expect(() => gate.held().add(mebibyte)).not.toThrow();
});
