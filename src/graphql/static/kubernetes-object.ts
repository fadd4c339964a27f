/**
 * The interface of all objects, and the resolvers of its fields, which every kind's type shares.
 */
import { getNamedType } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import { resolvePath } from '../../catalog/paths/resolve-path.ts';
import { leafValueAt, valuesAt } from '../../catalog/paths/value-at.ts';
import { servedUid, servedVersion } from '../../catalog/resources/synthetic-identity.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import type { FieldType, LeafType } from '../../catalog/tree/field-tree.ts';
import { isDerived, parsePath } from '../../catalog/tree/path.ts';
import {
  type DisplayedField,
  displayedInteger,
  displayedMember,
  recordOf,
  shown,
} from '../../catalog/values/displayed-value.ts';
import { valueOfKey } from '../../catalog/values/key-value.ts';
import { orderKey } from '../../catalog/values/values.ts';
import { defaultPageSize } from '../../query/plan/check-page.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import { ObjectSource } from '../../reads/lists/object-source.ts';
import { batchedObjects, nullIfForbidden } from '../../reads/lists/objects-by-identity.ts';
import { leafIn, notCast, refuseHealth } from '../../reads/paths/kinds-path.ts';
import { defaultOwners, loadOwned, loadOwners } from '../../reads/related/owner-relation.ts';
import type { Builder } from '../builder/builder.ts';
import type { OperationContext } from '../generation/generation.ts';
import { at, below, facts, type PlainField, wholeBody } from '../selection/field-facts.ts';
import { fieldPlace, projectionOfObject, selectedNodes } from '../selection/list-selection.ts';
import { misfitErrors } from '../selection/misfit-errors.ts';
import { viewerCan } from './access.ts';
import { addHealth, type HealthStatusRef } from './object-health.ts';
import { yamlOf } from './object-yaml.ts';
import { type Cell, cellsOf } from './printer-cells.ts';

type Json = Readonly<Record<string, unknown>>;

function ownerReferenceType(builder: Builder) {
  return builder.objectRef<Json>('OwnerReference').implement({
    description: 'A reference to the object that owns this one.',
    fields: (t) => ({
      apiVersion: t.string(member('apiVersion')),
      kind: t.string(member('kind')),
      name: t.string(member('name')),
      uid: t.string(member('uid')),
      controller: t.boolean({ extensions: flag('controller'), resolve: (source) => source['controller'] === true }),
      blockOwnerDeletion: t.boolean({
        extensions: flag('blockOwnerDeletion'),
        resolve: (source) => source['blockOwnerDeletion'] === true,
      }),
    }),
  });
}

function addObjectMeta(builder: Builder): void {
  const ownerReference = ownerReferenceType(builder);
  builder.objectType('ObjectMeta', {
    description: 'Standard metadata of an object.',
    fields: (t) => {
      const map = (source: ObjectSource, name: string): Json => recordOf(source.metadata[name]) ?? {};
      return {
        name: t.string({ nullable: false, extensions: identity('name'), resolve: (source) => source.row.name }),
        namespace: t.string({ extensions: identity('namespace'), resolve: (source) => source.row.namespace }),
        uid: t.string({ extensions: identity('uid'), resolve: (source) => servedUid(source.row.uid) }),
        resourceVersion: t.string({
          extensions: identity('resourceVersion'),
          resolve: (source) => servedVersion(source.row.resourceVersion),
        }),
        generateName: t.string(metaMember('generateName')),
        generation: t.field({ type: 'Int64', ...metaMember('generation', leaf('Int64')) }),
        creationTimestamp: t.field({ type: 'DateTime', ...metaMember('creationTimestamp', leaf('DateTime')) }),
        deletionTimestamp: t.field({ type: 'DateTime', ...metaMember('deletionTimestamp', leaf('DateTime')) }),
        deletionGracePeriodSeconds: t.field({
          type: 'Int64',
          ...metaMember('deletionGracePeriodSeconds', leaf('Int64')),
        }),
        labels: t.field({ type: 'StringMap', ...metaMember('labels', { kind: 'stringMap' }) }),
        annotations: t.field({
          type: 'StringMap',
          description: 'Without kubectl.kubernetes.io/last-applied-configuration.',
          ...metaMember('annotations', { kind: 'stringMap' }),
        }),
        label: t.string({
          description: 'The value of one label.',
          args: { key: t.arg.string({ required: true }) },
          extensions: facts({ need: at('labels'), plain: { is: 'entry', of: 'labels' } }),
          resolve: (source, { key }, context) => entry(map(source, 'labels'), key, context),
        }),
        annotation: t.string({
          description: 'The value of one annotation.',
          args: { key: t.arg.string({ required: true }) },
          extensions: facts({ need: at('annotations'), plain: { is: 'entry', of: 'annotations' } }),
          resolve: (source, { key }, context) => entry(map(source, 'annotations'), key, context),
        }),
        finalizers: t.stringList({
          nullable: { list: true, items: false },
          ...metaMember<string[] | null>('finalizers', listed(leaf('String'))),
        }),
        ownerReferences: t.field({
          type: [ownerReference],
          nullable: { list: true, items: false },
          ...metaMember<Json[] | null>('ownerReferences', listed({ kind: 'object', shape: '' })),
        }),
      };
    },
  });
}

function columnType(builder: Builder) {
  return builder.objectRef<Cell>('Column').implement({
    description: 'One cell of what `kubectl get` shows of an object.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false }),
      type: t.exposeString('type', {
        nullable: false,
        description:
          'Of the value: string, integer, number, boolean or date. A date is a time, where kubectl shows an age.',
      }),
      format: t.exposeString('format', {}),
      priority: t.exposeInt('priority', { nullable: false, description: '0 is shown always, more only with -o wide.' }),
      value: t.field({
        type: 'JSON',
        description: 'Null if there is none. An integer beyond 2^53 is text.',
        resolve: (cell) => cell.value,
      }),
    }),
  });
}

function conditionType(builder: Builder) {
  return builder.objectRef<Json>('Condition').implement({
    description: 'One condition of a status.',
    fields: (t) => ({
      type: t.string(member('type')),
      status: t.string({
        description: 'True, False or Unknown.',
        ...member('status'),
      }),
      reason: t.string(member('reason')),
      message: t.string(member('message')),
      lastTransitionTime: t.field({ type: 'DateTime', ...member('lastTransitionTime', leaf('DateTime')) }),
      observedGeneration: t.field({ type: 'Int64', ...member('observedGeneration', leaf('Int64')) }),
    }),
  });
}

/** Adds the interface and the types below it. Returns the enum of health statuses. */
export function addKubernetesObject(builder: Builder): HealthStatusRef {
  addObjectMeta(builder);
  builder.interfaceType('KubernetesObject', {
    description: 'The fields that every object of every kind has.',
    resolveType: (source) => source.kind.names.type,
    fields: (t) => ({
      id: t.id({
        nullable: false,
        description: 'Opaque. A recreated object has the same id and another uid.',
        extensions: identity('id'),
        resolve: ({ row }) => encodeObjectId(row),
      }),
      cluster: t.string({ nullable: false, extensions: identity('cluster'), resolve: ({ row }) => row.cluster }),
      apiVersion: t.string({
        nullable: false,
        extensions: facts({ need: at('apiVersion'), plain: { is: 'apiVersion' } }),
        resolve: (source) => source.apiVersion,
      }),
      kind: t.string({
        nullable: false,
        extensions: facts({ plain: { is: 'kind' } }),
        resolve: ({ kind }) => kind.resource.kind,
      }),
      metadata: t.field({
        type: 'ObjectMeta',
        nullable: false,
        extensions: facts({ need: below('metadata'), plain: { is: 'metadata' } }),
        resolve: (source) => source,
      }),
    }),
  });
  const healthStatus = addHealth(builder);
  addContent(builder);
  addRelatives(builder);
  return healthStatus;
}

/** The fields with what the body has. */
function addContent(builder: Builder): void {
  const column = columnType(builder);
  const condition = conditionType(builder);
  builder.interfaceFields('KubernetesObject', (t) => ({
    raw: t.field({
      type: 'JSON',
      description: 'The object as stored, without managedFields and withheld data.',
      extensions: facts({ need: wholeBody, cost: { own: 50 } }),
      resolve: (source) => source.whole(),
    }),
    yaml: t.string({
      description: 'The object as YAML, as `raw` has it.',
      extensions: facts({ need: wholeBody, cost: { own: 50 } }),
      resolve: (source, _args, context) => yamlOf(source, context),
    }),
    columns: t.field({
      type: [column],
      description: 'The columns that `kubectl get` shows.',
      nullable: { list: true, items: false },
      extensions: facts({ need: wholeBody, cost: { own: 5 } }),
      resolve: ({ kind, body }) => cellsOf(kind, body),
    }),
    condition: t.field({
      type: condition,
      description: 'The condition of this type in status.conditions.',
      args: { type: t.arg.string({ required: true }) },
      extensions: facts({ need: at('status', 'conditions'), plain: { is: 'condition' } }),
      resolve: ({ body }, { type }, context) => conditionOf(body, type, context),
    }),
    value: t.field({
      type: 'JSON',
      description: 'The value at a path; a list if the path goes through lists.',
      args: {
        path: t.arg({ type: 'Path', required: true }),
        as: t.arg({
          type: 'ValueCast' as never,
          description: 'Reads the value as this type.',
        }),
      },
      extensions: facts({ need: wholeBody }),
      resolve: (source, args) => valueAt(source, args.path, (args.as as ValueCast | null | undefined) ?? undefined),
    }),
    redacted: t.field({
      type: ['Path'],
      description: 'Paths whose values Portolan withholds and never stores.',
      nullable: { list: true, items: false },
      extensions: facts({ plain: { is: 'redacted' } }),
      resolve: ({ kind }) => [...kind.redacted],
    }),
  }));
}

/** The condition of this type in the status of a body. */
function conditionOf(body: Json, type: string, context: OperationContext): Json | null {
  const value = recordOf(body['status'])?.['conditions'] ?? [];
  if (!Array.isArray(value))
    return misfitErrors(context)({ value, type: listed({ kind: 'object', shape: '' }) }) as null;
  return value.map(recordOf).find((each) => each?.['type'] === type) ?? null;
}

/** @throws PortolanError BAD_USER_INPUT for a path or a cast that does not fit the kind. */
function valueAt({ kind, row, body }: ObjectSource, text: string, cast: ValueCast | undefined): unknown {
  const path = parsePath(text);
  refuseHealth(path, text);
  const [first] = path.steps;
  if (cast !== undefined && isDerived(path)) throw notCast(cast, text);
  if (first?.kind === 'health') return row.health[first.name];
  if (first?.kind === 'rollUp') {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${JSON.stringify(text)} depends on other objects; ask for health(rollUp: OWNED).`,
    );
  }
  const resolved = resolvePath(kind.tree, path, undefined, cast);
  const leaf = resolved.type.kind === 'leaf' ? resolved.type.type : 'JSON';
  if (cast !== undefined) leafIn(`as: ${cast}`, resolved);
  const shown = (value: unknown): unknown =>
    cast === undefined ? displayedInteger(leaf, value) : valueOfKey(leaf, orderKey(leaf, value));
  return resolved.many ? valuesAt(body, path).map(shown) : (shown(leafValueAt(body, path, leaf)) ?? null);
}

/** What the caller may do, and the fields with other objects. */
function addRelatives(builder: Builder): void {
  builder.interfaceFields('KubernetesObject', (t) => ({
    viewerCan: t.boolean({
      description: 'May the caller do this? Null if it is not known.',
      args: {
        verb: t.arg.string({ required: true, description: 'As in rules of roles: update, patch, delete, get.' }),
        subresource: t.arg.string({ defaultValue: '', description: 'Such as scale or log.' }),
      },
      extensions: facts({ cost: { own: 5 } }),
      resolve: (source, { verb, subresource }) => viewerCan(source, verb, subresource ?? ''),
    }),
    abstractObjects: t.field({
      type: ['KubernetesObject'],
      description: 'The objects of abstract kinds that are made from this one.',
      nullable: { list: true, items: false },
      extensions: facts({ cost: { own: 5 } }),
      resolve: async ({ operation, kind, row }, _args, _context, info) => {
        const projection = projectionOfObject(info, getNamedType(info.returnType));
        const objects = batchedObjects(operation, fieldPlace(info), projection);
        // Of the two parts of a member, a caller may see one at most.
        const parts = operation.generation.derived(kind, row).map((each) => objects.load(each).catch(nullIfForbidden));
        return (await Promise.all(parts)).filter((each) => each instanceof ObjectSource);
      },
    }),
    owners: t.field({
      type: 'KubernetesObjectConnection',
      description: 'The objects that metadata.ownerReferences names and that exist.',
      args: {
        first: t.arg.int({ defaultValue: defaultOwners, description: 'Objects on a page.' }),
        after: t.arg.string({}),
      },
      extensions: facts({ cost: { repeats: 'page', pageSize: defaultOwners } }),
      resolve: (source, { first, after }, { portolan }, info) =>
        loadOwners(source, { first: first ?? defaultOwners, after: after ?? null }, selectedNodes(portolan, info)),
    }),
    owned: t.field({
      type: 'KubernetesObjectConnection',
      description: 'The objects whose metadata.ownerReferences name this one.',
      args: {
        kinds: t.arg.stringList({ description: 'Only these kinds; as in `objects(kinds:)`.' }),
        first: t.arg.int({ defaultValue: defaultPageSize, description: 'Objects on a page.' }),
        after: t.arg.string({}),
      },
      extensions: facts({ cost: { repeats: 'page' } }),
      resolve: (source, { kinds, first, after }, { portolan }, info) =>
        loadOwned(
          source,
          { kinds: kinds ?? null, first: first ?? null, after: after ?? null },
          selectedNodes(portolan, info),
        ),
    }),
  }));
}

/** A member of the source, as its type displays it. @typeParam T what graphql-js reads of it; a misfit is an Error there */
function member<T = string | null>(name: string, type: FieldType = leaf('String')) {
  const field: DisplayedField = { name, type, items: 'nonNull' };
  return {
    extensions: facts({ need: at(name), plain: { is: 'member', ...field } }),
    resolve: (source: Json, _args: object, context: OperationContext): T =>
      displayedMember(field, source, misfitErrors(context)) as T,
  };
}

/** A member of the metadata of an object. */
function metaMember<T = string | null>(name: string, type?: FieldType) {
  const { extensions, resolve } = member<T>(name, type);
  return {
    extensions,
    resolve: ({ metadata }: ObjectSource, args: object, context: OperationContext): T =>
      resolve(metadata, args, context),
  };
}

/** The text of an entry of a map of texts. */
function entry(map: Json, key: string, context: OperationContext): string | null {
  return shown({ type: leaf('String'), items: 'nonNull' }, own(map, key), misfitErrors(context)) as string | null;
}

function flag(name: string): ReturnType<typeof facts> {
  return facts({ need: at(name), plain: { is: 'flag', name } });
}

function identity(of: Extract<PlainField, { is: 'identity' }>['of']): ReturnType<typeof facts> {
  return facts({ plain: { is: 'identity', of } });
}

function listed(of: FieldType): FieldType {
  return { kind: 'list', of };
}

function leaf(type: LeafType): FieldType {
  return { kind: 'leaf', type };
}

function own(map: Json, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
