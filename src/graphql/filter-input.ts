/**
 * From a filter argument to a query filter. Null or {} at the top means everything; below the top both are refused with the path,
 * because an absent variable inside a filter would otherwise match everything in silence.
 */
import { type GraphQLInputField, type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { PortolanError } from '../base/errors.ts';
import type { LeafType } from '../catalog/field-tree.ts';
import { type Path, type PathStep, pathOf } from '../catalog/path.ts';
import { checkValue } from '../catalog/values.ts';
import { type CompareOperator, everything, type Filter } from '../query/filter.ts';
import { parseLabelSelector } from '../query/label-selector.ts';
import { decodeObjectId } from '../query/object-id.ts';
import type { InputRole } from './filter-inputs.ts';

type Values = Readonly<Record<string, unknown>>;

const withoutCase = new Set(['lt', 'lte', 'gt', 'gte']);

/** The filter that an input of `type` stands for. Throws BAD_USER_INPUT with the place in the message. */
export function filterFrom(type: GraphQLInputObjectType, value: unknown): Filter {
  if (value === null || value === undefined || Object.keys(value).length === 0) return everything;
  return fields(type, value as Values, 'filter', []);
}

function refuse(place: string, why: string): never {
  throw new PortolanError('BAD_USER_INPUT', `${place} ${why}.`, { details: { path: place } });
}

function entriesOf(value: unknown, place: string): readonly [string, unknown][] {
  if (value === null || value === undefined) {
    refuse(place, 'is null, which would match everything; leave it out, or pass the whole filter as one variable');
  }
  const entries = Object.entries(value as Values).filter(([, item]) => item !== undefined);
  if (entries.length === 0) {
    refuse(place, 'is empty, which would match everything; leave it out, or pass the whole filter as one variable');
  }
  return entries;
}

function all(of: readonly Filter[]): Filter {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'and', of };
}

function fields(type: GraphQLInputObjectType, value: unknown, place: string, base: readonly PathStep[]): Filter {
  return all(
    entriesOf(value, place).map(([name, item]) => {
      const field = type.getFields()[name];
      if (field === undefined) return refuse(`${place}.${name}`, 'is not a field of this filter');
      return one(type, field, item, `${place}.${name}`, base);
    }),
  );
}

function list(value: unknown, place: string): readonly unknown[] {
  if (value === null || value === undefined) {
    return refuse(place, 'is null; leave it out, or pass the whole filter as one variable');
  }
  return value as readonly unknown[];
}

function one(
  self: GraphQLInputObjectType,
  field: GraphQLInputField,
  value: unknown,
  place: string,
  base: readonly PathStep[],
): Filter {
  const meaning = field.extensions['portolan'] as InputRole | undefined;
  if (meaning === undefined) return refuse(place, 'cannot be used here');
  switch (meaning.role) {
    case 'namespaces':
    case 'clusters':
      return { kind: meaning.role, in: list(value, place) as readonly string[] };
    case 'ids':
      return { kind: 'ids', in: list(value, place).map((id) => decodeObjectId(String(id))) };
    case 'labelSelector':
      if (typeof value !== 'string')
        return refuse(place, 'is null; leave it out, or pass the whole filter as one variable');
      return { kind: 'labels', requirements: parseLabelSelector(value) };
    case 'and':
    case 'or':
      return {
        kind: meaning.role,
        of: list(value, place).map((item, index) => fields(self, item, `${place}[${index}]`, base)),
      };
    case 'not':
      return { kind: 'not', of: fields(self, value, place, base) };
    case 'leaf':
      return leaf(meaning.type, value, place, pathOf([...base, { kind: 'field', name: meaning.name }]));
    case 'object':
      return fields(inputOf(field), value, place, [...base, { kind: 'field', name: meaning.name }]);
    case 'leafList':
    case 'objectList':
      return quantified(meaning, field, value, place, pathOf([...base, { kind: 'field', name: meaning.name }]));
  }
}

function inputOf(field: GraphQLInputField): GraphQLInputObjectType {
  const type = getNamedType(field.type);
  if (!isInputObjectType(type)) throw new Error(`invariant broken: ${field.name} is an input object`);
  return type;
}

function quantified(
  meaning: Extract<InputRole, { role: 'leafList' | 'objectList' }>,
  field: GraphQLInputField,
  value: unknown,
  place: string,
  path: Path,
): Filter {
  const inner = (item: unknown, quantifier: string): Filter => {
    const here = `${place}.${quantifier}`;
    if (meaning.role === 'leafList') return leaf(meaning.type, item, here, pathOf([]));
    const some = inputOf(field).getFields()['some'];
    if (some === undefined) throw new Error('invariant broken: a list filter has the field some');
    return fields(inputOf(some), item, here, []);
  };
  return all(
    entriesOf(value, place).map(([quantifier, item]): Filter => {
      switch (quantifier) {
        case 'exists':
          return existence(path, item, `${place}.exists`);
        case 'some':
          return { kind: 'some', path, of: inner(item, quantifier) };
        case 'none':
          return { kind: 'not', of: { kind: 'some', path, of: inner(item, quantifier) } };
        default:
          return { kind: 'not', of: { kind: 'some', path, of: { kind: 'not', of: inner(item, quantifier) } } };
      }
    }),
  );
}

function existence(path: Path, value: unknown, place: string): Filter {
  if (typeof value !== 'boolean')
    return refuse(place, 'is null; leave it out, or pass the whole filter as one variable');
  return value ? { kind: 'exists', path } : { kind: 'not', of: { kind: 'exists', path } };
}

function leaf(type: LeafType, value: unknown, place: string, path: Path): Filter {
  const { ignoreCase, ...operators } = Object.fromEntries(entriesOf(value, place));
  const entries = entriesOf(operators, place);
  const fold = ignoreCase === true;
  return all(
    entries.map(([operator, given]): Filter => {
      const here = `${place}.${operator}`;
      if (operator === 'exists') return existence(path, given, here);
      if (fold && withoutCase.has(operator)) refuse(here, 'cannot be combined with ignoreCase');
      const negated = operator === 'ne' || operator === 'notIn';
      const positive = (operator === 'ne' ? 'eq' : operator === 'notIn' ? 'in' : operator) as CompareOperator;
      if (given === null || given === undefined) {
        return refuse(here, 'is null; use exists, leave it out, or pass the whole filter as one variable');
      }
      const values = positive === 'in' ? list(given, here) : [given];
      for (const item of values) {
        const problem = checkValue(type, item);
        if (problem !== null) refuse(here, problem);
      }
      const compare: Filter = { kind: 'compare', path, type, operator: positive, values, ignoreCase: fold };
      return negated ? { kind: 'not', of: compare } : compare;
    }),
  );
}

/** The clusters that a filter restricts itself to at its top, null when it names none. */
export function clustersOf(filter: Filter): readonly string[] | null {
  if (filter.kind === 'clusters') return filter.in;
  if (filter.kind !== 'and') return null;
  return filter.of.reduce<readonly string[] | null>((found, part) => found ?? clustersOf(part), null);
}
