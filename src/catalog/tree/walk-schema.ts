/**
 * Reads JSON schemas as Kubernetes writes them (OpenAPI v2 definitions, v3 components, a CRD's openAPIV3Schema) into drafts of
 * shapes.
 *
 * Owns: the field type of each schema construct.
 * Never: fails on one construct. An unsupported construct makes only its own field free JSON; paths still reach everything below
 * it.
 *
 * Definitions of core/v1 and meta/v1 keep their identity, because each is one GraphQL type in all kinds. Such definitions refer
 * only to each other; any other reference inside them is JSON. Other definitions are inlined.
 */
import { describeText } from './describe-text.ts';
import type { Field, FieldType, LeafType } from './field-tree.ts';
import type { Draft } from './normalize-tree.ts';
import {
  conditionKey,
  embeddedObjectMetaKey,
  isConditionShaped,
  objectMetaKey,
  sharedShapes,
} from './shared-shapes.ts';

type Schema = Readonly<Record<string, unknown>>;

const core = 'io.k8s.api.core.v1.';
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const extensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.';

/** Definitions whose JSON does not follow their schema, or which are leaves in the field tree. */
const knownDefinitions: ReadonlyMap<string, LeafType> = new Map<string, LeafType>([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'Quantity'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'IntOrString'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'JSON'],
  [`${meta}Time`, 'DateTime'],
  [`${meta}MicroTime`, 'DateTime'],
  [`${meta}Duration`, 'Duration'],
  [`${meta}FieldsV1`, 'JSON'],
  [`${extensions}JSON`, 'JSON'],
  [`${extensions}JSONSchemaPropsOrArray`, 'JSON'],
  [`${extensions}JSONSchemaPropsOrBool`, 'JSON'],
  [`${extensions}JSONSchemaPropsOrStringArray`, 'JSON'],
]);

/** Fields of core definitions that hold IP addresses; their schemas only say string. */
const addressFields = new Set(['clusterIP', 'clusterIPs', 'externalIPs', 'hostIP', 'ip', 'loadBalancerIP', 'podIP']);

/**
 * Objects nested deeper than this are free JSON. Real schemas are far shallower; every recursion over a field tree stays safe.
 */
const deepest = 64;

/** How CRD generators write a Quantity: an int-or-string with this pattern. */
const quantityPattern = '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE]';

export class SchemaWalker {
  readonly drafts = new Map<string, Draft>();
  /** Schema constructs that were replaced by free JSON. */
  readonly messages: string[] = [];
  readonly #definitions: Schema;
  /** Definitions being read, and whether as objects. Meeting one of them again is recursion. */
  readonly #open = new Map<string, boolean>();
  readonly #recursive = new Set<string>();
  readonly #known = new Map<string, FieldType>();
  #inline = 0;

  constructor(definitions: Schema = {}) {
    this.#definitions = definitions;
    for (const [key, shape] of sharedShapes) this.drafts.set(key, { ...shape, fixed: true });
  }

  /**
   * Reads a kind's own schema and returns the id of its draft. `apiVersion`, `kind` and `metadata` are the same in every kind.
   */
  root(schema: unknown): string {
    const resolved = this.#resolve(asSchema(schema));
    const own = this.#fields(resolved, 0, false).filter(
      ({ name }) => name !== 'apiVersion' && name !== 'kind' && name !== 'metadata',
    );
    const open = own.length === 0 || isOpen(resolved);
    this.drafts.set('#root', {
      fixed: false,
      fields: [...headFields(objectMetaKey), ...own],
      ...(open ? { open: true } : {}),
    });
    return '#root';
  }

  #type(schema: Schema, depth: number, inDefinition: boolean): FieldType {
    const reference = referenceOf(schema);
    if (reference !== null) return this.#reference(reference, inDefinition);
    if (schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string')
      return intOrString(schema);
    switch (typeName(schema)) {
      case 'boolean':
        return leaf('Boolean');
      case 'integer':
        return leaf(schema['format'] === 'int32' ? 'Int' : 'Int64');
      case 'number':
        return leaf(schema['format'] === 'int64' ? 'Int64' : schema['format'] === 'int32' ? 'Int' : 'Float');
      case 'string':
        return leaf(stringLeaf(schema['format']));
      case 'array':
        return this.#list(asSchema(schema['items']), depth, inDefinition);
      case 'object':
        return this.#object(schema, depth, inDefinition);
      default:
        return isIntOrStringUnion(schema) ? intOrString(schema) : leaf('JSON');
    }
  }

  #list(items: Schema, depth: number, inDefinition: boolean): FieldType {
    const of = this.#type(items, depth, inDefinition);
    const draft = of.kind === 'object' ? this.drafts.get(of.shape) : undefined;
    const condition =
      draft !== undefined && !draft.fixed && draft.open === undefined && isConditionShaped(draft.fields);
    return { kind: 'list', of: condition ? { kind: 'object', shape: conditionKey } : of };
  }

  #object(schema: Schema, depth: number, inDefinition: boolean): FieldType {
    const embedded = schema['x-kubernetes-embedded-resource'] === true;
    const properties = asSchema(schema['properties']);
    if (!embedded && Object.keys(properties).length === 0) return this.#map(schema, depth, inDefinition);
    if (depth >= deepest) {
      this.messages.push(`objects are nested deeper than ${deepest} levels; what is below is free JSON`);
      return leaf('JSON');
    }
    if (inDefinition) return leaf('JSON');
    const declared = this.#fields(schema, depth + 1, false);
    const head = embedded ? headFields(embeddedObjectMetaKey) : [];
    const fields = [...head, ...declared.filter(({ name }) => !head.some((field) => field.name === name))];
    this.#inline += 1;
    const id = `#${this.#inline}`;
    this.drafts.set(id, { fixed: false, fields, ...(isOpen(schema) ? { open: true } : {}) });
    return { kind: 'object', shape: id };
  }

  #map(schema: Schema, depth: number, inDefinition: boolean): FieldType {
    const values = schema['additionalProperties'];
    if (!isSchema(values)) return leaf('JSON');
    const of = this.#type(values, depth + 1, inDefinition);
    if (of.kind !== 'leaf') return { kind: 'map', of };
    if (of.type === 'String') return { kind: 'stringMap' };
    return of.type === 'JSON' ? of : { kind: 'map', of };
  }

  #fields(object: Schema, depth: number, inDefinition: boolean): Field[] {
    const properties = asSchema(object['properties']);
    const required = new Set<unknown>(Array.isArray(object['required']) ? object['required'] : []);
    return Object.keys(properties)
      .sort()
      .map((name) => {
        const schema = asSchema(properties[name]);
        const items = asSchema(schema['items']);
        const description = describeText(schema['description'], values(schema) ?? values(items));
        const type = this.#type(schema, depth, inDefinition);
        return {
          name,
          type: inDefinition && addressFields.has(name) ? addresses(type) : type,
          ...(description === undefined ? {} : { description }),
          ...(required.has(name) && !isNullable(schema) ? { required: true as const } : {}),
        };
      });
  }

  #reference(name: string, inDefinition: boolean): FieldType {
    const known = knownDefinitions.get(name);
    if (known !== undefined) return leaf(known);
    if (name === objectMetaKey) return { kind: 'object', shape: embeddedObjectMetaKey };
    if (sharedShapes.has(name)) return { kind: 'object', shape: name };
    const short = shortNameOf(name);
    if (inDefinition && short === null) return leaf('JSON');
    const done = this.#known.get(name);
    if (done !== undefined) return done;
    const reading = this.#open.get(name);
    if (reading === false) return leaf('JSON');
    if (reading === true) {
      this.#recursive.add(name);
      return { kind: 'object', shape: name };
    }
    const schema = this.#definitions[name];
    if (!isSchema(schema)) {
      this.messages.push(`the definition ${name} is missing; what refers to it is free JSON`);
      return leaf('JSON');
    }
    const type = this.#definition(name, short, schema, inDefinition);
    this.#known.set(name, type);
    return type;
  }

  /** The depth restarts at 0, so that the read depth of a definition does not depend on its first reference. */
  #definition(name: string, short: string | null, schema: Schema, inDefinition: boolean): FieldType {
    const properties = asSchema(schema['properties']);
    const asObject = Object.keys(properties).length > 0 && schema['x-kubernetes-embedded-resource'] !== true;
    this.#open.set(name, asObject);
    if (!asObject) {
      const type = this.#type(schema, 0, inDefinition);
      this.#open.delete(name);
      return type;
    }
    const fields = this.#fields(schema, 1, short !== null);
    this.#open.delete(name);
    const description = short === null ? undefined : describeText(schema['description']);
    this.drafts.set(name, {
      fixed: short !== null || this.#recursive.has(name),
      ...(short === null ? {} : { definition: short }),
      ...(description === undefined ? {} : { description }),
      ...(isOpen(schema) ? { open: true } : {}),
      fields,
    });
    return { kind: 'object', shape: name };
  }

  /** Follows references of a kind's own schema, which may be wrapped. */
  #resolve(schema: Schema): Schema {
    let resolved = schema;
    for (let hops = 0; hops < deepest; hops++) {
      const name = referenceOf(resolved);
      if (name === null) return resolved;
      resolved = asSchema(this.#definitions[name]);
    }
    return resolved;
  }
}

/** The fields that every object of Kubernetes starts with. */
function headFields(metadata: string): Field[] {
  return [
    {
      name: 'apiVersion',
      type: leaf('String'),
      description: 'Group and version of the kind, as manifests write them.',
    },
    { name: 'kind', type: leaf('String'), description: 'The kind, as manifests write it.' },
    {
      name: 'metadata',
      type: { kind: 'object', shape: metadata },
      description: 'Name, labels and what else all kinds share.',
    },
  ];
}

function leaf(type: LeafType): FieldType {
  return { kind: 'leaf', type };
}

/** Text as IP addresses, in lists too. */
function addresses(type: FieldType): FieldType {
  if (type.kind === 'list') return { kind: 'list', of: addresses(type.of) };
  return type.kind === 'leaf' && type.type === 'String' ? leaf('IP') : type;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asSchema(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

/** The name in `$ref`. The reference may be wrapped into `allOf`, next to a default or a description. */
function referenceOf(schema: Schema): string | null {
  const reference = schema['$ref'];
  if (typeof reference === 'string') return reference.slice(reference.lastIndexOf('/') + 1);
  const all = schema['allOf'];
  const only: unknown = Array.isArray(all) && all.length === 1 ? all[0] : undefined;
  return isSchema(only) && typeof only['$ref'] === 'string' ? referenceOf(only) : null;
}

/** Does the schema allow null? */
function isNullable(schema: Schema): boolean {
  const type = schema['type'];
  return schema['nullable'] === true || (Array.isArray(type) && type.includes('null'));
}

/** `type`, or the type that the other keywords imply. */
function typeName(schema: Schema): string {
  const type = schema['type'];
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null');
    return others.length === 1 ? String(others[0]) : '';
  }
  return 'properties' in schema || 'additionalProperties' in schema || schema['x-kubernetes-embedded-resource'] === true
    ? 'object'
    : '';
}

function stringLeaf(format: unknown): LeafType {
  switch (format) {
    case 'date-time':
      return 'DateTime';
    case 'duration':
      return 'Duration';
    case 'quantity':
      return 'Quantity';
    case 'ip':
    case 'ipv4':
    case 'ipv6':
      return 'IP';
    default:
      return 'String';
  }
}

function intOrString(schema: Schema): FieldType {
  const pattern = schema['pattern'];
  return leaf(typeof pattern === 'string' && pattern.startsWith(quantityPattern) ? 'Quantity' : 'IntOrString');
}

/** `anyOf: [{type: integer}, {type: string}]`. */
function isIntOrStringUnion(schema: Schema): boolean {
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(union)) return false;
  const types = union.map((each) => asSchema(each)['type']).sort();
  return types.join() === 'integer,string';
}

/** True if undeclared fields are kept. */
function isOpen(schema: Schema): boolean {
  const more = schema['additionalProperties'];
  return schema['x-kubernetes-preserve-unknown-fields'] === true || more === true || isSchema(more);
}

function values(schema: Schema): readonly unknown[] | undefined {
  const allowed = schema['enum'];
  return Array.isArray(allowed) ? allowed : undefined;
}

/** `PodSpec` of a core/v1 or meta/v1 definition's full name; null for all others. */
function shortNameOf(name: string): string | null {
  for (const prefix of [core, meta]) {
    if (name.startsWith(prefix) && /^[A-Za-z0-9]+$/.test(name.slice(prefix.length))) return name.slice(prefix.length);
  }
  return null;
}
