/**
 * The JSON Schema of a definition that API servers decode into a Go type: built-in kinds, and ObjectMeta of every kind.
 *
 * Go reads null as the zero value, and the zero value as an absent field. So null is taken wherever a field may be absent. An object of
 * a Go type has only the fields of its type. OpenAPI does not have the further validation of a kind.
 */
import { isRecord, list, recordOr, strings, textOr } from '../../base/json.ts';
import type { Steps } from '../../base/steps.ts';
import { annotations, type Json, orNull, type SchemaContext } from './schema-context.ts';

const int32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
/** Numbers of JSON are rounded in JavaScript: 2^63 itself is not one of them. */
const int64 = { minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 };

export const integerBounds = (format: unknown): Json => (format === 'int32' ? int32 : int64);

/** Base64 with line breaks, which Go's decoder skips. */
export const base64Pattern =
  '^(?:(?:[A-Za-z0-9+/][\\r\\n]*){4})*(?:(?:[A-Za-z0-9+/][\\r\\n]*){2}=[\\r\\n]*=[\\r\\n]*|(?:[A-Za-z0-9+/][\\r\\n]*){3}=[\\r\\n]*)?$';

/** Go types with a JSON form of their own, by the ends of their names. OpenAPI says less of them. */
const ownForms: Readonly<Record<string, Json>> = {
  '.pkg.api.resource.Quantity': {
    type: ['string', 'number', 'null'],
    pattern: '^[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\\d+)?$',
  },
  '.pkg.util.intstr.IntOrString': { type: ['integer', 'string', 'null'], ...int32 },
  '.pkg.apis.meta.v1.Time': { type: ['string', 'null'], format: 'date-time' },
  '.pkg.apis.meta.v1.MicroTime': {
    type: ['string', 'null'],
    format: 'date-time',
    pattern: '\\.\\d{6}(?:Z|[+-]\\d\\d:\\d\\d)$',
  },
  '.pkg.apis.meta.v1.FieldsV1': { type: ['object', 'null'] },
  '.pkg.runtime.RawExtension': {},
  '.JSONSchemaPropsOrBool': { type: ['object', 'boolean', 'null'] },
  '.JSONSchemaPropsOrArray': { type: ['object', 'array', 'null'] },
  '.JSONSchemaPropsOrStringArray': { type: ['object', 'array', 'null'] },
};

/** One definition, as it stands in `$defs`. */
export function* typedDefinition(name: string, source: Json, context: SchemaContext): Steps<Json> {
  const own = Object.entries(ownForms).find(([ending]) => name.endsWith(ending))?.[1];
  if (own !== undefined) return { ...annotations(source), ...own };
  // Nothing is missing in the zero value of a type without required fields.
  return yield* typedSchema(source, context, { isOptional: strings(source['required']).length === 0, depth: 0 });
}

interface Place {
  /** May the value be absent, and so null? */
  readonly isOptional: boolean;
  readonly depth: number;
}

/** The schema of a value, in its place. */
export function* typedSchema(source: Json, context: SchemaContext, place: Place): Steps<Json> {
  if (context.count(place.depth)) yield;
  if (place.depth > context.mostDepth) return {};
  const refs = 'allOf' in source ? list(source['allOf']).map((each) => recordOr(each)['$ref']) : [source['$ref']];
  const [target] = refs.map((ref) => (typeof ref === 'string' ? context.definition(ref) : undefined));
  const about = annotations(withoutZero(source));
  if (refs.length === 1 && target !== undefined) return reference(target, about, place);
  const type = source['type'];
  if (type === 'object') return yield* objectOf(source, about, context, place);
  const below = { isOptional: true, depth: place.depth + 1 };
  if (type === 'array') {
    const items = yield* typedSchema(recordOr(source['items']), context, below);
    const own = { ...about, type: 'array', items };
    return place.isOptional ? orNull(own) : own;
  }
  const leaf: Json = { ...about, ...leafOf(source) };
  if (!place.isOptional) return leaf;
  return Array.isArray(leaf['enum']) ? orNull(leaf, [...(type === 'string' ? [''] : []), null]) : orNull(leaf);
}

function reference(target: { readonly ref: string; readonly takesNull: boolean }, about: Json, place: Place): Json {
  const own = { $ref: target.ref };
  if (place.isOptional && !target.takesNull) return { ...about, anyOf: [own, { type: 'null' }] };
  return Object.keys(about).length === 0 ? own : { ...about, allOf: [own] };
}

function* objectOf(source: Json, about: Json, context: SchemaContext, place: Place): Steps<Json> {
  const properties = recordOr(source['properties']);
  const required = strings(source['required']).filter((name) => !hasDefault(recordOr(properties[name])));
  const made: [string, Json][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const isOptional = !required.includes(name);
    made.push([name, yield* typedSchema(recordOr(property), context, { isOptional, depth: place.depth + 1 })]);
  }
  const values = source['additionalProperties'];
  const additional = isRecord(values)
    ? yield* typedSchema(values, context, { isOptional: true, depth: place.depth + 1 })
    : // An object of which OpenAPI says nothing may have any fields.
      values !== false && made.length === 0;
  const own: Json = {
    ...about,
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(made.length === 0 ? {} : { properties: Object.fromEntries(made) }),
    additionalProperties: additional,
  };
  return place.isOptional ? orNull(own) : own;
}

/** Servers apply it to an absent field. The zero values of OpenAPI say only that the field has no pointer. */
function hasDefault(property: Json): boolean {
  return 'default' in withoutZero(property);
}

function withoutZero(source: Json): Json {
  const { default: given, ...rest } = source;
  const isZero = given === undefined || given === '' || given === 0 || given === false || isEmpty(given);
  return isZero ? rest : source;
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function leafOf(source: Json): Json {
  const type = source['type'];
  const values = source['enum'];
  if (type === 'integer') return { type, ...integerBounds(source['format']) };
  if (type === 'string' && source['format'] === 'byte') return { type, pattern: base64Pattern };
  if (type === 'string' && textOr(source['format']) === 'int-or-string')
    return { type: ['integer', 'string'], ...int32 };
  if (type === 'string' || type === 'number' || type === 'boolean') {
    return { type, ...(Array.isArray(values) ? { enum: values } : {}) };
  }
  return {};
}
