/** The shape of an operation for the log: fields and names of arguments, without values, aliases and variables. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Maximum characters, because a document may be long. */
const mostCharacters = 400;
/** Deeper fields are shown as `…`. */
const mostDepth = 4;

/**
 *   query { ps: pods(first: 5, filter: { metadata: { name: { eq: "x" } } }) { nodes { metadata { name } } } }
 *   { pods(first,filter) { nodes { metadata { name } } } }
 */
export function documentShape({
  document,
  operationName,
}: {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
}): string {
  const operation = getOperationAST(document, operationName);
  if (operation === null || operation === undefined) return '';
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  const shape = new ShapeText(fragments);
  shape.set(operation.selectionSet, 0);
  return shape.text;
}

/** Writes the shape until it is long enough. Fragments in fragments would take exponential time otherwise. */
class ShapeText {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #text = '';

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  get text(): string {
    return this.#text.length > mostCharacters ? `${this.#text.slice(0, mostCharacters - 1)}…` : this.#text;
  }

  set({ selections }: SelectionSetNode, depth: number): void {
    if (depth >= mostDepth) {
      this.#text += '{ … }';
      return;
    }
    this.#text += '{';
    for (const selection of selections) {
      if (this.#text.length > mostCharacters) return;
      this.#text += ' ';
      this.#selection(selection, depth);
    }
    this.#text += ' }';
  }

  #selection(selection: SelectionNode, depth: number): void {
    if (selection.kind === Kind.FIELD) {
      const names = (selection.arguments ?? []).map(({ name }) => name.value);
      this.#text += `${selection.name.value}${names.length === 0 ? '' : `(${names.join(',')})`}`;
      if (selection.selectionSet === undefined) return;
      this.#text += ' ';
      this.set(selection.selectionSet, depth + 1);
      return;
    }
    const inline = selection.kind === Kind.INLINE_FRAGMENT;
    const set = inline ? selection.selectionSet : this.#fragments.get(selection.name.value)?.selectionSet;
    this.#text += set === undefined ? '…' : '... ';
    // A fragment counts as a level, so that a cycle of fragments ends.
    if (set !== undefined) this.set(set, depth + 1);
  }
}
