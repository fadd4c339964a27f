/**
 * The operation of a request of GraphiQL. It is read from the document. Right after a change of tabs, GraphiQL still passes the name and
 * the syntax tree of the previous tab's operation.
 */
import { tokensOf } from './tokens.ts';

interface ChosenOperation {
  readonly type: string;
  /** Null for an operation without a name. */
  readonly name: string | null;
  /** Has it the directive `@live`? */
  readonly isLive: boolean;
}

/** The operation with the name; otherwise the only one. Null if the document has several others, or none. */
export function chosenOperation(document: string, name: string | null): ChosenOperation | null {
  const all = operationsOf(document);
  const [only, ...others] = all;
  return all.find((each) => each.name === name) ?? (others.length === 0 ? (only ?? null) : null);
}

function operationsOf(document: string): readonly ChosenOperation[] {
  const found: ChosenOperation[] = [];
  let depth = 0;
  /** The keyword of a definition whose selection set has not begun. */
  let keyword: string | null = null;
  let name: string | null = null;
  let isLive = false;
  let before = '';
  for (const { text } of tokensOf(document)) {
    if (depth === 0 && text === '{') {
      if (keyword !== 'fragment') found.push({ type: keyword ?? 'query', name, isLive });
      keyword = null;
      name = null;
      isLive = false;
    } else if (depth === 0 && keyword === null && /^(?:query|mutation|subscription|fragment)$/.test(text)) {
      keyword = text;
    } else if (depth === 0 && before === '@') isLive ||= text === 'live';
    else if (depth === 0 && keyword !== null && name === null && /^[_A-Za-z]/.test(text)) name = text;
    if (/^[{([]$/.test(text)) depth += 1;
    else if (/^[})\]]$/.test(text)) depth -= 1;
    before = text;
  }
  return found;
}
