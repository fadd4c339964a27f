/**
 * The text of an answer without its revision.
 *
 *   {"data":{…},"extensions":{"portolan":{"generation":"…","cost":{…},"revision":42}}}
 *   head ----------------------------------------------------------]  ,"revision":42}}}
 *
 * An answer that has more to say after its revision, such as a warning, has no head. Neither has one with errors: it is not the whole
 * answer.
 */

const end = /,"revision":(\d+)\}\}\}$/;
/** Longer than every end. */
const longestEnd = 40;

/** The head of an answer's text; null if the text is that of a partial answer. */
export function answerHead(text: string): string | null {
  const found = end.exec(text.slice(-longestEnd));
  if (found === null || !text.startsWith('{"data":{')) return null;
  return text.slice(0, -found[0].length);
}

/** What follows the head at this revision. */
export function answerEnd(revision: number): string {
  return `,"revision":${revision}}}}`;
}
