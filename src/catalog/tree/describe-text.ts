/** Longest description that is kept. Without a limit, introspection of a hundred kinds would take megabytes. */
const longest = 120;

/**
 * A schema's description and its allowed values, as one line of at most 120 characters. Undefined when the schema has neither.
 */
export function describeText(description: unknown, values: readonly unknown[] = []): string | undefined {
  const prose = typeof description === 'string' ? description.replace(/\s+/g, ' ').trim() : '';
  const known = values.filter((value) => typeof value === 'string' && value !== '').join(', ');
  if (known === '') return prose === '' ? undefined : cut(prose, longest);
  const list = cut(`One of: ${known}`, longest);
  const room = longest - list.length - 1;
  return prose === '' || room < 30 ? list : `${cut(prose, room)} ${list}`;
}

/** Truncates at a word and marks the cut. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const space = text.lastIndexOf(' ', length - 1);
  const kept = text.slice(0, space > length / 2 ? space : length - 1).toWellFormed();
  return `${kept.replace(/[ ,.;:\ufffd]+$/, '')}…`;
}
