/**
 * A GraphQLSchema whose types are collected beforehand.
 *
 * graphql-js walks all types in the constructor of GraphQLSchema. It validates all of them when the first document comes. With a
 * thousand kinds, each of the two blocks the thread for hundreds of milliseconds. Here types are added one by one, in the order
 * of graphql-js. `problemsOf` validates some of them with the rules of graphql-js. The schema itself is then assumed to be valid.
 */
import {
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  specifiedDirectives,
  validateSchema,
} from 'graphql';
import { liveDirective } from './live-directive.ts';
import { type OperationTypeName, rootNames } from './root-types.ts';

interface Implementations {
  readonly objects: GraphQLObjectType[];
  readonly interfaces: GraphQLInterfaceType[];
}

type TypeMap = ReturnType<GraphQLSchema['getTypeMap']>;

/** The types of a schema in their order. */
export class TypeCollection {
  /** By name. Without a prototype, as graphql-js has it. */
  readonly byName: TypeMap = Object.create(null) as TypeMap;
  /** By the name of the interface. */
  readonly implementations = new Map<string, Implementations>();

  /** Appends a type. A type that was added before keeps its position. @throws for another type of the same name. */
  add(type: GraphQLNamedType): void {
    const known = this.byName[type.name];
    if (known === type) return;
    if (known !== undefined) throw new Error(`invariant broken: the type ${type.name} is unique`);
    this.byName[type.name] = type;
    if (!isObjectType(type) && !isInterfaceType(type)) return;
    for (const { name } of type.getInterfaces()) {
      const implementations = this.implementations.get(name) ?? { objects: [], interfaces: [] };
      this.implementations.set(name, implementations);
      if (isObjectType(type)) implementations.objects.push(type);
      else implementations.interfaces.push(type);
    }
  }
}

interface CollectedSchemaParts {
  /** Null for an operation type without fields. */
  readonly roots: Readonly<Record<OperationTypeName, GraphQLObjectType | null>>;
  /** The prefix of the names of types. Scalars, roots and types of introspection have none. Default: nothing. */
  readonly typePrefix?: string;
  /** All types of the schema, those of introspection included. */
  readonly types: TypeCollection;
}

const description =
  'The resources of Kubernetes clusters. Every kind that a cluster serves has a list, a field for one object, and a subscription.';

export class CollectedSchema extends GraphQLSchema {
  readonly #parts: CollectedSchemaParts;

  /** With the directives that GraphQL specifies, and `@live`. The types must be valid (`problemsOf`). */
  constructor(parts: CollectedSchemaParts) {
    super({ assumeValid: true, description, directives: [...specifiedDirectives, liveDirective] });
    this.#parts = parts;
  }

  get typePrefix(): string {
    return this.#parts.typePrefix ?? '';
  }

  override getQueryType(): GraphQLObjectType | undefined {
    return this.#parts.roots.query ?? undefined;
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.#parts.roots.mutation ?? undefined;
  }

  override getSubscriptionType(): GraphQLObjectType | undefined {
    return this.#parts.roots.subscription ?? undefined;
  }

  override getTypeMap(): TypeMap {
    return this.#parts.types.byName;
  }

  override getImplementations({ name }: GraphQLInterfaceType): Implementations {
    return this.#parts.types.implementations.get(name) ?? { objects: [], interfaces: [] };
  }
}

/** A type of the static schema, whatever its names begin with. */
export function staticType(schema: GraphQLSchema, name: string): GraphQLNamedType | undefined {
  return schema.getType(schema instanceof CollectedSchema ? schema.typePrefix + name : name);
}

const roots: ReadonlySet<string> = new Set(Object.values(rootNames));

/**
 * Puts the prefix before the names of types that lack it, except scalars, roots and types of introspection: gateways that join schemas merge
 * equal scalars. A prefix ends with "_". A name that begins with it has it already.
 */
export function addPrefix(prefix: string, types: Iterable<GraphQLNamedType>): void {
  if (prefix === '') return;
  for (const type of types) {
    const isOwn = isScalarType(type) || isIntrospectionType(type) || roots.has(type.name);
    if (!isOwn && !type.name.startsWith(prefix)) type.name = prefix + type.name;
  }
}

const anyQuery = new GraphQLObjectType({ name: 'Query', fields: { any: { type: GraphQLString } } });

/** A schema of some types, which are validated without the others. */
class PartOfSchema extends GraphQLSchema {
  readonly #types: TypeMap;

  constructor(types: readonly GraphQLNamedType[]) {
    super({ query: anyQuery, directives: [] });
    this.#types = Object.fromEntries(types.entries());
  }

  override getTypeMap(): TypeMap {
    return this.#types;
  }
}

/** Problems of these types by the rules of graphql-js. The types that they mention are not validated. */
export function problemsOf(types: readonly GraphQLNamedType[]): readonly string[] {
  return validateSchema(new PartOfSchema(types)).map(({ message }) => message);
}
