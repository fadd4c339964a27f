/**
 * Finds the path argument at a position of a GraphQL document, also of an unfinished one.
 *
 * The text before the position is read token by token, with a stack of the brackets that are open. Each level knows its type in the
 * schema. The position is in a path argument if it is in a string where the schema expects the scalar Path.
 *
 *   { pods(orderBy: [{ path: "status.pha|" }]) { … } }
 *     Query           -> pods: PodConnection, arguments -> orderBy: [ObjectOrder!] -> ObjectOrder -> path: Path
 *     the objects of PodConnection are Pods, so this is a path of Pod
 */
import type {
  GraphQLArgument,
  GraphQLField,
  GraphQLInputType,
  GraphQLNamedType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql';
import { tokensOf } from './tokens.ts';

export interface PathArgument {
  /** The type of the objects that the path belongs to: a kind's, or `KubernetesObject` for several kinds. */
  readonly type: string;
  /** The words of the argument `kinds` of the list, where the document has them as texts. */
  readonly kinds: readonly string[];
  /** The text of the string before the position, as it is written. */
  readonly written: string;
  /** Offset of the first character after the opening quote. */
  readonly start: number;
}

/** The interface of all objects. */
export const objectInterface = 'KubernetesObject';

type Field = GraphQLField<unknown, unknown>;

/** A selection set: `{` … `}` after a field or at the beginning. */
interface Selection {
  readonly in: 'selection';
  readonly type: GraphQLNamedType | undefined;
  /** The words of `kinds` of the field that the set belongs to. */
  readonly kinds: readonly string[];
  /** The last field in the set so far. */
  field: Field | undefined;
  fieldKinds: string[];
  /** The type condition of the next fragment in the set. */
  condition: GraphQLNamedType | undefined;
  /** The next parenthesis has the arguments of a directive. */
  directive: boolean;
}

/** Arguments, or an input object, or a list in one. */
interface Values {
  readonly in: 'values';
  /** The names that are possible here; null in a list. */
  readonly inputs: Readonly<Record<string, { readonly type: GraphQLInputType }>> | null;
  /** For the arguments of a field. */
  readonly field: Field | undefined;
  /** Receives the words of `kinds`. */
  readonly kinds: string[];
  name: string;
  expected: GraphQLNamedType | undefined;
}

type Level = Selection | Values;

const closedString = /^"(?:\\.|[^"\\\n\r])*"$/;

/** Null if the position is not in a path argument, or if the schema does not have what the document asks for. */
export function pathArgumentAt(schema: GraphQLSchema, document: string, position: number): PathArgument | null {
  const reader = new Reader(schema);
  for (const { text, index } of tokensOf(document.slice(0, position))) {
    const isLast = index + text.length === position;
    if (isLast && text.startsWith('"') && !text.startsWith('"""') && !closedString.test(text)) {
      const owner = reader.ownerOfPath();
      return owner === null ? null : { ...owner, written: text.slice(1), start: index + 1 };
    }
    reader.take(text);
  }
  return null;
}

class Reader {
  readonly #schema: GraphQLSchema;
  readonly #levels: Level[] = [];
  /** The type of the next selection set outside of all brackets. */
  #root: GraphQLNamedType | undefined;
  #previous = '';

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    this.#root = schema.getQueryType() ?? undefined;
  }

  take(token: string): void {
    const top = this.#levels.at(-1);
    if (token === '}' || token === ')' || token === ']') this.#levels.pop();
    else if (top === undefined) this.#takeOutside(token);
    else if (top.in === 'selection') this.#takeInSelection(top, token);
    else this.#takeInValues(top, token);
    this.#previous = token;
  }

  /** The objects of the path that is expected here; null if none is. */
  ownerOfPath(): Pick<PathArgument, 'type' | 'kinds'> | null {
    const top = this.#levels.at(-1);
    if (top?.in !== 'values' || top.expected?.name !== 'Path') return null;
    // From the inside: a field that gives objects, or the fields that it stands in.
    for (const level of this.#levels.toReversed()) {
      const type = level.in === 'selection' ? level.type : namedType(level.field?.type);
      const objects = this.#objectsOf(type);
      if (objects !== null) return { type: objects.name, kinds: level.kinds };
    }
    return null;
  }

  #takeOutside(token: string): void {
    if (token === '{') {
      this.#levels.push(selection(this.#root, []));
      this.#root = this.#schema.getQueryType() ?? undefined;
    } else if (token === '(' || token === '[') this.#levels.push(values(null, undefined));
    else if (this.#previous === 'on') this.#root = this.#schema.getType(token);
    else if (token === 'subscription') this.#root = this.#schema.getSubscriptionType() ?? undefined;
    else if (token === 'mutation') this.#root = this.#schema.getMutationType() ?? undefined;
  }

  #takeInSelection(top: Selection, token: string): void {
    switch (token) {
      case '{':
        this.#levels.push(selection(top.condition ?? namedType(top.field?.type), kindsBelow(top)));
        top.condition = undefined;
        top.directive = false;
        return;
      case '(': {
        const args = top.directive || top.field === undefined ? null : Object.fromEntries(argsByName(top.field));
        this.#levels.push(values(args, top.directive ? undefined : top.field, top.fieldKinds));
        top.directive = false;
        return;
      }
      case '...':
        top.condition = top.type;
        return;
      case '@':
        top.directive = true;
        return;
      case ':':
      case '[':
      case '$':
        return;
    }
    if (this.#previous === '@' || (token === 'on' && this.#previous === '...')) return;
    if (this.#previous === 'on' && top.condition !== undefined) {
      top.condition = this.#schema.getType(token);
      return;
    }
    top.field = fieldsOf(top.type)[token];
    top.fieldKinds = [];
    top.condition = undefined;
    top.directive = false;
  }

  #takeInValues(top: Values, token: string): void {
    if (token === '{') this.#levels.push(values(inputsOf(top.expected), undefined));
    else if (token === '[') this.#levels.push(listOf(top));
    else if (token === '(') this.#levels.push(values(null, undefined));
    else if (token.startsWith('"')) {
      if (top.name === 'kinds' && closedString.test(token)) top.kinds.push(token.slice(1, -1));
    } else if (/^\w/.test(token) && top.inputs !== null && !/^[:$]$/.test(this.#previous)) {
      top.name = token;
      top.expected = namedType(top.inputs[token]?.type);
    }
  }

  /** The type of a kind, or the interface. It is found from a connection, an edge, a message of changes or an object. */
  #objectsOf(type: GraphQLNamedType | undefined, depth = 0): GraphQLNamedType | null {
    if (type === undefined || depth > 3 || type === this.#schema.getQueryType()) return null;
    if (isObject(type)) return type;
    const fields = fieldsOf(type);
    for (const name of ['nodes', 'node', 'changes', 'object']) {
      const found = this.#objectsOf(namedType(fields[name]?.type), depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
}

function selection(type: GraphQLNamedType | undefined, kinds: readonly string[]): Selection {
  return { in: 'selection', type, kinds, field: undefined, fieldKinds: [], condition: undefined, directive: false };
}

/** The kinds of a list are those of its parts, such as `nodes`, but not those of a relation of its objects. */
function kindsBelow({ type, field, kinds, fieldKinds }: Selection): readonly string[] {
  if (field?.args.some(({ name }) => name === 'kinds') === true) return fieldKinds;
  return type === undefined || isObject(type) ? [] : kinds;
}

function values(inputs: Values['inputs'], field: Field | undefined, kinds: string[] = []): Values {
  return { in: 'values', inputs, field, kinds, name: '', expected: undefined };
}

function listOf({ field, kinds, name, expected }: Values): Values {
  return { in: 'values', inputs: null, field, kinds, name, expected };
}

// GraphiQL has its own copy of graphql. So the methods of a type tell its kind, not its class.

function namedType(type: GraphQLInputType | GraphQLOutputType | undefined): GraphQLNamedType | undefined {
  let inner: unknown = type;
  while (typeof inner === 'object' && inner !== null && 'ofType' in inner) inner = inner.ofType;
  return inner as GraphQLNamedType | undefined;
}

function fieldsOf(type: GraphQLNamedType | undefined): Readonly<Record<string, Field>> {
  if (type === undefined || !('getInterfaces' in type)) return {};
  return type.getFields();
}

/** Is it the interface of all objects, or the type of a kind? */
function isObject(type: GraphQLNamedType): boolean {
  if (type.name === objectInterface) return true;
  return 'getInterfaces' in type && type.getInterfaces().some(({ name }) => name === objectInterface);
}

function inputsOf(type: GraphQLNamedType | undefined): Values['inputs'] {
  if (type === undefined || !('getFields' in type) || 'getInterfaces' in type) return null;
  return type.getFields() as Values['inputs'];
}

function argsByName({ args }: Field): readonly (readonly [string, GraphQLArgument])[] {
  return args.map((arg) => [arg.name, arg]);
}
