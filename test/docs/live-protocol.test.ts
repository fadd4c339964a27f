/** docs/live-protocol.md: each of its numbers is in the title of a test, and titles name no other number. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readPage } from '../kit/written-page.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const number = '[TLQ]\\d+';

/** The numbers that titles of tests name. */
function named(): ReadonlySet<string> {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => readFileSync(join(root, folder, path), 'utf8')),
  );
  const titles = files.flatMap((text) => text.match(new RegExp(`(?:\\s\\[${number}\\])+(?=['"\`])`, 'g')) ?? []);
  return new Set(titles.flatMap((title) => title.match(new RegExp(number, 'g')) ?? []));
}

test('every transition and every invariant is guarded by a test that names it, and tests name no other', () => {
  const rows = readPage('docs/live-protocol.md').matchAll(new RegExp(`^\\| (${number}) \\|`, 'gm'));
  const written = [...rows].map(([, one]) => one);
  expect(new Set(written).size).toBe(written.length);
  expect([...named()].sort()).toEqual(written.sort());
});
