/**
 * The end of a block scalar whose last lines have spaces only, and more of them than the indentation. kubectl reads that line as
 * content. The parser reads it as an empty line.
 *
 *   note: |                "a\n  \n"   the last line has four spaces, two beyond the indentation
 *     a
 *   ____
 */
import type { CST } from 'yaml';

/**
 * @param after the spaces and line breaks after the token, because the parser ends it too early
 * @returns the value of a literal block scalar with such an end; null for a folded one; undefined for every other scalar, which the parser reads
 * properly
 */
export function blockWithSpacesAtEnd(token: CST.BlockScalar, after: string): string | null | undefined {
  const header = token.props.find(({ type }) => type === 'block-scalar-header');
  const style = header !== undefined && 'source' in header ? header.source : '|';
  const lines = (token.source + after).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const indent = indentOf(token, style, lines);
  const last = lines.findLastIndex((line) => line.length > indent);
  if (last === -1 || lines[last]?.trim() !== '' || lines[last].includes('\t')) return undefined;
  if (style.startsWith('>')) return null;
  const content = lines
    .slice(0, last + 1)
    .map((line) => line.slice(indent))
    .join('\n');
  if (style.includes('-')) return content;
  return style.includes('+') ? `${content}${'\n'.repeat(lines.length - last)}` : `${content}\n`;
}

function indentOf(token: CST.BlockScalar, style: string, lines: readonly string[]): number {
  const explicit = /[1-9]/.exec(style);
  if (explicit !== null) return Math.max(0, token.indent) + Number(explicit[0]);
  const first = lines.find((line) => /[^ ]/.test(line));
  return first === undefined ? Number.POSITIVE_INFINITY : first.search(/[^ ]/);
}
