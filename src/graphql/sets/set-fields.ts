/** The fields of a set's record that show the set (src/sets/reads). */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  getNamedType,
} from 'graphql';
import { defaultHistory } from '../../reads/history/recorded-changes.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import type { MemberState } from '../../sets/members/member-state.ts';
import { memberCost, setHealth } from '../../sets/reads/set-health.ts';
import { setHistory } from '../../sets/reads/set-history.ts';
import { liveMember, type MemberSource, manifestOf, membersIn, stateOf } from '../../sets/reads/set-members.ts';
import type { OperationContext } from '../generation/generation.ts';
import { counted } from '../selection/answer-size.ts';
import { at, facts } from '../selection/field-facts.ts';
import { costOfItem, fieldPlace, nodesKeyOf, projectionOfObject, selectedNodes } from '../selection/list-selection.ts';
import { projectionBelow, projectionIfSelected } from '../selection/projection-below.ts';
import { listOf, nonNull } from '../types/type-wrappers.ts';

type Types = (name: string) => GraphQLNamedType;

/** Members that a field is charged for before they are counted. More of them are charged when the record has been read. */
const assumedMembers = 20;
/** Values that a look for the object of a member counts for. */
const lookCost = 20;

const states: Readonly<Record<string, { readonly value: MemberState; readonly description: string }>> = {
  PRESENT: { value: 'Present', description: 'The object that the set has applied.' },
  LEAVING: { value: 'Leaving', description: 'It is there, but no longer submitted: the next apply deletes it.' },
  MISSING: { value: 'Missing', description: 'There is no such object: somebody has deleted it.' },
  REPLACED: { value: 'Replaced', description: 'Another object has its name. It is no member.' },
  PENDING: { value: 'Pending', description: 'The set has not applied it yet.' },
  HIDDEN: { value: 'Hidden', description: 'You may not get the object.' },
  UNKNOWN: { value: 'Unknown', description: 'Its kind is not served, or not synced yet.' },
};

/** The type SetMember. */
function setMemberType(type: Types): GraphQLObjectType<MemberSource, OperationContext> {
  const state = new GraphQLEnumType({
    name: 'SetMemberState',
    description: 'What the tables have of a member of a set.',
    values: states,
  });
  const text = (read: (member: MemberSource['member']) => string | null) => ({
    type: nonNull(GraphQLString),
    resolve: ({ member }: MemberSource) => read(member),
  });
  return new GraphQLObjectType<MemberSource, OperationContext>({
    name: 'SetMember',
    description: 'A member of a set. The record names it to everybody who may get the record.',
    fields: () => ({
      group: { ...text(({ group }) => group), description: 'Empty for the core group.' },
      version: text(({ version }) => version),
      kind: text(({ kind }) => kind),
      namespace: text(({ namespace }) => namespace),
      name: text(({ name }) => name),
      uid: { type: GraphQLString, description: 'Null until it was applied.', resolve: ({ member }) => member.uid },
      leaves: {
        type: nonNull(GraphQLBoolean),
        description: 'No longer submitted, and to be deleted.',
        resolve: ({ member }) => member.leaves,
      },
      state: {
        type: nonNull(state),
        extensions: facts({ cost: { own: lookCost } }),
        resolve: (member) => stateOf(member),
      },
      object: {
        type: type('KubernetesObject') as GraphQLOutputType,
        description: 'The member as it is now; null unless it is present.',
        extensions: facts({ cost: { own: lookCost } }),
        resolve: (member, _args, _context, info) =>
          liveMember(member, fieldPlace(info), projectionOfObject(info, getNamedType(info.returnType))),
      },
      manifest: {
        type: type('JSON') as GraphQLOutputType,
        description:
          'The values of now at the fields that were applied, without redacted values; null unless the member is present.',
        extensions: facts({ cost: { own: lookCost } }),
        resolve: async (member, _args, context) => counted(context, await manifestOf(member)),
      },
    }),
  });
}

/** The fields of a record beside its data. Makes the type SetMember. */
export function recordFields(type: Types): GraphQLFieldConfigMap<ObjectSource, OperationContext> {
  return {
    members: {
      type: nonNull(listOf(nonNull(setMemberType(type)))),
      description: 'The members of the set, in the submitted order. Those that leave stand at the end.',
      extensions: facts({ need: at('spec'), cost: { repeats: () => assumedMembers } }),
      resolve: (source, _args, { portolan }, info) => {
        const { maxPageSize } = portolan.source.limits;
        const each = portolan.loader(`members ${nodesKeyOf(info)}`, () => costOfItem(info, maxPageSize));
        const members = membersIn(source);
        source.operation.cost.charge(Math.max(0, members.length - assumedMembers) * each);
        return members;
      },
    },
    setHistory: {
      type: type('RecordedChangeConnection') as GraphQLOutputType,
      description:
        'The recorded changes of the record and of all members that the set has had, in one order, newest first: those of objects that you may list.',
      args: { first: { type: GraphQLInt, defaultValue: defaultHistory }, after: { type: GraphQLString } },
      extensions: facts({ need: at('spec'), cost: { own: 500, repeats: 'page', pageSize: defaultHistory } }),
      resolve: (source, { first, after }, { portolan }, info) =>
        setHistory(
          source,
          { first: first ?? defaultHistory, after: after ?? null },
          selectedNodes(portolan, info).cost,
        ),
    },
    setHealth: {
      type: nonNull(type('Health')),
      description:
        'The worst health of the members, each with all that it owns. A member that is missing or replaced counts as Failed. Members that you may not get are left out.',
      extensions: facts({ need: at('spec'), cost: { own: assumedMembers * memberCost } }),
      resolve: (source, _args, { portolan }, info) => {
        const key = nodesKeyOf(info);
        const selected = portolan.loader(`set health ${key}`, () => ({
          culprit: projectionBelow(info, ['culprit']),
          chain: projectionIfSelected(info, ['chain']),
          key: `set ${key}`,
        }));
        return setHealth(source, selected, assumedMembers);
      },
    },
  };
}
