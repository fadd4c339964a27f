/**
 * Runs every example of docs/queries.md against the demo world; the answers must equal those on the page.
 * `npm test -- test/queries.test.ts -u` updates the page.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { demoGateway } from './kit/demo-gateway.ts';
import { ask } from './kit/graphql-client.ts';

const gateway = demoGateway({ pods: 200, churn: false });

/** An example query, and the answer printed after it. */
const example = /```graphql\n(?<query>[\s\S]*?)```\n(?:\n```json\n[\s\S]*?```\n)?/g;

test('every example answers as the page says', async () => {
  const page = readFileSync(new URL('../docs/queries.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(example)];
  expect(examples.length).toBeGreaterThan(15);
  let answered = page;
  for (const { 0: whole, groups } of examples) {
    const query = groups?.['query'] ?? '';
    const { data, errors } = await ask(gateway.url, query);
    // The printed answer of an example that must fail is its error.
    const failures = (errors ?? []).map(({ message, extensions }) => ({ message, code: extensions?.['code'] }));
    const shown = failures.length === 0 ? data : { errors: failures };
    answered = answered.replace(
      whole,
      () => `\`\`\`graphql\n${query}\`\`\`\n\n\`\`\`json\n${compact(shown)}\n\`\`\`\n`,
    );
  }
  const failing = answered.match(/"errors": \[/g) ?? [];
  expect(failing.length).toBe(1);
  await expect(answered).toMatchFileSnapshot('../docs/queries.md');
});

/** JSON in which a value that fits on one line stays on one line. */
function compact(value: unknown, indent = ''): string {
  const line = flat(value);
  if (indent.length + line.length <= 120 || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const [open, close, items] = Array.isArray(value)
    ? ['[', ']', value.map((item) => compact(item, inner))]
    : ['{', '}', Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${compact(item, inner)}`)];
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flat).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${flat(item)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
