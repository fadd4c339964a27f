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
  const shape = setShape(operation.selectionSet, fragments, 0);
  return shape.length > mostCharacters ? `${shape.slice(0, mostCharacters - 1)}…` : shape;
}

function setShape(
  set: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  depth: number,
): string {
  if (depth >= mostDepth) return '{ … }';
  return `{ ${set.selections.map((each) => selectionShape(each, fragments, depth)).join(' ')} }`;
}

function selectionShape(
  selection: SelectionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  depth: number,
): string {
  if (selection.kind === Kind.FIELD) {
    const names = (selection.arguments ?? []).map(({ name }) => name.value);
    const set = selection.selectionSet;
    const inner = set === undefined ? '' : ` ${setShape(set, fragments, depth + 1)}`;
    return `${selection.name.value}${names.length === 0 ? '' : `(${names.join(',')})`}${inner}`;
  }
  const set =
    selection.kind === Kind.INLINE_FRAGMENT
      ? selection.selectionSet
      : fragments.get(selection.name.value)?.selectionSet;
  // A fragment counts as a level, so that a cycle of fragments ends.
  return set === undefined ? '…' : `... ${setShape(set, fragments, depth + 1)}`;
}
