import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

const never = new AbortController().signal;
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('lets so many in, then the next in the order of asking', async () => {
  const semaphore = new Semaphore(2);
  const [first, second] = [await semaphore.enter(never), await semaphore.enter(never)];
  const entered: string[] = [];
  const third = semaphore.enter(never).then((leave) => {
    entered.push('third');
    return leave;
  });
  void semaphore.enter(never).then(() => entered.push('fourth'));
  await turns();
  expect(entered).toEqual([]);
  first();
  first();
  await turns();
  expect(entered).toEqual(['third']);
  (await third)();
  await turns();
  expect(entered).toEqual(['third', 'fourth']);
  expect(semaphore.inside).toBe(2);
  second();
  expect(semaphore.inside).toBe(1);
});

test('who gives up waiting takes no place', async () => {
  const semaphore = new Semaphore(1);
  const leave = await semaphore.enter(never);
  const abort = new AbortController();
  const waiting = semaphore.enter(abort.signal);
  abort.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(semaphore.enter(abort.signal)).rejects.toThrow('stopped');
  leave();
  expect(semaphore.inside).toBe(0);
  await expect(semaphore.enter(never)).resolves.toBeTypeOf('function');
});

test('clients take turns', async () => {
  const semaphore = new Semaphore(1);
  const leave = await semaphore.enter(never);
  const entered: string[] = [];
  const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(async (name) => {
    const done = await semaphore.enter(never, name.slice(0, 1));
    entered.push(name);
    done();
  });
  expect([semaphore.waiting, semaphore.waitingOf('a'), semaphore.waitingOf('z')]).toEqual([6, 3, 0]);
  leave();
  await Promise.all(all);
  expect(entered).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});
