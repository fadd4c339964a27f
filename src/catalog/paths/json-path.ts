/**
 * Reads the JSONPath of printer columns and selectable fields (the dialect of kubectl) as a Portolan path.
 */
import { type PathStep, pathOf } from '../tree/path.ts';

const condition =
  /^\?\(\s*@(?:\.([A-Za-z0-9_-]+)|\['([^']+)'\]|\["([^"]+)"\])\s*==\s*(?:"([^"\\]*)"|'([^'\\]*)'|([A-Za-z0-9_.+-]+))\s*\)$/;

/**
 * Portolan's path for a JSONPath such as `.status.conditions[?(@.type=="Ready")].status`. Quoted brackets and escaped dots are
 * supported. Null for an unsupported JSONPath: recursive descent, slices, negative indices, and filters other than one equality.
 */
export function fromJsonPath(jsonPath: string): string | null {
  let text = jsonPath.trim();
  if (text.startsWith('{') && text.endsWith('}')) text = text.slice(1, -1).trim();
  if (text.startsWith('$')) text = text.slice(1);
  const steps: PathStep[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '[') {
      const end = closing(text, at);
      if (end === -1) return null;
      const step = bracket(text.slice(at + 1, end).trim());
      if (step === null) return null;
      steps.push(step);
      at = end + 1;
      continue;
    }
    if (text[at] !== '.') return null;
    at += 1;
    let name = '';
    while (at < text.length && text[at] !== '.' && text[at] !== '[') {
      if (text[at] === '\\') at += 1;
      name += text[at] ?? '';
      at += 1;
    }
    if (name === '*') steps.push({ kind: 'each' });
    else if (name === '') return null;
    else steps.push({ kind: 'field', name });
  }
  return steps.length === 0 ? null : pathOf(steps).text;
}

/** Position of the bracket that closes the one at `at`; quoted brackets are skipped. */
function closing(text: string, at: number): number {
  let quote = '';
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const character = text[i] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '[') depth += 1;
    else if (character === ']') {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return -1;
}

function bracket(inside: string): PathStep | null {
  if (inside === '*') return { kind: 'each' };
  if (/^(0|[1-9][0-9]{0,8})$/.test(inside)) return { kind: 'index', index: Number(inside) };
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(inside);
  if (quoted !== null) return { kind: 'key', key: (quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1') };
  const match = condition.exec(inside);
  if (match === null) return null;
  const field = match[1] ?? match[2] ?? match[3] ?? '';
  return { kind: 'where', field, value: match[4] ?? match[5] ?? match[6] ?? '' };
}
