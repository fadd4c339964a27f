/** Describes an abstract kind in one cluster and of one member, as if an API server served it. */
import { abstractGroup } from '../groups/api-group.ts';
import { namesOf } from '../names/kind-names.ts';
import type { DescribedResource } from '../resources/catalog.ts';
import { resourceKey } from '../resources/resource.ts';
import type { Field, FieldType } from '../tree/field-tree.ts';
import { joinPaths, parsePath, pathOf } from '../tree/path.ts';
import { objectMetaKey, sharedShapes } from '../tree/shared-shapes.ts';
import { hashText, structureHash } from '../tree/structure-hash.ts';
import {
  type AbstractKind,
  type Column,
  type Member,
  type MemberPart,
  memberCluster,
  type RelatedKind,
} from './abstract-kind.ts';
import { checkPaths } from './check-paths.ts';
import type { Lead } from './related-columns.ts';

/** Columns that every abstract kind has. */
const own: readonly Column[] = [
  { name: 'cluster', type: 'String', description: 'The cluster of the object.' },
  { name: 'member', type: 'String', description: 'The resource of the object, such as redises.cache.example.com.' },
];

/** The resourceKey of an abstract kind. */
export function abstractKey(kind: Pick<AbstractKind, 'name' | 'type'>): string {
  return `${pluralOf(kind)}.${abstractGroup}`;
}

/**
 * The plural as an API server writes it, in lower case. The names of GraphQL follow from it and the Kind, and the list must have the name
 * that the file says. A name that does not follow stays as it is.
 *
 *   appInstances of AppInstance -> appinstances     redisInstances of CacheEntry -> redisInstances
 */
function pluralOf({ name, type }: Pick<AbstractKind, 'name' | 'type'>): string {
  const plural = name.toLowerCase();
  return namesOf({ group: abstractGroup, kind: type, plural }).list === name ? plural : name;
}

/** The source of an object of an abstract kind in one cluster. */
interface DescribedPart {
  readonly cluster: string;
  /** See redactedOfPart. */
  readonly redacted: readonly string[];
  /** The kinds whose values its columns have; absent: none. */
  readonly related?: readonly RelatedKind[];
  /** The relations that the columns go through; absent: none. */
  readonly leads?: readonly Lead[];
  /** The member, with which the paths of the columns are compared. */
  readonly origin: Pick<DescribedResource, 'tree' | 'relations'>;
}

/**
 * The redacted paths of what the objects of a part are made from. A path that is redacted later may be the source of a column, so the stored
 * objects are removed as those of the member are.
 * @param redactedOf by resourceKey
 */
export function redactedOfPart(
  { member, related }: Pick<MemberPart, 'member' | 'related'>,
  redactedOf: (key: string) => readonly string[],
): readonly string[] {
  // A path that no object of an abstract kind has.
  const below = (key: string, path: string): string =>
    joinPaths(
      pathOf([
        { kind: 'key', key },
        { kind: 'field', name: 'related' },
      ]),
      parsePath(path),
    ).text;
  return [...redactedOf(member), ...related.flatMap(({ key }) => redactedOf(key).map((path) => below(key, path)))];
}

export function describeAbstractKind(
  kind: AbstractKind,
  member: Member,
  { cluster, redacted, related = [], leads = [], origin }: DescribedPart,
): DescribedResource {
  const { type, description, columns } = kind;
  const part = memberCluster(cluster, member.resource, related);
  const fields = [
    ...[...own, ...columns].map(
      (column): Field => ({
        name: column.name,
        type: leafOf(column),
        ...(column.description === undefined ? {} : { description: column.description }),
      }),
    ),
    { name: 'metadata', type: { kind: 'object' as const, shape: objectMetaKey } },
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const root = type;
  const tree = { root, shapes: { [root]: { key: root, path: [], fields }, ...Object.fromEntries(sharedShapes) } };
  return {
    cluster: part,
    resource: {
      group: abstractGroup,
      version: 'v1',
      plural: pluralOf(kind),
      singular: type.toLowerCase(),
      kind: type,
      namespaced: true,
      verbs: ['get', 'list', 'watch'],
      shortNames: [],
      categories: [],
    },
    tree,
    // Another mapping makes other objects, and so does another declaration of a relation.
    shapeHash: hashText(`${structureHash(tree)} ${JSON.stringify([columns, member, ...leads])}`),
    description:
      description ?? `One list over several kinds: ${kind.members.map((member) => member.resource).join(', ')}.`,
    printerColumns: columns.map((column, at) => ({
      name: column.name,
      type: printerType(column),
      priority: at < 8 ? 0 : 1,
      path: column.name,
    })),
    promoted: [...own, ...columns].slice(0, 16).map((column) => ({ path: pathText(column.name), type: column.type })),
    redacted,
    diagnostics: checkPaths(member, origin).map((message) => ({
      cluster: part,
      resource: abstractKey(kind),
      message,
    })),
  };
}

function leafOf({ type, values, isEnum }: Column): FieldType {
  return isEnum === true && values !== undefined ? { kind: 'leaf', type, values } : { kind: 'leaf', type };
}

/** `cluster` alone is a part of the identity. */
function pathText(name: string): string {
  return name === 'cluster' ? '["cluster"]' : name;
}

/** Abstract kinds as they are served where `described` is: for each member that a cluster serves. */
export function describeAbstractKinds(
  kinds: readonly AbstractKind[],
  described: readonly DescribedResource[],
): readonly DescribedResource[] {
  return kinds.flatMap((kind) =>
    kind.members.flatMap((member) =>
      described
        .filter(({ resource }) => resourceKey(resource) === member.resource)
        .map((origin) =>
          describeAbstractKind(kind, member, { cluster: origin.cluster, redacted: origin.redacted, origin }),
        ),
    ),
  );
}

function printerType({ type }: Column): string {
  if (type === 'Int64') return 'integer';
  if (type === 'Float') return 'number';
  if (type === 'Boolean') return 'boolean';
  return type === 'DateTime' ? 'date' : 'string';
}
