/**
 * The JSON Schema of a structural schema: that of a CustomResourceDefinition, as it is or in an OpenAPI document.
 *
 * A server changes an object before it validates it. The schema describes the object as it is sent:
 *
 *   unknown fields   refused (strict field validation), unless x-kubernetes-preserve-unknown-fields
 *   defaults         set, so a required field with a default may be absent
 *   null             removed where a field is not nullable: as if the field were absent. Items of lists are not removed
 *   then             types, formats, bounds, patterns, oneOf …, list types; CEL rules, which JSON Schema cannot express
 */
import { isRecord, recordOr, records, strings } from '../../base/json.ts';
import type { Steps } from '../../base/steps.ts';
import { ecmaPattern } from './ecma-pattern.ts';
import { annotations, type Json, orNull, type SchemaContext } from './schema-context.ts';
import { base64Pattern, integerBounds, typedSchema } from './typed-schema.ts';

const bounds = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'multipleOf',
  'uniqueItems',
];
const junctors = ['allOf', 'anyOf', 'oneOf'] as const;

/** The apiVersion and kind that servers take in an embedded resource. */
const apiVersionForm = { minLength: 1, pattern: '^[^/]*/?[^/]*$' };
const kindForm = { maxLength: 63, pattern: '^[A-Za-z](?:[-A-Za-z0-9]*[A-Za-z0-9])?$' };

interface StructuralOptions {
  /** The reference to ObjectMeta; null if the document has none. */
  readonly objectMeta: string | null;
  /** False for OpenAPI v2, which leaves parts of a schema out. */
  readonly isWhole: boolean;
}

interface Place {
  /** Null is removed here, or replaced by the default. */
  readonly removesNull: boolean;
  readonly depth: number;
}

export class StructuralSchema {
  readonly #context: SchemaContext;
  readonly #options: StructuralOptions;
  /** Was something left out that cannot be expressed? Then `not` and `oneOf` around it would say something else. */
  #hasGap = false;

  constructor(context: SchemaContext, options: StructuralOptions) {
    this.#context = context;
    this.#options = options;
  }

  *schema(source: Json, place: Place): Steps<Json> {
    if (this.#context.count(place.depth)) yield;
    if (place.depth > this.#context.mostDepth) return {};
    if (refersToDefinition(source)) {
      return yield* typedSchema(source, this.#context, { isOptional: place.removesNull, depth: place.depth });
    }
    const isEither = source['x-kubernetes-int-or-string'] === true;
    const type = isEither ? ['integer', 'string'] : source['type'];
    const made: Json = {
      ...annotations(source),
      ...(type === undefined ? {} : { type }),
      ...this.#constraints(source),
      ...(type === 'array' ? yield* this.#items(source, place) : {}),
      ...(type === 'object' ? yield* this.#fields(source, place) : {}),
      ...(yield* this.#junctors(source, source, place.depth)),
    };
    const isNullable = source['nullable'] === true && !isRefusing(source['enum']);
    return place.removesNull || isNullable ? orNull(made) : made;
  }

  /** The members of an object, each with its own schema. An embedded resource has its common members too. */
  *#fields(source: Json, place: Place): Steps<Json> {
    const isEmbedded = source['x-kubernetes-embedded-resource'] === true;
    const properties = recordOr(source['properties']);
    const depth = place.depth + 1;
    const required = strings(source['required']).filter((name) => !hasDefault(properties, name));
    const made: [string, Json][] = [];
    for (const [name, property] of Object.entries(properties)) {
      const one = recordOr(property);
      const removesNull = one['nullable'] !== true && !required.includes(name);
      made.push([name, yield* this.schema(one, { removesNull, depth })]);
    }
    if (isEmbedded) made.push(...this.#embedded(recordOr(Object.fromEntries(made))));
    const all = [...new Set([...required, ...(isEmbedded ? ['apiVersion', 'kind'] : [])])];
    const values = source['additionalProperties'];
    const isOpen = source['x-kubernetes-preserve-unknown-fields'] === true || !this.#options.isWhole || values === true;
    return {
      ...(all.length === 0 ? {} : { required: all }),
      ...(made.length === 0 ? {} : { properties: Object.fromEntries(made) }),
      additionalProperties: isRecord(values)
        ? yield* this.schema(values, { removesNull: values['nullable'] !== true, depth })
        : isOpen,
    };
  }

  #embedded(properties: Json): readonly [string, Json][] {
    const { objectMeta } = this.#options;
    return [
      ['apiVersion', { ...recordOr(properties['apiVersion']), type: 'string', ...apiVersionForm }],
      ['kind', { ...recordOr(properties['kind']), type: 'string', ...kindForm }],
      ...(objectMeta === null ? [] : [['metadata', { $ref: objectMeta }] satisfies [string, Json]]),
    ];
  }

  *#items(source: Json, place: Place): Steps<Json> {
    const items = recordOr(source['items']);
    const isSet = source['x-kubernetes-list-type'] === 'set';
    return {
      items: yield* this.schema(items, { removesNull: false, depth: place.depth + 1 }),
      ...(isSet ? { uniqueItems: true } : {}),
    };
  }

  /** Constraints that look at the value alone. */
  #constraints(source: Json): Json {
    const made: Record<string, unknown> = {};
    for (const name of bounds) if (name in source) made[name] = source[name];
    if (Array.isArray(source['enum'])) made['enum'] = source['enum'];
    if (source['type'] === 'integer') Object.assign(made, integerBounds(source['format']));
    if (source['format'] === 'byte') made['pattern'] = base64Pattern;
    limit(made, 'minimum', source['minimum'], source['exclusiveMinimum']);
    limit(made, 'maximum', source['maximum'], source['exclusiveMaximum']);
    if (typeof source['pattern'] === 'string') {
      const pattern = ecmaPattern(source['pattern']);
      if (pattern === null) this.#hasGap = true;
      else made['pattern'] = pattern;
    }
    return made;
  }

  /** `allOf`, `anyOf`, `oneOf` and `not` of `source`, which constrain values of the place that `at` describes. */
  *#junctors(source: Json, at: Json, depth: number): Steps<Json> {
    const made: Record<string, unknown> = {};
    const isEither = at['x-kubernetes-int-or-string'] === true;
    for (const name of junctors) {
      const branches = records(source[name]);
      if (branches.length === 0 || (isEither && branches.every(isTypeAlone))) continue;
      const hadGap = this.#hasGap;
      this.#hasGap = false;
      const all: Json[] = [];
      for (const branch of branches) all.push(yield* this.#constraint(branch, at, depth + 1));
      if (!this.#hasGap) made[name] = all;
      this.#hasGap ||= hadGap;
    }
    if (isRecord(source['not'])) {
      const hadGap = this.#hasGap;
      this.#hasGap = false;
      const not = yield* this.#constraint(source['not'], at, depth + 1);
      if (!this.#hasGap) made['not'] = not;
      this.#hasGap ||= hadGap;
    }
    return made;
  }

  /** A branch of a junctor. It adds no fields and no defaults: those are of `at`, the structural schema of the same place. */
  *#constraint(source: Json, at: Json, depth: number): Steps<Json> {
    if (this.#context.count(depth)) yield;
    if (depth > this.#context.mostDepth) return {};
    const fields = recordOr(at['properties']);
    const made: Record<string, unknown> = {
      ...(source['type'] === undefined ? {} : { type: source['type'] }),
      ...this.#constraints(source),
      ...(yield* this.#junctors(source, at, depth)),
    };
    const properties = new Map<string, Json>();
    for (const [name, property] of Object.entries(recordOr(source['properties']))) {
      const field = fieldOf(fields, name);
      const constraint = yield* this.#constraint(recordOr(property), field, depth + 1);
      properties.set(name, field['nullable'] === true ? constraint : { anyOf: [{ type: 'null' }, constraint] });
    }
    const required = strings(source['required']).filter((name) => !hasDefault(fields, name));
    for (const name of required) {
      if (fieldOf(fields, name)['nullable'] === true) continue;
      const known = properties.get(name);
      // A null is removed before this is looked at.
      const present = { not: { type: 'null' } };
      properties.set(name, known === undefined ? present : { allOf: [present, known] });
    }
    if (required.length > 0) made['required'] = required;
    if (properties.size > 0) made['properties'] = Object.fromEntries(properties);
    if (isRecord(source['items']))
      made['items'] = yield* this.#constraint(source['items'], recordOr(at['items']), depth + 1);
    if (isRecord(source['additionalProperties'])) {
      const values = recordOr(at['additionalProperties']);
      made['additionalProperties'] = yield* this.#constraint(source['additionalProperties'], values, depth + 1);
    }
    return made;
  }
}

/** OpenAPI v3 of Kubernetes has `exclusiveMinimum` as a boolean, as draft 4. */
function limit(made: Record<string, unknown>, name: 'minimum' | 'maximum', value: unknown, isExclusive: unknown): void {
  if (typeof value !== 'number') return;
  if (isExclusive === true) made[name === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'] = value;
  else made[name] = value;
}

function refersToDefinition(source: Json): boolean {
  const [only, ...more] = records(source['allOf']);
  return '$ref' in source || (only !== undefined && more.length === 0 && '$ref' in only);
}

function hasDefault(properties: Json, name: string): boolean {
  return fieldOf(properties, name)['default'] !== undefined;
}

function fieldOf(properties: Json, name: string): Json {
  return Object.hasOwn(properties, name) ? recordOr(properties[name]) : {};
}

function isTypeAlone(branch: Json): boolean {
  return Object.keys(branch).every((key) => key === 'type');
}

/** A nullable field takes null only if its values, where they are listed, have it. */
function isRefusing(values: unknown): boolean {
  return Array.isArray(values) && !values.includes(null);
}
