/** The subscription root of a kind: a live list (src/live/live-list.ts) as GraphQL shows it. */
import {
  type FragmentDefinitionNode,
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLID,
  type GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql';
import { PortolanError } from '../base/errors.ts';
import type { CatalogKind } from '../catalog/catalog.ts';
import { servedUid } from '../catalog/made-up.ts';
import type { LiveChange, LiveMessage } from '../live/live-list.ts';
import { liveList } from '../live/live-list.ts';
import { encodeObjectId } from '../query/object-id.ts';
import { clustersOf, filterFrom } from './filter-input.ts';
import { projectionOf, selectionsAt } from './needs.ts';
import { ObjectSource } from './object-source.ts';
import type { Operation, OperationContext } from './operation.ts';
import type { FieldConfig } from './shape-types.ts';
import { listOf, nonNull } from './wrap.ts';

interface ChangesSource {
  readonly operation: Operation;
  readonly kind: CatalogKind;
  readonly message: LiveMessage;
}

interface ChangeSource {
  readonly operation: Operation;
  readonly kind: CatalogKind;
  readonly change: LiveChange;
}

interface Types {
  readonly type: (name: string) => GraphQLNamedType;
}

/** Fields of `PodChanges`. */
export function changesFields(
  change: GraphQLObjectType,
  { type }: Types,
): GraphQLFieldConfigMap<ChangesSource, OperationContext> {
  return {
    phase: { type: nonNull(type('ChangePhase')), resolve: ({ message }) => message.phase },
    reset: {
      type: nonNull(GraphQLBoolean),
      description: 'Drop what you hold first.',
      resolve: ({ message }) => message.reset,
    },
    cursor: {
      type: nonNull(GraphQLString),
      description: 'Where to go on, as `since`.',
      resolve: ({ message }) => message.cursor,
    },
    totalCount: {
      type: GraphQLInt,
      description: 'Matches after this message; null when the subscription began at a cursor.',
      resolve: ({ message }) => message.totalCount,
    },
    removedIds: {
      type: nonNull(listOf(nonNull(GraphQLID))),
      description: 'Ids of the changes that are REMOVED.',
      resolve: ({ message }) =>
        message.changes.filter(({ type }) => type === 'REMOVED').map(({ identity }) => encodeObjectId(identity)),
    },
    changes: {
      type: nonNull(listOf(nonNull(change))),
      description: 'At most one for each object.',
      resolve: ({ message, operation, kind }) =>
        message.changes.map((item): ChangeSource => ({ operation, kind, change: item })),
    },
  };
}

/** Fields of `PodChange`. */
export function changeFields(
  object: GraphQLObjectType,
  { type }: Types,
): GraphQLFieldConfigMap<ChangeSource, OperationContext> {
  return {
    type: { type: nonNull(type('ChangeType')), resolve: ({ change }) => change.type },
    id: { type: nonNull(GraphQLID), resolve: ({ change }) => encodeObjectId(change.identity) },
    uid: { type: GraphQLString, resolve: ({ change }) => servedUid(change.uid) },
    object: {
      type: object,
      description: 'Null when REMOVED.',
      resolve: ({ operation, kind, change }) =>
        change.object === null ? null : new ObjectSource(operation, kind, change.object),
    },
    reason: { type: type('RemovalReason') as GraphQLOutputType, resolve: ({ change }) => change.reason },
    changedPaths: {
      type: listOf(nonNull(type('Path'))),
      description: 'Which places differ; null unless MODIFIED.',
      resolve: ({ change }) => change.changedPaths(),
    },
    at: { type: nonNull(type('DateTime')), resolve: ({ change }) => new Date(change.at).toISOString() },
  };
}

/** `podChanges(filter:, since:, snapshot:)`. */
export function changesRoot(
  kind: CatalogKind,
  changes: GraphQLObjectType,
  object: GraphQLObjectType,
  filter: GraphQLInputObjectType,
): FieldConfig {
  return {
    type: nonNull(changes),
    description: `What matches, and then every change of it.`,
    args: {
      filter: { type: filter },
      since: { type: GraphQLString, description: "A list's changesCursor or a message's cursor: go on from there." },
      snapshot: {
        type: GraphQLBoolean,
        defaultValue: true,
        description: 'Without `since`: begin with what matches now.',
      },
    },
    subscribe: (_root, args, { portolan }, info) =>
      messages(portolan, kind, object, {
        filter: filterFrom(filter, args['filter']),
        since: typeof args['since'] === 'string' ? args['since'] : null,
        snapshot: args['snapshot'] !== false,
        info,
      }),
    resolve: (source) => source,
  };
}

interface Asked {
  readonly filter: ReturnType<typeof filterFrom>;
  readonly since: string | null;
  readonly snapshot: boolean;
  readonly info: GraphQLResolveInfo;
}

/**
 * The live list as an async iterable whose `return` ends it at once, also while it waits: a generator alone would
 * let `return` queue up behind the pending `next`.
 */
function messages(
  operation: Operation,
  kind: CatalogKind,
  object: GraphQLObjectType,
  asked: Asked,
): AsyncGenerator<ChangesSource> {
  const { source, signal } = operation;
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  signal?.addEventListener('abort', abort, { once: true });
  const fragments = asked.info.fragments as Readonly<Record<string, FragmentDefinitionNode>>;
  const sets = selectionsAt(
    fragments,
    asked.info.fieldNodes.map((node) => node.selectionSet),
    ['changes', 'object'],
  );
  const inner = liveList(source.feed, {
    kind: { key: kind.key, tree: kind.tree },
    filter: asked.filter,
    clusters: clustersOf(asked.filter),
    since: asked.since,
    snapshot: asked.snapshot,
    projection: projectionOf({ schema: asked.info.schema, fragments }, sets, object),
    signal: stop.signal,
    chunk: 100,
    now: () => source.now(),
    check: () => {
      if (source.generation().kind(kind.key) === undefined) {
        throw new PortolanError('SCHEMA_RELOAD', `${kind.resource.kind} is no longer served; load the schema anew.`);
      }
    },
  });
  const finish = (): void => {
    signal?.removeEventListener('abort', abort);
    stop.abort();
  };
  return {
    async next() {
      const step = await inner.next();
      if (step.done === true) {
        finish();
        return { done: true, value: undefined };
      }
      return { done: false, value: { operation: operation.detached(), kind, message: step.value } };
    },
    async return() {
      finish();
      await inner.return();
      return { done: true, value: undefined };
    },
    async throw(error) {
      finish();
      await inner.return();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      finish();
      await inner.return();
    },
  };
}
