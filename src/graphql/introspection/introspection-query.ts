/** Detects operations that are introspection of the whole schema, in any form. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { documentFragments } from '../selection/walk.ts';

/** Introspection fields whose answers grow with the schema. An answer without them is short. */
const long = new Set(['types', 'fields', 'inputFields', 'possibleTypes']);

/**
 * Is the operation a query of `__schema` (and `__typename`) alone, with a long answer? The document is valid.
 * @param operationName null where the document has one operation.
 */
export function isWholeIntrospection(document: DocumentNode, operationName: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY) return false;
  const fragments = documentFragments(document);
  const roots = fieldsOf(operation.selectionSet, fragments, false);
  if (!roots.has('__schema') || [...roots].some((name) => name !== '__schema' && name !== '__typename')) return false;
  return !fieldsOf(operation.selectionSet, fragments, true).isDisjointFrom(long);
}

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** The names of the fields that are selected, through fragments; with `deep`, at any depth. */
function fieldsOf(set: SelectionSetNode, fragments: Fragments, deep: boolean): Set<string> {
  const names = new Set<string>();
  const spread = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      switch (node.kind) {
        case Kind.FIELD:
          names.add(node.name.value);
          if (deep && node.selectionSet !== undefined) visit(node.selectionSet);
          break;
        case Kind.INLINE_FRAGMENT:
          visit(node.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD: {
          const fragment = fragments[node.name.value];
          if (fragment === undefined || spread.has(node.name.value)) break;
          spread.add(node.name.value);
          visit(fragment.selectionSet);
        }
      }
    }
  };
  visit(set);
  return names;
}
