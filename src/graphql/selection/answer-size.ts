/**
 * Bounds the characters of an answer. Every field with a scalar counts its value at each place of the answer, because a short document can
 * show one long value many times:
 *
 *   { configMap(name: "big") { a: raw  b: raw } }     1 MB is read, 2 MB are counted
 *
 * The first value beyond the bound is an error. It and all values after it are null; one that cannot be null is an error too. The outcomes
 * of a mutation and the cursors of a page are short and are always shown (`uncounted`). The non-null fields of the types of kinds are
 * always shown too.
 *
 * Invariant: without `yaml`, an execution counts at most the characters of its answer as text. So a prepared answer within the bound is one
 * that the executor gives too.
 */
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import { mostLevels } from '../../catalog/tree/nesting.ts';
import { isRawJson, rawJsonText } from '../../catalog/values/raw-json.ts';
import { mostAnswerCharacters } from '../../operation/parts/operation-cost.ts';
import type { OperationContext } from '../generation/generation.ts';

/** By the context value of the execution. */
const sizes = new WeakMap<object, { characters: number; isRefused: boolean }>();

/**
 * The value, which the answer shows at one more place; null for one after the bound.
 * @throws PortolanError QUERY_TOO_COSTLY for the first value beyond it
 */
export function counted<T>(context: OperationContext, value: T): T | null {
  return countCharacters(context, 1, value) ? value : null;
}

/**
 * Counts the value so many times: for the work of writing it in another form.
 * @returns false after the bound
 * @throws PortolanError QUERY_TOO_COSTLY for the first value beyond it
 */
export function countCharacters(context: OperationContext, times: number, value: unknown): boolean {
  const size = sizes.get(context) ?? { characters: 0, isRefused: false };
  sizes.set(context, size);
  if (size.isRefused) return false;
  const allowed = mostAnswerCharacters(context.portolan.source.limits);
  size.characters += times * charactersOf(value, (allowed - size.characters) / times, mostLevels);
  if (size.characters <= allowed) return true;
  size.isRefused = true;
  throw tooLong(context);
}

function tooLong({ portolan }: OperationContext): PortolanError {
  const allowed = mostAnswerCharacters(portolan.source.limits);
  return new PortolanError(
    'QUERY_TOO_COSTLY',
    `The answer has more than ${allowed} characters, the most that are allowed; this value and all after it are null. Ask for smaller pages (first), fewer fields, or each value once.`,
    { details: { limit: 'characters', allowed } },
  );
}

/** The characters of the value as JSON. Beyond `most`, any larger number. A value of more levels is not shown. */
function charactersOf(value: unknown, most: number, levels: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'number':
    case 'bigint':
      return Math.min(String(value).length, 20);
    case 'boolean':
      return 4;
    case 'object':
      break;
    default:
      return 0;
  }
  if (value === null) return 4;
  if (isRawJson(value)) return rawJsonText(value).length;
  if (levels === 0 || value instanceof Error) return 0;
  let sum = 1;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      sum += 1 + charactersOf(item, most - sum, levels - 1);
      if (sum > most) break;
    }
    return sum;
  }
  for (const name in value) {
    sum += name.length + 4 + charactersOf((value as Record<string, unknown>)[name], most - sum, levels - 1);
    if (sum > most) break;
  }
  return sum;
}

/** As `counted`, for a value that cannot be null. @throws PortolanError QUERY_TOO_COSTLY for each value beyond the bound */
export function countedWhole<T>(context: OperationContext, value: T): T {
  if (countCharacters(context, 1, value)) return value;
  throw tooLong(context);
}

/** May a field of this type be null, and does it count? */
export function isCounted(type: GraphQLOutputType): boolean {
  return !isNonNullType(type) && isScalarType(getNamedType(type));
}

/** Lets the fields of the type count. All schemas share the types of introspection: they stay as they are. */
export function countFields(type: GraphQLNamedType): void {
  if ((!isObjectType(type) && !isInterfaceType(type)) || isIntrospectionType(type)) return;
  if (uncounted.test(type.name)) return;
  for (const field of Object.values(type.getFields())) {
    if (isCounted(field.type)) countField(field, counted);
    else if (!type.name.startsWith('Write') && texts.has(getNamedType(field.type).name))
      countField(field, countedWhole);
  }
}

/** The types that tell what a mutation has done, and PageInfo. Their values of objects, such as `after`, count. */
const uncounted = /^(Write|WriteTarget|PageInfo)$/;
/** Scalars of non-null fields that may be long. */
const texts: ReadonlySet<string> = new Set(['String', 'JSON']);

function countField(field: GraphQLField<unknown, OperationContext>, count: typeof counted): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    return value instanceof Promise ? value.then((found: unknown) => count(context, found)) : count(context, value);
  };
}
