/**
 * Random documents: walks through the types of a schema with random fields, arguments, variables, fragments, directives and aliases;
 * and texts that were broken afterwards. Half of them are careful, with nothing wrong that can be seen from the schema: the others are
 * mostly refused, and tell little about how answers are made.
 */
import {
  type GraphQLArgument,
  GraphQLBoolean,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { isRawJson } from '../../src/catalog/values/raw-json.ts';
import type { Dice } from './dice.ts';
import type { DocumentWorld } from './document-world.ts';
import { EnumName, InputMaker } from './random-input.ts';

export interface RandomDocument {
  readonly query: string;
  readonly variables: unknown;
  readonly operationName?: unknown;
}

export function randomDocument(schema: GraphQLSchema, known: DocumentWorld['known'], dice: Dice): RandomDocument {
  const careful = dice.chance(0.5);
  const made = new DocumentMaker(schema, known, dice, careful).document();
  return !careful && dice.chance(0.2) ? { ...made, query: broken(made.query, dice) } : made;
}

const mostFragments = 4;

class DocumentMaker {
  readonly #schema: GraphQLSchema;
  readonly #dice: Dice;
  readonly #careful: boolean;
  readonly #inputs: InputMaker;
  readonly #declared: string[] = [];
  readonly #variables: Record<string, unknown> = {};
  #aliases = 0;
  readonly #fragments: { readonly name: string; readonly on: string; readonly text: string }[] = [];

  constructor(schema: GraphQLSchema, known: DocumentWorld['known'], dice: Dice, careful: boolean) {
    this.#schema = schema;
    this.#dice = dice;
    this.#careful = careful;
    this.#inputs = new InputMaker(dice, known, careful);
  }

  /** Is something done wrong here? */
  #slip(probability: number): boolean {
    return !this.#careful && this.#dice.chance(probability);
  }

  document(): RandomDocument {
    const dice = this.#dice;
    const kind = dice.chance(0.03) ? 'subscription' : 'query';
    const root = kind === 'query' ? this.#schema.getQueryType() : this.#schema.getSubscriptionType();
    if (root == null) throw new Error(`the schema has no ${kind}`);
    const selection = this.#selection(root, dice.between(2, 7));
    const declared = this.#declared.length === 0 ? '' : `(${this.#declared.join(', ')})`;
    const fragments = this.#fragments.map(({ name, on, text }) => `fragment ${name} on ${on} ${text}`);
    const query = [`${kind} Random${declared} ${selection}`, ...fragments].join('\n');
    if (this.#slip(0.1))
      this.#variables[dice.pick(['v0', 'v1', 'other'])] = dice.pick<unknown>([null, 5, 'x', {}, [[]]]);
    return {
      query,
      variables: this.#slip(0.01) ? dice.pick<unknown>([[], 'x', 5, null]) : this.#variables,
      ...(this.#slip(0.03) ? { operationName: dice.pick<unknown>(['Random', 'Other', '', null, 5]) } : {}),
    };
  }

  #selection(type: GraphQLNamedType, depth: number): string {
    const dice = this.#dice;
    const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
    const fitting = fields.filter((field) => depth > 0 || !isCompositeType(getNamedType(field.type)));
    const parts = dice
      .sample(fitting, dice.between(1, type === this.#schema.getSubscriptionType() ? 1 : 3))
      .map((field) => this.#field(field, depth));
    if (parts.length === 0 || dice.chance(0.1)) parts.push('__typename');
    if (type === this.#schema.getQueryType() && dice.chance(0.03)) {
      parts.push(
        dice.pick([
          '__schema { types { name fields { name } } }',
          '__type(name: "Pod") { name }',
          '__type(name: 5) { name }',
        ]),
      );
    }
    if (depth > 0 && dice.chance(0.15)) parts.push(this.#fragment(type, depth - 1));
    if (this.#slip(0.003)) parts.push('noSuchField');
    return `{ ${parts.join(' ')} }`;
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const dice = this.#dice;
    // Fields of one name with different arguments conflict, so most that have some get a name of their own.
    const own = field.args.length > 0 ? !this.#slip(0.01) : dice.chance(0.1);
    const alias = own ? `a${this.#aliases++}: ` : this.#slip(0.005) ? 'a: ' : '';
    const given = field.args.filter((argument) => isRequiredArgument(argument) || this.#wanted(argument));
    const args = given.map((argument) => `${argument.name}: ${this.#argument(argument)}`);
    const type = getNamedType(field.type);
    const below = isCompositeType(type) ? ` ${this.#selection(type, depth - 1)}` : '';
    return `${alias}${field.name}${args.length === 0 ? '' : `(${args.join(', ')})`}${this.#directive()}${below}`;
  }

  #wanted({ name }: GraphQLArgument): boolean {
    // Objects by name need their cluster; pages go one way.
    if (this.#careful && name === 'cluster') return true;
    return !(this.#careful && (name === 'last' || name === 'before')) && this.#dice.chance(0.35);
  }

  #argument({ type, name }: GraphQLArgument): string {
    const value = this.#inputs.value(type, name, 4);
    return this.#dice.chance(0.4) ? this.#variable(type, value) : literal(value);
  }

  #variable(type: GraphQLInputType, value: unknown): string {
    const dice = this.#dice;
    const name = `v${this.#declared.length}`;
    const stated = this.#slip(0.005) ? dice.pick(['Int!', 'String', '[JSON]', 'NoSuchType', 'Pod']) : String(type);
    const otherwise = dice.chance(0.05) ? ` = ${literal(this.#inputs.value(type, name, 2))}` : '';
    this.#declared.push(`$${name}: ${stated}${otherwise}`);
    if (!this.#slip(0.05)) this.#variables[name] = value;
    return `$${name}`;
  }

  #directive(): string {
    const dice = this.#dice;
    if (!dice.chance(0.07)) return '';
    const condition = dice.chance(0.5)
      ? dice.pick(['true', 'false'])
      : this.#variable(new GraphQLNonNull(GraphQLBoolean), this.#slip(0.1) ? 'x' : dice.chance(0.5));
    return ` @${dice.pick(['include', 'skip'])}(if: ${condition})`;
  }

  #fragment(type: GraphQLNamedType, depth: number): string {
    const dice = this.#dice;
    const types: readonly GraphQLNamedType[] = isAbstractType(type)
      ? [type, ...this.#schema.getPossibleTypes(type)]
      : [type];
    const on = dice.pick(types);
    if (dice.chance(0.5)) return `... on ${on.name} ${this.#selection(on, depth)}`;
    const known = this.#fragments.find((fragment) => fragment.on === on.name);
    if (known !== undefined && dice.chance(0.5)) return `...${known.name}`;
    if (this.#fragments.length >= mostFragments) return '__typename';
    const text = this.#selection(on, depth);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push({ name, on: on.name, text });
    return `...${name}`;
  }
}

/** As a document writes it. Numbers keep their digits. */
function literal(value: unknown): string {
  if (value instanceof EnumName) return value.name;
  if (isRawJson(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    // Only names can be written; a variable may have other keys.
    const entries = Object.entries(value).filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
    return `{ ${entries.map(([name, item]) => `${name}: ${literal(item)}`).join(', ')} }`;
  }
  // A document has no lone surrogates; variables have.
  return JSON.stringify(typeof value === 'string' ? value.toWellFormed() : value) ?? 'null';
}

const pieces = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  ':',
  '!',
  '$',
  '@',
  '...',
  '"',
  '"""',
  '\\',
  '\0',
  '\ud800',
  '#',
  '\n',
  '&',
  '|',
  '=',
  'query',
  'on',
  'fragment',
  'null',
  'true',
  '-',
  '1e999',
  '0x1',
  '😀',
];

/** A text with a few places deleted, doubled, moved or overwritten. */
function broken(text: string, dice: Dice): string {
  let left = text;
  for (let count = dice.between(1, 3); count > 0; count--) {
    const at = dice.below(left.length + 1);
    const end = Math.min(left.length, at + dice.pick([1, 2, 5, 20]));
    const cut = left.slice(at, end);
    left =
      left.slice(0, at) +
      dice.choose<string>([
        [3, () => ''],
        [2, () => cut + cut],
        [3, () => dice.pick(pieces)],
        [2, () => dice.pick(pieces) + cut],
        [1, () => [...cut].reverse().join('')],
      ]) +
      left.slice(end);
  }
  return left;
}
