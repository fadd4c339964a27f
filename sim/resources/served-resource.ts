/** One resource in one version: names, verbs, storage, schema, and the view of its objects. */
import { asObject, asString, type JsonObject } from '../objects/json.ts';
import type { View } from '../objects/object-store.ts';
import type { TypedSchema } from '../schema/schema-walk.ts';

export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly selector: readonly string[] | undefined;
}

interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly priority: number;
  readonly path: readonly string[];
}

export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** The storage of the objects: shared by all versions, and by the two groups of Event. */
  readonly storage: string;
  readonly view: View;
  /** Converts an object of this version into the stored form. */
  toStorage(object: JsonObject): JsonObject;
  /** True when a CRD defines it; false for built-in ones. */
  readonly custom: boolean;
  /** Never stored: only POST is served. */
  readonly bare: boolean;
  /** Computed for each request: neither objects nor lists have a resourceVersion. */
  readonly computed: boolean;
  readonly statusSubresource: boolean;
  readonly subresources: readonly string[];
  readonly scale: ScalePaths | undefined;
  /** Whether changes outside metadata and status increase metadata.generation. */
  readonly hasGeneration: boolean;
  /** Field selectors beyond metadata.name and metadata.namespace, as key chains. */
  readonly selectableFields: ReadonlyMap<string, readonly string[]>;
  /** The columns of a custom kind in tables, besides its name; undefined for built-in kinds. */
  readonly printerColumns: readonly PrinterColumn[] | undefined;
  readonly schema: TypedSchema;
  /** The name of its OpenAPI definition. */
  readonly definition: string;
}

export const allVerbs: readonly string[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** `v1` or `apps/v1`. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The metadata of an object; empty when absent. */
export function metadataOf(object: JsonObject): JsonObject {
  return asObject(object.metadata);
}

/** A string field of metadata, or ''. */
export function metadataString(object: JsonObject, field: string): string {
  return asString(metadataOf(object)[field]);
}
