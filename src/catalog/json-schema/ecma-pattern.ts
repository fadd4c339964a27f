/**
 * Patterns of API servers (RE2) as regular expressions of ECMA-262 with the flag `u`, which JSON Schema uses.
 *
 *   (?i)^a\-b\z   ->   (?i:^a-b$)        [[:alnum:]_]+   ->   [0-9A-Za-z_]+        (?P<x>a)   ->   (?<x>a)
 */

/** Classes of POSIX and Perl that ECMA-262 lacks, or reads with more characters, as they are inside brackets. */
const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** One token: an escape, a class of POSIX, the beginning of a group, or a character. */
const token = /\\(?:[pP](?:\{\^?\w+\}|\w)|x\{[0-9a-fA-F]+\}|[\s\S])|\[:\^?\w+:\]|\(\?P<|\(\?[imsU-]+\)|[\s\S]/gu;

/** The same pattern for ECMA-262; null if there is none. */
export function ecmaPattern(pattern: string): string | null {
  let made = '';
  let closing = '';
  let inClass = false;
  /** Where the members of the class begin. */
  let membersAt = 0;
  for (const [each] of pattern.matchAll(token)) {
    if (each.startsWith('[:') && inClass) {
      const members = classes[each.slice(2, -2)];
      if (members === undefined) return null;
      made += members;
    } else if (/^\(\?[ims]+\)$/.test(each) && !inClass) {
      // The flags are for the rest of their group: only a pattern that begins with them is the same in another group.
      if (made !== '') return null;
      made += each.replace(')', ':');
      closing = ')';
    } else if (each === '(?P<' && !inClass) {
      made += '(?<';
    } else if (each.startsWith('\\')) {
      const escaped = ecmaEscape(each, inClass);
      if (escaped === null) return null;
      made += escaped;
    } else if (inClass) {
      const isFirst = made.length === membersAt;
      if (each === ']' && !isFirst) inClass = false;
      if (each === '^' && isFirst) membersAt += 1;
      made += each === '[' || (each === ']' && inClass) ? `\\${each}` : each;
    } else {
      inClass = each === '[';
      made += each;
      membersAt = made.length;
    }
  }
  for (const candidate of [made + closing, literalBraces(made + closing)]) {
    try {
      new RegExp(candidate, 'u');
      return candidate;
    } catch {
      // The next one, or none.
    }
  }
  return null;
}

function ecmaEscape(each: string, inClass: boolean): string | null {
  const what = each.slice(1);
  if (what === 'A') return '^';
  if (what === 'z') return '$';
  if (what === 'Q' || what === 'E' || what === 'C') return null;
  if (what === 'a') return '\\x07';
  if (what === 's') return inClass ? '\\t\\n\\f\\r ' : '[\\t\\n\\f\\r ]';
  if (what === 'S') return inClass ? null : '[^\\t\\n\\f\\r ]';
  if (what.startsWith('x{')) return `\\u{${what.slice(2)}`;
  if (/^[pP]\w$/.test(what)) return `\\${what[0]}{${what[1]}}`;
  if (/^[pP]\{/.test(what) || /^[\w^$\\.*+?()[\]{}|/]$/.test(what)) return what === '_' ? '_' : each;
  if (what === '-') return inClass ? '\\-' : '-';
  // A backslash before another punctuation mark means nothing.
  return what;
}

/** A brace that begins no count is a literal one. */
function literalBraces(pattern: string): string {
  return pattern.replaceAll(
    /(\\[pPu]\{[^}]*\}|\\.)|\{(?!\d+(?:,\d*)?\})/gs,
    (_all, escaped?: string) => escaped ?? '\\{',
  );
}
