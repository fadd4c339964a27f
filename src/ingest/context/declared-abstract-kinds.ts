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
    return readAbstractKinds(parse(text));
  } catch (error) {
    return { kinds: [], problems: [`the document is left out: ${messageOf(error)}`] };
  }
}
