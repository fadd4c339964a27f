/**
 * The texts of an answer: its data, and what is said besides. They are joined once.
 *
 *   {"data":{…},"extensions":{"portolan":{"generation":"…","cost":{…},"revision":42}}}
 *           data                                                                     JSON of the data
 *                            extensions                                              JSON of the member
 *   head -----------------------------------------------------------]                everything before the revision
 *
 * An answer that has more to say after its revision, such as a warning, is a partial one and has no head. An answer with errors has
 * none either.
 */

export interface AnswerTexts {
  /** The JSON text of the member `data`. */
  readonly data: string;
  /** The JSON text of the member `extensions`. */
  readonly extensions: string;
}

const begin = '{"data":';
const between = ',"extensions":';

export function wholeText({ data, extensions }: AnswerTexts): string {
  return `${begin}${data}${between}${extensions}}`;
}

/** Where the bytes of the data begin in the whole text. */
export const dataBegin = begin.length;
/** The bytes between the end of the data and the extensions. */
export const extensionsAfter = between.length;

/** Where the data end in the bytes of the whole text. The extensions are short, so they are measured, not the data. */
export function dataEndOf(whole: Buffer, { extensions }: AnswerTexts): number {
  return whole.length - Buffer.byteLength(extensions) - extensionsAfter - 1;
}

const revisionMark = ',"revision":';
const end = /,"revision":(\d+)\}\}$/;

/** The head of an answer; null for a partial one. */
export function answerHead({ data, extensions }: AnswerTexts): string | null {
  if (!data.startsWith('{') || !end.test(extensions)) return null;
  return `${begin}${data}${between}${extensions.slice(0, extensions.lastIndexOf(revisionMark))}`;
}

/** The text after the head at this revision. */
export function answerEnd(revision: number): string {
  return `${revisionMark}${revision}}}}`;
}

/** The head of an answer that another writer has joined; null for a partial one. */
export function headOfText(text: string): string | null {
  const at = text.lastIndexOf(between);
  if (at < 0 || !text.startsWith(begin)) return null;
  const extensions = text.slice(at + between.length, -1);
  return answerHead({ data: text.slice(begin.length, at), extensions });
}
