/** Detects operations with long introspection, in any form: as the whole operation, or beside data. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { documentFragments } from '../selection/walk.ts';
import { rootPart } from './root-parts.ts';

/** Introspection fields whose answers grow with the schema. An answer without them is short. */
const long = new Set(['types', 'fields', 'inputFields', 'possibleTypes']);

/**
 * Does a query ask for introspection whose answer may be long? The document is valid.
 * @param operationName null where the document has one operation.
 */
export function asksIntrospection(document: DocumentNode, operationName: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY) return false;
  const roots = fieldsOf(operation.selectionSet, documentFragments(document), false);
  if (!roots.has('__schema') && !roots.has('__type')) return false;
  const part = rootPart(document, operationName, 'introspection');
  const root = getOperationAST(part, operationName);
  return root != null && !fieldsOf(root.selectionSet, documentFragments(part), true).isDisjointFrom(long);
}

/** Does a query with introspection ask for nothing but introspection and `__typename`? */
export function isWholeIntrospection(document: DocumentNode, operationName: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation == null || !asksIntrospection(document, operationName)) return false;
  const roots = fieldsOf(operation.selectionSet, documentFragments(document), false);
  return [...roots].every((name) => name === '__schema' || name === '__type' || name === '__typename');
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
