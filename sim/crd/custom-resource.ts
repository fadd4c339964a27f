/** Turns a CustomResourceDefinition into its resources: names, schemas, views. Pure. */

import { asArray, asObject, asString, isObject, type JsonObject, sortedJsonText } from '../objects/json.ts';
import type { View } from '../objects/object-store.ts';
import { allVerbs, type ScalePaths, type ServedResource } from '../resources/served-resource.ts';
import { builtinSchema } from '../schema/builtin-schema.ts';
import { applyDefaults, pruneUnknown } from '../schema/prune.ts';
import type { TypedSchema } from '../schema/schema-walk.ts';

const objectMeta = '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** `.spec.a.b` or `.status.conditions[0].x` as keys; only plain field steps are kept. */
function simplePath(jsonPath: unknown): string[] {
  return asString(jsonPath)
    .replace(/^\{?\.?/, '')
    .replace(/\}$/, '')
    .split('.')
    .filter((part) => part !== '');
}

/** The name of the OpenAPI definition: the group reversed, the version, the kind. */
function definitionName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

/** The schema that the server publishes and applies: adds apiVersion, kind, metadata and the group-version-kind extension. */
function publishedSchema(version: JsonObject, group: string, kind: string): JsonObject {
  const given = asObject(asObject(version.schema).openAPIV3Schema);
  const name = asString(version.name);
  const mark = [{ group, kind, version: name }];
  const properties = {
    apiVersion: { type: 'string', description: 'The version of the schema that this object follows.' },
    kind: { type: 'string', description: 'The name of the kind of this object.' },
    metadata: { $ref: objectMeta, description: 'Standard metadata of an object.' },
  };
  if (Object.keys(given).length === 0) {
    return {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties,
      'x-kubernetes-group-version-kind': mark,
    };
  }
  return {
    ...given,
    properties: { ...asObject(given.properties), ...properties },
    'x-kubernetes-group-version-kind': mark,
  };
}

function scaleOf(version: JsonObject): ScalePaths | undefined {
  const { scale } = asObject(version.subresources);
  if (!isObject(scale)) return undefined;
  const selector = simplePath(scale.labelSelectorPath);
  return {
    specReplicas: simplePath(scale.specReplicasPath),
    statusReplicas: simplePath(scale.statusReplicasPath),
    selector: selector.length > 0 ? selector : undefined,
  };
}

function viewOf(apiVersion: string, types: TypedSchema, isStorage: boolean): View {
  const { metadata: _m, ...ownFields } = asObject(types.root.properties);
  const own: TypedSchema = { ...types, root: { ...types.root, properties: { ...ownFields, metadata: {} } } };
  const mayDefault = JSON.stringify(ownFields).includes('"default"');
  return {
    convert: (object) => {
      let out: JsonObject = object.apiVersion === apiVersion ? object : { ...object, apiVersion };
      if (mayDefault) out = applyDefaults(out, own.root, own) as JsonObject;
      return isStorage ? out : withMetadata(pruneUnknown(out, types.root, types) as JsonObject, out);
    },
    text: sortedJsonText,
  };
}

/** Restores the metadata: pruning by the schema of another version must not change it. */
function withMetadata(object: JsonObject, source: JsonObject): JsonObject {
  return { ...object, metadata: source.metadata };
}

/** The served versions of a definition; empty when it cannot be served. */
export function customResources(crd: JsonObject): ServedResource[] {
  const spec = asObject(crd.spec);
  const group = asString(spec.group);
  const names = asObject(spec.names);
  const kind = asString(names.kind);
  const plural = asString(names.plural);
  const versions = asArray(spec.versions).filter(isObject);
  const stored = versions.find((version) => version.storage === true);
  if (group === '' || kind === '' || plural === '' || !stored) return [];
  const storageVersion = `${group}/${asString(stored.name)}`;
  const storage = `${plural}.${group}`;
  return versions
    .filter((version) => version.served === true)
    .map((version) => {
      const name = asString(version.name);
      const types: TypedSchema = {
        root: publishedSchema(version, group, kind),
        definitions: builtinSchema().definitions,
        open: false,
      };
      const subresources = asObject(version.subresources);
      const status = isObject(subresources.status);
      const scale = scaleOf(version);
      const apiVersion = `${group}/${name}`;
      return {
        group,
        version: name,
        plural,
        singular: asString(names.singular) || kind.toLowerCase(),
        kind,
        listKind: asString(names.listKind) || `${kind}List`,
        namespaced: spec.scope === 'Namespaced',
        shortNames: asArray(names.shortNames).map(asString),
        categories: asArray(names.categories).map(asString),
        verbs: allVerbs,
        storage,
        view: viewOf(apiVersion, types, apiVersion === storageVersion),
        toStorage: (object) =>
          object.apiVersion === storageVersion ? object : { ...object, apiVersion: storageVersion },
        custom: true,
        bare: false,
        computed: false,
        statusSubresource: status,
        subresources: [...(status ? ['status'] : []), ...(scale ? ['scale'] : [])],
        scale,
        hasGeneration: true,
        selectableFields: new Map(
          asArray(version.selectableFields).map((field) => {
            const path = simplePath(asObject(field).jsonPath);
            return [path.join('.'), path] as const;
          }),
        ),
        printerColumns: asArray(version.additionalPrinterColumns)
          .filter(isObject)
          .map((column) => ({
            name: asString(column.name),
            type: asString(column.type),
            priority: Number(column.priority ?? 0),
            path: simplePath(column.jsonPath),
          })),
        schema: types,
        definition: definitionName(group, name, kind),
      };
    });
}
