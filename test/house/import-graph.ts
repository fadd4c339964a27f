/** Reads from the text of files what they import, and finds the circles among them. */
import { readFileSync } from 'node:fs';

export type Graph = ReadonlyMap<string, readonly string[]>;

/** The targets of all imports and re-exports of a file, as they are written there. */
export function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)\b[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** The strongly connected components with more than one node (Tarjan's algorithm), sorted. */
export function circles(graph: Graph): readonly (readonly string[])[] {
  const numbers = new Map<string, { index: number; low: number }>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): { index: number; low: number } => {
    const own = { index: numbers.size, low: numbers.size };
    numbers.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      const known = numbers.get(next);
      if (known === undefined) own.low = Math.min(own.low, visit(next).low);
      else if (stack.includes(next)) own.low = Math.min(own.low, known.index);
    }
    if (own.low === own.index) {
      const members = stack.splice(stack.indexOf(node));
      if (members.length > 1) found.push(members.sort());
    }
    return own;
  };
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node);
  return found.sort();
}
