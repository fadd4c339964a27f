/** Filter inputs that all kinds share: for leaves, lists, maps, conditions and values by path. */
import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLFloat,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLString,
} from 'graphql';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { rangeOperators, textOperators } from '../../query/plan/filter.ts';
import { inputList, required } from '../types/type-wrappers.ts';

export type InputFields = Record<string, GraphQLInputFieldConfig>;

export const exists = { type: GraphQLBoolean, description: 'Is it not null?' };
const ignoreCase = {
  type: GraphQLBoolean,
  description: 'Folds ASCII letters in eq, ne, in, notIn, startsWith, endsWith and contains; in matches, as RE2 does.',
};
const matches = 'A pattern in RE2 syntax, found anywhere in the text; ^ and $ hold it to the ends.';

function equality(scalar: GraphQLInputType): InputFields {
  return {
    eq: { type: scalar },
    ne: { type: scalar, description: 'Also matches where there is no value.' },
  };
}

/** Conditions on which value it is. */
function membership(scalar: GraphQLInputType): InputFields {
  const list = inputList(scalar);
  return {
    ...equality(scalar),
    in: { type: list },
    notIn: { type: list, description: 'Also matches where there is no value.' },
  };
}

function comparisons(scalar: GraphQLInputType): InputFields {
  return {
    ...membership(scalar),
    ...Object.fromEntries(rangeOperators.map((operator) => [operator, { type: scalar }])),
  };
}

function textual(): InputFields {
  return Object.fromEntries(
    textOperators.map((operator) => [
      operator,
      { type: GraphQLString, ...(operator === 'matches' ? { description: matches } : {}) },
    ]),
  );
}

/** The operators that a leaf type allows. */
function operators(type: LeafType, scalar: GraphQLInputType): InputFields {
  if (type === 'JSON') return { exists };
  if (type === 'Boolean') return { exists, ...equality(scalar) };
  return {
    exists,
    ...comparisons(scalar),
    ...(type === 'String' || type === 'IP' ? textual() : {}),
    ...(type === 'String' ? { ignoreCase } : {}),
  };
}

/** The filter input of a leaf type, such as `StringFilter`. */
function leafFilter(type: LeafType, scalar: GraphQLInputType): GraphQLInputObjectType {
  const description = `Conditions on a value of the type ${type}.`;
  return new GraphQLInputObjectType({ name: `${type}Filter`, description, fields: operators(type, scalar) });
}

/** The filter input of an enum whose value is never absent. @param of the name of the value, for the description. */
export function enumFilter(name: string, of: string, type: GraphQLInputType): GraphQLInputObjectType {
  const list = inputList(type);
  const fields = { eq: { type }, ne: { type }, in: { type: list }, notIn: { type: list } };
  return new GraphQLInputObjectType({ name, description: `Conditions on the ${of}.`, fields });
}

/** The filter input of a field with an enum. */
export function enumFieldFilter(name: string, type: GraphQLEnumType): GraphQLInputObjectType {
  const description = `Conditions on a value of the type ${type.name}.`;
  return new GraphQLInputObjectType({ name, description, fields: { exists, ...membership(type) } });
}

/** Conditions on the elements of a list. @param of the name of what the list holds, for the description. */
export function listFilter(name: string, of: string, element: GraphQLInputType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: `Conditions on a list of ${of}.`,
    fields: {
      some: { type: element },
      none: { type: element },
      every: { type: element },
      exists: { type: GraphQLBoolean },
    },
  });
}

const key = {
  type: GraphQLString,
  description: 'The key, as it stands in the map. Without it, `exists` is about the whole map.',
};

/** Conditions on the value under one key of a map of leaves. */
function leafMapFilter(type: LeafType, scalar: GraphQLInputType): GraphQLInputObjectType {
  const description = `Conditions on the ${type} under one key of a map.`;
  return new GraphQLInputObjectType({
    name: `${type}MapFilter`,
    description,
    fields: { key, ...operators(type, scalar) },
  });
}

/** Conditions on the object under one key of a map of objects. @param of the name of such an object, for the description. */
export function objectMapFilter(name: string, of: string, value: GraphQLInputType): GraphQLInputObjectType {
  const description = `Conditions on the ${of} under one key of a map.`;
  return new GraphQLInputObjectType({ name, description, fields: { key, exists, value: { type: value } } });
}

/** The filterable fields of a condition, besides its type. */
export const conditionLeaves = {
  status: 'String',
  reason: 'String',
  message: 'String',
  lastTransitionTime: 'DateTime',
  observedGeneration: 'Int64',
} as const satisfies Record<string, LeafType>;

/** The filter input of one entry of `status.conditions`. */
export function conditionFilter(leaf: (type: LeafType) => GraphQLInputType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: 'ConditionFilter',
    description:
      'What is said of the condition of this type in status.conditions. Without it, its fields have no value.',
    fields: {
      type: { type: required(GraphQLString) },
      exists: { type: GraphQLBoolean, description: 'Is there such a condition?' },
      ...Object.fromEntries(Object.entries(conditionLeaves).map(([name, type]) => [name, { type: leaf(type) }])),
    },
  });
}

/** The filter input that compares two values of one object. */
export function compareFilter(scalar: (name: string) => GraphQLInputType): GraphQLInputObjectType {
  const path = scalar('Path');
  return new GraphQLInputObjectType({
    name: 'CompareFilter',
    description:
      'Compares two values of one object, by value. An absent number counts as 0, unless both are absent: then only ne holds.',
    fields: {
      path: { type: required(path) },
      as: { type: scalar('ValueCast'), description: 'Compares both values as this type.' },
      ...Object.fromEntries(['eq', 'ne', ...rangeOperators].map((operator) => [operator, { type: path }])),
      times: { type: GraphQLFloat, description: 'The factor of the second value: 0.8 compares with 80 % of it.' },
    },
  });
}

/** The filter input of the value at a path. */
export function pathFilter(scalar: (name: string) => GraphQLInputType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: 'PathFilter',
    description:
      'Conditions on what stands at a path, typed or free JSON. Through [] one value is enough; ne and notIn say that there is none. Values are written as the leaf takes them.',
    fields: {
      path: { type: required(scalar('Path')) },
      as: { type: scalar('ValueCast'), description: 'Compares the value as this type, and operands too.' },
      exists,
      ...comparisons(scalar('JSON')),
      ...textual(),
      ignoreCase,
    },
  });
}

/** The filter inputs of leaves, made once each. */
export class LeafFilters {
  readonly #made = new Map<string, GraphQLInputObjectType>();
  readonly #scalar: (name: string) => GraphQLInputType;

  /** @param scalar a scalar of the static schema by name. */
  constructor(scalar: (name: string) => GraphQLInputType) {
    this.#scalar = scalar;
  }

  /** Conditions on one value. */
  leaf(type: LeafType): GraphQLInputObjectType {
    return this.#once(type, () => leafFilter(type, this.#scalarOf(type)));
  }

  /** Conditions on a list of values. */
  list(type: LeafType): GraphQLInputObjectType {
    return this.#once(`[${type}]`, () => listFilter(`${type}ListFilter`, type, this.leaf(type)));
  }

  /** Conditions on the value under one key. */
  mapEntry(type: LeafType): GraphQLInputObjectType {
    return this.#once(`{${type}}`, () => leafMapFilter(type, this.#scalarOf(type)));
  }

  /** Addresses are texts to a client. */
  #scalarOf(type: LeafType): GraphQLInputType {
    return this.#scalar(type === 'IP' ? 'String' : type);
  }

  #once(key: string, make: () => GraphQLInputObjectType): GraphQLInputObjectType {
    const found = this.#made.get(key) ?? make();
    this.#made.set(key, found);
    return found;
  }
}
