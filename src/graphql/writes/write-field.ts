/**
 * The fields of mutations. Each says what its arguments ask for. So the subscription `writes` (write-stream.ts) carries out the same as
 * the mutation of that name. A plan of one of both is a plan of the other.
 */
import type { GraphQLFieldConfig, GraphQLResolveInfo } from 'graphql';
import type { Operation } from '../../operation/operation.ts';
import type { FollowableMutation } from '../../writes/followed-mutation.ts';
import { carryOut, type WantedMutation } from '../../writes/mutation.ts';
import { type GivenOptions, writeOptions } from '../../writes/run/write-options.ts';
import type { Generation, OperationContext } from '../generation/generation.ts';
import { facts } from '../selection/field-facts.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** The writes that the arguments of a mutation request. @throws PortolanError BAD_USER_INPUT */
type WantedOf = (
  args: Arguments,
  operation: Operation<Generation>,
) => Omit<WantedMutation, 'operationName' | 'options'>;

/** The mutation that arguments ask for. @throws PortolanError BAD_USER_INPUT */
type AskedOf = (args: Arguments, operation: Operation<Generation>, info: GraphQLResolveInfo) => FollowableMutation;

/** The value that a mutation counts for, without its items. */
export const writeCost = 100;

/**
 * Extensions and resolver of a mutation.
 * @param objects how many objects the arguments name, roughly
 */
export function writeField(wanted: WantedOf, objects: (args: Arguments) => number = () => 1) {
  return followableField(
    (args, operation, info) => {
      const mutation = wantedMutation(wanted, args, operation, info);
      return { options: mutation.options, carryOut: (follower) => carryOut(operation, mutation, follower) };
    },
    { own: writeCost, repeats: objects },
  );
}

/** Extensions and resolver of a mutation that the subscription `writes` can carry out too. */
export function followableField(
  asked: AskedOf,
  cost: { readonly own: number; readonly repeats: (args: Arguments) => number },
) {
  return {
    extensions: { ...facts({ cost }), asked },
    resolve: (_root: unknown, args: Arguments, { portolan }: OperationContext, info: GraphQLResolveInfo) =>
      asked(args, portolan, info).carryOut(),
  };
}

/** Null for a field that is no mutation that can be followed. */
export function askedBy(field: GraphQLFieldConfig<unknown, OperationContext>): AskedOf | null {
  return (field.extensions?.['asked'] as AskedOf | undefined) ?? null;
}

function wantedMutation(
  wanted: WantedOf,
  { options, ...args }: Arguments,
  operation: Operation<Generation>,
  { operation: { name } }: GraphQLResolveInfo,
): WantedMutation {
  return {
    ...wanted(args, operation),
    operationName: name?.value ?? null,
    options: writeOptions(options as GivenOptions),
  };
}
