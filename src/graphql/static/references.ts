/** The types of references by name, and the query for those to objects that are not there. */
import {
  type DanglingSource,
  loadDangling,
  loadReferences,
  loadUsedBy,
  type ReferenceSource,
  type ReferenceState,
} from '../connection/reference-source.ts';
import { defaultRelated } from '../connection/relation-source.ts';
import { facts } from '../selection/field-facts.ts';
import type { Builder } from './builder.ts';

/** Adds the fields `references` and `usedBy` of every object, and the query `danglingReferences`. */
export function addReferences(builder: Builder): void {
  const descriptions: Record<ReferenceState, { description: string }> = {
    THERE: { description: 'The object exists.' },
    MISSING: { description: 'There is no such object.' },
    UNKNOWN: { description: 'Its kind is not served, not synced, or not visible to you.' },
  };
  const state = builder.enumType('ReferenceState', {
    description: 'Whether the object that a reference names exists.',
    values: descriptions,
  });
  const reference = builder.objectRef<ReferenceSource>('Reference').implement({
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
  builder.interfaceField('KubernetesObject', 'references', (t) =>
    t.field({
      type: [reference],
      nullable: { list: true, items: false },
      description: 'The objects that this one names, whether they exist or not.',
      args: { states: t.arg({ type: [state], description: 'Only references in these states.' }) },
      extensions: facts({ cost: { own: 10 } }),
      resolve: async (source, { states }, _context, info) => [...(await loadReferences(source, states ?? null, info))],
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
      resolve: (source, { kinds, first, after }, _context, info) =>
        loadUsedBy(source, { kinds: kinds ?? null, first: first ?? defaultRelated, after: after ?? null }, info),
    }),
  );
  const connection = builder.objectRef<DanglingSource>('ReferenceConnection').implement({
    description: 'A list of references.',
    fields: (t) => ({
      nodes: t.field({
        type: [reference],
        nullable: { list: false, items: false },
        resolve: ({ references }) => [...references],
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
          info,
        ),
    }),
  );
}
