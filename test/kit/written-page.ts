/** A page of docs/ for tests: its blocks of code, and its examples with the answers of a gateway. */
import { readFileSync } from 'node:fs';
import type { Answer } from './graphql-client.ts';

/** The text of a file of the repository, by its path from the root. */
export function readPage(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** The texts of the page's blocks of this language. */
export function blocksOf(page: string, language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text);
}

/** The part of the page below this heading, up to the next heading of the same or a higher level. */
export function sectionOf(page: string, heading: string): string {
  const [, level = '', rest = ''] = new RegExp(`^(#+) ${heading}\\n(.*)`, 'ms').exec(page) ?? [];
  const end = rest.search(new RegExp(`^#{1,${level.length}} `, 'm'));
  return end === -1 ? rest : rest.slice(0, end);
}

/** An example query, and the answer printed after it. */
const example = /```graphql\n(?<query>[\s\S]*?)```\n(?:\n```json\n[\s\S]*?```\n)?/g;

/** The page with the answer after each of its queries: the data, or else the messages and codes of the errors. */
export async function withAnswers(
  page: string,
  ask: (query: string) => Promise<Answer>,
): Promise<{ readonly page: string; readonly examples: number; readonly failing: number }> {
  const examples = [...page.matchAll(example)];
  let answered = page;
  let failing = 0;
  for (const { 0: whole, groups } of examples) {
    const query = groups?.['query'] ?? '';
    const { data, errors } = await ask(query);
    // The printed answer of an example that must fail is its error.
    const failures = (errors ?? []).map(({ message, extensions }) => ({ message, code: extensions?.['code'] }));
    if (failures.length > 0) failing += 1;
    const shown = failures.length === 0 ? data : { errors: failures };
    answered = answered.replace(
      whole,
      () => `\`\`\`graphql\n${query}\`\`\`\n\n\`\`\`json\n${compact(shown)}\n\`\`\`\n`,
    );
  }
  return { page: answered, examples: examples.length, failing };
}

/** JSON in which a value that fits on one line stays on one line. */
export function compact(value: unknown, indent = ''): string {
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
