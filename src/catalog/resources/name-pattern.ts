/** Names by pattern, as lists of resources and kinds are written: `*` stands for any text, everything else for itself. */

/** What tests whole names against the pattern. @param flags of a regular expression: `i` takes letters in any case. */
export function namePattern(pattern: string, flags = ''): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, flags);
}
