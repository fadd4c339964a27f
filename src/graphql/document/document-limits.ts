/** Limits on a document. They bound what parsing and validation cost, and depend on no variable. */
import { type DocumentNode, GraphQLError, parse, type Token } from 'graphql';

export interface DocumentLimits {
  readonly maxTokens: number;
  /** Nested brackets of all kinds. Parser and validation recurse once for each, and would overflow the stack. */
  readonly maxNesting: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxOperations: number;
  readonly maxFragments: number;
  /** Fragment spreads as written, not as expanded. */
  readonly maxSpreads: number;
  readonly maxDirectives: number;
  /** Comparisons of fields with one response name (document-size.ts). */
  readonly maxComparisons: number;
}

/** Enough for GraphiQL's introspection query (depth 16), and for the documents of consoles with a fragment for each component. */
export const defaultLimits: DocumentLimits = {
  maxTokens: 10_000,
  maxNesting: 200,
  maxDepth: 30,
  maxAliases: 200,
  maxOperations: 50,
  maxFragments: 500,
  maxSpreads: 2000,
  maxDirectives: 500,
  maxComparisons: 100_000,
};

const anExample = '{ pods { totalCount } }';

/**
 * graphql-js `parse` with limits on nesting and tokens.
 * @throws GraphQLError QUERY_TOO_COSTLY over a limit; for an empty document; or the parser's own syntax error.
 */
export function parseWithin(
  source: Parameters<typeof parse>[0],
  options: Parameters<typeof parse>[1],
  limits: DocumentLimits,
): DocumentNode {
  const text = typeof source === 'string' ? source : source.body;
  if (text.trim() === '') throw new GraphQLError(`The document is empty; write one, such as ${anExample}.`);
  const nesting = nestingOf(text);
  if (nesting > limits.maxNesting) {
    throw tooCostly(`The document nests ${nesting} brackets; at most ${limits.maxNesting} are allowed.`);
  }
  try {
    return withoutTokens(parse(source, { ...options, maxTokens: limits.maxTokens }));
  } catch (error) {
    if (error instanceof GraphQLError && /more than \d+ tokens|exceeds? .*token/i.test(error.message)) {
      throw tooCostly(`The document has more than ${limits.maxTokens} tokens; split it.`);
    }
    throw error;
  }
}

/**
 * The tokens of a document are a list in both directions, so one location would hold all of them as long as the document. Only the parser
 * reads the list.
 */
function withoutTokens(document: DocumentNode): DocumentNode {
  let token: { prev: Token | null; next: Token | null } | null = document.loc?.startToken ?? null;
  while (token !== null) {
    const { next }: { readonly next: Token | null } = token;
    token.prev = null;
    token.next = null;
    token = next;
  }
  return document;
}

/** Matches strings and comments too, so that brackets inside them are not counted. */
const brackets = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*|[{[(]|[)\]}]/g;

/** The deepest nesting of brackets in the text. */
function nestingOf(text: string): number {
  let open = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(brackets)) {
    if (token === '{' || token === '[' || token === '(') deepest = Math.max(deepest, ++open);
    else if (token === '}' || token === ']' || token === ')') open -= 1;
  }
  return deepest;
}

export function tooCostly(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COSTLY' } });
}
