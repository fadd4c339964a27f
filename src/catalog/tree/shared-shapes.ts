/**
 * The shapes that are equal in every kind of every cluster: metadata, owner references and conditions.
 *
 * They do not depend on the cluster's version. Clients write one fragment for them, so a kind from OpenAPI and a kind from a CRD
 * must have the same shape. `managedFields` is left out because it is not stored. `selfLink` is left out because API servers no
 * longer set it. `raw` has all that is stored.
 */
import type { Field, FieldType, LeafType, Shape } from './field-tree.ts';

const prefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/** Keys in every tree. */
export const objectMetaKey = `${prefix}ObjectMeta`;
export const embeddedObjectMetaKey = `${prefix}EmbeddedObjectMeta`;
export const conditionKey = `${prefix}Condition`;
const ownerReferenceKey = `${prefix}OwnerReference`;

const leaf = (type: LeafType): FieldType => ({ kind: 'leaf', type });

function field(name: string, type: FieldType | LeafType, description: string): Field {
  return { name, type: typeof type === 'string' ? leaf(type) : type, description };
}

const metaFields: readonly Field[] = [
  field('annotations', { kind: 'stringMap' }, 'Text that tools attach to the object; not searchable by selectors.'),
  field('creationTimestamp', 'DateTime', 'When the object was created.'),
  field('deletionGracePeriodSeconds', 'Int64', 'Seconds that the object is given to end, once it is being deleted.'),
  field('deletionTimestamp', 'DateTime', 'When the object is to be gone; set while it is being deleted.'),
  field('finalizers', { kind: 'list', of: leaf('String') }, 'What must be done before a deleted object goes away.'),
  field('generateName', 'String', 'The prefix from which the API server made the name.'),
  field('generation', 'Int64', 'Counts the changes of the desired state.'),
  field('labels', { kind: 'stringMap' }, 'Keys and values by which objects are selected.'),
  field('name', 'String', 'Unique within the kind and the namespace.'),
  field('namespace', 'String', 'Absent on cluster-scoped objects.'),
  field(
    'ownerReferences',
    { kind: 'list', of: { kind: 'object', shape: ownerReferenceKey } },
    'What this object depends on.',
  ),
  field('resourceVersion', 'String', 'Changes with every write.'),
  field('uid', 'String', 'Unique in the cluster and over time: a recreated object has another one.'),
];

const ownerFields: readonly Field[] = [
  field('apiVersion', 'String', 'Group and version of the owner.'),
  field('blockOwnerDeletion', 'Boolean', 'The owner cannot go away in the foreground before this object.'),
  field('controller', 'Boolean', 'The owner manages this object.'),
  field('kind', 'String', 'Kind of the owner.'),
  field('name', 'String', 'Name of the owner, in the same namespace or cluster-scoped.'),
  field('uid', 'String', 'The uid of the owner.'),
];

const conditionFields: readonly Field[] = [
  field('lastTransitionTime', 'DateTime', 'When the status last changed.'),
  field('message', 'String', 'Details for people.'),
  field('observedGeneration', 'Int64', 'The metadata.generation that the condition speaks of.'),
  field('reason', 'String', 'Why the status is what it is, in one word.'),
  field('status', 'String', 'True, False or Unknown.'),
  field('type', 'String', 'What the condition is about.'),
];

/** By key. The path is filled in where a tree is put together. */
export const sharedShapes: ReadonlyMap<string, Shape> = new Map(
  [
    { key: objectMetaKey, definition: 'ObjectMeta', fields: metaFields },
    { key: embeddedObjectMetaKey, definition: 'EmbeddedObjectMeta', fields: metaFields },
    { key: ownerReferenceKey, definition: 'OwnerReference', fields: ownerFields },
    { key: conditionKey, definition: 'Condition', fields: conditionFields },
  ].map((shape) => [shape.key, Object.freeze({ ...shape, path: [] })]),
);

/**
 * True for the fields of a condition: all names are those of Condition in Kubernetes' API conventions, and at least four are
 * present.
 */
export function isConditionShaped(fields: readonly Field[]): boolean {
  const found = new Set(fields.map(({ name }) => name));
  return (
    ['lastTransitionTime', 'status', 'type'].every((name) => found.has(name)) &&
    (found.has('reason') || found.has('message')) &&
    fields.every(({ name, type }) => {
      const known = conditionFields.find((candidate) => candidate.name === name)?.type;
      return known?.kind === 'leaf' && type.kind === 'leaf' && known.type === type.type;
    })
  );
}
