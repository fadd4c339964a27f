/**
 * The fields of an object of an abstract kind that lead to the object that it is made from.
 *
 *   { appInstances { nodes { object { kind } events(includeOwned: true) { nodes { message } } } } }
 *     an AppInstance -> its Redis, if the caller may get it -> the Events about the Redis and about what it owns
 */
import type { GraphQLInterfaceType, GraphQLNamedType, GraphQLResolveInfo } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Projection } from '../../query/plan/plan.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { batchedObjects } from '../../reads/lists/objects-by-identity.ts';
import { hopFrom } from '../../reads/related/relation-source.ts';
import { facts } from '../selection/field-facts.ts';
import { fieldPlace, projectionOfObject } from '../selection/list-selection.ts';
import type { ObjectFields, ShellsOf } from './kind-shells.ts';
import { eventsRelation, relatedArguments, relatedCost, resolveRelated } from './relation-fields.ts';

/**
 * @param kind an abstract kind
 * @param object the interface of all objects
 * @param type a type of the static schema by name
 */
export function originFields(
  kind: CatalogKind,
  shellsOf: ShellsOf,
  object: GraphQLInterfaceType,
  type: (name: string) => GraphQLNamedType,
): ObjectFields {
  const fields: ObjectFields = {
    object: {
      type: object,
      description: 'The object that this one is made from; null if the caller may not see it.',
      resolve: (source, _args, _context, info) => originOf(source, info, projectionOfObject(info, object)),
    },
  };
  const relation = eventsRelation(kind);
  const shells = shellsOf(relation?.to ?? '');
  if (relation === undefined || shells === undefined) return fields;
  const { kind: to, connection, filter } = shells;
  fields['events'] = {
    type: connection,
    description: 'The Events about the object that this one is made from; null if the caller may not see it.',
    args: relatedArguments(relation, filter, type),
    extensions: facts({ cost: relatedCost }),
    resolve: async (source, args, { portolan }, info) => {
      const origin = await originOf(source, info, {});
      const hop = origin === null ? null : hopFrom(origin.kind, relation, to);
      return origin === null || hop === null
        ? null
        : resolveRelated(portolan, origin, { hop, to }, { filter, args, info });
    },
  };
  return fields;
}

/** The object of the member; null without one. @throws PortolanError FORBIDDEN if the caller may not get it */
async function originOf(
  { operation, kind, row }: ObjectSource,
  info: GraphQLResolveInfo,
  projection: Projection,
): Promise<ObjectSource | null> {
  const of = operation.generation.origin(kind, row);
  if (of === null) return null;
  const found = await batchedObjects(operation, fieldPlace(info), projection).load(of.identity);
  if (found instanceof Error) throw found;
  return found;
}
