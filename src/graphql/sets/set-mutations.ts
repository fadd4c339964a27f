/** The mutations on sets of objects: `applySet`, `deleteSet` and `revertSet` (src/sets). */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLString,
} from 'graphql';
import type { Operation } from '../../operation/operation.ts';
import { applySet, type GivenSet } from '../../sets/apply-set.ts';
import { deleteSet } from '../../sets/delete-set.ts';
import { revertSet } from '../../sets/revert-set.ts';
import { type GivenOptions, writeOptions } from '../../writes/run/write-options.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import type { OperationContext } from '../generation/generation.ts';
import { inputList, nonNull, required } from '../types/type-wrappers.ts';
import { followableField } from '../writes/write-field.ts';
import { type DocumentArgument, documentsOf, objectsIn } from '../writes/write-inputs.ts';

/** Objects that the deletion or reversal of a set is charged for: it is not known before how many members there are. */
const assumedMembers = 20;

interface SetArgument {
  readonly cluster?: string | null;
  readonly namespace: string;
  readonly name: string;
}

/** What the mutations of sets are given. The other arguments are those of their functions. */
interface SetArguments {
  readonly set: SetArgument;
  readonly docs?: readonly DocumentArgument[];
  readonly options?: GivenOptions;
}

/** @param types the static types by name */
export function setMutations(types: {
  type(name: string): GraphQLNamedType;
}): GraphQLFieldConfigMap<unknown, OperationContext> {
  const input = (name: string) => types.type(name) as GraphQLInputType;
  const set = new GraphQLInputObjectType({
    name: 'SetInput',
    description:
      'A set of objects. Its record, a ShadowRecord, has this namespace and name, and so have its members this namespace.',
    fields: {
      cluster: { type: GraphQLString, description: 'Needed where there are several clusters.' },
      namespace: { type: required(GraphQLString) },
      name: { type: required(GraphQLString) },
    },
  });
  const flag = (defaultValue: boolean, description: string) => ({
    type: required(GraphQLBoolean),
    defaultValue,
    description,
  });
  return {
    applySet: {
      type: nonNull(types.type('Write')),
      description:
        'Applies objects as one set, and deletes what the set had and the documents have no more. All is checked by dry runs before anything is written. The items are the documents, then what leaves the set, then the record.',
      args: {
        set: { type: required(set) },
        docs: { type: required(inputList(input('ManifestInput'))) },
        prune: flag(true, 'Deletes members that the documents do not have any more.'),
        adopt: flag(false, 'Takes objects that exist and belong to no set, with their fields.'),
        force: flag(false, 'Takes fields from other managers.'),
        options: { type: input('WriteOptions') },
      },
      ...setField(applySet, { own: 200, repeats: ({ docs }) => objectsIn(docs) }),
    },
    deleteSet: {
      type: nonNull(types.type('Write')),
      description:
        'Deletes a set with its members, in the reverse order. With ORPHAN the members stay and belong to no set. The items are the members, then the record.',
      args: {
        set: { type: required(set) },
        propagation: {
          type: required(types.type('Propagation')),
          defaultValue: 'BACKGROUND',
        },
        options: { type: input('WriteOptions') },
      },
      ...setField(deleteSet, { own: 200, repeats: () => assumedMembers }),
    },
    revertSet: {
      type: nonNull(types.type('Write')),
      description:
        'Makes a set what it was at a time, by its recorded history: the submitted fields of each member as they were, members since added deleted, and members since deleted made again. The items are those of `applySet`.',
      args: {
        set: { type: required(set) },
        to: { type: required(input('DateTime')), description: 'The time; also relative to now, such as -10m.' },
        force: flag(false, 'Takes fields from other managers.'),
        options: { type: input('WriteOptions') },
      },
      ...setField(revertSet, { own: 400, repeats: () => assumedMembers }),
    },
  };
}

/** The resolver of a mutation that `carryOut` does, and its cost. */
function setField<T>(
  carryOut: (operation: Operation, wanted: T) => Promise<WriteReport>,
  cost: Parameters<typeof followableField>[1],
) {
  return followableField((given, operation, { operation: { name: document } }) => {
    const { set: named, docs, options: asked, ...rest } = given as unknown as SetArguments;
    const set: GivenSet = { cluster: named.cluster ?? null, namespace: named.namespace, name: named.name };
    const documents = docs === undefined ? {} : { documents: documentsOf(docs) };
    const options = writeOptions(asked);
    const mutation = { ...rest, ...documents, set, operationName: document?.value ?? null, options };
    return { options, carryOut: (follower) => carryOut(operation, { ...mutation, follower } as T) };
  }, cost);
}
