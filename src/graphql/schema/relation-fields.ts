/** The fields of a kind's type that lead to other kinds. */
import {
  GraphQLBoolean,
  type GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  GraphQLString,
  getNamedType,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import { shortList } from '../../base/text/short-list.ts';
import type { RelationWay } from '../../catalog/relations/described-relation.ts';
import { pathOfMention } from '../../catalog/relations/place-text.ts';
import type { CatalogKind, KindRelation } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Filter } from '../../query/plan/filter.ts';
import { hopOf } from '../../query/plan/hop.ts';
import type { OrderTerm } from '../../query/plan/plan.ts';
import type { ConnectionSource } from '../../reads/lists/list-connection.ts';
import type { ObjectSelection } from '../../reads/lists/object-selection.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { type OrderArgument, orderTerms } from '../../reads/paths/order-terms.ts';
import { loadOwnedEvents } from '../../reads/related/owned-events.ts';
import {
  type AnyHop,
  defaultRelated,
  type KindHop,
  loadRelated,
  loadRelatedOfAny,
  loadRelatedOne,
  loadRelatedOneOfAny,
} from '../../reads/related/relation-source.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import { facts } from '../selection/field-facts.ts';
import { nodesKeyOf, projectionOfObject, selectedNodes } from '../selection/list-selection.ts';
import { inputList } from '../types/type-wrappers.ts';
import type { ObjectFields, RelationFields, ShellsOf } from './kind-shells.ts';

type FieldOf = ObjectFields[string];

/** The relation fields of a kind. A relation to a kind that is left out of the schema has no field. */
export const relationFields: RelationFields = (kind, shellsOf, type, objectFilter) => {
  const fields: ObjectFields = {};
  for (const relation of kind.relations) {
    const field =
      relation.to === null ? anyField(kind, relation, type, objectFilter) : kindField(kind, relation, shellsOf, type);
    if (field !== null) fields[relation.name] = field;
  }
  return fields;
};

function kindField(
  kind: CatalogKind,
  relation: KindRelation,
  shellsOf: ShellsOf,
  type: (name: string) => GraphQLNamedType,
): FieldOf | null {
  const shells = shellsOf(relation.to ?? '');
  if (shells === undefined) return null;
  const { kind: to, object, connection, filter } = shells;
  const hop: KindHop = { hop: hopOf(kind, relation, to), to };
  const description = describe(kind, relation, to.resource.kind);
  if (!relation.many) {
    return {
      type: object,
      description,
      extensions: facts({ plain: { is: 'related', ...hop, filter: null } }),
      resolve: (source, _args, _context, info) => loadRelatedOne(source, hop, objectOf(source.operation, info)),
    };
  }
  return {
    type: connection,
    description,
    args: relatedArguments(relation, filter, type),
    extensions: facts({ plain: { is: 'related', ...hop, filter }, cost: relatedCost }),
    resolve: (source: ObjectSource, args, { portolan }, info) =>
      resolveRelated(portolan, source, hop, { filter, args, info }),
  };
}

/** The arguments of a relation to several objects. @param filter that of their kind */
export function relatedArguments(
  relation: KindRelation,
  filter: GraphQLInputObjectType,
  type: (name: string) => GraphQLNamedType,
): NonNullable<FieldOf['args']> {
  return {
    filter: { type: filter },
    orderBy: { type: inputList(type('ObjectOrder')) },
    ...pageArguments,
    ...(isEvents(relation) ? { includeOwned } : {}),
  };
}

/** The cost of a relation to several objects. */
export const relatedCost = { repeats: 'page', pageSize: defaultRelated } as const;

interface RelatedCall {
  readonly filter: GraphQLInputObjectType;
  readonly args: Readonly<Record<string, unknown>>;
  readonly info: GraphQLResolveInfo;
}

/** The objects that a relation with `relatedArguments` leads to. */
export function resolveRelated(
  operation: Operation,
  source: ObjectSource,
  hop: KindHop,
  { filter, args, info }: RelatedCall,
): ConnectionSource {
  const { conditions, orderBy } = askedBy(operation, [hop.to], { filter, args, info });
  const page = relatedPageOf(args);
  const selected = selectedNodes(operation, info);
  if (args['includeOwned'] !== true)
    return loadRelated(source, hop, { filter: conditions, orderBy, ...page }, selected);
  if (orderBy.length === 0) return loadOwnedEvents(source, hop, { filter: conditions, ...page }, selected);
  throw new PortolanError(
    'BAD_USER_INPUT',
    '`events(includeOwned: true)` has the newest Events first; leave out orderBy, or includeOwned.',
  );
}

interface Asked {
  readonly conditions: Filter;
  readonly orderBy: readonly OrderTerm[];
}

/**
 * The filter and the order of a relation to these kinds. The objects of the parent's page share them, or their refusal. An operation has
 * one set of variables, so the nodes of the document tell the arguments.
 */
function askedBy(operation: Operation, kinds: readonly CatalogKind[], { filter, args, info }: RelatedCall): Asked {
  const read = (): Asked => {
    const conditions = filterFrom(filter, args['filter'], filterContext(operation, kinds));
    const given = (args['orderBy'] ?? []) as readonly OrderArgument[];
    return { conditions, orderBy: orderTerms(kinds, conditions, given, operation.generation.kind) };
  };
  // The document nodes of a fragment on an interface are those of several kinds.
  const key = `asked ${info.parentType.name} ${nodesKeyOf(info)}`;
  const shared = operation.loader(key, (): { readonly asked: Asked } | { readonly refused: unknown } => {
    try {
      return { asked: read() };
    } catch (refused) {
      return { refused };
    }
  });
  if ('refused' in shared) throw shared.refused;
  return shared.asked;
}

function anyField(
  kind: CatalogKind,
  relation: KindRelation,
  type: (name: string) => GraphQLNamedType,
  filter: GraphQLInputObjectType,
): FieldOf | null {
  const { name, way } = relation;
  if (way.by !== 'reference') return null;
  const hop: AnyHop = { name, places: way.places };
  const description = describe(kind, relation, 'object of any kind');
  if (!relation.many) {
    return {
      type: type('KubernetesObject') as FieldOf['type'],
      description,
      resolve: (source, _args, _context, info) => loadRelatedOneOfAny(source, hop, objectOf(source.operation, info)),
    };
  }
  return {
    type: type('KubernetesObjectConnection') as FieldOf['type'],
    description,
    args: { filter: { type: filter }, orderBy: { type: inputList(type('ObjectOrder')) }, ...pageArguments },
    extensions: facts({ cost: relatedCost }),
    resolve: (source, args, { portolan }, info) => {
      const { conditions, orderBy } = askedBy(portolan, portolan.generation.all, { filter, args, info });
      const asked = { filter: conditions, orderBy, ...relatedPageOf(args) };
      return loadRelatedOfAny(source, hop, asked, selectedNodes(portolan, info));
    },
  };
}

/** The relation to the Events about an object. */
export function eventsRelation({ relations }: CatalogKind): KindRelation | undefined {
  return relations.find(isEvents);
}

function isEvents({ name, direction }: KindRelation): boolean {
  return name === 'events' && direction === 'reverse';
}

const includeOwned = {
  type: GraphQLBoolean,
  description: 'Also those of all that the object owns, newest first.',
};

const pageArguments = { first: { type: GraphQLInt, defaultValue: defaultRelated }, after: { type: GraphQLString } };

/** The page that the arguments of a relation request. A null `first` requests as many objects as an absent one. */
export function relatedPageOf(args: Readonly<Record<string, unknown>>): { first: number; after: string | null } {
  const { first, after } = args;
  return {
    first: typeof first === 'number' ? first : defaultRelated,
    after: typeof after === 'string' ? after : null,
  };
}

/** The selection of the one object of a field. The objects of the parent's page share it. */
function objectOf(operation: Operation, info: GraphQLResolveInfo): Omit<ObjectSelection, 'cost'> {
  const key = nodesKeyOf(info);
  return operation.loader(`object ${key}`, () => ({
    projection: projectionOfObject(info, getNamedType(info.returnType)),
    key,
  }));
}

/** `The Node that this Pod names at spec.nodeName.`, `Pod objects that name this Node at spec.nodeName.` */
function describe({ resource: { kind } }: CatalogKind, relation: KindRelation, other: string): string {
  const { direction, way, many, origin } = relation;
  if (way.by === 'namespace') return `The ${other} that this ${kind} is in.`;
  const verb = { owner: 'own', selector: 'select', reference: 'name' }[way.by];
  const thisObjectActs = (direction === 'forward') === (way.by !== 'owner');
  const others = many ? `${other} objects` : `The ${other}`;
  const clause = thisObjectActs ? `this ${kind} ${verb}s` : `${many ? verb : `${verb}s`} this ${kind}`;
  return `${others} that ${clause}${placesIn(way)}.${origin === 'INFERRED' ? ' Inferred from the schema.' : ''}`;
}

/** ` at spec.nodeName` */
function placesIn(way: RelationWay): string {
  if (way.by === 'owner' || way.by === 'namespace') return '';
  const places = way.by === 'selector' ? [way.place] : way.places;
  return ` at ${shortList(places.map(pathOfMention), 3).join(', ')}`;
}
