/** Which lines are wanted: RE2 patterns as those of filters, and plain texts. */
import { PortolanError } from '../../base/errors.ts';
import { checkPattern, patternMatches } from '../../catalog/values/pattern.ts';

export type LineCondition = (text: string) => boolean;

/** Null for all lines. @throws PortolanError BAD_USER_INPUT for a text that is no pattern. */
export function lineCondition({
  grep,
  contains,
  ignoreCase,
}: {
  readonly grep: string | null;
  readonly contains: string | null;
  readonly ignoreCase: boolean;
}): LineCondition | null {
  if (grep !== null) {
    const problem = checkPattern(grep);
    if (problem !== null) throw new PortolanError('BAD_USER_INPUT', `\`grep\` ${problem}.`);
  }
  if (grep === null && contains === null) return null;
  const part = contains === null || !ignoreCase ? contains : contains.toLowerCase();
  return (text) =>
    (part === null || (ignoreCase ? text.toLowerCase() : text).includes(part)) &&
    (grep === null || patternMatches(grep, ignoreCase, text));
}
