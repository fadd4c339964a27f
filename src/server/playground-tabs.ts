/** The playground's example tabs: the operations of schema/operations, in the order of their names. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface PlaygroundTab {
  readonly name: string;
  readonly query: string;
}

const folder = fileURLToPath(new URL('../../schema/operations/', import.meta.url));

/** Reads the tabs; none when the folder is missing. */
export function readPlaygroundTabs(): readonly PlaygroundTab[] {
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
