/**
 * The notation in which the built-in kinds are written down (the files in `tables`), and its expansion to OpenAPI definitions.
 *
 *   group apps/v1 package=io.k8s.api.apps.v1
 *   kind Deployment deployments short=deploy scope=ns sub=status,scale -- What it is.
 *     spec: DeploymentSpec -- What the field is.
 *   type DeploymentSpec -- ...
 *     replicas: int32
 *     template!: PodTemplateSpec
 *     conditions: DeploymentCondition[] merge=type
 *     labels: map string
 *
 * `!` marks a required field. `merge=key` is the key by which strategic merges and apply match list items.
 * `keys=a,b` stands for more than one key, `list=atomic` beside `merge` for a list that apply takes as one value.
 * `patch=merge,retainKeys` is the strategy of strategic merges. `map=atomic` marks a map or a type that apply takes as one value.
 * Types that are not scalars are looked up in the package first, then by short name among all packages.
 * A kind gets apiVersion, kind, metadata and its list by itself; `required=metadata` makes its metadata required.
 * `bare` marks review kinds, which are never stored and have no list. `part` marks the kinds of subresources, which have no path of
 * their own either.
 */
import { must } from '../../src/base/must.ts';
import type { JsonObject } from '../objects/json.ts';

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface BuiltinKind extends GroupVersionKind {
  readonly plural: string;
  readonly definition: string;
  readonly listDefinition: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[] | undefined;
  readonly subresources: readonly string[];
  /** Never stored: only POST is served. */
  readonly bare: boolean;
  /** The kind of a subresource: no resource has it. */
  readonly part: boolean;
}

export interface BuiltinSchema {
  /** OpenAPI v2 definitions by full name, with `$ref`s to `#/definitions/...`. */
  readonly definitions: Readonly<Record<string, JsonObject>>;
  readonly kinds: readonly BuiltinKind[];
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const extensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const scalars: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  object: { type: 'object' },
};
const wellKnown: Readonly<Record<string, string>> = {
  Time: `${meta}.Time`,
  MicroTime: `${meta}.MicroTime`,
  ObjectMeta: `${meta}.ObjectMeta`,
  ListMeta: `${meta}.ListMeta`,
  FieldsV1: `${meta}.FieldsV1`,
  Quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  RawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  JSON: `${extensions}.JSON`,
  JSONSchemaPropsOrArray: `${extensions}.JSONSchemaPropsOrArray`,
  JSONSchemaPropsOrBool: `${extensions}.JSONSchemaPropsOrBool`,
  JSONSchemaPropsOrStringArray: `${extensions}.JSONSchemaPropsOrStringArray`,
};
const leaves: Readonly<Record<string, JsonObject>> = {
  [`${meta}.Time`]: { description: 'A point in time, as RFC 3339 with seconds.', type: 'string', format: 'date-time' },
  [`${meta}.MicroTime`]: {
    description: 'A point in time, as RFC 3339 with microseconds.',
    type: 'string',
    format: 'date-time',
  },
  [`${meta}.FieldsV1`]: { description: 'A set of fields, as a trie of field names.', type: 'object' },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    description: 'A number in fixed point with an optional suffix, such as 100m, 1.5 or 2Gi.',
    type: 'string',
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    description: 'Either an integer or a string.',
    type: 'string',
    format: 'int-or-string',
  },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { description: 'Any object.', type: 'object' },
  [`${extensions}.JSON`]: { description: 'Any JSON value: an object, a list or a scalar.' },
  [`${extensions}.JSONSchemaPropsOrArray`]: { description: 'A schema, or a list of schemas.' },
  [`${extensions}.JSONSchemaPropsOrBool`]: { description: 'A schema, or whether anything is allowed.' },
  [`${extensions}.JSONSchemaPropsOrStringArray`]: { description: 'A schema, or a list of names.' },
};

interface Line {
  readonly text: string;
  readonly description: string;
}

interface Block {
  readonly header: Line;
  readonly words: readonly string[];
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly package: string;
  readonly fields: readonly Line[];
}

/** The value of `name=value` in the words, or undefined. */
function option(words: readonly string[], name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

function readBlocks(tables: readonly string[]): Block[] {
  const blocks: (Block & { fields: Line[] })[] = [];
  for (const table of tables) {
    let place = { group: '', version: '', package: '' };
    for (const source of table.split('\n')) {
      if (source.trim() === '') continue;
      const [code = '', description = ''] = source.split(' -- ');
      const line: Line = { text: code.trim(), description: description.trim() };
      const words = line.text.split(/\s+/);
      if (words[0] === 'group') {
        const parts = must(words[1], 'a group version').split('/');
        place = {
          group: parts.length > 1 ? must(parts[0], 'a group') : '',
          version: must(parts.at(-1), 'a version'),
          package: must(option(words, 'package'), 'a package'),
        };
      } else if (words[0] === 'kind' || words[0] === 'type') {
        blocks.push({ header: line, words, name: must(words[1], 'a type name'), ...place, fields: [] });
      } else must(blocks.at(-1), 'a type before its fields').fields.push(line);
    }
  }
  return blocks;
}

/** Expands tables to definitions and kinds. Throws for a name that no table defines. */
export function expandTables(tables: readonly string[]): BuiltinSchema {
  const blocks = readBlocks(tables);
  const schemaOf = schemasOf(blocks);
  const definitions: Record<string, JsonObject> = {};
  for (const block of blocks) {
    definitions[nameOf(block)] = definitionOf(block, schemaOf);
    if (hasList(block)) definitions[`${nameOf(block)}List`] = listDefinitionOf(block, schemaOf);
  }
  return { definitions: { ...leaves, ...definitions }, kinds: blocks.filter(isKind).map(kindOf) };
}

function nameOf(block: Block): string {
  return `${block.package}.${block.name}`;
}

function isKind({ words }: Block): boolean {
  return words[0] === 'kind';
}

function hasList(block: Block): boolean {
  return isKind(block) && !block.words.includes('bare') && !block.words.includes('part');
}

/** The schema of a type that a package names. */
type SchemaOf = (type: string, pkg: string) => JsonObject;

function schemasOf(blocks: readonly Block[]): SchemaOf {
  const byShortName = new Map<string, string>();
  const full = new Set(blocks.map((block) => nameOf(block)));
  for (const block of blocks) {
    if (!byShortName.has(block.name)) byShortName.set(block.name, `${block.package}.${block.name}`);
  }
  const schemaOf = (type: string, pkg: string): JsonObject => {
    if (type.startsWith('map ')) return { type: 'object', additionalProperties: schemaOf(type.slice(4), pkg) };
    if (type.endsWith('[]')) return { type: 'array', items: schemaOf(type.slice(0, -2), pkg) };
    const scalar = scalars[type];
    if (scalar) return { ...scalar };
    const local = `${pkg}.${type}`;
    const name = full.has(local) ? local : (wellKnown[type] ?? byShortName.get(type));
    return { $ref: `#/definitions/${must(name, `a definition of ${type} for ${pkg}`)}` };
  };
  return schemaOf;
}

function fieldOf(line: Line, pkg: string, schemaOf: SchemaOf): { name: string; required: boolean; schema: JsonObject } {
  const colon = line.text.indexOf(':');
  const marked = line.text.slice(0, colon);
  const words = line.text
    .slice(colon + 1)
    .trim()
    .split(/\s+/);
  const type = words.filter((word) => !word.includes('=')).join(' ');
  const schema = schemaOf(type, pkg);
  if (line.description !== '') schema.description = line.description;
  const merge = option(words, 'merge');
  const list = option(words, 'list');
  const patch = option(words, 'patch') ?? (merge ? 'merge' : undefined);
  const map = option(words, 'map');
  const keys = option(words, 'keys')?.split(',') ?? (merge && list === undefined ? [merge] : undefined);
  if (merge) schema['x-kubernetes-patch-merge-key'] = merge;
  if (patch) schema['x-kubernetes-patch-strategy'] = patch;
  if (map) schema['x-kubernetes-map-type'] = map;
  if (keys) {
    schema['x-kubernetes-list-map-keys'] = keys;
    schema['x-kubernetes-list-type'] = 'map';
  } else if (schema.type === 'array') schema['x-kubernetes-list-type'] = list ?? 'atomic';
  return { name: marked.replace('!', ''), required: marked.endsWith('!'), schema };
}

function definitionOf(block: Block, schemaOf: SchemaOf): JsonObject {
  const properties: Record<string, JsonObject> = {};
  const required: string[] = option(block.words, 'required')?.split(',') ?? [];
  const map = option(block.words, 'map');
  if (isKind(block)) {
    properties.apiVersion = { type: 'string', description: 'The version of the schema that this object follows.' };
    properties.kind = { type: 'string', description: 'The name of the kind of this object.' };
    properties.metadata = {
      ...schemaOf('ObjectMeta', block.package),
      description: 'Standard metadata of an object.',
    };
  }
  for (const line of block.fields) {
    const field = fieldOf(line, block.package, schemaOf);
    properties[field.name] = field.schema;
    if (field.required) required.push(field.name);
  }
  const { group, version, name: kind } = block;
  return {
    description: block.header.description,
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties,
    ...(map === undefined ? {} : { 'x-kubernetes-map-type': map }),
    ...(isKind(block) ? { 'x-kubernetes-group-version-kind': [{ group, kind, version }] } : {}),
  };
}

function listDefinitionOf(block: Block, schemaOf: SchemaOf): JsonObject {
  const { group, version, name: kind } = block;
  return {
    description: `A list of ${kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'The version of the schema that this list follows.' },
      items: { type: 'array', items: { $ref: `#/definitions/${nameOf(block)}` }, description: 'The objects.' },
      kind: { type: 'string', description: 'The name of the kind of this list.' },
      metadata: { ...schemaOf('ListMeta', block.package), description: 'Standard metadata of a list.' },
    },
    'x-kubernetes-group-version-kind': [{ group, kind: `${kind}List`, version }],
  };
}

function kindOf(block: Block): BuiltinKind {
  const { group, version, name: kind, words } = block;
  return {
    group,
    version,
    kind,
    plural: must(words[2], 'a plural'),
    definition: nameOf(block),
    listDefinition: `${nameOf(block)}List`,
    namespaced: option(words, 'scope') === 'ns',
    shortNames: option(words, 'short')?.split(',') ?? [],
    categories: option(words, 'categories')?.split(',') ?? [],
    verbs: option(words, 'verbs')?.split(','),
    subresources: option(words, 'sub')?.split(',') ?? [],
    bare: words.includes('bare'),
    part: words.includes('part'),
  };
}
