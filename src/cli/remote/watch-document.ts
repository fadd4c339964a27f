/**
 * The document that `portolan watch` sends. It is the user's, with what a resumed subscription needs besides:
 *
 *   podChanges(filter: { namespaces: ["shop"] })
 *     -> subscription ($since: String) { podChanges(filter: { namespaces: ["shop"] }, since: $since) { phase … cursor … } }
 *
 *   subscription ($from: String) { podChanges(since: $from) { phase } }
 *     -> the same with `cursor`; the cursors are passed as $from
 *
 * Never: checks what the gateway checks. A field or an argument that does not exist stays in the document, and the gateway refuses it.
 */
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';

/** The arguments of each subscription root, by its name. */
export type SubscriptionRoots = ReadonlyMap<string, ReadonlySet<string>>;

export interface WatchedDocument {
  readonly query: string;
  /** The variable that takes the cursor; null for a root without cursors. */
  readonly cursorVariable: string | null;
  /** The cursor that the document itself has as a literal. */
  readonly writtenCursor: string | null;
}

interface WatchChoices {
  readonly operation?: string | undefined;
  /** Begin without a snapshot. */
  readonly changesOnly: boolean;
}

/** A root field in short form: its name as the user gave it, and the text of its arguments and selection. */
export interface ShortForm {
  readonly name: string;
  readonly rest: string;
}

const keywords = new Set(['subscription', 'query', 'mutation', 'fragment']);

/** The parts of a short form; null for a whole document. */
export function shortForm(text: string): ShortForm | null {
  const [, name = '', rest = ''] = /^\s*([A-Za-z_][\w.-]*)(.*)$/s.exec(text) ?? [];
  return name === '' || keywords.has(name) ? null : { name, rest };
}

/** The selection of a short form without one. */
const ofObjects = `{
  phase reset cursor totalCount
  changes { type id reason object { cluster kind metadata { namespace name } } }
}`;
const ofOthers: Readonly<Record<string, string>> = {
  resourceChanges: '{ phase reset changes { type id resource { cluster key synced type } } }',
};

/**
 * The document of a short form.
 * @throws GraphQLError for text that does not parse, PortolanError CONFIGURATION for a root that needs a selection.
 */
export function longForm(root: string, rest: string, roots: SubscriptionRoots): string {
  const given = parse(`subscription { ${root}${rest} }`);
  const [{ selectionSet = undefined } = {}] = fieldsOf(operationOf(given, undefined).selectionSet);
  if (selectionSet !== undefined) return `subscription { ${root}${rest} }`;
  const selection = ofOthers[root] ?? (hasCursor(roots, root) ? ofObjects : null);
  if (selection !== null) return `subscription { ${root}${rest} ${selection} }`;
  throw new PortolanError('CONFIGURATION', `Say which fields of ${root} are wanted: write { … } after its arguments.`);
}

/** Is it a root of objects? The argument `since` of any other root takes no cursor. */
function hasCursor(roots: SubscriptionRoots, root: string): boolean {
  return roots.get(root)?.has('snapshot') === true;
}

/**
 * Lets the document resume.
 * @throws GraphQLError for text that does not parse.
 * @throws PortolanError CONFIGURATION for a document that is no subscription.
 */
export function watchedDocument(
  text: string,
  roots: SubscriptionRoots,
  { operation: name, changesOnly }: WatchChoices,
): WatchedDocument {
  const document = parse(text);
  const operation = operationOf(document, name);
  const root = rootField(document, operation.selectionSet);
  const resumes = hasCursor(roots, root.name.value);
  if (changesOnly && !resumes) {
    throw new PortolanError(
      'CONFIGURATION',
      `--changes-only needs a root with the argument snapshot, and ${root.name.value} has none.`,
    );
  }
  const since = root.arguments?.find((each) => each.name.value === 'since');
  const passed = since?.value.kind === Kind.VARIABLE ? since.value.name.value : null;
  const added = resumes && passed === null ? freeVariable(operation) : null;
  const changed: FieldNode = {
    ...root,
    arguments: [
      ...(root.arguments ?? []).filter(
        (each) => !(each === since && added !== null) && !(each.name.value === 'snapshot' && changesOnly),
      ),
      ...(added === null ? [] : [argument('since', { kind: Kind.VARIABLE, name: nameNode(added) })]),
      ...(changesOnly ? [argument('snapshot', { kind: Kind.BOOLEAN, value: false })] : []),
    ],
    ...(resumes && root.selectionSet !== undefined ? { selectionSet: withCursor(root.selectionSet) } : {}),
  };
  const written = visit(document, {
    Field: (node) => (node === root ? changed : undefined),
    OperationDefinition: {
      leave: (node) => (added !== null && sameOperation(node, operation) ? declaring(node, added) : undefined),
    },
  });
  return {
    query: print(written),
    cursorVariable: added ?? (resumes ? passed : null),
    writtenCursor: added !== null && since?.value.kind === Kind.STRING ? since.value.value : null,
  };
}

function operationOf(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const found = name === undefined ? operations : operations.filter((each) => each.name?.value === name);
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new PortolanError('CONFIGURATION', 'Name the operation with --operation: the document has none or several.');
  }
  if (only.operation === OperationTypeNode.SUBSCRIPTION) return only;
  throw new PortolanError('CONFIGURATION', `This is a ${only.operation}; send it with portolan query.`);
}

/** The fields of a selection, without those in fragments. */
function fieldsOf({ selections }: SelectionSetNode): readonly FieldNode[] {
  return selections.filter((each) => each.kind === Kind.FIELD);
}

/** The root field, which may be in a fragment. GraphQL allows one. */
function rootField(document: DocumentNode, set: SelectionSetNode): FieldNode {
  const seen = new Set<string>();
  const within = ({ selections }: SelectionSetNode): readonly FieldNode[] =>
    selections.flatMap((each) => {
      if (each.kind === Kind.FIELD) return [each];
      if (each.kind === Kind.INLINE_FRAGMENT) return within(each.selectionSet);
      const name = each.name.value;
      if (seen.has(name)) return [];
      seen.add(name);
      const fragment = document.definitions.find(
        (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
      );
      return fragment?.kind === Kind.FRAGMENT_DEFINITION ? within(fragment.selectionSet) : [];
    });
  const [first] = within(set);
  if (first !== undefined) return first;
  throw new GraphQLError('The subscription selects no field.', {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
  });
}

function withCursor(set: SelectionSetNode): SelectionSetNode {
  const has = fieldsOf(set).some(({ name, alias }) => name.value === 'cursor' && alias === undefined);
  if (has) return set;
  return { ...set, selections: [...set.selections, { kind: Kind.FIELD, name: nameNode('cursor') }] };
}

function freeVariable({ variableDefinitions = [] }: OperationDefinitionNode): string {
  const taken = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  let name = 'since';
  while (taken.has(name)) name = `${name}_`;
  return name;
}

/** The visitor makes new nodes of what it changed inside; the place in the text stays. */
function sameOperation(node: OperationDefinitionNode, other: OperationDefinitionNode): boolean {
  return node.loc?.start === other.loc?.start;
}

function declaring(node: OperationDefinitionNode, variable: string): OperationDefinitionNode {
  const definition = {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: nameNode(variable) },
    type: { kind: Kind.NAMED_TYPE, name: nameNode('String') },
  } as const;
  return { ...node, variableDefinitions: [...(node.variableDefinitions ?? []), definition] };
}

function argument(name: string, value: ArgumentNode['value']): ArgumentNode {
  return { kind: Kind.ARGUMENT, name: nameNode(name), value };
}

function nameNode(value: string): { readonly kind: typeof Kind.NAME; readonly value: string } {
  return { kind: Kind.NAME, value };
}
