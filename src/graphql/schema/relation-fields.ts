/** The fields of a kind's type that lead to other kinds. */
import { GraphQLInt, type GraphQLNamedType, type GraphQLResolveInfo, GraphQLString, getNamedType } from 'graphql';
import type { CatalogKind, KindRelation } from '../../catalog/resources/catalog.ts';
import { hopOf } from '../../query/plan/hop.ts';
import type { ObjectSource } from '../connection/object-source.ts';
import {
  type AnyHop,
  defaultRelated,
  type KindHop,
  loadRelated,
  loadRelatedOfAny,
  loadRelatedOne,
  loadRelatedOneOfAny,
} from '../connection/relation-source.ts';
import { type OrderArgument, orderTerms } from '../filter/order-terms.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import { facts } from '../selection/field-facts.ts';
import { inputList } from '../types/type-wrappers.ts';
import type { ObjectFields, RelationFields, ShellsOf } from './kind-shells.ts';
import { projectionOfObject } from './object-field.ts';

type FieldOf = ObjectFields[string];

/** The relation fields of a kind. A relation to a kind that is left out of the schema has no field. */
export const relationFields: RelationFields = (kind, shellsOf, type) => {
  const fields: ObjectFields = {};
  for (const relation of kind.relations) {
    const field = relation.to === null ? anyField(kind, relation, type) : kindField(kind, relation, shellsOf, type);
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
      resolve: (source, _args, _context, info) => loadRelatedOne(source, hop, info, projectionIn(info)),
    };
  }
  return {
    type: connection,
    description,
    args: { filter: { type: filter }, orderBy: { type: inputList(type('Order')) }, ...pageArguments },
    extensions: facts({ cost: { repeats: 'page', pageSize: defaultRelated } }),
    resolve: (source: ObjectSource, args, { portolan }, info) => {
      const conditions = filterFrom(filter, args['filter'], filterContext(portolan, [to]));
      const orderBy = orderTerms(
        [to],
        conditions,
        (args['orderBy'] ?? []) as readonly OrderArgument[],
        portolan.generation.kind,
      );
      return loadRelated(source, hop, { filter: conditions, orderBy, ...pageOf(args) }, info);
    },
  };
}

function anyField(kind: CatalogKind, relation: KindRelation, type: (name: string) => GraphQLNamedType): FieldOf | null {
  const { name, way } = relation;
  if (way.by !== 'reference') return null;
  const hop: AnyHop = { name, places: way.places };
  const description = describe(kind, relation, 'object of any kind');
  if (!relation.many) {
    return {
      type: type('KubernetesObject') as FieldOf['type'],
      description,
      resolve: (source, _args, _context, info) => loadRelatedOneOfAny(source, hop, info, projectionIn(info)),
    };
  }
  return {
    type: type('KubernetesObjectConnection') as FieldOf['type'],
    description,
    args: pageArguments,
    extensions: facts({ cost: { repeats: 'page', pageSize: defaultRelated } }),
    resolve: (source, args, _context, info) => loadRelatedOfAny(source, hop, pageOf(args), info),
  };
}

const pageArguments = { first: { type: GraphQLInt, defaultValue: defaultRelated }, after: { type: GraphQLString } };

function pageOf(args: Readonly<Record<string, unknown>>): { first: number; after: string | null } {
  const { first, after } = args;
  return {
    first: typeof first === 'number' ? first : defaultRelated,
    after: typeof after === 'string' ? after : null,
  };
}

function projectionIn(info: GraphQLResolveInfo): ReturnType<typeof projectionOfObject> {
  return projectionOfObject(info, getNamedType(info.returnType));
}

/** `The Node of this Pod, by spec.nodeName.` */
function describe(kind: CatalogKind, { direction, way, many, origin }: KindRelation, other: string): string {
  const by = { owner: 'by owner references', selector: 'by a label selector', reference: 'by name' }[way.by];
  const what = many ? `${other} objects` : `The ${other}`;
  const own = kind.resource.kind;
  const guessed = origin === 'INFERRED' ? ' Inferred from the schema.' : '';
  return direction === 'forward'
    ? `${what} that this ${own} leads to, ${by}.${guessed}`
    : `${what} that lead to this ${own}, ${by}.${guessed}`;
}
