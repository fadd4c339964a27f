/**
 * The subscription `writes`: a mutation whose items come one by one (src/writes/followed-mutation.ts). Its argument has the arguments of
 * one mutation, without `options`.
 */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';
import { must } from '../../base/must.ts';
import { FollowedMutation, type WriteProgress } from '../../writes/followed-mutation.ts';
import type { Builder } from '../builder/builder.ts';
import { eventStream } from '../generation/event-stream.ts';
import type { OperationContext } from '../generation/generation.ts';
import { DetachedEvent } from '../generation/shared-results.ts';
import { facts, factsOf } from '../selection/field-facts.ts';
import { nonNull, required } from '../types/type-wrappers.ts';
import { type Arguments, askedBy, writeCost } from './write-field.ts';
import type { addWriteTypes } from './write-types.ts';

type Mutations = GraphQLFieldConfigMap<unknown, OperationContext>;

/** Adds the type of its messages. */
export function addWriteStream(builder: Builder, { write, item }: ReturnType<typeof addWriteTypes>): void {
  builder.objectRef<WriteProgress>('WriteProgress').implement({
    description: 'A message of the subscription `writes`.',
    fields: (t) => ({
      done: t.exposeInt('done', {
        nullable: false,
        description: 'Objects that are written or planned, or were refused.',
      }),
      total: t.exposeInt('total', { nullable: false }),
      item: t.field({
        type: item,
        description:
          'The object that is done, before the tables show it. It comes again if it is undone. Null in the first and in the last message.',
        resolve: ({ item }) => item,
      }),
      write: t.field({
        type: write,
        description: 'The whole outcome, when the tables show it. In the last message.',
        resolve: ({ report }) => report,
      }),
    }),
  });
}

/** @param fields those of the type Mutation @param type a type of the static schema by name */
export function writesRoot(fields: Mutations, type: (name: string) => GraphQLNamedType): Mutations {
  const mutations = Object.fromEntries(
    Object.entries(fields).flatMap(([verb, field]) => {
      const mutation = askedBy(field);
      return mutation === null ? [] : [[verb, { field, mutation }]];
    }),
  );
  const input = new GraphQLInputObjectType({
    name: 'MutationInput',
    description: 'One mutation, with its arguments.',
    isOneOf: true,
    fields: Object.fromEntries(
      Object.entries(mutations).map(([verb, { field }]) => [
        verb,
        { type: inputOf(verb, field), description: field.description },
      ]),
    ),
  });
  const asked = (args: Arguments): { readonly given: Arguments } & (typeof mutations)[string] => {
    const [one] = Object.entries(args['mutation'] as Readonly<Record<string, Arguments>>);
    const [verb, given] = must(one, 'exactly one mutation');
    return { ...must(mutations[verb], 'a mutation of the schema'), given };
  };
  return {
    writes: {
      type: nonNull(type('WriteProgress') as GraphQLObjectType),
      description:
        'Carries out a mutation and tells of each object as it is done. The end of the subscription cancels what is not begun. `options` must make a repeat harmless: dryRun, plan or requestId.',
      args: {
        mutation: { type: required(input) },
        options: { type: required(type('WriteOptions') as GraphQLInputType) },
      },
      extensions: facts({
        cost: {
          own: writeCost,
          repeats: (args) => {
            const { field, given } = asked(args);
            const { repeats } = factsOf(field as never).cost;
            return typeof repeats === 'function' ? repeats(given) : 1;
          },
        },
      }),
      subscribe: async (_root, args, { portolan }, info) => {
        const { mutation, given } = asked(args);
        const wanted = mutation({ ...given, options: args['options'] }, portolan, info);
        const followed = await FollowedMutation.begin(portolan, wanted);
        return eventStream(
          portolan.signal,
          (signal) => followed.messages(signal),
          (message) => new DetachedEvent(portolan.detached(Math.max(1, message.total)), message),
        );
      },
      resolve: (from) => from,
    },
  };
}

/** The arguments of a mutation as an input. */
function inputOf(verb: string, { args = {} }: GraphQLFieldConfig<unknown, OperationContext>): GraphQLInputObjectType {
  const { options: _options, ...own } = args;
  return new GraphQLInputObjectType({
    name: `${verb[0]?.toUpperCase()}${verb.slice(1)}Input`,
    description: `The arguments of the mutation \`${verb}\`.`,
    fields: own,
  });
}
