/**
 * Patterns of `matches`: RE2 syntax (https://github.com/google/re2/wiki/Syntax). A match may begin anywhere in the text. Matching
 * takes time linear in the text's length, for every pattern. SQL and JavaScript use the same engine.
 */
import { RE2JS, RE2JSException } from 're2js';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { PortolanError } from '../../base/errors.ts';

/** Characters of a pattern. */
const longestPattern = 500;

/** The limit on a compiled pattern's instructions, which determine its cost per character. Counted repetitions multiply them. */
const largestProgram = 250;

/** Only this many leading characters of a text are searched, so that no pattern can block a reader for long. */
const patternReach = 16_384;

/** The number of compiled patterns in the cache. */
const keptPatterns = 100;
const known = new BoundedCache<RE2JS>({ entries: keptPatterns, weight: keptPatterns });

/**
 * True if the pattern matches in the first `patternReach` characters of the text. Lone surrogates count as U+FFFD.
 * @throws PortolanError BAD_USER_INPUT for a pattern that checkPattern rejects.
 */
export function patternMatches(pattern: string, ignoreCase: boolean, text: string): boolean {
  return compiled(pattern, ignoreCase).test(text.slice(0, patternReach).toWellFormed());
}

/** The reason why a text is not a valid pattern (part of a sentence), or null when it is valid. */
export function checkPattern(pattern: string): string | null {
  if (pattern.length > longestPattern) {
    return `has ${pattern.length} characters; a pattern has at most ${longestPattern}`;
  }
  try {
    compiled(pattern, false);
    return null;
  } catch (error) {
    if (error instanceof PortolanError) return error.message;
    throw error;
  }
}

function compiled(pattern: string, ignoreCase: boolean): RE2JS {
  const key = `${ignoreCase ? 'i' : 's'}${pattern}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  let made: RE2JS;
  try {
    made = RE2JS.compile(pattern.toWellFormed(), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new PortolanError('BAD_USER_INPUT', `is no pattern in RE2 syntax: ${error.message}`);
  }
  const size = made.programSize();
  if (size > largestProgram) {
    throw new PortolanError('BAD_USER_INPUT', `compiles to ${size} steps; a pattern has at most ${largestProgram}`);
  }
  known.set(key, made, 1);
  return made;
}
