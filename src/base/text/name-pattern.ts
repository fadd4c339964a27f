/** Patterns of names in configuration and arguments. */

/**
 * A matcher of whole names against a pattern, as in lists of resources and kinds. `*` matches any text; all else matches
 * literally. `flags` are those of a regular expression: `i` ignores letter case.
 */
export function namePattern(pattern: string, flags = ''): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, flags);
}
