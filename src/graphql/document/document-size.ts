/**
 * Counts what a parsed document asks of validation, before validation runs. The count stops at the first limit that is exceeded.
 *
 *   { pods { a: kind b: kind } }     depth 2, aliases 2
 *   { a { x } a { x } a { x } }      comparisons 3 * 2 (the fields `a`) + 3 * 2 (the fields `x` below them)
 *
 * Validation compares each two fields with one response name whose parents have one response name, through fragments
 * (OverlappingFieldsCanBeMerged). So n fields are n * (n - 1) comparisons. A comparison also reads the arguments, so their nodes count.
 *
 * Fragments that spread each other are counted once; validation refuses them.
 */
import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { documentFragments, type Fragments } from '../selection/walk.ts';
import { type DocumentLimits, tooCostly } from './document-limits.ts';

/** The first limit that the document exceeds, as an error; null within all limits. */
export function sizeProblem(document: DocumentNode, limits: DocumentLimits): GraphQLError | null {
  const definitions = definitionsProblem(document, limits);
  if (definitions !== null) return definitions;
  const fragments = documentFragments(document);
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  return shapeProblem(operations, fragments, limits) ?? comparisonsProblem(document, fragments, limits);
}

/** Definitions, spreads and directives: validation reads all fragments once for each operation, and all directives of a place together. */
function definitionsProblem(
  document: DocumentNode,
  { maxOperations, maxFragments, maxSpreads, maxDirectives }: DocumentLimits,
): GraphQLError | null {
  let operations = 0;
  let fragments = 0;
  for (const { kind } of document.definitions) {
    if (kind === Kind.OPERATION_DEFINITION) operations += 1;
    else fragments += 1;
  }
  if (operations > maxOperations) return over('The document', operations, 'operations', maxOperations);
  if (fragments > maxFragments) return over('The document', fragments, 'fragments', maxFragments);
  let spreads = 0;
  let directives = 0;
  visit(document, {
    enter(node) {
      if (node.kind === Kind.FRAGMENT_SPREAD) spreads += 1;
      directives += directivesOf(node).length;
    },
  });
  if (spreads > maxSpreads) return over('The document', spreads, 'fragment spreads', maxSpreads);
  return directives > maxDirectives ? over('The document', directives, 'directives', maxDirectives) : null;
}

function directivesOf(node: ASTNode): readonly DirectiveNode[] {
  return 'directives' in node && node.directives !== undefined ? (node.directives as readonly DirectiveNode[]) : [];
}

interface Shape {
  readonly depth: number;
  readonly aliases: number;
}

/** Depth and aliases of each operation. A fragment counts each time it is spread. */
function shapeProblem(
  operations: readonly OperationDefinitionNode[],
  fragments: Fragments,
  { maxDepth, maxAliases }: DocumentLimits,
): GraphQLError | null {
  const measured = new Map<string, Shape>();
  const measure = (set: SelectionSetNode | undefined): Shape => {
    let depth = 0;
    let aliases = 0;
    for (const node of set?.selections ?? []) {
      const inner = node.kind === Kind.FRAGMENT_SPREAD ? fragment(node.name.value) : measure(node.selectionSet);
      const own = node.kind === Kind.FIELD ? 1 : 0;
      depth = Math.max(depth, inner.depth + own);
      aliases += inner.aliases + (node.kind === Kind.FIELD && node.alias !== undefined ? 1 : 0);
    }
    return { depth, aliases };
  };
  const fragment = (name: string): Shape => {
    const known = measured.get(name);
    if (known !== undefined) return known;
    // A fragment inside itself counts nothing.
    measured.set(name, { depth: 0, aliases: 0 });
    const found = measure(fragments[name]?.selectionSet);
    measured.set(name, found);
    return found;
  };
  for (const { selectionSet } of operations) {
    const { depth, aliases } = measure(selectionSet);
    if (depth > maxDepth) return tooCostly(`The operation is ${depth} fields deep; at most ${maxDepth} are allowed.`);
    if (aliases > maxAliases) return over('The operation', aliases, 'aliases', maxAliases);
  }
  return null;
}

/** Comparisons of fields and of fragments, in all selection sets of the document. */
function comparisonsProblem(
  document: DocumentNode,
  fragments: Fragments,
  { maxComparisons }: DocumentLimits,
): GraphQLError | null {
  const ids = new Map<SelectionSetNode, number>();
  const weights = new Map<FieldNode, number>();
  const visited = new Set<string>();
  const reached = new Set<string>();
  let left = maxComparisons;

  const weightOf = (field: FieldNode): number => {
    const known = weights.get(field) ?? 1 + nodesOf(field.arguments ?? []);
    weights.set(field, known);
    return known;
  };

  /** Spends for the fields of sets that are merged into one, and of all sets below. */
  const compare = (sets: readonly SelectionSetNode[]): void => {
    const key = keyOf(sets, ids);
    if (left < 0 || visited.has(key)) return;
    visited.add(key);
    const { fields, spreads, steps } = collect(sets, fragments);
    for (const name of spreads) reached.add(name);
    // Each two sets of the merge are looked at, also if they have no field in common.
    left -= sets.length * (sets.length - 1) + spreads.size * (spreads.size - 1) + (sets.length > 1 ? steps : 0);
    for (const same of fields.values()) {
      if (same.length > 1) left -= (same.length - 1) * same.reduce((sum, field) => sum + weightOf(field), 0);
      if (left < 0) return;
      const below = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (below.length > 0) compare(below);
    }
  };
  const roots = document.definitions.filter((each) => 'selectionSet' in each);
  // A fragment below an operation has been compared there.
  for (const root of roots.toSorted((a, b) => Number('typeCondition' in a) - Number('typeCondition' in b))) {
    if (!('typeCondition' in root && reached.has(root.name.value))) compare([root.selectionSet]);
    if (left < 0) {
      return tooCostly(
        `The document selects the same fields so often that validation needs more than ${maxComparisons} comparisons, the most that are allowed; select each field once.`,
      );
    }
  }
  return null;
}

/** The same for the same sets, in whatever order. */
function keyOf(sets: readonly SelectionSetNode[], ids: Map<SelectionSetNode, number>): string {
  const own = new Set<number>();
  for (const set of sets) {
    const id = ids.get(set) ?? ids.size;
    ids.set(set, id);
    own.add(id);
  }
  return [...own].sort((a, b) => a - b).join(' ');
}

interface Collected {
  /** By response name. */
  readonly fields: ReadonlyMap<string, readonly FieldNode[]>;
  /** Fragments that the sets spread, each once. */
  readonly spreads: ReadonlySet<string>;
  readonly steps: number;
}

/** The fields of sets that are merged into one, through fragments. */
function collect(sets: readonly SelectionSetNode[], fragments: Fragments): Collected {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const waiting = [...sets];
  let steps = 0;
  for (let set = waiting.pop(); set !== undefined; set = waiting.pop()) {
    for (const node of set.selections) {
      steps += 1;
      if (node.kind === Kind.INLINE_FRAGMENT) {
        waiting.push(node.selectionSet);
      } else if (node.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments[node.name.value];
        if (seen.has(node.name.value) || fragment === undefined) continue;
        seen.add(node.name.value);
        waiting.push(fragment.selectionSet);
      } else {
        const name = (node.alias ?? node.name).value;
        const same = fields.get(name);
        if (same === undefined) fields.set(name, [node]);
        else same.push(node);
      }
    }
  }
  return { fields, spreads: seen, steps };
}

function nodesOf(nodes: readonly ASTNode[]): number {
  let count = 0;
  for (const node of nodes) {
    visit(node, {
      enter() {
        count += 1;
      },
    });
  }
  return count;
}

function over(what: string, asked: number, of: string, allowed: number): GraphQLError {
  return tooCostly(`${what} has ${asked} ${of}; at most ${allowed} are allowed.`);
}
