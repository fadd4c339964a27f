/** The shared shapes of meta/v1, in the notation of notation.ts. */
export const metaTable = `
group v1 package=io.k8s.apimachinery.pkg.apis.meta.v1
type ObjectMeta -- Metadata that every persisted object has.
  annotations: map string -- Unstructured notes that tools keep with the object; not searchable.
  creationTimestamp: Time -- When the server created the object; set by the server.
  deletionGracePeriodSeconds: int64 -- Seconds the object may take to end gracefully; only with deletionTimestamp.
  deletionTimestamp: Time -- When the object will be gone, once its finalizers are empty; set by the server on delete.
  finalizers: string[] list=set patch=merge -- Each entry names a component that must act before the object is removed.
  generateName: string -- A prefix from which the server makes a unique name, used only without name.
  generation: int64 -- A number that grows with every change of the desired state.
  labels: map string -- Keys and values by which objects are organised and selected.
  managedFields: ManagedFieldsEntry[] -- Which manager set which fields.
  name: string -- Unique within a namespace; cannot be changed.
  namespace: string -- The space within which names are unique; empty for cluster-wide objects.
  ownerReferences: OwnerReference[] merge=uid -- Objects this one depends on; it is collected when all of them are gone.
  resourceVersion: string -- An opaque value that changes with every change of the object.
  selfLink: string -- No longer set.
  uid: string -- Unique in time and space; set by the server.
type OwnerReference map=atomic -- An object that owns this one, in the same namespace or cluster-wide.
  apiVersion!: string -- The API version of the owner.
  blockOwnerDeletion: boolean -- Whether a foreground deletion of the owner waits for this object.
  controller: boolean -- Whether the owner is the managing controller.
  kind!: string -- The kind of the owner.
  name!: string -- The name of the owner.
  uid!: string -- The uid of the owner.
type ManagedFieldsEntry -- The fields one manager set in one way.
  apiVersion: string -- The version of the resource the fields apply to.
  fieldsType: string -- The format of fieldsV1, always FieldsV1.
  fieldsV1: FieldsV1 -- The set of fields.
  manager: string -- Who set the fields.
  operation: string -- Apply or Update.
  subresource: string -- The subresource through which the object was changed, if any.
  time: Time -- When the entry was added or changed.
type ListMeta -- Metadata of a list.
  continue: string -- A token for the next page; empty on the last one.
  remainingItemCount: int64 -- How many items follow this page, if the server counted them.
  resourceVersion: string -- The version of the collection this list shows.
  selfLink: string -- No longer set.
type LabelSelector map=atomic -- A query over labels; both parts must match. Empty matches everything.
  matchExpressions: LabelSelectorRequirement[] -- Requirements, all of which must hold.
  matchLabels: map string -- Keys and values that must all be equal.
type LabelSelectorRequirement -- A key, an operator and values.
  key!: string -- The label the requirement is about.
  operator!: string -- In, NotIn, Exists or DoesNotExist.
  values: string[] -- Values for In and NotIn; empty otherwise.
type Condition -- One aspect of the current state of a resource.
  lastTransitionTime!: Time -- When the status last changed from one value to another.
  message!: string -- A message for people about the last transition.
  observedGeneration: int64 -- The generation the condition was set from.
  reason!: string -- A word in CamelCase for the last transition.
  status!: string -- True, False or Unknown.
  type!: string -- The aspect, in CamelCase.
type DeleteOptions -- How to delete an object.
  apiVersion: string -- The version of the schema that this object follows.
  dryRun: string[] -- All: nothing is persisted.
  gracePeriodSeconds: int64 -- Seconds before the object is removed; zero means at once.
  kind: string -- The name of the kind of this object.
  preconditions: Preconditions -- What must hold before the deletion.
  propagationPolicy: string -- Orphan, Background or Foreground.
type Preconditions -- What must hold before an update or a deletion.
  resourceVersion: string -- The version the object must have.
  uid: string -- The uid the object must have.
type Status -- The outcome of a call that returns nothing else.
  apiVersion: string -- The version of the schema that this object follows.
  code: int32 -- The suggested HTTP code.
  details: StatusDetails -- More about the reason.
  kind: string -- The name of the kind of this object.
  message: string -- What happened, for people.
  metadata: ListMeta -- Standard metadata of a list.
  reason: string -- What happened, for machines.
  status: string -- Success or Failure.
type StatusDetails -- More about the reason of a Status.
  causes: StatusCause[] -- Each thing that was wrong.
  group: string -- The group of the resource.
  kind: string -- The kind or resource.
  name: string -- The name of the object.
  retryAfterSeconds: int32 -- Seconds after which to try again.
  uid: string -- The uid of the object.
type StatusCause -- One thing that was wrong.
  field: string -- The field at fault.
  message: string -- What is wrong, for people.
  reason: string -- What is wrong, for machines.
`;
