/** Longest description that is kept: introspection of a hundred kinds would be megabytes of prose otherwise. */
const longest = 120;

/**
 * The description of a schema, in one line of at most 120 characters, with the values it allows; undefined when there is neither.
 */
export function describeText(description: unknown, values: readonly unknown[] = []): string | undefined {
  const prose = typeof description === 'string' ? description.replace(/\s+/g, ' ').trim() : '';
  const known = values.filter((value) => typeof value === 'string' && value !== '').join(', ');
  if (known === '') return prose === '' ? undefined : cut(prose, longest);
  const list = cut(`One of: ${known}`, longest);
  const room = longest - list.length - 1;
  return prose === '' || room < 30 ? list : `${cut(prose, room)} ${list}`;
}

/** Cuts at a word and says so. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const space = text.lastIndexOf(' ', length - 1);
  const kept = text.slice(0, space > length / 2 ? space : length - 1).toWellFormed();
  return `${kept.replace(/[ ,.;:\ufffd]+$/, '')}…`;
}
