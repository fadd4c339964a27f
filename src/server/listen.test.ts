/** A port that several processes of one gateway share is not shared with another gateway. */
import { expect, onTestFinished, test } from 'vitest';
import { reservePort } from './listen.ts';

async function reserved(host: string, port: number): Promise<number | string> {
  try {
    const found = await reservePort({ host, port });
    onTestFinished(() => found.release());
    return found.port;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  ['127.0.0.1', '127.1'],
  ['127.1', '127.0.0.1'],
  ['127.0.0.1', '0.0.0.0'],
  ['0.0.0.0', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.2'],
])('one at %s and one at %s do not share a port, although none listens yet', async (first, second) => {
  const port = await reserved(first, 0);
  expect(port).toEqual(expect.any(Number));
  expect(await reserved(second, Number(port))).toContain(`Port ${port} is taken`);
});

test('two addresses of this machine can have the same port', async () => {
  const port = await reserved('127.0.0.1', 0);
  expect(await reserved('127.0.0.2', Number(port))).toBe(port);
});

test('a port that was released can be reserved again', async () => {
  const first = await reservePort({ host: '127.0.0.1', port: 0 });
  const other = await reserved('0.0.0.0', first.port);
  expect(other).toContain('is taken');
  first.release();
  expect(await reserved('0.0.0.0', first.port)).toBe(first.port);
});
