/**
 * docs/history.md: its queries run on the demo world, and its example of sizes is computed. `npm test -- test/docs/history.test.ts -u` writes
 * the table.
 */
import { describe, expect, test } from 'vitest';
import { demoGateway } from '../kit/demo-gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const path = 'docs/history.md';
const page = readPage(path);

describe('on the demo world', () => {
  const gateway = demoGateway({ pods: 200, churn: false });

  test('the page has its queries', () => {
    expect(blocksOf(page, 'graphql').length).toBeGreaterThan(4);
  });

  test.each(blocksOf(page, 'graphql'))('%s', async (query) => {
    const { data, errors } = await ask(gateway.url, query);
    expect(errors).toBeUndefined();
    expect(Object.values(data ?? {}).some((value) => value !== null)).toBe(true);
  });
});

const mebibyte = 2 ** 20;
/** By `npm run bench -- events`. */
const bytesOfChange = 3700;
/** Changes in a second, of each of `count` kinds. */
const kinds = [
  { name: 'Pods', changes: '20 in a second', rate: 20, count: 1 },
  { name: 'Deployments', changes: 'one in ten seconds', rate: 1 / 10, count: 1 },
  { name: 'ten custom resources', changes: 'one in ten minutes, each', rate: 1 / 600, count: 10 },
];

function timeOf(seconds: number): string {
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 2 * 86_400 ? `${Math.round(seconds / 3600)} hours` : `${Math.round(seconds / 86_400)} days`;
}

/** In balance, the bytes times the age are equal. So the bytes of a kind are as the square root of its bytes in a second. */
test('the page has the sizes of a log in balance', async () => {
  const roots = kinds.map(({ rate, count }) => Math.sqrt(rate) * count).reduce((sum, root) => sum + root, 0);
  const rows = kinds.map(({ name, changes, rate, count }) => {
    const bytes = (256 * mebibyte * Math.sqrt(rate)) / roots;
    const each = count > 1 ? ' each' : '';
    return `| ${name} | ${changes} | ${Math.round(bytes / mebibyte)} MiB${each} | ${timeOf(bytes / (rate * bytesOfChange))} |`;
  });
  const table = ['| kind | changes | bytes kept | time kept |', '|---|---|---|---|', ...rows].join('\n');
  const written = page.replace(/\| kind \| changes \|[\s\S]*?(?=\n\n)/, () => table);
  await expect(written).toMatchFileSnapshot(`../../${path}`);
});
