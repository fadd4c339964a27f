/** Does a text have colours? @param when as the flag --color says @param environment NO_COLOR (no-color.org) and TERM turn `auto` off */
export function isColoured(
  when: 'auto' | 'always' | 'never',
  isTerminal: boolean,
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  if (when !== 'auto') return when === 'always';
  return isTerminal && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}
