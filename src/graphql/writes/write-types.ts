/** The types of the outcome of a mutation: `Write`, and `WriteItem` for each object. */
import { getNamedType } from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import { apiVersionOf, resourceKey } from '../../catalog/resources/resource.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import { batchedObjects, nullIfForbidden } from '../../reads/lists/objects-by-identity.ts';
import { pathOfChange, type ValueChange } from '../../writes/diff/field-changes.ts';
import { ownersOf } from '../../writes/diff/field-owners.ts';
import { isWithheld, visible } from '../../writes/diff/withheld-values.ts';
import type { Json } from '../../writes/request/write-intent.ts';
import type { WriteResult } from '../../writes/run/write-item.ts';
import type { ReportedItem } from '../../writes/session/reported-item.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import type { Builder } from '../builder/builder.ts';
import { fieldPlace, projectionOfObject } from '../selection/list-selection.ts';
import { writeErrorTypes } from './write-error-types.ts';

/** A change of one item. The owners are those of the object before. */
interface ItemChange {
  readonly item: ReportedItem;
  readonly change: ValueChange;
}

/** Changes of an item that are shown. A longer list says so in the warnings. */
const mostChanges = 1000;

/** Adds the types. */
export function addWriteTypes(builder: Builder) {
  const item = writeItemType(builder);
  const write = builder.objectRef<WriteReport>('Write').implement({
    description: 'What a mutation did, or what a dry run found: one item for each object.',
    fields: (t) => ({
      planId: t.exposeID('planId', {
        description:
          'Of a dry run: `options: { plan: … }` with the same arguments does exactly what was planned, or refuses.',
      }),
      token: t.exposeString('token', { description: 'The versions that were written, for a read at another replica.' }),
      complete: t.exposeBoolean('complete', { nullable: false, description: 'True if no item has an error.' }),
      items: t.field({
        type: [item],
        nullable: { list: false, items: false },
        description: 'In the order of the documents or targets.',
        resolve: ({ items }) => [...items],
      }),
    }),
  });
  return { write, item };
}

function writeItemType(builder: Builder) {
  const results: Record<WriteResult, { description: string }> = {
    CREATED: { description: 'The object is new.' },
    CHANGED: { description: 'Fields of the object changed.' },
    UNCHANGED: { description: 'The object was already so.' },
    DELETED: { description: 'The API server accepted the deletion. Finalizers may take time.' },
    EVICTED: { description: 'The API server accepted the eviction.' },
    REVERTED: { description: 'It was written, and undone after another item failed.' },
    NONE: { description: 'Nothing was done; `errors` say why.' },
  };
  const result = builder.enumType('WriteResult', {
    description: 'What was done with an object, or would be by a plan.',
    values: results,
  });
  const target = writeTargetType(builder);
  const change = fieldChangeType(builder);
  const error = writeErrorTypes(builder);
  return builder.objectRef<ReportedItem>('WriteItem').implement({
    description: 'The outcome for one object.',
    fields: (t) => ({
      target: t.field({ type: target, nullable: false, resolve: (item) => item }),
      result: t.field({ type: result, nullable: false, resolve: (item) => item.result }),
      before: t.field({
        type: 'JSON',
        description:
          'The object before, without managedFields and redacted values; of the subresource for a scale. Of plans.',
        resolve: ({ before }) => shownObject(before),
      }),
      after: t.field({
        type: 'JSON',
        description: 'What the API server answered, or would: the object, or its subresource.',
        resolve: ({ after }) => shownObject(after),
      }),
      object: t.field({
        type: 'KubernetesObject',
        description:
          'The object as the tables have it now. Null where they have none, and where the caller may not get it.',
        resolve: (item, _args, { portolan }, info) => {
          if (item.identity === null) return null;
          const projection = projectionOfObject(info, getNamedType(info.returnType));
          return batchedObjects(portolan, fieldPlace(info), projection)
            .load(item.identity)
            .then((found) => {
              if (found instanceof PortolanError) throw found;
              return found;
            })
            .catch(nullIfForbidden);
        },
      }),
      changes: t.field({
        type: [change],
        nullable: { list: false, items: false },
        description: `Of plans: the fields that change, sorted by path; the first ${mostChanges}. A plan that is carried out has them where the object had changed since.`,
        resolve: (item) => item.changes.slice(0, mostChanges).map((each) => ({ item, change: each })),
      }),
      warnings: t.stringList({
        nullable: { list: false, items: false },
        description: 'The warnings of the API server, and what else should be known.',
        resolve: ({ warnings }) => [...warnings],
      }),
      errors: t.field({ type: [error], nullable: { list: false, items: false }, resolve: ({ errors }) => [...errors] }),
      seen: t.exposeBoolean('seen', {
        nullable: false,
        description: 'Do the tables show the write? False also for a kind that is not ingested, and for plans.',
      }),
    }),
  });
}

function writeTargetType(builder: Builder) {
  return builder.objectRef<ReportedItem>('WriteTarget').implement({
    description: 'The object that is written.',
    fields: (t) => ({
      id: t.id({
        description: 'Null while the API server has not made the name.',
        resolve: ({ identity }) => (identity === null ? null : encodeObjectId(identity)),
      }),
      cluster: t.string({ nullable: false, resolve: ({ intent }) => intent.target.cluster }),
      apiVersion: t.string({ nullable: false, resolve: ({ intent }) => apiVersionOf(intent.target.resource) }),
      kind: t.string({ nullable: false, resolve: ({ intent }) => intent.target.resource.kind }),
      resource: t.string({
        description: 'plural.group; null if the cluster serves no such kind.',
        resolve: ({ intent }) => (intent.target.resource.plural === '' ? null : resourceKey(intent.target.resource)),
      }),
      namespace: t.string({ resolve: ({ intent }) => intent.target.namespace }),
      name: t.string({ resolve: ({ intent, identity }) => identity?.name ?? intent.target.name }),
      place: t.string({ description: 'Where `docs` has it.', resolve: ({ intent }) => intent.target.place }),
    }),
  });
}

function fieldChangeType(builder: Builder) {
  return builder.objectRef<ItemChange>('FieldChange').implement({
    description: 'A field that differs.',
    fields: (t) => ({
      path: t.field({ type: 'Path', nullable: false, resolve: ({ change }) => pathOfChange(change.steps) }),
      before: t.field({
        type: 'JSON',
        description: 'Null if there is no value.',
        resolve: ({ change }) => shownValue(change.before),
      }),
      after: t.field({
        type: 'JSON',
        description: 'Null if there will be no value.',
        resolve: ({ change }) => shownValue(change.after),
      }),
      isWithheld: t.boolean({
        nullable: false,
        description: 'Is something of both values not shown, because the path is redacted?',
        resolve: ({ change: { before, after } }) => isWithheld(before) || isWithheld(after),
      }),
      managers: t.stringList({
        nullable: { list: false, items: false },
        description: 'The managers that own the field now, by metadata.managedFields.',
        resolve: ({ item: { live }, change }) => [...ownersOf(live, change.steps)],
      }),
    }),
  });
}

function shownValue(value: unknown): unknown {
  return visible(value) ?? null;
}

/** Without managedFields. */
function shownObject(object: Json | null): unknown {
  if (object === null) return null;
  const shown = visible(object) as Record<string, unknown>;
  const metadata = shown['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return shown;
  const { managedFields: _managers, ...rest } = metadata as Record<string, unknown>;
  return { ...shown, metadata: rest };
}
