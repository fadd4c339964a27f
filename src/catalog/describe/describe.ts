/**
 * Describes one resource of one cluster from discovery and its schema. Ingest keeps the description in the store as JSON text.
 *
 * Life of the data: discovery + (CRD or OpenAPI) -> describeResource -> store -> assembleCatalog (assemble.ts).
 */
import { codeOf } from '../../base/errors.ts';
import { healthRulesOf, type ReadHealthRules } from '../health/read-health-rules.ts';
import { type ResolvedPath, resolvePath } from '../paths/resolve-path.ts';
import type { DescribedResource, Diagnostic, PrinterColumn, PromotedPath } from '../resources/catalog.ts';
import { indexedAnyway } from '../resources/configured-paths.ts';
import { type Resource, resourceKey } from '../resources/resource.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { normalizeTree } from '../tree/normalize-tree.ts';
import { parsePath } from '../tree/path.ts';
import { structureHash } from '../tree/structure-hash.ts';
import { SchemaWalker } from '../tree/walk-schema.ts';
import { recordOf } from '../values/displayed-value.ts';
import { describeFromCrd } from './from-crd.ts';
import { describeFromSchemas, type SchemaDescription, type Schemas } from './from-openapi.ts';
import { ageColumn, builtInColumns, builtInSelected, nameColumn } from './printer-columns.ts';
import { redactedPaths } from './redacted-paths.ts';
import { type RelationSet, relationsAnnotation } from './relation-set.ts';

export interface DescribeInput {
  readonly cluster: string;
  readonly resource: Resource;
  /** The kind's CustomResourceDefinition, if it has one. Preferred, because it has more information than OpenAPI. */
  readonly crd?: unknown;
  /** Definitions of the cluster's OpenAPI v2, or the schemas of the v3 document of the resource's group version. */
  readonly schemas?: Schemas;
  /** The declared relations; absent: none. */
  readonly relations?: RelationSet;
  /** Every kind that the cluster serves. Relations are inferred from their names. */
  readonly kinds?: readonly Resource[] | undefined;
  /** The declared health rules; absent: none. */
  readonly healthRules?: readonly ReadHealthRules[] | undefined;
  /** The values of --redact; absent: none. */
  readonly redact?: readonly string[] | undefined;
}

/** Maximum number of promoted paths that a kind has by default; configuration and queries may add others. */
const mostPromoted = 12;

/**
 * Describes a resource. With neither a CRD nor schemas, its objects are free JSON below their metadata, with a diagnostic.
 * @throws PortolanError INVALID or NOT_FOUND when the input does not describe the kind; the caller reports it and continues.
 */
export function describeResource(input: DescribeInput): DescribedResource {
  const { cluster, resource } = input;
  const key = resourceKey(resource);
  const source = describeSource(input);
  const { tree } = source;
  const diagnostics: Diagnostic[] = source.messages.map((message) => ({ cluster, resource: key, message }));
  // The built-in table has computed columns without a path, and paths that only some versions have. These are not reported.
  const report = (message: string): void => {
    if (source.columns !== null) diagnostics.push({ cluster, resource: key, message });
  };
  const related = input.relations?.of(resource, tree, { annotation: annotationOf(input.crd), kinds: input.kinds });
  const redacted = redactedPaths(input.redact ?? [], resource, tree);
  for (const message of [...(related?.messages ?? []), ...redacted.problems])
    diagnostics.push({ cluster, resource: key, message });
  const health = healthRulesOf(input.healthRules ?? [], resource);
  const columns = [nameColumn, ...(source.columns ?? builtInColumns(key) ?? [ageColumn])];
  const printerColumns = columns.map((column) => checkedColumn(tree, column, report));
  return {
    cluster,
    resource: plain(resource),
    tree,
    shapeHash: structureHash(tree),
    ...(source.description === undefined ? {} : { description: source.description }),
    printerColumns,
    promoted: promotedPaths(tree, [...source.selectable, ...builtInSelected(key)], printerColumns),
    redacted: redacted.paths,
    ...(related === undefined || related.relations.length === 0 ? {} : { relations: related.relations }),
    ...(health.length === 0 ? {} : { health }),
    diagnostics,
  };
}

function annotationOf(crd: unknown): string | undefined {
  const annotation = recordOf(recordOf(recordOf(crd)?.['metadata'])?.['annotations'])?.[relationsAnnotation];
  return typeof annotation === 'string' ? annotation : undefined;
}

interface Source extends SchemaDescription {
  readonly columns: readonly PrinterColumn[] | null;
  readonly selectable: readonly string[];
}

function describeSource({ crd, schemas, resource }: DescribeInput): Source {
  if (crd !== undefined && crd !== null) {
    const described = describeFromCrd(crd, resource);
    return { ...described, columns: described.printerColumns };
  }
  if (schemas !== undefined) return { ...describeFromSchemas(schemas, resource), columns: null, selectable: [] };
  const walker = new SchemaWalker();
  return {
    tree: normalizeTree(walker.root({}), walker.drafts),
    messages: ['the cluster gives no schema for this kind; its objects are free JSON'],
    columns: null,
    selectable: [],
  };
}

/** The column with its path in canonical spelling; the path is null if the tree does not have it. */
function checkedColumn(tree: FieldTree, column: PrinterColumn, report: (message: string) => void): PrinterColumn {
  if (column.path === null) {
    report(`the printer column ${column.name} has a JSONPath without an equivalent; it stays empty`);
    return column;
  }
  const found = resolved(tree, column.path);
  if (found !== null) return { ...column, path: found.path.text };
  report(`the printer column ${column.name} refers to ${column.path}, which the schema does not have; it stays empty`);
  return { ...column, path: null };
}

function resolved(tree: FieldTree, path: string): ResolvedPath | null {
  try {
    return resolvePath(tree, parsePath(path));
  } catch (error) {
    if (codeOf(error) === 'BAD_USER_INPUT') return null;
    throw error;
  }
}

/**
 * Paths to promote to a typed column, the most useful first: declared selectable fields, then printer columns by priority. Name,
 * namespace and creation time are left out because they are always indexed. Free JSON is left out because it has no type to index
 * by.
 */
function promotedPaths(
  tree: FieldTree,
  selectable: readonly string[],
  columns: readonly PrinterColumn[],
): PromotedPath[] {
  const byPriority = columns.toSorted((a, b) => a.priority - b.priority).flatMap(({ path }) => path ?? []);
  const promoted = new Map<string, PromotedPath>();
  for (const text of [...selectable, ...byPriority]) {
    const found = resolved(tree, text);
    if (found === null || found.many || found.type.kind !== 'leaf' || found.type.type === 'JSON') continue;
    const path = found.path.text;
    if (indexedAnyway.has(path) || promoted.has(path)) continue;
    promoted.set(path, { path, type: found.type.type, ...(selectable.includes(text) ? { selectable: true } : {}) });
    if (promoted.size === mostPromoted) break;
  }
  return [...promoted.values()];
}

/** The resource alone, without further properties of its source. */
function plain(resource: Resource): Resource {
  const { group, version, plural, singular, kind, namespaced, verbs, shortNames, categories } = resource;
  return { group, version, plural, singular, kind, namespaced, verbs, shortNames, categories };
}
