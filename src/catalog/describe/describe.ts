/**
 * Describes one resource of one cluster from discovery and its schema. Ingest keeps the description in the store as JSON text.
 *
 * Life of the data: discovery + (CRD or OpenAPI) -> describeResource -> store -> assembleCatalog (assemble.ts).
 */
import { codeOf } from '../../base/errors.ts';
import { builtInColumns } from '../columns/built-in-columns.ts';
import { healthRulesOf, type ReadHealthRules } from '../health/read-health-rules.ts';
import { jsonPathReader } from '../paths/kubectl-json-path.ts';
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
import { builtInSelected, builtInShown } from './indexed-paths.ts';
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
  const report = (message: string): void => void diagnostics.push({ cluster, resource: key, message });
  const related = input.relations?.of(resource, tree, { annotation: annotationOf(input.crd), kinds: input.kinds });
  const redacted = redactedPaths(input.redact ?? [], resource, tree);
  for (const message of [...(related?.messages ?? []), ...redacted.problems])
    diagnostics.push({ cluster, resource: key, message });
  const health = healthRulesOf(input.healthRules ?? [], resource);
  const builtIn = hasCrd(input) ? null : computedColumns(key, tree);
  const printerColumns =
    builtIn ?? [nameColumn, ...(source.columns ?? [ageColumn])].map((column) => checkedColumn(tree, column, report));
  const shown = builtIn === null ? pathsByPriority(printerColumns) : builtInShown(key);
  return {
    cluster,
    resource: plain(resource),
    tree,
    shapeHash: structureHash(tree),
    ...(source.description === undefined ? {} : { description: source.description }),
    printerColumns,
    promoted: promotedPaths(tree, [...source.selectable, ...builtInSelected(key)], shown),
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

function hasCrd({ crd }: DescribeInput): boolean {
  return crd !== undefined && crd !== null;
}

function describeSource(input: DescribeInput): Source {
  const { crd, schemas, resource } = input;
  if (hasCrd(input)) {
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

/** The creation time of the object, kubectl's AGE. */
const ageColumn: PrinterColumn = { name: 'Age', type: 'date', priority: 0, path: 'metadata.creationTimestamp' };

const nameColumn: PrinterColumn = { name: 'Name', type: 'string', format: 'name', priority: 0, path: 'metadata.name' };

/** The columns of a built-in kind that a server of this schema shows; null for other kinds. */
function computedColumns(key: string, tree: FieldTree): readonly PrinterColumn[] | null {
  const columns = builtInColumns(key)?.filter(({ since }) => since === undefined || resolved(tree, since) !== null);
  if (columns === undefined) return null;
  return columns.map(({ name, type, format, priority }) => ({
    name,
    type,
    ...(format === undefined ? {} : { format }),
    priority,
    path: null,
    computed: true,
  }));
}

/** The column with its path in canonical spelling; the path is null if the tree does not have it. */
function checkedColumn(tree: FieldTree, column: PrinterColumn, report: (message: string) => void): PrinterColumn {
  if (column.path === null) {
    if (column.jsonPath !== undefined && jsonPathReader(column.jsonPath) !== null) return column;
    report(`the printer column ${column.name} has a JSONPath that kubectl does not read; it stays empty`);
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

function pathsByPriority(columns: readonly PrinterColumn[]): readonly string[] {
  return columns.toSorted((a, b) => a.priority - b.priority).flatMap(({ path }) => path ?? []);
}

/**
 * Paths to promote to a typed column, the most useful first: declared selectable fields, then those behind printer columns. Name,
 * namespace and creation time are left out because they are always indexed. Free JSON is left out because it has no type to index
 * by.
 */
function promotedPaths(tree: FieldTree, selectable: readonly string[], shown: readonly string[]): PromotedPath[] {
  const promoted = new Map<string, PromotedPath>();
  for (const text of [...selectable, ...shown]) {
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
