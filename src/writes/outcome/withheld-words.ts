/**
 * Keeps redacted values out of the words of an API server. A server quotes values: `data[pin]: Invalid value: "1234"`.
 *
 * Owns: which values must not be told, and the sentence that stands instead of words that contain one. The values come from the caller's
 * request and from the live object. Texts of Secrets are looked for as Base64 and decoded. A server may quote a part of a value,
 * as in the difference of two objects: six characters in a row are a part.
 */
import type { WriteError } from './write-error.ts';

/** Values that must not be told; empty for a kind without redacted paths. */
type Untold = ReadonlySet<string>;

/** The texts of these values and of all values inside them, also decoded. */
export function untoldTexts(values: readonly unknown[]): Untold {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value)) visit(inner);
      return;
    }
    if (value === null || value === undefined || value === '') return;
    const text = String(value);
    texts.add(text);
    const decoded = Buffer.from(text, 'base64');
    if (decoded.length > 0) texts.add(decoded.toString('utf8'));
    texts.add(Buffer.from(text, 'utf8').toString('base64'));
  };
  for (const value of values) visit(value);
  texts.delete('');
  return texts;
}

/** Characters in a row that count as a part of a value. */
const partLength = 6;

/** Characters of values that are looked for. Looking for more would take long, so then no words are shown. */
const mostCharacters = 64 * 1024;

/** Does the text contain one of these values or a part of one, as it is or escaped? True also if that cannot be found out soon. */
function tells(text: string, untold: Untold): boolean {
  let characters = 0;
  for (const value of untold) characters += value.length;
  if (characters > mostCharacters) return true;
  const parts = new Set(partsOf(text));
  for (const value of untold) {
    if (text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1))) return true;
    for (const part of partsOf(value)) if (parts.has(part)) return true;
  }
  return false;
}

function* partsOf(text: string): Generator<string> {
  for (let at = 0; at + partLength <= text.length; at += 1) yield text.slice(at, at + partLength);
}

const instead = 'The words of the API server are withheld, because they contain a value of a redacted path.';

/** The error without words that contain one of these values. */
export function withoutValues(error: WriteError, untold: Untold): WriteError {
  if (untold.size === 0) return error;
  const { status, path } = error;
  const isTold = [error.message, path ?? '', JSON.stringify(status)].some((text) => tells(text, untold));
  if (!isTold) return error;
  const conflicts = error.conflicts?.map((each) => (tells(each.path, untold) ? { ...each, path: '' } : each));
  return {
    ...withoutWords(error),
    path: path !== null && tells(path, untold) ? null : path,
    ...(conflicts === undefined ? {} : { conflicts }),
  };
}

/** The error without the words of the API server, where these may contain withheld values. */
export function withoutWords(error: WriteError): WriteError {
  const { code, reason } = error.status ?? {};
  return {
    ...error,
    message: instead,
    path: null,
    status: error.status === null ? null : { code, reason, message: instead },
  };
}

/** The warnings, except warnings that contain one of these values. */
export function warningsWithoutValues(warnings: readonly string[], untold: Untold): readonly string[] {
  return warnings.map((text) => (tells(text, untold) ? instead : text));
}
