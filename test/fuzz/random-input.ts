/** Random values of GraphQL input types, as JavaScript values; mostly right, sometimes wrong, sometimes hostile. */
import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
} from 'graphql';
import type { LeafType } from '../../src/catalog/tree/field-tree.ts';
import { pools } from '../kit/leaf-values.ts';
import type { Dice } from './dice.ts';
import type { DocumentWorld } from './document-world.ts';
import { hostileKeys, madeValue } from './hostile-values.ts';
import { clusters, namespaces } from './random-objects.ts';

/** An enum's name: printed without quotes in documents. */
export class EnumName {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  toJSON(): string {
    return this.name;
  }
}

const scalars: Readonly<Record<string, LeafType>> = {
  String: 'String',
  Boolean: 'Boolean',
  Float: 'Float',
  Int64: 'Int64',
  DateTime: 'DateTime',
  Duration: 'Duration',
  Quantity: 'Quantity',
  IntOrString: 'IntOrString',
  JSON: 'JSON',
};

/** Every kind has them; whatever is done with a path can be done with the first. */
const carefulPaths = [...Array<string>(5).fill('metadata.generation'), 'metadata.name', 'metadata.creationTimestamp'];
const wrongPaths = [
  '',
  '.',
  'a..b',
  'spec[',
  'spec[]',
  'status.conditions[type=',
  'metadata.labels',
  'x'.repeat(3000),
  'a[0]'.repeat(101),
  '\0',
];
const selectors = [
  'app=web',
  'app in (a,b),!tier',
  'a!=b',
  'x/y.z',
  'app in (',
  ',,,',
  '=',
  '!',
  'a=b,'.repeat(150),
  'status.phase=Running',
  'spec.x!=1',
];
const patterns = ['(a+)+$', '[', '(?i)x', 'a{1000}{1000}', '\\', '(a|b)*c', 'x'.repeat(600)];
const ints = [0, 1, 2, 5, 20, 100, 500, 501, -1, 2 ** 31 - 1];

export class InputMaker {
  readonly #dice: Dice;
  readonly #known: DocumentWorld['known'];
  readonly #careful: boolean;

  /** @param careful makes values that are right, as far as that can be told from their types and names. */
  constructor(dice: Dice, known: DocumentWorld['known'], careful: boolean) {
    this.#dice = dice;
    this.#known = known;
    this.#careful = careful;
  }

  /** Is something done wrong here? */
  #slip(probability: number): boolean {
    return !this.#careful && this.#dice.chance(probability);
  }

  /** @param name of the argument or field, which says what a text should look like. */
  value(type: GraphQLInputType, name: string, depth: number): unknown {
    const dice = this.#dice;
    if (isNonNullType(type)) return this.#slip(0.002) ? null : this.value(type.ofType as GraphQLInputType, name, depth);
    if (this.#slip(0.01)) return null;
    // Hardly any random text is a cursor.
    if ((name === 'after' || name === 'before' || name === 'since') && !this.#slip(0.1)) return null;
    if (this.#slip(0.005)) return this.#wrong();
    if (isListType(type)) {
      const of = type.ofType as GraphQLInputType;
      if (dice.chance(0.1)) return this.value(of, name, depth);
      const long = !isInputObjectType(of) && this.#slip(0.01);
      return dice.times(
        long
          ? 2000
          : dice.choose<number>([
              [this.#careful ? 0 : 1, () => 0],
              [6, () => 1],
              [3, () => 2],
            ]),
        () => this.value(of, name, depth),
      );
    }
    if (isEnumType(type)) return new EnumName(dice.pick(type.getValues()).name);
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields());
      const required = fields.filter(isRequiredInputField);
      const count =
        depth <= 0
          ? 1
          : dice.choose<number>([
              [this.#careful ? 0 : 1, () => 0],
              [8, () => 1],
              [3, () => 2],
              [1, () => 4],
            ]);
      const nested = (field: (typeof fields)[number]): boolean =>
        depth <= 0 && isInputObjectType(getNamedType(field.type));
      const optional = dice.sample(
        fields.filter((field) => !isRequiredInputField(field) && !nested(field)),
        count,
      );
      return Object.fromEntries(
        [...required, ...optional].map((field) => [field.name, this.value(field.type, field.name, depth - 1)]),
      );
    }
    return isScalarType(type) ? this.#scalar(type.name, name) : null;
  }

  #scalar(type: string, name: string): unknown {
    const dice = this.#dice;
    if (type === 'Int') return this.#careful || dice.chance(0.7) ? dice.between(1, 20) : dice.pick(ints);
    if (type === 'Path') return this.#path();
    // Only texts have a natural order.
    if (this.#careful && name === 'natural') return false;
    if (type === 'ID')
      return (this.#careful || dice.chance(0.8)) && this.#known.ids.length > 0
        ? dice.pick(this.#known.ids)
        : madeValue('String', dice);
    if (type !== 'String') return madeValue(scalars[type] ?? 'JSON', dice);
    switch (name) {
      case 'kinds':
        return dice.pick([...this.#known.kinds, '*', '*.apps', ...(this.#careful ? [] : ['', '**'])]);
      case 'namespaces':
      case 'namespace':
        return dice.pick(this.#careful ? namespaces : [...namespaces, 'none']);
      case 'clusters':
      case 'cluster':
        return dice.pick(this.#careful ? clusters : [...clusters, 'none']);
      case 'labelSelector':
      case 'fieldSelector':
        return dice.pick(
          !this.#careful ? selectors : name === 'fieldSelector' ? ['metadata.name!=a'] : selectors.slice(0, 4),
        );
      case 'matches':
        return dice.pick(['^a', 'b$', '(?i)x', ...(this.#careful ? [] : patterns)]);
      case 'key':
        return dice.pick(hostileKeys);
      case 'name':
        return dice.pick(['a', 'web-1', 'b', '😀', 'x'.repeat(300)]);
      default:
        return madeValue('String', dice);
    }
  }

  /** Mostly one that every kind has. */
  #path(): string {
    const dice = this.#dice;
    if (this.#careful) return dice.pick(carefulPaths);
    const shared = this.#known.paths.filter((path) => path.startsWith('metadata.'));
    return dice.pick(
      dice.choose<readonly string[]>([
        [8, () => shared],
        [2, () => this.#known.paths],
        [0.5, () => wrongPaths],
      ]),
    );
  }

  #wrong(): unknown {
    const dice = this.#dice;
    return dice.pick<unknown>([
      5,
      -1.5,
      Number.MAX_VALUE,
      'text',
      true,
      {},
      [],
      [[]],
      { a: { b: 1 } },
      ...pools.Int,
      '\0',
      'x'.repeat(5000),
    ]);
  }
}
