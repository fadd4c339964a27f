/**
 * The documents of a YAML text, as kubectl finds them.
 *
 *   # a comment            blank: no document
 *   ---                    a line that begins with --- ends a document, whatever the document is; only a comment may follow it
 *   kind: Pod              document 1, line 3
 *   --- # next
 *   kind: Service          document 2, line 5
 *
 * Owns: the separation of documents, and the errors of the YAML parser. Values are made in yaml-value.ts.
 * Never: reads on after the first error. The parser would make an error for each character of a hostile text, at great cost.
 *
 * kubectl reads only the first document before a line `...` and forgets the others in silence. They are refused here.
 */
import { Composer, type CST, Lexer, type ParsedNode, Parser } from 'yaml';
import type { ManifestBudget } from './manifest-bounds.ts';
import type { ManifestText } from './manifest-text.ts';
import { yamlValue } from './yaml-value.ts';

export interface ReadDocument {
  /** Null for a document that is null. */
  readonly value: unknown;
  /** The offset in the text at which its content begins. */
  readonly offset: number;
}

const separator = '---';
const correctIt = 'Correct the YAML there.';

/**
 * @param from the offset at which reading begins
 * @throws PortolanError BAD_USER_INPUT
 */
export function* yamlDocuments(
  source: ManifestText,
  from: number,
  budget: ManifestBudget,
): Generator<ReadDocument, void> {
  const { text } = source;
  refuseControls(source, from);
  let start = from;
  let isBlank = true;
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    if (text.startsWith(separator, at)) {
      requireSeparator(source, at, next);
      if (!isBlank) yield readDocument(source, { start, end: at }, budget);
      start = next;
      isBlank = true;
    } else if (isBlank) isBlank = /^\s*(?:#|$)/.test(text.slice(at, next));
    at = next;
  }
  if (!isBlank) yield readDocument(source, { start, end: text.length }, budget);
}

/**
 * Characters that YAML does not allow. The next line, line separator and paragraph separator are refused as well. kubectl reads these
 * three as line breaks, and the parser here does not. A byte order mark is allowed at the beginning only; ManifestText has removed it there.
 */
const notAllowed = /[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/gu;

function refuseControls(source: ManifestText, from: number): void {
  notAllowed.lastIndex = from;
  const found = notAllowed.exec(source.text);
  if (found === null) return;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  throw source.error(
    found.index,
    'YAML does not allow the control character',
    `Write it as "\\u${code}" in a text in double quotes.`,
  );
}

function requireSeparator(source: ManifestText, at: number, next: number): void {
  const rest = source.text.slice(at + separator.length, next).trim();
  if (rest !== '' && !rest.startsWith('#'))
    throw source.error(at, 'Something follows the separator ---', 'Put it on the next line.');
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function readDocument(source: ManifestText, range: Range, budget: ManifestBudget): ReadDocument {
  budget.document();
  const root = composed(source, range, tokensOf(source, range, budget));
  const { start } = range;
  return { value: yamlValue(root, source, start, budget), offset: start + (root?.range[0] ?? 0) };
}

/** The parser holds one token for each level, beside the document and a scalar. The composer recurses for each level. */
const otherTokens = 2;

function tokensOf(source: ManifestText, { start, end }: Range, budget: ManifestBudget): CST.Token[] {
  const found: CST.Token[] = [];
  const parser = new Parser();
  const take = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) {
      if (token.type === 'error') throw syntaxError(source, start + token.offset, token.message);
      found.push(token);
    }
  };
  for (const lexeme of new Lexer().lex(source.text.slice(start, end))) {
    budget.token();
    take(parser.next(lexeme));
    budget.level(Math.max(0, parser.stack.length - otherTokens));
  }
  take(parser.end());
  return found;
}

function composed(source: ManifestText, { start, end }: Range, tokens: readonly CST.Token[]): ParsedNode | null {
  const composer = new Composer({
    // Every scalar is its text here: yaml-scalar.ts reads it.
    schema: 'failsafe',
    version: '1.1',
    merge: false,
    resolveKnownTags: false,
    // The check compares each key with each other one. yaml-value.ts looks keys up.
    uniqueKeys: false,
    // block-end.ts reads them.
    keepSourceTokens: true,
  });
  let first: { readonly at: number; readonly message: string } | undefined;
  // The composer collects errors and warnings in this member. It has no option to end at the first error.
  Object.assign(composer, {
    onError(
      place: number | readonly number[] | { readonly offset: number },
      _code: string,
      message: string,
      isWarning?: boolean,
    ) {
      if (isWarning === true) return;
      const at = typeof place === 'number' ? place : 'offset' in place ? place.offset : (place[0] ?? 0);
      first ??= { at, message };
      throw new Error(message);
    },
  });
  try {
    const [document, other] = composer.compose(tokens, true, end - start);
    const error = document?.errors[0] ?? other?.errors[0];
    if (error !== undefined) first = { at: error.pos[0], message: error.message };
    else if (other === undefined) return document?.contents ?? null;
    else
      throw source.error(
        start + other.range[0],
        'A second document begins without a separator',
        'Write a line --- before it.',
      );
  } catch (error) {
    if (first === undefined) throw error;
  }
  throw syntaxError(source, start + (first?.at ?? 0), first?.message ?? '');
}

function syntaxError(source: ManifestText, offset: number, message: string): Error {
  return source.error(Math.min(offset, source.text.length), `The text is not YAML: ${message}`, correctIt);
}
