/** Root fields over several kinds: `object(id)`, `objectsById(ids)` and `objects(kinds, …)`. */
import {
  type GraphQLArgumentConfig,
  type GraphQLFieldConfigMap,
  GraphQLID,
  type GraphQLOutputType,
  GraphQLString,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import { decodeObjectId } from '../../query/plan/object-id.ts';
import { readObject, readObjects } from '../../reads/lists/objects-by-identity.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import type { OperationContext } from '../generation/generation.ts';
import { lengthOf } from '../selection/cost.ts';
import { facts } from '../selection/field-facts.ts';
import { projectionOfObject } from '../selection/list-selection.ts';
import { inputList, listOf, required } from '../types/type-wrappers.ts';
import type { Shared } from './kind-types.ts';
import { type ListArguments, list, pageArguments } from './list-field.ts';

/** The argument `kinds` of lists and subscriptions over several kinds. */
export const kindsArgument: GraphQLArgumentConfig = {
  type: required(inputList(GraphQLString)),
  description:
    'Each by its type (Pod), its list (pods), plural.group (deployments.apps), a short name (po) or a category (all); * stands for any text. A word means the first of these that there is. Kinds that only a category or a * names may be missing while they are not synced.',
};

/**
 * The kinds that the words of `kinds` name, and the keys of kinds that only a category or a word with `*` names.
 * @throws PortolanError BAD_USER_INPUT for words that name no kind, and for none.
 */
export function kindsOf(
  served: ServedKinds,
  words: readonly string[],
): { readonly kinds: readonly CatalogKind[]; readonly optional: ReadonlySet<string> } {
  const kinds = [...new Set(served.kinds(words))];
  const named = served.kinds(words.filter((word) => !served.isSet(word)));
  const optional = new Set(kinds.filter((kind) => !named.includes(kind)).map(({ key }) => key));
  if (kinds.length === 0) throw new PortolanError('BAD_USER_INPUT', '`kinds` is empty; name at least one kind.');
  return { kinds, optional };
}

/** `objectsById` takes as many ids as a page may have objects. */
export function objectRoots(shared: Shared): GraphQLFieldConfigMap<unknown, OperationContext> {
  return {
    object: {
      type: shared.object,
      description: 'One object by its id; null when it is gone.',
      args: { id: { type: required(GraphQLID) } },
      resolve: (_root, { id }, { portolan }, info) =>
        readObject(portolan, decodeObjectId(id), projectionOfObject(info, shared.object)),
    },
    objectsById: {
      type: listOf(shared.object),
      description: 'Objects by their ids, in the order of the ids; null for an object that is gone.',
      args: { ids: { type: required(inputList(GraphQLID)) } },
      extensions: facts({ cost: { repeats: ({ ids }) => lengthOf(ids) } }),
      resolve: async (_root, args, { portolan }, info) => {
        const ids = args['ids'] as readonly string[];
        const maximum = portolan.source.limits.maxPageSize;
        if (ids.length > maximum) {
          throw new PortolanError(
            'BAD_USER_INPUT',
            `objectsById takes at most ${maximum} ids; these are ${ids.length}.`,
          );
        }
        return readObjects(portolan, ids.map(decodeObjectId), projectionOfObject(info, shared.object));
      },
    },
    objects: {
      type: shared.type('KubernetesObjectConnection') as GraphQLOutputType,
      description: 'One list over several kinds, ordered and paged as one.',
      args: {
        kinds: kindsArgument,
        filter: { type: shared.filters.object },
        ...pageArguments(shared.type('ObjectOrder')),
      },
      extensions: facts({ cost: { repeats: 'page' } }),
      resolve: (_root, args, { portolan }, info) => {
        const { kinds, optional } = kindsOf(portolan.generation, args['kinds'] as readonly string[]);
        const filter = filterFrom(shared.filters.object, args['filter'], filterContext(portolan, kinds));
        return list(portolan, kinds, filter, args as ListArguments, info, optional);
      },
    },
  };
}
