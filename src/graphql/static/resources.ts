/**
 * `resources`: the catalog as data, with the state of ingest. A console builds menus, tables and forms from it without
 * introspection. Operators see the sync state and the errors of each resource.
 *
 * Descriptions are large (field trees). They are read only if a field selects them, and parsed in slices. The state of ingest
 * comes from small rows.
 */

import DataLoader from 'dataloader';
import { resourceOf } from '../../access/policy-rule.ts';
import { must } from '../../base/must.ts';
import { runSliced, type Steps } from '../../base/steps.ts';
import { abstractKindObjectsKey, ofKindObjects } from '../../catalog/abstract/abstract-kind.ts';
import type { DescribedResource, PromotionReason } from '../../catalog/resources/catalog.ts';
import { configuredPaths } from '../../catalog/resources/configured-paths.ts';
import { type FieldTree, type FieldType, scalarOfMap } from '../../catalog/tree/field-tree.ts';
import { type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { manifestSchemaOf } from '../../operation/manifest-schemas.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ObjectCount } from '../../query/read/object-counts.ts';
import type { View } from '../../query/sql/view.ts';
import { readDescriptionRows, readDescriptionTexts } from '../../store/read/catalog-rows.ts';
import type { PromotedSlot } from '../../store/types/kind-layout.ts';
import type { CollectionProgress, IngestStatus, ResourceProgress } from '../../store/types/progress.ts';
import type { Builder } from '../builder/builder.ts';
import type { ResourceSource } from '../builder/resource-source.ts';
import type { OperationContext } from '../generation/generation.ts';
import { facts } from '../selection/field-facts.ts';
import type { HealthStatusRef } from './object-health.ts';
import { countGroups, countsOf } from './resource-counts.ts';
import { resourceRelationType } from './resource-relations.ts';
import { visibleProgress } from './visible-progress.ts';

interface PathEntry {
  readonly path: string;
  readonly type: string;
}

interface Restart {
  readonly reason: string;
  readonly count: number;
}

/** A recursive shape adds no information below this depth. */
const maxDepth = 12;

const phases: Record<IngestStatus['phase'], { description: string }> = {
  IDLE: { description: 'Its list has not begun.' },
  LISTING: { description: 'All objects are being listed.' },
  WATCHING: { description: 'A watch is open.' },
  POLLING: { description: 'It is listed at intervals, because it cannot be watched.' },
  BACKOFF: { description: 'A request failed, and is sent again after a pause.' },
  PARKED: { description: 'The API server refuses it. It is tried again at long intervals, and when rights change.' },
  STOPPED: { description: 'It is no longer ingested.' },
};

const reasons: Record<PromotionReason, { description: string }> = {
  PRINTER_COLUMN: { description: 'A printer column of the kind shows it.' },
  SELECTABLE: { description: 'The kind declares it as a selectable field.' },
  CONFIGURED: { description: 'The option --promote names it.' },
  QUERIES: { description: 'Queries filter or order by it.' },
};

export function addResources(builder: Builder, healthStatus: HealthStatusRef): void {
  const phase = phaseEnum(builder);
  builder.objectType('Resource', {
    description: 'A resource of one cluster: its properties, its names in this schema, and the state of its ingest.',
    fields: (t) => ({
      key: t.string({
        nullable: false,
        description: 'plural.group, as kubectl takes it.',
        resolve: ({ state }) => state.key,
      }),
      cluster: t.string({ nullable: false, resolve: ({ state }) => state.cluster }),
      group: t.string({ nullable: false, resolve: async (source) => (await described(source)).group }),
      version: t.string({ nullable: false, resolve: async (source) => (await described(source)).version }),
      plural: t.string({ nullable: false, resolve: async (source) => (await described(source)).plural }),
      kind: t.string({ nullable: false, resolve: async (source) => (await described(source)).kind }),
      namespaced: t.boolean({ nullable: false, resolve: async (source) => (await described(source)).namespaced }),
      shortNames: t.stringList({
        nullable: { list: false, items: false },
        resolve: async (source) => [...(await described(source)).shortNames],
      }),
      verbs: t.stringList({
        nullable: { list: false, items: false },
        resolve: async (source) => [...(await described(source)).verbs],
      }),
      type: t.string({
        description: 'The GraphQL type; null when the kind is not in the schema.',
        resolve: ({ kind }) => kind?.names.type ?? null,
      }),
      list: t.string({ description: 'The root field of the list.', resolve: ({ kind }) => kind?.names.list ?? null }),
      one: t.string({ description: 'The root field of one object.', resolve: ({ kind }) => kind?.names.one ?? null }),
      subscription: t.string({
        description: 'The root field of the subscription.',
        resolve: ({ kind }) => kind?.names.subscription ?? null,
      }),
    }),
  });
  addObjects(builder, phase, healthStatus);
  addProgress(builder, phase);
  addSchema(builder);
  builder.queryField('resources', (t) =>
    t.field({
      type: ['Resource'],
      nullable: { list: true, items: false },
      description: 'The resources of all clusters.',
      extensions: facts({ cost: { own: 500 } }),
      args: {
        kinds: t.arg.stringList({ description: 'As in `objects(kinds:)`.' }),
        clusters: t.arg.stringList({}),
      },
      resolve: async (_root, { kinds, clusters }, { portolan }) => {
        portolan.noteMore();
        const { isWanted } = resourceSelection(portolan, { kinds, clusters });
        return portolan.readCells(
          async (cells) => {
            const found = await Promise.all(
              cells.map(async ({ operation, lease, view }) => {
                const states = (await visibleProgress(operation, lease, view)).filter(isWanted);
                return states.map((state) => resourceSource(operation, state, view));
              }),
            );
            return sortedResources(found.flat());
          },
          [],
          clusters ?? null,
        );
      },
    }),
  );
}

function phaseEnum(builder: Builder) {
  return builder.enumType('IngestPhase', { description: 'The states of the ingest of a resource.', values: phases });
}

type PhaseRef = ReturnType<typeof phaseEnum>;

const described = async (source: ResourceSource) => (await source.described()).resource;

const dateTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The fields about the objects of a resource. */
function addObjects(builder: Builder, phase: PhaseRef, healthStatus: HealthStatusRef): void {
  const countGroup = builder.enumType('ResourceCountGroup', {
    description: 'How the objects of a resource are grouped.',
    values: countGroups,
  });
  const count = builder.objectRef<ObjectCount>('ResourceCount').implement({
    description: 'A number of objects of a resource.',
    fields: (t) => ({
      namespace: t.exposeString('namespace', {
        description: 'Null for cluster-scoped objects, and where the objects are not grouped by namespace.',
      }),
      health: t.expose('health', {
        type: healthStatus,
        description: 'Null where the objects are not grouped by health.',
      }),
      objects: t.exposeInt('objects', { nullable: false }),
    }),
  });
  const relation = resourceRelationType(builder);
  builder.objectFields('Resource', (t) => ({
    synced: t.boolean({
      nullable: false,
      description: 'Has the resource been listed completely once, in every namespace that is ingested?',
      resolve: ({ state }) => state.synced,
    }),
    phase: t.field({
      type: phase,
      nullable: false,
      description: 'The state of ingest; of several collections, the worst.',
      resolve: ({ state }) => state.status.phase,
    }),
    objects: t.int({ nullable: false, resolve: ({ state }) => state.objects }),
    counts: t.field({
      type: [count],
      nullable: { list: false, items: false },
      description:
        'The numbers of objects that are not 0, by namespace and health. Empty before the resource is synced.',
      extensions: facts({ cost: { own: 10 } }),
      args: {
        by: t.arg({
          type: [countGroup],
          required: { list: true, items: true },
          defaultValue: [...countGroups],
          description: 'An empty list counts all objects together.',
        }),
        namespaces: t.arg.stringList({ description: 'Counts only the objects in these namespaces.' }),
      },
      resolve: ({ operation, state }, { by, namespaces }) => countsOf(operation, state, by, namespaces ?? null),
    }),
    viewerCan: t.boolean({
      description: 'May the caller do this with objects of the resource? Null where it is not known.',
      args: {
        verb: t.arg.string({
          required: true,
          description: 'As in rules of roles: create, list, watch, deletecollection.',
        }),
        subresource: t.arg.string({ defaultValue: '' }),
        namespace: t.arg.string({ defaultValue: '', description: 'Empty for the whole cluster.' }),
      },
      extensions: facts({ cost: { own: 5 } }),
      resolve: ({ state }, { verb, subresource, namespace }, { portolan }) =>
        portolan.source.rights.allows(portolan.caller, state.cluster, {
          verb,
          ...resourceOf(state.key),
          subresource: subresource ?? '',
          namespace: namespace ?? '',
          name: '',
        }),
    }),
    relations: t.field({
      type: [relation],
      nullable: { list: false, items: false },
      description: 'The relations that begin at its objects.',
      extensions: facts({ cost: { own: 10 } }),
      resolve: async (source) =>
        ((await source.described()).relations ?? []).map((each) => ({ resource: source, relation: each })),
    }),
  }));
}

/** The fields about how far ingest is. */
function addProgress(builder: Builder, phase: PhaseRef): void {
  const collection = collectionType(builder, phase);
  const restart = builder.objectRef<Restart>('ResourceRestart').implement({
    description: 'How often a list or watch had to begin again, and why.',
    fields: (t) => ({
      reason: t.exposeString('reason', { nullable: false }),
      count: t.exposeInt('count', { nullable: false }),
    }),
  });
  builder.objectFields('Resource', (t) => ({
    resourceVersion: t.string({
      description: 'The resourceVersion to which the stored objects correspond; null if there are several collections.',
      resolve: ({ state }) => state.lastResourceVersion,
    }),
    lastEventAt: t.field({
      type: 'DateTime',
      description: 'When the last event of a watch was taken.',
      resolve: ({ state }) => dateTime(state.status.lastEventAt),
    }),
    lastSignAt: t.field({
      type: 'DateTime',
      description:
        'When the server last showed that there was nothing else: an event, a bookmark, a whole list, the opening of a watch.',
      resolve: ({ state }) => dateTime(state.status.lastSignAt),
    }),
    staleSince: t.field({
      type: 'DateTime',
      description:
        'Since when the objects here may lack what the server has; null while a watch is open and not silent, and before the first whole list.',
      resolve: ({ state }) => dateTime(state.status.staleSince),
    }),
    collections: t.field({
      type: [collection],
      nullable: { list: false, items: false },
      description:
        'The lists and watches that ingest the resource: one, or one for each namespace that --namespaces names.',
      resolve: ({ state }) => state.collections,
    }),
    error: t.string({ resolve: ({ state }) => state.status.error }),
    restarts: t.field({
      type: [restart],
      nullable: { list: false, items: false },
      resolve: ({ state }) => Object.entries(state.status.restarts).map(([reason, count]) => ({ reason, count })),
    }),
  }));
}

function collectionType(builder: Builder, phase: PhaseRef) {
  return builder.objectRef<CollectionProgress>('ResourceCollection').implement({
    description: 'One of the lists and watches by which a resource is ingested.',
    fields: (t) => ({
      namespace: t.string({
        description: 'Null where one covers all of the resource.',
        resolve: ({ handle }) => (handle.namespace === '' ? null : handle.namespace),
      }),
      synced: t.exposeBoolean('synced', { nullable: false }),
      phase: t.field({ type: phase, nullable: false, resolve: ({ status }) => status.phase }),
      objects: t.exposeInt('objects', { nullable: false }),
      resourceVersion: t.string({ resolve: ({ lastResourceVersion }) => lastResourceVersion }),
      lastEventAt: t.field({ type: 'DateTime', resolve: ({ status }) => dateTime(status.lastEventAt) }),
      staleSince: t.field({ type: 'DateTime', resolve: ({ status }) => dateTime(status.staleSince) }),
      error: t.string({ resolve: ({ status }) => status.error }),
    }),
  });
}

/** The fields about the schema of a resource, and what is wrong with it. */
function addSchema(builder: Builder): void {
  const field = builder.objectRef<PathEntry>('ResourceField').implement({
    description: 'A place that a kind has, with the type of its value.',
    fields: (t) => ({
      path: t.field({ type: 'Path', nullable: false, resolve: (entry) => entry.path }),
      type: t.exposeString('type', { nullable: false }),
    }),
  });
  const promoted = promotedPathType(builder);
  builder.objectFields('Resource', (t) => ({
    fields: t.field({
      type: [field],
      nullable: { list: false, items: false },
      description: 'Every leaf of the kind, for orders, columns and value(path:).',
      resolve: async ({ kind, described }) => leavesOf(kind?.tree ?? (await described()).tree),
    }),
    jsonSchema: t.field({
      type: 'JSON',
      description:
        'The JSON Schema (draft-07) of manifests of the kind, for editors: what the API server takes and refuses. It is read as the caller. Null for abstract kinds.',
      extensions: facts({ cost: { own: 200 } }),
      resolve: async (source, _args, { portolan }) =>
        manifestSchemaOf(portolan, source.state.cluster, await described(source)),
    }),
    promoted: t.field({
      type: [promoted],
      nullable: { list: false, items: false },
      description: 'Paths that are typed, indexed columns.',
      resolve: ({ layout }) => [...(layout?.slots ?? [])],
    }),
    diagnostics: t.stringList({
      nullable: { list: false, items: false },
      description:
        'Problems with the names, the schema and the configuration of this resource. The objects are served as far as possible.',
      resolve: (source, _args, { portolan }) => diagnosticsOf(source, portolan),
    }),
  }));
}

function promotedPathType(builder: Builder) {
  const reason = builder.enumType('PromotionReason', {
    description: 'The reasons why a path has an indexed column.',
    values: reasons,
  });
  return builder.objectRef<PromotedSlot>('PromotedPath').implement({
    description: 'A path that has an indexed column, so that filters and orders on it are fast.',
    fields: (t) => ({
      path: t.field({ type: 'Path', nullable: false, resolve: (slot) => slot.path }),
      type: t.exposeString('type', { nullable: false }),
      ready: t.exposeBoolean('ready', {
        nullable: false,
        description: 'False while the column is being filled from objects that were there before it.',
      }),
      reason: t.field({ type: reason, nullable: false, resolve: (slot) => slot.reason }),
    }),
  });
}

/** The messages about a resource that the caller may read. */
async function diagnosticsOf(source: ResourceSource, operation: OperationContext['portolan']): Promise<string[]> {
  const { diagnostics, resource, tree } = await source.described();
  const { catalog, diagnostics: unbuilt } = operation.generation;
  const { problems } = configuredPaths(operation.source.diagnosis.promote, resource, tree);
  const { key, cluster, collections } = source.state;
  const own = catalog.diagnostics.filter(
    (each) => each.resource === key && each.cluster === cluster && each.isDescribed !== true,
  );
  const found = [...diagnostics, ...own, ...unbuilt.filter((each) => each.resource === key)];
  const messages = new Set(found.map(({ message }) => message));
  // A caller who does not see all objects has no collections, and must not read the names of the others.
  const isPartial = key === abstractKindObjectsKey && collections.length === 0;
  return [...messages, ...problems].filter((each) => !isPartial || !each.startsWith(ofKindObjects));
}

/** Arguments of `resources` and of its subscription. */
interface ResourceArguments {
  readonly kinds?: readonly string[] | null | undefined;
  readonly clusters?: readonly string[] | null | undefined;
}

/** @throws PortolanError BAD_USER_INPUT for words that name no kind. */
export function resourceSelection(
  { generation }: Operation,
  { kinds, clusters }: ResourceArguments,
): { isWanted(resource: Pick<ResourceProgress, 'cluster' | 'key'>): boolean } {
  const wanted = kinds == null ? null : new Set(generation.kinds(kinds).map(({ key }) => key));
  return {
    isWanted: ({ cluster, key }) => (wanted?.has(key) ?? true) && (clusters?.includes(cluster) ?? true),
  };
}

/** As one store has them: by cluster and key. The resources of a cluster are in one cell, in their order. */
export function sortedResources(resources: readonly ResourceSource[]): ResourceSource[] {
  return resources.toSorted(({ state: { cluster: a } }, { state: { cluster: b } }) => (a === b ? 0 : a < b ? -1 : 1));
}

export function resourceSource(operation: Operation, state: ResourceProgress, view: View): ResourceSource {
  return {
    operation,
    state,
    described: () => describedOf(operation, state),
    kind: operation.generation.kind(state.key),
    layout: view.get(state.key),
  };
}

/** The description of a resource. One statement reads all descriptions that an answer needs. */
async function describedOf(operation: Operation, { cluster, key }: ResourceProgress): Promise<DescribedResource> {
  const loader = operation.loader(
    'described resources',
    () =>
      new DataLoader((wanted: readonly Wanted[]) => readDescriptions(operation, wanted), {
        cacheKeyFn: (resource) => `${resource.cluster} ${resource.key}`,
      }),
  );
  return loader.load({ cluster, key });
}

type Wanted = Pick<ResourceProgress, 'cluster' | 'key'>;

async function readDescriptions(
  operation: Operation,
  wanted: readonly Wanted[],
): Promise<readonly DescribedResource[]> {
  const { rows, texts } = await operation.read(async (lease) => {
    const rows = await readDescriptionRows(lease, wanted);
    return { rows, texts: await readDescriptionTexts(lease, rows) };
  });
  const described = new Map<string, DescribedResource>();
  await runSliced(
    (function* (): Steps<void> {
      for (const { id, cluster, key } of rows) {
        yield;
        described.set(`${cluster} ${key}`, JSON.parse(must(texts.get(id), 'the text of a description')));
      }
    })(),
  );
  return wanted.map(({ cluster, key }) => must(described.get(`${cluster} ${key}`), `a description of ${key}`));
}

/** Every leaf of a tree with its path; a recursive shape is followed once. */
export function leavesOf(tree: FieldTree): PathEntry[] {
  const found: PathEntry[] = [];
  const visit = (type: FieldType, steps: readonly PathStep[], above: readonly string[]): void => {
    if (steps.length > maxDepth) return;
    switch (type.kind) {
      case 'leaf':
        found.push({ path: pathOf(steps).text, type: type.type });
        return;
      case 'stringMap':
        found.push({ path: pathOf(steps).text, type: 'StringMap' });
        return;
      case 'map':
        found.push({ path: pathOf(steps).text, type: scalarOfMap(type) });
        return;
      case 'list':
        visit(type.of, [...steps, { kind: 'each' }], above);
        return;
      case 'object': {
        const shape = tree.shapes[type.shape];
        if (shape === undefined || above.includes(shape.key)) return;
        for (const field of shape.fields) {
          visit(field.type, [...steps, { kind: 'field', name: field.name }], [...above, shape.key]);
        }
      }
    }
  };
  visit({ kind: 'object', shape: tree.root }, [], []);
  return found;
}
