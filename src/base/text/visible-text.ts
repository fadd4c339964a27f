/**
 * Writes characters that a terminal would obey as escapes, so that a text of a server or of an object is only shown.
 *
 *   controls   C0 but tab and line break, DEL, C1                                     ESC ]0;x  ->  \u001b]0;x
 *   all        the same, marks of text direction, U+2028, U+2029, lone surrogates     U+202E    ->  \u202e
 *
 * The escapes are those of JSON and of GraphQL strings. JSON text has such characters only in its strings, so it keeps its value.
 */
const patterns = {
  controls: /(?![\t\n])\p{Cc}/gu,
  all: /(?![\t\n])[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029]/gu,
} as const;

export function visibleText(text: string, which: keyof typeof patterns = 'all'): string {
  return text.replace(patterns[which], (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
