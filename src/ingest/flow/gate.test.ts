import { expect, test } from 'vitest';
import { Gate } from './gate.ts';

const never = new AbortController().signal;
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('lets so many in, then the next in the order of asking', async () => {
  const gate = new Gate(2);
  const [first, second] = [await gate.enter(never), await gate.enter(never)];
  const entered: string[] = [];
  const third = gate.enter(never).then((leave) => {
    entered.push('third');
    return leave;
  });
  void gate.enter(never).then(() => entered.push('fourth'));
  await turns();
  expect(entered).toEqual([]);
  first();
  first();
  await turns();
  expect(entered).toEqual(['third']);
  (await third)();
  await turns();
  expect(entered).toEqual(['third', 'fourth']);
  expect(gate.inside).toBe(2);
  second();
  expect(gate.inside).toBe(1);
});

test('who gives up waiting takes no place', async () => {
  const gate = new Gate(1);
  const leave = await gate.enter(never);
  const abort = new AbortController();
  const waiting = gate.enter(abort.signal);
  abort.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(gate.enter(abort.signal)).rejects.toThrow('stopped');
  leave();
  expect(gate.inside).toBe(0);
  await expect(gate.enter(never)).resolves.toBeTypeOf('function');
});
