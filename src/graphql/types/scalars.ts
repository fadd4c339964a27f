/**
 * The scalars of the schema. Values keep the form that Kubernetes writes. A scalar checks only the JSON type of an input value. The
 * filter (src/graphql/filter/read-filter.ts) checks the value itself, because only the filter has the path for the error message.
 */
import { type ConstValueNode, GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { requireShallow } from '../../catalog/tree/nesting.ts';
import { displayedInt64, displayedQuantity } from '../../catalog/values/displayed-value.ts';
import { isRawJson, rawJson } from '../../catalog/values/raw-json.ts';
import { timeOfEpoch } from '../../catalog/values/time.ts';

/** The value of a literal, as parseExact gives it: an integer that a number does not hold is a raw value. */
function literal(node: ConstValueNode): unknown {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT: {
      const number = Number(node.value);
      return Number.isSafeInteger(number) ? number : rawJson(node.value);
    }
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value;
    case Kind.LIST:
      return node.values.map(literal);
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map((field) => [field.name.value, literal(field.value)]));
  }
}

interface ScalarOptions {
  readonly name: string;
  readonly description: string;
  readonly specifiedByURL?: string;
  /** JavaScript types of accepted input values. */
  readonly accepts: readonly ('string' | 'number' | 'boolean' | 'object')[];
  readonly output?: (value: unknown) => unknown;
  /** The text to write instead of a value that is not accepted; null where that is not known. */
  readonly instead?: (value: unknown) => string | null;
}

function scalar(options: ScalarOptions): GraphQLScalarType {
  const { name, description, specifiedByURL, accepts, output, instead } = options;
  const input = (value: unknown, node?: ConstValueNode): unknown => {
    const type = isRawJson(value) ? 'number' : typeof value;
    if (!(accepts as readonly string[]).includes(type)) {
      const better = instead?.(value) ?? null;
      const hint = better === null ? '' : ` Write ${JSON.stringify(better)}.`;
      const message = `${name} cannot be ${JSON.stringify(value)}; it takes ${accepts.join(' or ')}.${hint}`;
      throw new GraphQLError(message, { nodes: node ?? null });
    }
    return value;
  };
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL,
    coerceOutputValue: (value) => {
      requireShallow(value);
      return output === undefined ? value : output(value);
    },
    coerceInputValue: (value) => input(value),
    coerceInputLiteral: (node) => input(literal(node), node),
  });
}

function int64Output(value: unknown): unknown {
  const shown = displayedInt64(value);
  if (shown === undefined) throw new GraphQLError(`Int64 cannot represent ${JSON.stringify(value)}.`);
  return shown;
}

const GraphQLDateTime = scalar({
  name: 'DateTime',
  description:
    'A moment as RFC 3339 writes it, for instance 2026-01-31T08:15:00Z. Compared by instant. Filters also take a time relative to now, fixed for the operation: -10m, +30d, -1d12h (s, m, h, d, w).',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  accepts: ['string'],
  instead: timeOfEpoch,
});

const GraphQLDuration = scalar({
  name: 'Duration',
  description: 'A length of time as the API server takes it, for instance 1h30m, 250ms or 3 days. Compared by length.',
  accepts: ['string'],
});

const GraphQLQuantity = scalar({
  name: 'Quantity',
  description: 'A Kubernetes quantity, for instance 250m or 1Gi. Compared by exact value.',
  specifiedByURL: 'https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/',
  accepts: ['string', 'number'],
  output: displayedQuantity,
});

const GraphQLIntOrString = scalar({
  name: 'IntOrString',
  description: 'An integer or a string, as ports have it. Numbers come before strings.',
  accepts: ['string', 'number'],
});

const GraphQLInt64 = scalar({
  name: 'Int64',
  description:
    'A 64-bit integer: a number while that is exact (up to 2^53 - 1), otherwise its digits in a string. Takes both.',
  accepts: ['string', 'number'],
  output: int64Output,
});

const GraphQLPath = scalar({
  name: 'Path',
  description: 'A place in an object: a.b, list[], conditions[type=Ready].status, labels["app.kubernetes.io/name"].',
  accepts: ['string'],
});

const GraphQLJSON = scalar({
  name: 'JSON',
  description: 'Any JSON value.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  accepts: ['string', 'number', 'boolean', 'object'],
});

const GraphQLStringMap = scalar({
  name: 'StringMap',
  description: 'A JSON object whose values are strings, as labels are.',
  accepts: ['object'],
});

const GraphQLQuantityMap = scalar({
  name: 'QuantityMap',
  description: 'A JSON object whose values are quantities, as requests and limits of resources are.',
  accepts: ['object'],
});

export const scalars = [
  GraphQLDateTime,
  GraphQLDuration,
  GraphQLQuantity,
  GraphQLIntOrString,
  GraphQLInt64,
  GraphQLPath,
  GraphQLJSON,
  GraphQLStringMap,
  GraphQLQuantityMap,
] as const;
