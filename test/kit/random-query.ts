/** Random queries over the types of a schema: with aliases, fragments, directives, variables, and fields that only resolvers answer. */
import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

export interface RandomQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface RandomQueryOptions {
  /** Root fields to choose from. */
  readonly roots: readonly string[];
  /** The percentage of choices that take a field without a `plain` fact, where one exists. */
  readonly code: number;
  /** Arguments of a root field, as GraphQL writes them. */
  readonly args: readonly string[];
  /** Arguments of a relation to several objects; none by default. */
  readonly relatedArgs?: readonly string[];
  /** Relations of objects. Half of the choices among the fields of an object with relations take one of them. */
  readonly relations?: readonly string[];
  /** Fields that are never taken. */
  readonly without?: readonly string[];
}

type Draw = <T, A extends unknown[]>(make: (...args: A) => fc.Arbitrary<T>, ...args: A) => T;

const needCode = new Set([
  'owners',
  'owned',
  'raw',
  'yaml',
  'columns',
  'value',
  'totalCount',
  'aggregate',
  'facets',
  'scope',
  'usedBy',
  'references',
  'graph',
  'via',
  'events',
]);
const aliases = ['a', 'b', 'name', '__proto__', 'constructor', 'id', 'nodes', '_1'];

/** A query over some of the roots, of bounded depth. */
export function randomQuery(schema: GraphQLSchema, options: RandomQueryOptions): fc.Arbitrary<RandomQuery> {
  return fc.gen().map((g) => new QueryMaker(schema, options, g as unknown as Draw).make());
}

class QueryMaker {
  readonly #schema: GraphQLSchema;
  readonly #options: RandomQueryOptions;
  readonly #draw: Draw;
  readonly #fragments: string[] = [];

  constructor(schema: GraphQLSchema, options: RandomQueryOptions, draw: Draw) {
    this.#schema = schema;
    this.#options = options;
    this.#draw = draw;
  }

  make(): RandomQuery {
    const roots = this.#draw(fc.integer, { min: 1, max: 2 });
    const query = this.#schema.getQueryType();
    let text = '';
    for (let index = 0; index < roots; index += 1) {
      const name = this.#draw(() => fc.constantFrom(...this.#options.roots));
      const args = this.#draw(() => fc.constantFrom(...this.#options.args));
      const type = getNamedType(query?.getFields()[name]?.type);
      if (!isObjectType(type)) throw new Error(`${name} is no list`);
      text += ` r${index}: ${name}${args}${this.#directive()} ${this.#selection(type, 6)}`;
      if (this.#chance(10)) text += ' __typename';
    }
    const variables = {
      yes: this.#chance(50),
      no: this.#chance(50),
      key: this.#draw(() => fc.constantFrom('app', '1', '', 'a"b', '__proto__')),
    };
    const head = 'query Q($yes: Boolean!, $no: Boolean = false, $key: String!, $first: Int, $after: String)';
    // Every variable is used, or the document would not be valid.
    const used =
      '__typename @include(if: $yes) @skip(if: $no) used: widgets(first: $first, after: $after) { nodes { metadata { label(key: $key) } } }'.replace(
        'widgets',
        this.#options.roots[0] ?? '',
      );
    return { query: `${head} {${text} ${used} }\n${this.#fragments.join('\n')}`, variables };
  }

  #chance(percent: number): boolean {
    return this.#draw(fc.integer, { min: 1, max: 100 }) <= percent;
  }

  #directive(): string {
    if (!this.#chance(12)) return '';
    return this.#draw(() =>
      fc.constantFrom(
        ' @include(if: $yes)',
        ' @skip(if: $no)',
        ' @include(if: true)',
        ' @skip(if: true)',
        ' @skip(if: false) @include(if: $no)',
      ),
    );
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const count = this.#draw(fc.integer, { min: 1, max: 5 });
    const taken = new Map<string, string>();
    let text = '';
    for (let index = 0; index < count; index += 1) text += ` ${this.#item(type, depth, taken)}`;
    return `{${text} }`;
  }

  #item(type: GraphQLObjectType, depth: number, taken: Map<string, string>): string {
    if (this.#chance(8)) return this.#field(type, '__typename', '', depth, taken);
    if (depth > 0 && this.#chance(12)) return this.#fragment(type, depth, taken);
    const fields = Object.values(type.getFields()).filter(
      (field) =>
        (isLeafType(getNamedType(field.type)) || depth > 0) &&
        this.#options.without?.includes(field.name) !== true &&
        (!needCode.has(field.name) || this.#chance(this.#options.code)),
    );
    if (fields.length === 0) return '__typename';
    // Few of the many fields lead to an object's data.
    const ways = fields.filter(({ name }) => ['nodes', 'edges', 'node', 'metadata', 'spec', 'status'].includes(name));
    const related = fields.filter(({ name }) => this.#options.relations?.includes(name) === true);
    const preferred = related.length > 0 && this.#chance(50) ? related : ways;
    const from = preferred.length > 0 && this.#chance(50) ? preferred : fields;
    const field = this.#draw(() => fc.constantFrom(...from));
    const args = this.#arguments(field);
    return args === null ? '__typename' : this.#field(type, field.name, args, depth, taken);
  }

  /** The arguments of a field; null when it requires an argument for which this file has no value. */
  #arguments(field: GraphQLField<unknown, unknown>): string | null {
    const { relations, relatedArgs } = this.#options;
    if (relatedArgs !== undefined && relations?.includes(field.name) === true && field.args.length > 0) {
      return this.#draw(() => fc.constantFrom(...relatedArgs));
    }
    const required = field.args.filter(isRequiredArgument);
    if (required.length === 0) return '';
    const [only] = required;
    switch (only?.name) {
      case 'key':
        return this.#draw(() => fc.constantFrom('(key: "app")', '(key: $key)', '(key: "a\\"b")'));
      case 'type':
        return this.#draw(() => fc.constantFrom('(type: "Ready")', '(type: $key)'));
      case 'path':
        return '(path: "spec.name")';
      case 'paths':
        return '(paths: ["spec.name"])';
      default:
        return null;
    }
  }

  #field(type: GraphQLObjectType, name: string, args: string, depth: number, taken: Map<string, string>): string {
    const alias = this.#chance(25) ? this.#draw(() => fc.constantFrom(...aliases)) : null;
    const key = alias ?? name;
    // Two fields of one response name must be the same field with the same arguments.
    const known = taken.get(key);
    if (known !== undefined && known !== `${name}${args}`) return '__typename';
    taken.set(key, `${name}${args}`);
    const below = getNamedType(type.getFields()[name]?.type);
    // A name is selected twice only with the same selection, so that merged fields do not conflict either.
    const inner = isObjectType(below) || isInterfaceType(below) ? this.#below(below, depth, known !== undefined) : '';
    return `${alias === null ? '' : `${alias}: `}${name}${args}${this.#directive()}${inner}`;
  }

  #below(type: ReturnType<typeof getNamedType>, depth: number, again: boolean): string {
    if (!isObjectType(type) || again) return ' { __typename }';
    return ` ${this.#selection(type, depth - 1)}`;
  }

  #fragment(type: GraphQLObjectType, depth: number, taken: Map<string, string>): string {
    const field = this.#item(type, depth - 1, taken);
    const conditions = [type, ...type.getInterfaces().filter(() => field.startsWith('__typename'))];
    const on = this.#draw(() => fc.constantFrom(...conditions)).name;
    if (this.#chance(50)) return `...${this.#chance(80) ? ` on ${on}` : ''}${this.#directive()} { ${field} }`;
    const name = `F${this.#fragments.length}`;
    this.#fragments.push(`fragment ${name} on ${on} { ${field} }`);
    return `...${name}${this.#directive()}`;
  }
}
