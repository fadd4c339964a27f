/**
 * The JSON Schema of the manifests of one kind, for editors and other tools: what the API server takes as an object of it.
 *
 *   OpenAPI document (definition-texts.ts) -> the kind's definition -> its schema, and in `$defs` each definition that it reaches
 *
 * The dialect is draft-07: the editors that complete YAML and JSON (Monaco, CodeMirror, yaml-language-server, IntelliJ) read it whole. A
 * schema refers to nothing outside itself.
 *
 * Two sorts of definitions have rules of their own: Go types (typed-schema.ts) and structural schemas (structural-schema.ts).
 */
import { PortolanError } from '../../base/errors.ts';
import { isText, parsedJson, record, recordOr, records, strings } from '../../base/json.ts';
import type { Steps } from '../../base/steps.ts';
import { definitionOf, type Schemas } from '../describe/from-openapi.ts';
import { mayBeCustom } from '../groups/api-group.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';
import { type Json, SchemaContext } from './schema-context.ts';
import { StructuralSchema } from './structural-schema.ts';
import { typedDefinition, typedSchema } from './typed-schema.ts';

export interface ManifestSource {
  readonly resource: Pick<Resource, 'group' | 'version' | 'kind'>;
  /** The definitions of the document by name, as JSON texts. */
  readonly definitions: ReadonlyMap<string, string>;
  readonly form: 'v3' | 'v2';
  /** The kind's CustomResourceDefinition, for a server with OpenAPI v2 alone: v2 leaves parts of schemas out. */
  readonly crd?: unknown;
}

/** The largest definition of a real kind has about 1.5 MB: etcd takes no larger one. In characters. */
const mostText = 4 * 1024 * 1024;

const metaPackage = '.pkg.apis.meta.v1.';

/**
 * The schema.
 * @throws PortolanError NOT_FOUND when the document has no schema of the kind, UPSTREAM_UNAVAILABLE for one that is too large.
 */
export function* manifestSchema(source: ManifestSource): Steps<Json> {
  const { resource, form } = source;
  const parts = new DefinitionParts(source.definitions);
  const given = structuralOf(source) ?? (yield* parts.ofKind(resource));
  const properties = recordOr(given['properties']);
  const isCustom = source.crd !== undefined || (mayBeCustom(resource.group) && !refersToOwn(properties));
  const meta = parts.objectMeta();
  const below = withoutHead(given, properties);
  const options = { objectMeta: meta?.ref ?? null, isWhole: form === 'v3' || source.crd !== undefined };
  const body = isCustom
    ? yield* new StructuralSchema(parts.context, options).schema(below, { removesNull: false, depth: 0 })
    : yield* typedSchema(below, parts.context, { isOptional: false, depth: 0 });
  const { description, ...constraints } = body;
  const head = {
    apiVersion: { ...named(properties['apiVersion']), type: 'string', const: apiVersionOf(resource) },
    kind: { ...named(properties['kind']), type: 'string', const: resource.kind },
    ...('metadata' in properties ? { metadata: metadataOf(properties['metadata'], meta?.ref) } : {}),
  };
  const defs = yield* parts.reached();
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `${resource.kind} of ${apiVersionOf(resource)}`,
    ...(description === undefined ? {} : { description }),
    ...constraints,
    required: [...Object.keys(head), ...strings(constraints['required'])],
    properties: withOwn({ ...head }, recordOr(constraints['properties'])),
    ...(Object.keys(defs).length === 0 ? {} : { $defs: defs }),
  };
}

/** Both, where a name such as `__proto__` is a member too. */
function withOwn(head: Json, properties: Json): Json {
  return Object.fromEntries([...Object.entries(head), ...Object.entries(properties)]);
}

function named(property: unknown): Json {
  const { description } = recordOr(property);
  return isText(description) ? { description } : {};
}

/** An object is created with a name, or with the beginning of one. */
function metadataOf(property: unknown, ref: string | undefined): Json {
  return {
    ...named(property),
    ...(ref === undefined ? { type: 'object' } : { allOf: [{ $ref: ref }] }),
    type: 'object',
    anyOf: [{ required: ['name'] }, { required: ['generateName'] }],
  };
}

/** The definition without the members that every kind has. */
function withoutHead(given: Json, properties: Json): Json {
  const head: readonly string[] = ['apiVersion', 'kind', 'metadata'];
  return {
    ...given,
    type: 'object',
    required: strings(given['required']).filter((name) => !head.includes(name)),
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !head.includes(name))),
  };
}

/** Does a property, at any depth, refer to a definition of its own API? A structural schema refers to ObjectMeta alone. */
function refersToOwn(properties: Json): boolean {
  const left: unknown[] = [properties];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each !== 'object' || each === null) continue;
    const ref = '$ref' in each ? each.$ref : undefined;
    if (typeof ref === 'string' && !ref.includes(metaPackage)) return true;
    for (const value of Object.values(each)) left.push(value);
  }
  return false;
}

/** The schema in the kind's CustomResourceDefinition, if that is given. */
function structuralOf({ crd, resource }: ManifestSource): Json | undefined {
  const spec = recordOr(recordOr(crd)['spec']);
  const version = records(spec['versions']).find(({ name }) => name === resource.version);
  const schema = record(recordOr(version?.['schema'])['openAPIV3Schema']);
  if (schema === undefined) return undefined;
  const properties = { ...recordOr(schema['properties']), metadata: {} };
  const isOpen = spec['preserveUnknownFields'] === true;
  return { ...schema, properties, ...(isOpen ? { 'x-kubernetes-preserve-unknown-fields': true } : {}) };
}

/** The definitions that a schema reaches. Each is parsed once. */
class DefinitionParts {
  readonly context: SchemaContext;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, Json>();
  readonly #queue: string[] = [];
  #length = 0;

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
    this.context = new SchemaContext((name) => this.#reach(name));
  }

  /** @throws PortolanError NOT_FOUND when no definition is marked as this kind's. */
  *ofKind(resource: ManifestSource['resource']): Steps<Json> {
    const marked: [string, unknown][] = [];
    const word = JSON.stringify(resource.kind);
    for (const [name, text] of this.#texts) {
      if (!text.includes('"x-kubernetes-group-version-kind"') || !text.includes(word)) continue;
      yield;
      marked.push([name, this.#parse(text)]);
    }
    const schemas: Schemas = Object.fromEntries(marked);
    const name = definitionOf(schemas, resource);
    const found = name === null ? undefined : record(schemas[name]);
    if (found !== undefined) return found;
    throw new PortolanError(
      'NOT_FOUND',
      `The API server's OpenAPI has no schema for ${resource.kind} of ${apiVersionOf(resource)}; check that its API service is healthy.`,
    );
  }

  objectMeta(): { readonly ref: string } | undefined {
    const name = [...this.#texts.keys()].find((each) => each.endsWith(`${metaPackage}ObjectMeta`));
    return name === undefined ? undefined : this.context.definition(`#/definitions/${name}`);
  }

  /** The definitions that were reached so far, and all further ones that these reach. */
  *reached(): Steps<Json> {
    const made: [string, Json][] = [];
    for (let name = this.#queue.shift(); name !== undefined; name = this.#queue.shift()) {
      made.push([name, yield* typedDefinition(name, this.#parsed.get(name) ?? {}, this.context)]);
    }
    return Object.fromEntries(made.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #reach(name: string): { readonly takesNull: boolean } | undefined {
    let found = this.#parsed.get(name);
    if (found === undefined) {
      const text = this.#texts.get(name);
      if (text === undefined) return undefined;
      found = recordOr(this.#parse(text));
      this.#parsed.set(name, found);
      this.#queue.push(name);
    }
    return { takesNull: strings(found['required']).length === 0 };
  }

  #parse(text: string): unknown {
    this.#length += text.length;
    if (this.#length > mostText) {
      throw new PortolanError(
        'UPSTREAM_UNAVAILABLE',
        `The schema of the kind is longer than ${mostText / 1024 / 1024} MiB, so it is not shown: look at its CustomResourceDefinition or its API service.`,
      );
    }
    return parsedJson(text);
  }
}
