/** A part of a list that is written with commas. */
interface ListPart {
  readonly text: string;
  /** Its first index, counted from 0. */
  readonly at: number;
}

/**
 * The parts between the commas that are outside brackets and quotes. In quotes, a backslash keeps the next character.
 *
 *   a=max(b, c),d["x,y"]   ->   a=max(b, c) at 0, d["x,y"] at 12
 *
 * An unclosed bracket or quote reaches to the end.
 */
export function splitList(text: string): readonly ListPart[] {
  const parts: ListPart[] = [];
  let from = 0;
  let depth = 0;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== null) {
      if (character === '\\') at += 1;
      else if (character === quote) quote = null;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '(' || character === '[') depth += 1;
    else if (character === ')' || character === ']') depth = Math.max(0, depth - 1);
    else if (character === ',' && depth === 0) {
      parts.push({ text: text.slice(from, at), at: from });
      from = at + 1;
    }
  }
  return [...parts, { text: text.slice(from), at: from }];
}
