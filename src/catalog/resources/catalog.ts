/**
 * The catalog: every kind of every cluster with its field tree and names, at one moment. Immutable.
 *
 * Life of the data:
 *   discovery and OpenAPI (or a CRD) of one cluster
 *   -> DescribedResource (made in the ingest thread, kept in the store)
 *   -> Catalog of all clusters (made in the serve thread)
 *   -> one generation of the GraphQL schema
 */
import type { HealthRules } from '../health/declared-health.ts';
import type { DescribedRelation, RelationWay } from '../relations/described-relation.ts';
import type { RelationOrigin } from '../relations/relation.ts';
import type { FieldTree, LeafType } from '../tree/field-tree.ts';
import type { Resource } from './resource.ts';

/** A column that kubectl shows: from a CRD's additionalPrinterColumns, or from the table of built-in kinds (src/catalog/columns). */
export interface PrinterColumn {
  readonly name: string;
  /** The type of its values: string, integer, number, boolean, date. */
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority: number;
  /** Portolan's Path text (src/catalog/tree/path.ts); null when there is no equivalent, and then a column without `jsonPath` is empty. */
  readonly path: string | null;
  /** The JSONPath of a CRD's column. Its value is the first result, as kubectl shows it. */
  readonly jsonPath?: string;
  /** The table of built-in kinds has a function for the value, by the kind and the name of the column. */
  readonly computed?: true;
}

/** A path that is kept as a typed, indexed column of the kind's promoted table. */
export interface PromotedPath {
  readonly path: string;
  readonly type: LeafType;
  /** A selectable field of the kind (kubectl's --field-selector); otherwise a printer column's path. */
  readonly selectable?: true;
}

/** The source of a promotion: the kind's own schema, the configuration, or observed queries. */
export type PromotionReason = 'PRINTER_COLUMN' | 'SELECTABLE' | 'CONFIGURED' | 'QUERIES';

/** A problem in a schema. It never affects more than the kind that it names. */
export interface Diagnostic {
  readonly cluster: string;
  /** resourceKey of the kind concerned. */
  readonly resource: string;
  readonly message: string;
  /** In a catalog: the description of the resource has it, which may be newer than the catalog. */
  readonly isDescribed?: true;
}

/** One resource of one cluster, described by its schema. */
export interface DescribedResource {
  readonly cluster: string;
  readonly resource: Resource;
  readonly tree: FieldTree;
  /** Hash of the tree without descriptions. It changes only when the meaning of bodies may change. */
  readonly shapeHash: string;
  readonly description?: string;
  readonly printerColumns: readonly PrinterColumn[];
  /** Printer columns and selectable fields that are scalar, at most 12. */
  readonly promoted: readonly PromotedPath[];
  /** Paths whose values never reach the disk (`data` of Secrets). */
  readonly redacted: readonly string[];
  /** The relations that begin at this kind; absent: none. */
  readonly relations?: readonly DescribedRelation[];
  /** The declared rules of its health; absent: none. */
  readonly health?: HealthRules;
  readonly diagnostics: readonly Diagnostic[];
}

/** The names of a kind in GraphQL. */
export interface KindNames {
  /** Object type: `Pod`, `CertManagerIoCertificate`. */
  readonly type: string;
  readonly connection: string;
  readonly edge: string;
  readonly filter: string;
  readonly changes: string;
  readonly change: string;
  /** Root fields. */
  readonly list: string;
  readonly one: string;
  readonly subscription: string;
  /** The enum types of its own fields, by the field; absent: it has none. */
  readonly enums?: Readonly<Record<string, string>>;
}

/** A relation as one of its two kinds has it. */
export interface KindRelation {
  /** The field of this kind. */
  readonly name: string;
  /** The field of the forward direction. */
  readonly forward: string;
  /** `forward`: this kind has the reference, the owner reference or the selector. `reverse`: the other kind has it. */
  readonly direction: 'forward' | 'reverse';
  /** resourceKey of the kind that has it. */
  readonly source: string;
  /** resourceKey of the kind at the other end; null: any kind. */
  readonly to: string | null;
  /** True if an object may lead to several. */
  readonly many: boolean;
  /** See Relation. */
  readonly weak: boolean;
  readonly origin: RelationOrigin;
  readonly way: RelationWay;
}

/** A kind over all clusters that serve it; becomes one GraphQL object type. */
export interface CatalogKind {
  /** resourceKey. */
  readonly key: string;
  /** From the first cluster in name order; group, plural, kind and scope are equal in all. */
  readonly resource: Resource;
  readonly names: KindNames;
  /** Union of the clusters' trees; a leaf of conflicting type is JSON, with a diagnostic. */
  readonly tree: FieldTree;
  readonly description?: string;
  readonly printerColumns: readonly PrinterColumn[];
  readonly redacted: readonly string[];
  /** Names of the clusters that serve it, sorted. */
  readonly clusters: readonly string[];
  /** The relations to other kinds, in both directions, sorted by name. */
  readonly relations: readonly KindRelation[];
  /** The declared rules of its health; absent: none. */
  readonly health?: HealthRules;
  /** Changes exactly when an object of this kind may be shown otherwise. */
  readonly shapeHash: string;
  /** Changes exactly when the GraphQL types or answers of this kind may change. */
  readonly hash: string;
}

export interface Catalog {
  /** The prefix of the names of all types but scalars and roots; normally empty. */
  readonly typePrefix: string;
  /** Sorted by (group, plural). */
  readonly kinds: readonly CatalogKind[];
  readonly diagnostics: readonly Diagnostic[];
  /** Hash over the kinds' hashes. */
  readonly hash: string;
}
