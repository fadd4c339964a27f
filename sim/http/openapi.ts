/**
 * OpenAPI documents, derived from the registry and cached by its generation.
 *
 * v2 is one document. v3 is an index with one document per group version. The URL of a v3 document carries a hash of its content,
 * so clients may cache it without limit.
 *
 * Paths contain only the parts by which tools find the definition of a kind. As on a real server, v3 wraps a reference with a
 * description in `allOf`, and v2 drops keywords it does not support (nullable, oneOf).
 */
import { createHash } from 'node:crypto';
import { openApiVersion } from '../builtin/kubernetes-version.ts';
import { asObject, asString, isObject, type JsonObject } from '../objects/json.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { apiVersionOf, type ServedResource } from '../resources/served-resource.ts';
import { builtinSchema } from '../schema/builtin-schema.ts';

export interface OpenApiDocument {
  readonly text: string;
  readonly hash: string;
}

const v2Prefix = '#/definitions/';
const v3Prefix = '#/components/schemas/';

function digest(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase();
}

/** Collects the names of the definitions that a schema refers to, recursively. */
function collectRefs(value: unknown, into: Set<string>, definitions: Readonly<Record<string, JsonObject>>): void {
  if (Array.isArray(value)) for (const item of value) collectRefs(item, into, definitions);
  else if (isObject(value)) {
    const ref = value.$ref;
    if (typeof ref === 'string' && ref.startsWith(v2Prefix)) {
      const name = ref.slice(v2Prefix.length);
      if (!into.has(name)) {
        into.add(name);
        collectRefs(definitions[name], into, definitions);
      }
    }
    for (const item of Object.values(value)) collectRefs(item, into, definitions);
  }
}

/** A definition in OpenAPI v3: other reference paths, and no siblings of a `$ref`. In `properties`, the keys are field names. */
function toV3(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((item) => toV3(item));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  const { $ref, ...rest } = value;
  if (!named && typeof $ref === 'string') {
    const reference = { $ref: v3Prefix + $ref.slice(v2Prefix.length) };
    if (Object.keys(rest).length === 0) return reference;
    return { ...rest, default: {}, allOf: [reference] };
  }
  for (const [key, item] of Object.entries(value)) {
    if (!named && (key === 'default' || key === 'enum' || key === 'example')) out[key] = item;
    else out[key] = toV3(item, !named && key === 'properties');
  }
  return out;
}

/** Types that are plain strings in v2 and a choice of two types in v3. */
const v3Types: Readonly<Record<string, JsonObject>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    type: undefined,
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    type: undefined,
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
};

/** The definition of a custom kind in OpenAPI v2. */
function toV2(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((item) => toV2(item));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (named) out[key] = toV2(item);
    else if (['oneOf', 'anyOf', 'not', 'nullable'].includes(key)) continue;
    else if (key === 'default' || key === 'enum' || key === 'example') out[key] = item;
    else out[key] = toV2(item, key === 'properties');
  }
  if (!named && value.nullable === true) {
    for (const key of ['type', 'items', 'properties']) delete out[key];
  }
  if (
    !named &&
    value['x-kubernetes-preserve-unknown-fields'] === true &&
    (value.items !== undefined || value.type === 'array')
  ) {
    delete out.type;
    delete out.items;
  }
  return out;
}

/** A query parameter of a patch. Clients detect server features by these. */
function parameterOf(name: string, prefix: string): JsonObject {
  const type = { type: name === 'force' ? 'boolean' : 'string' };
  return { name, in: 'query', ...(prefix === v2Prefix ? type : { schema: type }) };
}

function pathsOf(resources: readonly ServedResource[], prefix: string): JsonObject {
  const paths: JsonObject = {};
  for (const resource of resources) {
    const { group, version, kind } = resource;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const middle = resource.namespaced ? '/namespaces/{namespace}' : '';
    const schema = { $ref: prefix + resource.definition };
    const content = prefix === v2Prefix ? { schema } : { content: { 'application/json': { schema } } };
    const ok = { '200': { description: 'OK', ...content } };
    const action = resource.bare ? 'post' : 'get';
    const name = resource.bare ? '' : '/{name}';
    paths[`${root}${middle}/${resource.plural}${name}`] = {
      [action]: {
        description: resource.bare ? `answer a ${kind}` : `read the specified ${kind}`,
        operationId: `${action}${kind}`,
        responses: ok,
        'x-kubernetes-action': action,
        'x-kubernetes-group-version-kind': { group, kind, version },
      },
      ...(resource.verbs.includes('patch')
        ? {
            patch: {
              description: `partially update the specified ${kind}`,
              operationId: `patch${kind}`,
              parameters: ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) =>
                parameterOf(name, prefix),
              ),
              responses: ok,
              'x-kubernetes-action': 'patch',
              'x-kubernetes-group-version-kind': { group, kind, version },
            },
          }
        : {}),
    };
  }
  return paths;
}

export class OpenApi {
  readonly #registry: ResourceRegistry;
  #generation = -1;
  #v2: OpenApiDocument | undefined;
  #v3 = new Map<string, OpenApiDocument>();

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** The one document of v2. */
  v2(): OpenApiDocument {
    this.#refresh();
    if (this.#v2) return this.#v2;
    const resources = this.#registry.all();
    const definitions: JsonObject = { ...builtinSchema().definitions };
    for (const resource of resources) {
      if (!resource.custom) continue;
      definitions[resource.definition] = toV2(resource.schema.root);
      definitions[`${resource.definition}List`] = listDefinition(resource);
    }
    const text = JSON.stringify({
      swagger: '2.0',
      info: { title: 'Kubernetes', version: openApiVersion },
      paths: pathsOf(resources, v2Prefix),
      definitions,
    });
    this.#v2 = { text, hash: digest(text) };
    return this.#v2;
  }

  /** The index of v3: paths such as `apis/apps/v1`, each with the URL of its current document. */
  v3Index(): JsonObject {
    const paths: JsonObject = {};
    for (const path of this.#paths()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${this.v3(path)?.hash}` };
    }
    return { paths };
  }

  /** The document of one path of the index; undefined for an unknown path. */
  v3(path: string): OpenApiDocument | undefined {
    this.#refresh();
    const known = this.#v3.get(path);
    if (known) return known;
    const resources = this.#registry.all().filter((resource) => pathOf(resource) === path);
    if (resources.length === 0) return undefined;
    const shared = builtinSchema().definitions;
    const own: Record<string, JsonObject> = {};
    for (const resource of resources) {
      own[resource.definition] = resource.schema.root;
      if (!resource.bare) {
        own[`${resource.definition}List`] = shared[`${resource.definition}List`] ?? listDefinition(resource);
      }
    }
    const names = new Set(Object.keys(own));
    for (const schema of Object.values(own)) collectRefs(schema, names, shared);
    const schemas: JsonObject = {};
    for (const name of [...names].sort())
      schemas[name] = { ...asObject(toV3(own[name] ?? shared[name])), ...v3Types[name] };
    const text = JSON.stringify({
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: openApiVersion },
      paths: pathsOf(resources, v3Prefix),
      components: { schemas },
    });
    const document = { text, hash: digest(text) };
    this.#v3.set(path, document);
    return document;
  }

  #paths(): string[] {
    return [...new Set(this.#registry.all().map(pathOf))];
  }

  /** Drops outdated documents after a change of the registry. Group versions with only built-in resources keep theirs. */
  #refresh(): void {
    if (this.#generation === this.#registry.generation) return;
    this.#generation = this.#registry.generation;
    this.#v2 = undefined;
    const custom = new Set(
      this.#registry
        .all()
        .filter((resource) => resource.custom)
        .map(pathOf),
    );
    const served = new Set(this.#paths());
    for (const path of [...this.#v3.keys()]) if (custom.has(path) || !served.has(path)) this.#v3.delete(path);
  }
}

function pathOf(resource: ServedResource): string {
  return resource.group === '' ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;
}

function listDefinition(resource: ServedResource): JsonObject {
  const { group, version, listKind } = resource;
  return {
    description: `${asString(listKind)} is a list of ${resource.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'The version of the schema that this list follows.' },
      items: {
        type: 'array',
        items: { $ref: v2Prefix + resource.definition },
        description: `List of ${resource.plural}.`,
      },
      kind: { type: 'string', description: 'The name of the kind of this list.' },
      metadata: {
        $ref: `${v2Prefix}io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta`,
        description: 'Standard list metadata.',
      },
    },
    'x-kubernetes-group-version-kind': [{ group, kind: listKind, version }],
  };
}
