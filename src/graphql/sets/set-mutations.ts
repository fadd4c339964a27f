/** The mutations on sets of objects: `applySet`, `deleteSet` and `revertSet` (src/sets). */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql';
import { applySet, type GivenSet } from '../../sets/apply-set.ts';
import { deleteSet } from '../../sets/delete-set.ts';
import { revertSet } from '../../sets/revert-set.ts';
import type { Propagation } from '../../writes/request/write-intent.ts';
import { type GivenOptions, type WriteOptions, writeOptions } from '../../writes/run/write-options.ts';
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

interface ApplyArguments {
  readonly set: SetArgument;
  readonly docs: readonly DocumentArgument[];
  readonly prune: boolean;
  readonly adopt: boolean;
  readonly force: boolean;
  readonly options?: GivenOptions;
}

interface DeleteArguments {
  readonly set: SetArgument;
  readonly propagation: Propagation;
  readonly options?: GivenOptions;
}

interface RevertArguments {
  readonly set: SetArgument;
  readonly to: string;
  readonly force: boolean;
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
      ...followableField(
        (given, operation, info) => {
          const { set: named, docs, ...rest } = given as unknown as ApplyArguments;
          const documents = documentsOf(docs);
          const mutation = { ...rest, ...shared(rest, info), set: givenSet(named), documents };
          return { options: mutation.options, carryOut: (follower) => applySet(operation, { ...mutation, follower }) };
        },
        { own: 200, repeats: ({ docs }) => objectsIn(docs) },
      ),
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
      ...followableField(
        (given, operation, info) => {
          const { set: named, ...rest } = given as unknown as DeleteArguments;
          const mutation = { ...rest, ...shared(rest, info), set: givenSet(named) };
          return { options: mutation.options, carryOut: (follower) => deleteSet(operation, { ...mutation, follower }) };
        },
        { own: 200, repeats: () => assumedMembers },
      ),
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
      ...followableField(
        (given, operation, info) => {
          const { set: named, ...rest } = given as unknown as RevertArguments;
          const mutation = { ...rest, ...shared(rest, info), set: givenSet(named) };
          return { options: mutation.options, carryOut: (follower) => revertSet(operation, { ...mutation, follower }) };
        },
        { own: 400, repeats: () => assumedMembers },
      ),
    },
  };
}

/** The parts of every mutation of a set. */
function shared(
  { options }: { readonly options?: GivenOptions },
  { operation: { name } }: GraphQLResolveInfo,
): { readonly operationName: string | null; readonly options: WriteOptions } {
  return { operationName: name?.value ?? null, options: writeOptions(options) };
}

function givenSet({ cluster, namespace, name }: SetArgument): GivenSet {
  return { cluster: cluster ?? null, namespace, name };
}
