/** The operations of schema/operations, in the order of their names: the examples of the playground that people wrote. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PlaygroundExample } from './playground/examples.ts';

const folder = fileURLToPath(new URL('../../schema/operations/', import.meta.url));

/** Reads the examples; none when the folder is missing. */
export function readWrittenExamples(): readonly PlaygroundExample[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.graphql'))
    .toSorted()
    .map((name) => ({ name: name.replace(/^\d+-|\.graphql$/g, ''), query: readFileSync(`${folder}${name}`, 'utf8') }));
}
