/**
 * Limits on a document's text: tokens, brackets, depth, aliases. They depend on no variable, so the result is cached with the document.
 *
 *   { pods { nodes { a: kind b: kind } } }     nesting 3, depth 3 (pods, nodes, kind), aliases 2
 */
import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  parse,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

export interface DocumentLimits {
  readonly maxTokens: number;
  /** Nested brackets of all kinds. Parser and validation recurse once for each, and would overflow the stack. */
  readonly maxNesting: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
}

/** Enough for GraphiQL's introspection query (depth 16) and for any query of a console. */
export const defaultLimits: DocumentLimits = { maxTokens: 10_000, maxNesting: 200, maxDepth: 30, maxAliases: 200 };

/**
 * graphql-js `parse` with limits on nesting and tokens.
 * @throws GraphQLError QUERY_TOO_COSTLY over a limit, or the parser's own syntax error.
 */
export function parseWithin(
  source: Parameters<typeof parse>[0],
  options: Parameters<typeof parse>[1],
  limits: DocumentLimits,
) {
  const nesting = nestingOf(typeof source === 'string' ? source : source.body);
  if (nesting > limits.maxNesting) {
    throw tooCostly(`The document nests ${nesting} brackets; at most ${limits.maxNesting} are allowed.`);
  }
  try {
    return parse(source, { ...options, maxTokens: limits.maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError && /more than \d+ tokens|exceeds? .*token/i.test(error.message)) {
      throw tooCostly(`The document has more than ${limits.maxTokens} tokens; split it.`);
    }
    throw error;
  }
}

/** Matches strings and comments too, so that brackets inside them are not counted. */
export const brackets = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*|[{[(]|[)\]}]/g;

/** The deepest nesting of brackets in the text. */
export function nestingOf(text: string): number {
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

/** A validation rule that counts through fragments. GraphQL's own rule refuses a fragment that spreads itself. */
export function depthAndAliases({ maxDepth, maxAliases }: DocumentLimits) {
  return (context: ValidationContext): ASTVisitor => {
    const measured = new Map<string, { depth: number; aliases: number }>();

    const measure = (
      set: SelectionSetNode | undefined,
      above: readonly string[],
    ): { depth: number; aliases: number } => {
      let depth = 0;
      let aliases = 0;
      for (const node of set?.selections ?? []) {
        const inner =
          node.kind === Kind.FRAGMENT_SPREAD
            ? fragment(context.getFragment(node.name.value), above)
            : measure(node.selectionSet, above);
        const own = node.kind === Kind.FIELD ? 1 : 0;
        depth = Math.max(depth, inner.depth + own);
        aliases += inner.aliases + (node.kind === Kind.FIELD && node.alias !== undefined ? 1 : 0);
      }
      return { depth, aliases };
    };

    const fragment = (
      node: FragmentDefinitionNode | null | undefined,
      above: readonly string[],
    ): { depth: number; aliases: number } => {
      if (node === null || node === undefined || above.includes(node.name.value)) return { depth: 0, aliases: 0 };
      const known = measured.get(node.name.value);
      if (known !== undefined) return known;
      const found = measure(node.selectionSet, [...above, node.name.value]);
      measured.set(node.name.value, found);
      return found;
    };

    return {
      OperationDefinition(node) {
        const { depth, aliases } = measure(node.selectionSet, []);
        if (depth > maxDepth) {
          context.reportError(tooCostly(`The operation is ${depth} fields deep; at most ${maxDepth} are allowed.`));
        }
        if (aliases > maxAliases) {
          context.reportError(tooCostly(`The operation has ${aliases} aliases; at most ${maxAliases} are allowed.`));
        }
      },
    };
  };
}
