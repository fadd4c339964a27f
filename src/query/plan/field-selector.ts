/**
 * Field selectors as text, in the API server's grammar (`fieldSelector` of a list request):
 *
 *   selector    = [ requirement ] *( "," [ requirement ] )
 *   requirement = path ( "=" | "==" | "!=" ) value
 *
 * Inside a value, a backslash escapes a comma, an equals sign or a backslash:
 *
 *   status.phase!=Failed,spec.x=a\,b   ->   status.phase is not "Failed", and spec.x is "a,b"
 */
import { PortolanError } from '../../base/errors.ts';

interface FieldRequirement {
  /** A path of the object, as the caller wrote it. */
  readonly path: string;
  readonly value: string;
  readonly negated: boolean;
}

/** Far above real use; bounds untrusted input. */
const mostRequirements = 100;

/** Parses a selector. An empty one has no requirements. @throws PortolanError BAD_USER_INPUT naming the malformed part. */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  if (text.trim() === '') return [];
  const parts = splitOutsideEscapes(text).filter((part) => part !== '');
  if (parts.length > mostRequirements) {
    throw refuse(`has ${parts.length} requirements; at most ${mostRequirements} are allowed`);
  }
  return parts.map(requirement);
}

function requirement(text: string): FieldRequirement {
  const match = /^\s*([^=!]+?)\s*(!=|==|=)(.*)$/s.exec(text);
  if (match === null) throw refuse(`cannot be read at ${JSON.stringify(text)}: write path=value or path!=value`);
  const [, path = '', operator, value = ''] = match;
  return { path, value: unescaped(value, text), negated: operator === '!=' };
}

function splitOutsideEscapes(text: string): readonly string[] {
  const parts: string[] = [''];
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === ',') parts.push('');
    else parts[parts.length - 1] += letter === '\\' ? letter + (text[++at] ?? '') : letter;
  }
  return parts;
}

function unescaped(value: string, whole: string): string {
  if (/(?<!\\)(?:\\\\)*=/.test(value)) {
    throw refuse(`cannot be read at ${JSON.stringify(whole)}: write \\= for an equals sign in a value`);
  }
  return value.replace(/\\(.?)/gs, (_escape, letter: string) => {
    if (letter === ',' || letter === '=' || letter === '\\') return letter;
    throw refuse(`cannot be read at ${JSON.stringify(whole)}: a backslash stands only before , = and itself`);
  });
}

function refuse(why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `The field selector ${why}.`);
}
