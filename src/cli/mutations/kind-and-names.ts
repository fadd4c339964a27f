/**
 * The words of a command line that name objects, in the two forms that kubectl takes.
 *
 *   Deployment web cart          as they are
 *   deploy/web deploy/cart       deploy web cart
 */
import { PortolanError } from '../../base/errors.ts';

interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

/** A kind, and perhaps names. Words that are ids stay as they are. @throws PortolanError CONFIGURATION */
export function kindAndNames(words: readonly string[]): readonly string[] {
  if (!words.some(isNamed)) return words;
  const objects = words.map(namedObject);
  const kinds = new Set(objects.map(({ kind }) => kind));
  const [kind = ''] = kinds;
  if (kinds.size === 1) return [kind, ...objects.map(({ name }) => name)];
  throw new PortolanError('CONFIGURATION', `Name objects of one kind at a time: these are ${[...kinds].join(', ')}.`);
}

/** Is the word a kind and a name? */
export function isNamed(word: string): boolean {
  return word.includes('/');
}

/** @throws PortolanError CONFIGURATION */
export function namedObject(word: string): NamedObject {
  const [kind = '', name = '', ...more] = word.split('/');
  if (kind !== '' && name !== '' && more.length === 0) return { kind, name };
  throw new PortolanError(
    'CONFIGURATION',
    `${JSON.stringify(word)} names no object: write KIND/NAME, such as deploy/web.`,
  );
}
