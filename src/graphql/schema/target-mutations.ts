/** The mutations on targets, by ids, by a query or by manifests: `delete`, `scale`, `restart`, `cordon` and `evict`. */
import {
  type GraphQLArgumentConfig,
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLString,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { WantedTargets } from '../../writes/mutation.ts';
import type { Propagation, WriteAction } from '../../writes/request/write-intent.ts';
import { filterOf, requireNamedKinds } from '../../writes/targets/wanted-targets.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import type { OperationContext } from '../generation/generation.ts';
import { lengthOf } from '../selection/cost.ts';
import { inputList, nonNull, required } from '../types/type-wrappers.ts';
import { writeField } from '../writes/write-field.ts';
import {
  type DocumentArgument,
  documentsOf,
  objectsIn,
  type TargetArgument,
  targetOf,
} from '../writes/write-inputs.ts';
import type { Shared } from './kind-types.ts';
import { kindsArgument, kindsOf } from './object-roots.ts';

interface QueryArgument {
  readonly kinds: readonly string[];
  readonly filter?: unknown;
  readonly clusters?: readonly string[] | null;
  readonly namespaces?: readonly string[] | null;
  readonly expect: number;
}

interface TargetsArgument {
  readonly objects?: readonly TargetArgument[];
  readonly docs?: readonly DocumentArgument[];
  readonly query?: QueryArgument;
}

interface TargetVerb {
  readonly description: string;
  readonly args: Readonly<Record<string, GraphQLArgumentConfig>>;
  action(args: Readonly<Record<string, unknown>>, at: string): WriteAction;
}

export function targetMutations(shared: Shared): GraphQLFieldConfigMap<unknown, OperationContext> {
  const targets = targetsInput(shared);
  const propagation = shared.type('Propagation') as GraphQLInputType;
  const verbs: Readonly<Record<string, TargetVerb>> = {
    delete: {
      description: 'Deletes objects.',
      args: { propagation: { type: required(propagation), defaultValue: 'BACKGROUND' } },
      action: ({ propagation: given }) => ({ verb: 'delete', propagation: given as Propagation }),
    },
    scale: {
      description: 'Sets the number of replicas, by the subresource scale.',
      args: { replicas: { type: required(GraphQLInt) } },
      action: ({ replicas }) => ({ verb: 'scale', replicas: replicasOf(replicas) }),
    },
    restart: {
      description:
        'Replaces the Pods of a Deployment, StatefulSet or DaemonSet one after the other, as kubectl rollout restart does.',
      args: {},
      action: (_args, at) => ({ verb: 'restart', at }),
    },
    cordon: {
      description: 'Takes nodes out of scheduling, or with `on: false` back into it.',
      args: { on: { type: required(GraphQLBoolean) } },
      action: ({ on }) => ({ verb: 'cordon', on: on === true }),
    },
    evict: {
      description: 'Evicts Pods by the subresource eviction, so that PodDisruptionBudgets hold.',
      args: {},
      action: () => ({ verb: 'evict' }),
    },
  };
  return Object.fromEntries(
    Object.entries(verbs).map(([verb, { description, args, action }]) => [
      verb,
      {
        type: nonNull(shared.type('Write')),
        description,
        args: {
          targets: { type: required(targets) },
          ...args,
          options: { type: shared.type('WriteOptions') as GraphQLInputType },
        },
        ...writeField(
          ({ targets: wanted, ...rest }, operation) => ({
            verb: verb as WriteAction['verb'],
            args: [wanted, rest],
            force: false,
            targets: wantedTargets(shared, wanted as TargetsArgument, operation),
            action: (_target, at) => action(rest, at),
          }),
          ({ targets: given }) => expectedOf(given),
        ),
      },
    ]),
  );
}

function targetsInput(shared: Shared): GraphQLInputObjectType {
  const query = new GraphQLInputObjectType({
    name: 'TargetQuery',
    description:
      'The objects that match. Each is looked at once more before it is written: one that no longer matches is SKIPPED. No filter through relations.',
    fields: {
      kinds: { ...kindsArgument, description: 'As in `objects(kinds:)`, without *.' },
      filter: { type: shared.filters.object },
      clusters: { type: inputList(GraphQLString) },
      namespaces: { type: inputList(GraphQLString) },
      expect: {
        type: required(GraphQLInt),
        description: 'How many objects the query finds. Otherwise nothing is done.',
      },
    },
  });
  return new GraphQLInputObjectType({
    name: 'TargetsInput',
    description: 'The objects to write: by their ids, by a query, or those that manifests name.',
    isOneOf: true,
    fields: {
      objects: { type: inputList(shared.type('TargetInput')) },
      query: { type: query },
      docs: {
        type: inputList(shared.type('ManifestInput')),
        description: 'Their apiVersion, kind, namespace and name alone matter.',
      },
    },
  });
}

function wantedTargets(
  shared: Shared,
  { objects, docs, query }: TargetsArgument,
  operation: OperationContext['portolan'],
): WantedTargets {
  if (docs !== undefined) return { documents: documentsOf(docs) };
  if (query === undefined) return { objects: (objects ?? []).map(targetOf) };
  const { kinds } = kindsOf(operation.generation, query.kinds);
  requireNamedKinds(query.kinds, kinds);
  const { clusters = null, namespaces = null, expect } = query;
  const own = filterFrom(shared.filters.object, query.filter, filterContext(operation, kinds));
  return { query: { kinds, filter: filterOf(operation, own, { clusters, namespaces }), expect } };
}

/** The number of objects that the caller expects. */
function expectedOf(targets: unknown): number {
  const { objects, docs, query } = (targets ?? {}) as TargetsArgument;
  return query?.expect ?? (docs === undefined ? lengthOf(objects) : objectsIn(docs));
}

function replicasOf(replicas: unknown): number {
  if (typeof replicas === 'number' && replicas >= 0) return replicas;
  throw new PortolanError('BAD_USER_INPUT', `\`replicas\` is ${String(replicas)}; it is 0 or more.`);
}
