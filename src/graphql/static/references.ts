/** The types of references by name, and the query for those to objects that are not there. */
import { getNamedType } from 'graphql';
import {
  deepestGraph,
  type GraphEdgeSource,
  type GraphSource,
  loadGraph,
  mostGraphNodes,
} from '../../reads/related/graph-source.ts';
import {
  type DanglingSource,
  loadDangling,
  loadReferences,
  loadUsedBy,
  type ReferenceSource,
  type ReferenceState,
} from '../../reads/related/reference-source.ts';
import { defaultRelated } from '../../reads/related/relation-source.ts';
import { setsOf } from '../../sets/reads/member-of.ts';
import type { Builder } from '../builder/builder.ts';
import { countOf } from '../selection/cost.ts';
import { facts } from '../selection/field-facts.ts';
import { fieldPlace, nodesKeyOf, projectionOfObject, selectedNodes } from '../selection/list-selection.ts';
import { projectionBelow } from '../selection/projection-below.ts';

/** Adds the fields `references`, `usedBy` and `memberOf` of every object, and the query `danglingReferences`. */
export function addReferences(builder: Builder): void {
  const state = referenceStateEnum(builder);
  const reference = referenceType(builder, state);
  builder.interfaceField('KubernetesObject', 'references', (t) =>
    t.field({
      type: [reference],
      nullable: { list: true, items: false },
      description: 'The objects that this one names, whether they exist or not.',
      args: { states: t.arg({ type: [state], description: 'Only references in these states.' }) },
      extensions: facts({ cost: { own: 10 } }),
      resolve: async (source, { states }, { portolan }, info) => {
        const key = nodesKeyOf(info);
        const projection = portolan.loader(`references ${key}`, () => projectionBelow(info, ['object']));
        return [...(await loadReferences(source, states ?? null, { projection, key }))];
      },
    }),
  );
  builder.interfaceField('KubernetesObject', 'usedBy', (t) =>
    t.field({
      type: 'KubernetesObjectConnection',
      description: 'The objects that name this one. Events are left out.',
      args: {
        kinds: t.arg.stringList({ description: 'Only these kinds; as in `objects(kinds:)`.' }),
        first: t.arg.int({ defaultValue: defaultRelated }),
        after: t.arg.string({}),
      },
      extensions: facts({ cost: { repeats: 'page', pageSize: defaultRelated } }),
      resolve: (source, { kinds, first, after }, { portolan }, info) =>
        loadUsedBy(
          source,
          { kinds: kinds ?? null, first: first ?? defaultRelated, after: after ?? null },
          selectedNodes(portolan, info),
        ),
    }),
  );
  builder.interfaceField('KubernetesObject', 'memberOf', (t) =>
    t.field({
      type: ['KubernetesObject'],
      nullable: { list: false, items: false },
      description: 'The sets that have this object as a member.',
      extensions: facts({ cost: { own: 5, repeats: () => 1 } }),
      resolve: async (source, _args, _context, info) => [
        ...(await setsOf(source, fieldPlace(info), projectionOfObject(info, getNamedType(info.returnType)))),
      ],
    }),
  );
  addGraph(builder);
  addDangling(builder, reference);
}

function referenceStateEnum(builder: Builder) {
  const descriptions: Record<ReferenceState, { description: string }> = {
    THERE: { description: 'The object exists.' },
    MISSING: { description: 'There is no such object.' },
    UNKNOWN: { description: 'Its kind is not served, not synced, or not visible to you.' },
  };
  return builder.enumType('ReferenceState', {
    description: 'Whether the object that a reference names exists.',
    values: descriptions,
  });
}

function referenceType(builder: Builder, state: ReturnType<typeof referenceStateEnum>) {
  return builder.objectRef<ReferenceSource>('Reference').implement({
    description: 'A reference by name from one object to another.',
    fields: (t) => ({
      from: t.field({ type: 'KubernetesObject', nullable: false, resolve: ({ from }) => from }),
      path: t.expose('path', {
        type: 'Path',
        nullable: false,
        description: 'Where the name stands in the referring object.',
      }),
      group: t.exposeString('group', {
        nullable: false,
        description: 'The API group of the named object; empty for the core group.',
      }),
      kind: t.exposeString('kind', { nullable: false }),
      namespace: t.exposeString('namespace', {}),
      name: t.exposeString('name', { nullable: false }),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      object: t.field({
        type: 'KubernetesObject',
        description: 'The named object; null unless it is there.',
        resolve: ({ object }) => object,
      }),
    }),
  });
}

function addDangling(builder: Builder, reference: ReturnType<typeof referenceType>): void {
  const edge = builder.objectRef<DanglingSource['edges'][number]>('ReferenceEdge').implement({
    description: 'One of the references of a list, with its cursor.',
    fields: (t) => ({
      cursor: t.exposeString('cursor', { nullable: false }),
      node: t.field({ type: reference, nullable: false, resolve: ({ node }) => node }),
    }),
  });
  const connection = builder.objectRef<DanglingSource>('ReferenceConnection').implement({
    description: 'A list of references.',
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        nullable: { list: false, items: false },
        resolve: ({ edges }) => [...edges],
      }),
      nodes: t.field({
        type: [reference],
        nullable: { list: false, items: false },
        resolve: ({ edges }) => edges.map(({ node }) => node),
      }),
      pageInfo: t.field({ type: 'PageInfo', nullable: false, resolve: ({ pageInfo }) => pageInfo }),
    }),
  });
  builder.queryField('danglingReferences', (t) =>
    t.field({
      type: connection,
      description: 'References to objects that do not exist, sorted by the referring object. Events are left out.',
      args: {
        kinds: t.arg.stringList({ description: 'Only references of these kinds; as in `objects(kinds:)`.' }),
        namespaces: t.arg.stringList({ description: 'Only references of objects in these namespaces.' }),
        first: t.arg.int({ defaultValue: defaultRelated }),
        after: t.arg.string({}),
      },
      extensions: facts({ cost: { own: 1000, repeats: 'page', pageSize: defaultRelated } }),
      resolve: (_root, { kinds, namespaces, first, after }, { portolan }, info) =>
        loadDangling(
          portolan,
          {
            kinds: kinds ?? null,
            namespaces: namespaces ?? null,
            first: first ?? defaultRelated,
            after: after ?? null,
          },
          projectionBelow(info, ['nodes', 'from'], ['edges', 'node', 'from']),
        ),
    }),
  );
}

function addGraph(builder: Builder): void {
  const edge = builder.objectRef<GraphEdgeSource>('GraphEdge').implement({
    description: 'A relation between two objects of a graph.',
    fields: (t) => ({
      from: t.exposeID('from', {
        nullable: false,
        description: 'The id of the object that has the reference, the owner reference or the selector.',
      }),
      to: t.exposeID('to', { nullable: false, description: 'The id of the other object.' }),
      relation: t.exposeString('relation', {
        nullable: false,
        description: 'The field of `from` that leads to `to`; "owner" for an owner reference.',
      }),
    }),
  });
  const graph = builder.objectRef<GraphSource>('Graph').implement({
    description: 'An object with the objects around it.',
    fields: (t) => ({
      nodes: t.field({
        type: ['KubernetesObject'],
        nullable: { list: false, items: false },
        description: 'The object itself first, then nearer objects before farther ones.',
        resolve: ({ nodes }) => [...nodes],
      }),
      edges: t.field({
        type: [edge],
        nullable: { list: false, items: false },
        resolve: ({ edges }) => [...edges],
      }),
      truncated: t.exposeBoolean('truncated', {
        nullable: false,
        description: 'Objects within the depth were left out, because there are too many.',
      }),
    }),
  });
  builder.interfaceField('KubernetesObject', 'graph', (t) =>
    t.field({
      type: graph,
      description: 'The related objects in both directions, step by step.',
      args: {
        depth: t.arg.int({ defaultValue: 2, description: `Steps; at most ${deepestGraph}.` }),
        kinds: t.arg.stringList({ description: 'Only these kinds; as in `objects(kinds:)`.' }),
        limit: t.arg.int({ defaultValue: 200, description: `Objects; at most ${mostGraphNodes}.` }),
      },
      extensions: facts({ cost: { own: 100, repeats: ({ limit }) => countOf(limit, 200) } }),
      resolve: (source, { depth, kinds, limit }, _context, info) =>
        loadGraph(
          source,
          { depth: depth ?? 2, kinds: kinds ?? null, limit: limit ?? 200 },
          projectionBelow(info, ['nodes']),
        ),
    }),
  );
}
