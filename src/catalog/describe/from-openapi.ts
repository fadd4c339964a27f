/**
 * A kind's field tree from an API server's OpenAPI.
 */
import { PortolanError } from '../../base/errors.ts';
import { apiVersionOf } from '../resources/resource.ts';
import { describeText } from '../tree/describe-text.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { normalizeTree } from '../tree/normalize-tree.ts';
import { SchemaWalker } from '../tree/walk-schema.ts';

/** Schemas by name: `definitions` of OpenAPI v2, or `components.schemas` of a v3 document. */
export type Schemas = Readonly<Record<string, unknown>>;

/** A kind's description in a schema. */
export interface SchemaDescription {
  readonly tree: FieldTree;
  readonly description?: string;
  /** Schema constructs that were replaced by free JSON. */
  readonly messages: readonly string[];
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Describes one kind.
 * @throws PortolanError NOT_FOUND when no schema is marked as this kind's (x-kubernetes-group-version-kind).
 */
export function describeFromSchemas(schemas: Schemas, kind: Kind): SchemaDescription {
  const name = definitionOf(schemas, kind);
  if (name === null) {
    throw new PortolanError(
      'NOT_FOUND',
      `The API server's OpenAPI has no schema for ${kind.kind} of ${apiVersionOf(kind)}; check that its API service is healthy.`,
    );
  }
  const schema = schemas[name] as Schemas;
  const walker = new SchemaWalker(schemas);
  const root = walker.root(schema);
  const description = describeText(schema['description']);
  return {
    tree: normalizeTree(root, walker.drafts),
    ...(description === undefined ? {} : { description }),
    messages: walker.messages,
  };
}

/** Schema names by group, version and kind. Documents are large and searched for every kind in them, so each is indexed once. */
const indexes = new WeakMap<Schemas, ReadonlyMap<string, string>>();

/** The name of the schema that is marked as this kind's; null if there is none. */
export function definitionOf(schemas: Schemas, kind: Kind): string | null {
  let index = indexes.get(schemas);
  if (index === undefined) {
    index = indexOf(schemas);
    indexes.set(schemas, index);
  }
  return index.get(keyOf(kind.group, kind.version, kind.kind)) ?? null;
}

function indexOf(schemas: Schemas): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  const full = new Set<string>();
  for (const [name, schema] of Object.entries(schemas)) {
    if (typeof schema !== 'object' || schema === null) continue;
    const marks: unknown = (schema as Schemas)['x-kubernetes-group-version-kind'];
    if (!Array.isArray(marks)) continue;
    for (const mark of marks as unknown[]) {
      if (typeof mark !== 'object' || mark === null) continue;
      const { group, version, kind } = mark as Schemas;
      const key = keyOf(String(group ?? ''), String(version), String(kind));
      // Options and statuses are marked with every group. Only the kind itself has metadata.
      const properties = (schema as Schemas)['properties'];
      const whole = typeof properties === 'object' && properties !== null && 'metadata' in properties;
      if (index.has(key) && (full.has(key) || !whole)) continue;
      index.set(key, name);
      if (whole) full.add(key);
    }
  }
  return index;
}

function keyOf(group: string, version: string, kind: string): string {
  return `${group}/${version}/${kind}`;
}
