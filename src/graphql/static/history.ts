/** The types of recorded changes, the field `history` of every object, and the query `changes`. */

import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { servedUid, servedVersion } from '../../catalog/resources/synthetic-identity.ts';
import type { Reach } from '../../query/history/reach.ts';
import { defaultPageSize } from '../../query/plan/check-page.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import {
  type ChangeEdge,
  type ChangePage,
  ChangeSource,
  type ChangesSource,
  defaultHistory,
  type HistorySource,
  loadChanges,
  loadHistory,
} from '../../reads/history/recorded-changes.ts';
import type { FieldManager } from '../../store/objects/field-managers.ts';
import type { Builder, ObjectFields } from '../builder/builder.ts';
import { facts } from '../selection/field-facts.ts';
import { costOfNodes, selectedNodes } from '../selection/list-selection.ts';

/** Values that a body of the log counts for: it is read and parsed whole. */
const bodyCost = 10;

export function addHistory(builder: Builder): void {
  const edge = changeEdge(builder);
  const history = builder.objectRef<HistorySource>('History').implement({
    description: 'The recorded changes of an object, newest first.',
    fields: (t) => ({
      ...pageFields(t, edge),
      since: t.field({
        type: 'DateTime',
        description:
          'Every later change of the object is recorded. Older changes that are still recorded are here too.',
        extensions: facts({ cost: { own: 5 } }),
        resolve: async (source) => dateTime(await source.since()),
      }),
      isComplete: t.exposeBoolean('isComplete', {
        nullable: false,
        description: 'Is every change of the object recorded since Portolan has known it?',
      }),
    }),
  });
  builder.interfaceField('KubernetesObject', 'history', (t) =>
    t.field({
      type: history,
      description: 'The recorded changes of the object, newest first.',
      args: { first: t.arg.int({ defaultValue: defaultHistory }), after: t.arg.string({}) },
      extensions: facts({ cost: { own: 5, repeats: 'page', pageSize: defaultHistory } }),
      resolve: (source, { first, after }, { portolan }, info) =>
        loadHistory(
          source,
          { first: first ?? defaultHistory, after: after ?? null },
          selectedNodes(portolan, info).cost,
        ),
    }),
  );
  addChanges(builder, edge);
}

function addChanges(builder: Builder, edge: EdgeRef): void {
  const reach = historyReach(builder);
  const connection = builder.objectRef<ChangesSource>('RecordedChangeConnection').implement({
    description: 'Recorded changes of several kinds, newest first.',
    fields: (t) => ({
      ...pageFields(t, edge),
      reaches: t.field({
        type: [reach],
        nullable: { list: false, items: false },
        description: 'How far the recorded changes of each kind and cluster reach back.',
        extensions: facts({ cost: { own: 100 } }),
        resolve: async (source) => [...(await source.reaches())],
      }),
    }),
  });
  builder.queryField('changes', (t) =>
    t.field({
      type: connection,
      description: 'What changed, newest first: the recorded changes of the objects that you may see now.',
      args: {
        since: t.arg({
          type: 'DateTime',
          required: true,
          description: 'Only changes at this time or later; also relative to now, such as -10m.',
        }),
        until: t.arg({ type: 'DateTime', description: 'Only changes at this time or earlier; also relative to now.' }),
        kinds: t.arg.stringList({
          description: 'Only these kinds; as in `objects(kinds:)`. All but Events when not given.',
        }),
        namespaces: t.arg.stringList({ description: 'Only changes of objects in these namespaces.' }),
        clusters: t.arg.stringList({ description: 'Only changes in these clusters.' }),
        first: t.arg.int({ defaultValue: defaultPageSize }),
        after: t.arg.string({}),
      },
      extensions: facts({ cost: { own: 100, repeats: 'page', pageSize: defaultPageSize } }),
      resolve: (_root, { since, until, kinds, namespaces, clusters, first, after }, { portolan }, info) =>
        loadChanges(
          portolan,
          {
            since,
            until: until ?? null,
            kinds: kinds ?? null,
            namespaces: namespaces ?? null,
            clusters: clusters ?? null,
            first: first ?? defaultPageSize,
            after: after ?? null,
          },
          costOfNodes(info, portolan.source.limits.maxPageSize),
        ),
    }),
  );
}

/** The types RecordedChange and RecordedChangeEdge. */
function changeEdge(builder: Builder) {
  const types = {
    ADDED: { description: 'The object is new to Portolan.' },
    MODIFIED: { description: 'The object differs from the one before.' },
    DELETED: { description: 'The object is gone.' },
  };
  const type = builder.enumType('RecordedChangeType', { description: 'The sort of a recorded change.', values: types });
  const manager = builder.objectRef<FieldManager>('FieldManager').implement({
    description: "A manager of an object's fields, by metadata.managedFields.",
    fields: (t) => ({
      manager: t.exposeString('manager', {
        nullable: false,
        description: 'Such as kubectl or kube-controller-manager.',
      }),
      operation: t.exposeString('operation', { description: 'Apply or Update.' }),
      subresource: t.exposeString('subresource', {
        description: 'Such as status or scale; null for the object itself.',
      }),
      time: t.expose('time', { type: 'DateTime', nullable: false, description: 'By the clock of the API server.' }),
    }),
  });
  const change = builder.objectType(ChangeSource, {
    name: 'RecordedChange',
    description: 'A recorded change of an object.',
    fields: (t) => ({
      type: t.field({ type, nullable: false, resolve: ({ change }) => change.type }),
      at: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'When Portolan recorded it.',
        resolve: ({ change }) => new Date(change.at).toISOString(),
      }),
      id: t.id({ nullable: false, resolve: ({ identity }) => encodeObjectId(identity) }),
      cluster: t.string({ nullable: false, resolve: ({ change }) => change.cluster }),
      kind: t.string({ nullable: false, resolve: ({ kind }) => kind.resource.kind }),
      namespace: t.string({ resolve: ({ change }) => change.namespace }),
      name: t.string({ nullable: false, resolve: ({ change }) => change.name }),
      uid: t.string({ resolve: ({ change }) => servedUid(change.uid) }),
      resourceVersion: t.string({
        description: 'The resourceVersion of the object after the change, or of its deletion.',
        resolve: ({ change }) => servedVersion(change.resourceVersion),
      }),
      managers: t.field({
        type: [manager],
        nullable: { list: false, items: false },
        description:
          'Who made the change, where managedFields tell. Empty for a deletion, and for a change that was found by a list.',
        resolve: ({ change }) => [...change.managers],
      }),
      changedPaths: t.field({
        type: ['Path'],
        nullable: { list: true, items: false },
        description:
          'The paths whose values differ; null unless MODIFIED. Empty if only metadata.resourceVersion and managedFields differ.',
        extensions: facts({ cost: { own: bodyCost } }),
        resolve: async (source) => {
          const paths = await source.changedPaths();
          return paths === null ? null : [...paths];
        },
      }),
      object: t.field({
        type: 'KubernetesObject',
        description: 'The object after the change, with the relations of now; null when DELETED.',
        extensions: facts({ cost: { own: bodyCost } }),
        resolve: (source) => source.after(),
      }),
      before: t.field({
        type: 'KubernetesObject',
        description: 'The object before the change, with the relations of now; null when ADDED.',
        extensions: facts({ cost: { own: bodyCost } }),
        resolve: (source) => source.before(),
      }),
    }),
  });
  return builder.objectRef<ChangeEdge>('RecordedChangeEdge').implement({
    description: 'A recorded change in a list, with its cursor.',
    fields: (t) => ({
      cursor: t.exposeString('cursor', { nullable: false }),
      node: t.field({ type: change, nullable: false, resolve: ({ node }) => node }),
    }),
  });
}

function historyReach(builder: Builder) {
  return builder.objectRef<Reach & { readonly kind: CatalogKind }>('HistoryReach').implement({
    description: 'How far the recorded changes of a kind reach back in a cluster.',
    fields: (t) => ({
      kind: t.string({ nullable: false, resolve: ({ kind }) => kind.resource.kind }),
      group: t.string({ nullable: false, resolve: ({ kind }) => kind.resource.group }),
      cluster: t.exposeString('cluster', { nullable: false }),
      since: t.field({
        type: 'DateTime',
        description: 'Every later change is recorded. Null while the kind is not synced there.',
        resolve: ({ since }) => dateTime(since),
      }),
    }),
  });
}

type EdgeRef = ReturnType<typeof changeEdge>;

/** The fields of a page of changes. */
function pageFields<T extends ChangePage>(t: ObjectFields<T>, edge: EdgeRef) {
  return {
    edges: t.field({ type: [edge], nullable: { list: false, items: false }, resolve: ({ edges }) => [...edges] }),
    nodes: t.field({
      type: [ChangeSource],
      nullable: { list: false, items: false },
      resolve: ({ edges }) => edges.map(({ node }) => node),
    }),
    pageInfo: t.field({ type: 'PageInfo', nullable: false, resolve: ({ pageInfo }) => pageInfo }),
  };
}

function dateTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
