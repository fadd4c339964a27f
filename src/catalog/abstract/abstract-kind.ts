/**
 * Abstract kinds: lists of their own over several kinds, with columns that are mapped from each. Plain JSON.
 *
 *   Redis.spec.version, MySQL.spec.image.tag   ->   AppInstance.version
 *
 * An object of an abstract kind is made from one object of a member (derive-object.ts), and kept as an object of its own.
 */
import type { HealthTest } from '../health/declared-health.ts';
import type { LeafType } from '../tree/field-tree.ts';

/** The resourceKey of the objects that declare abstract kinds (abstract-kind-crd.ts). */
export const abstractKindObjectsKey = 'abstractkinds.portolan.dev';
/** Begins each diagnostic about AbstractKind objects, and none of the further diagnostics of their resource. */
export const ofKindObjects = 'AbstractKind ';

/** The types that a column may have, besides Enum: that is a String with values. */
export const columnTypes = ['String', 'Boolean', 'Int64', 'Float', 'Quantity', 'DateTime', 'Duration'] as const;
type ColumnType = (typeof columnTypes)[number] & LeafType;

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly description?: string;
  /** The values that a column of the type String may have; absent: any. */
  readonly values?: readonly string[];
  /** The values are a type of GraphQL: the column is of the type Enum. */
  readonly isEnum?: true;
}

/** Where a value comes from. */
export type Source =
  /** A path in the object, also one with a fold: `sum(spec.shards[].replicas)`. */
  | { readonly path: string }
  | { readonly value: string | number | boolean }
  /** The first that has a value. */
  | { readonly firstOf: readonly Source[] }
  /** The texts one after the other; no value if one has none. */
  | { readonly concat: readonly Source[] }
  /** Another value for each value, as text in lower case. `otherwise`: for the others; absent: they have none. */
  | { readonly of: Source; readonly map: Readonly<Record<string, Scalar>>; readonly otherwise?: Scalar };

export type Scalar = string | number | boolean;

export interface Member {
  /** resourceKey of the kind. */
  readonly resource: string;
  /** Only objects for which all of this holds. */
  readonly where: readonly HealthTest[];
  /** Only objects that this label selector selects; absent: all. */
  readonly labels?: { readonly matchLabels?: object; readonly matchExpressions?: readonly unknown[] };
  /** By the name of the column. A column without a source has no value here. */
  readonly columns: Readonly<Record<string, Source>>;
}

export interface AbstractKind {
  /** The list's field in GraphQL: `appInstances`. */
  readonly name: string;
  /** The type in GraphQL, and the Kind: `AppInstance`. */
  readonly type: string;
  readonly description?: string;
  readonly columns: readonly Column[];
  readonly members: readonly Member[];
  /** The cluster whose objects are shown: an object of it declares the kind. Absent: all clusters. */
  readonly cluster?: string;
}

/** Would both have the same names in GraphQL? */
export function isNamedAlike(a: Pick<AbstractKind, 'name' | 'type'>, b: Pick<AbstractKind, 'name' | 'type'>): boolean {
  return a.name.toLowerCase() === b.name.toLowerCase() || a.type === b.type;
}

/** A kind that columns of a member lead to. */
export interface RelatedKind {
  /** resourceKey. */
  readonly key: string;
  /** The related objects are in the namespace of the member's object. */
  readonly isNear: boolean;
}

/** The objects of one member in one cluster. */
export interface MemberPart {
  readonly cluster: string;
  /** resourceKey of the member. */
  readonly member: string;
  /** The kinds whose values the objects have. */
  readonly related: readonly RelatedKind[];
}

/**
 * The `cluster` in the identity of an object of an abstract kind. Objects of two members may have the same name. A member with columns that
 * lead to other kinds has its objects twice: with those values, for callers who may see these kinds, and without.
 *
 *   east, redises.cache.example.com                                  ->   east/redises.cache.example.com
 *   east, redises.cache.example.com, configmaps (near) and nodes     ->   east/redises.cache.example.com+configmaps+nodes*
 */
export function memberCluster(cluster: string, resource: string, related: readonly RelatedKind[] = []): string {
  return `${cluster}/${resource}${related.map(({ key, isNear }) => `+${key}${isNear ? '' : '*'}`).join('')}`;
}

/** Reverses `memberCluster`. The key of a resource has no slash, `+` or `*`; the name of a cluster may have a slash. */
export function splitMemberCluster(text: string): MemberPart {
  const at = text.lastIndexOf('/');
  const [member = '', ...related] = text.slice(at + 1).split('+');
  return {
    cluster: text.slice(0, at),
    member,
    related: related.map((each) => ({ key: each.replace('*', ''), isNear: !each.endsWith('*') })),
  };
}

/** The same for both parts of a member in one cluster: `east/redises.cache.example.com`. */
export function memberOfPart(part: string): string {
  const { cluster, member } = splitMemberCluster(part);
  return memberCluster(cluster, member);
}

/** The paths that a source reads. */
export function sourcePaths(source: Source): readonly string[] {
  if ('path' in source) return [source.path];
  if ('firstOf' in source) return source.firstOf.flatMap(sourcePaths);
  if ('concat' in source) return source.concat.flatMap(sourcePaths);
  return 'of' in source ? sourcePaths(source.of) : [];
}
