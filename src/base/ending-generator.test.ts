import { expect, test } from 'vitest';
import { endingGenerator } from './ending-generator.ts';

function waiting(): { readonly generator: AsyncGenerator<string, void, undefined>; readonly ends: () => number } {
  let ends = 0;
  let resume = (): void => {};
  const ended = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return {
    generator: endingGenerator<string>(
      async () => {
        await ended;
        return { done: true, value: undefined };
      },
      async () => {
        ends += 1;
        resume();
      },
    ),
    ends: () => ends,
  };
}

test('return ends a pending next', async () => {
  const { generator, ends } = waiting();
  const pending = generator.next();
  expect(await generator.return()).toEqual({ done: true, value: undefined });
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(ends()).toBe(1);
});

test('throw ends it and rejects with the same error', async () => {
  const { generator, ends } = waiting();
  await expect(generator.throw(new Error('enough'))).rejects.toThrow('enough');
  expect(ends()).toBe(1);
});

test('it can be iterated and left, and disposed of', async () => {
  let ends = 0;
  const numbers = (): AsyncGenerator<number, void, undefined> =>
    endingGenerator<number>(
      async () => ({ done: false, value: 1 }),
      async () => {
        ends += 1;
      },
    );
  for await (const value of numbers()) {
    expect(value).toBe(1);
    break;
  }
  {
    await using left = numbers();
    await left.next();
  }
  expect(ends).toBe(2);
});
