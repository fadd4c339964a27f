/**
 * A generation: one immutable schema built from one catalog.
 *
 * The static part comes from Pothos, each kind's part from plain graphql-js, and one GraphQLSchema joins them. A kind that cannot be
 * built costs itself and nothing else: it is left out with a diagnostic.
 */

import {
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  isInterfaceType,
  specifiedDirectives,
} from 'graphql';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { Catalog, CatalogKind, Diagnostic } from '../../catalog/resources/catalog.ts';
import { servedKinds } from '../../operation/served-kinds.ts';
import { FilterTypes } from '../filter/filter-types.ts';
import type { Generation, OperationContext } from '../generation/generation.ts';
import { buildKind, type Shared } from './kind-types.ts';
import { objectRoots } from './object-roots.ts';
import { type FieldConfig, ShapeTypes } from './shape-types.ts';
import { buildStaticSchema } from './static-schema.ts';
import { WholeTypes } from './whole-types.ts';

type Fields = GraphQLFieldConfigMap<unknown, OperationContext>;

/** Builds the schema of a catalog. Never throws for a single kind. */
export function buildGeneration(catalog: Catalog): Generation {
  const base = buildStaticSchema();
  const object = must(
    base.getType('KubernetesObject'),
    'the static schema has KubernetesObject',
  ) as GraphQLInterfaceType;
  if (!isInterfaceType(object)) throw new Error('invariant broken: KubernetesObject is an interface');
  const staticType = (name: string): GraphQLNamedType => must(base.getType(name), `the static schema has ${name}`);
  const filters = new FilterTypes((leaf) => staticType(leaf) as GraphQLInputType);
  const shared: Shared = {
    shapes: new ShapeTypes((name) => base.getType(name)),
    filters,
    type: staticType,
    object,
  };

  const overKinds = objectRoots(shared);
  const query: Fields = { ...(base.getQueryType()?.toConfig().fields as Fields | undefined) };
  const subscription: Fields = {};
  const kinds = new Map<string, CatalogKind>();
  const diagnostics: Diagnostic[] = [];
  const objects: GraphQLObjectType[] = [];
  const whole = new WholeTypes();
  for (const kind of catalog.kinds) {
    try {
      const roots = buildKind(kind, shared);
      refuseTaken(kind, roots.query, { ...query, ...overKinds });
      refuseTaken(kind, roots.subscription, subscription);
      whole.add(Object.values({ ...roots.query, ...roots.subscription }));
      Object.assign(query, roots.query);
      Object.assign(subscription, roots.subscription);
      objects.push(roots.object);
      kinds.set(kind.key, kind);
    } catch (error) {
      diagnostics.push({ cluster: kind.clusters.join(', '), resource: kind.key, message: messageOf(error) });
    }
  }

  return {
    ...servedKinds(catalog, [...kinds.values()]),
    diagnostics,
    schema: new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { ...query, ...overKinds } }),
      ...(kinds.size === 0
        ? {}
        : { subscription: new GraphQLObjectType({ name: 'Subscription', fields: subscription }) }),
      types: [object, ...objects],
      directives: specifiedDirectives,
    }),
  };
}

function refuseTaken(kind: CatalogKind, fields: Record<string, FieldConfig>, taken: Fields): void {
  const clash = Object.keys(fields).find((name) => Object.hasOwn(taken, name));
  if (clash !== undefined)
    throw new PortolanError('INVALID', `Another kind has the root field ${clash}; ${kind.key} is left out.`);
}
