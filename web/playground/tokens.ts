/** The tokens of GraphQL documents, as far as their brackets, names and strings matter. Other punctuators and numbers are left out. */

interface Token {
  readonly text: string;
  readonly index: number;
}

const token = /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*(?:"|$)?|#[^\n\r]*|\.{3}|[_A-Za-z]\w*|[{}()[\]:@$]/g;

/** The document may be unfinished. Comments are left out. */
export function* tokensOf(document: string): Iterable<Token> {
  for (const { 0: text, index } of document.matchAll(token)) {
    if (!text.startsWith('#')) yield { text, index };
  }
}
