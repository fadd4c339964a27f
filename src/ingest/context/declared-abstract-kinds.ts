/** The abstract kinds of the ingest thread, from a text that its parent has read. */
import { parse } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { type ReadAbstractKinds, readAbstractKinds } from '../../catalog/abstract/read-abstract-kinds.ts';

/** Plain data, so that it can cross to the ingest thread. */
export interface AbstractKindsDocument {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly text: string;
}

/** Reads the document. A wrong part costs that part only. */
export function declaredAbstractKinds({ file, text }: AbstractKindsDocument): ReadAbstractKinds {
  const { kinds, problems } = readDocument(text);
  return { kinds, problems: problems.map((problem) => `${file}: ${problem}`) };
}

function readDocument(text: string): ReadAbstractKinds {
  try {
    return readAbstractKinds(parse(text, withAllDigits, { intAsBigInt: true }));
  } catch (error) {
    return { kinds: [], problems: [`the document is left out: ${messageOf(error)}`] };
  }
}

/** An integer that a number of JavaScript would round is the text of its digits, which fits the same columns. */
function withAllDigits(_key: unknown, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
