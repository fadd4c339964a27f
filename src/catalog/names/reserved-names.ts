/** The names that Portolan or kube-apiserver own. The lists are closed, so a CRD can never change the name of another kind. */

/** kube-apiserver's own groups: their kinds have bare names. */
const ownGroups: ReadonlySet<string> = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'extensions',
  'policy',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
]);

/** Whether kube-apiserver itself serves this API group. */
export function isOwnGroup(group: string): boolean {
  return ownGroups.has(group);
}

/**
 * Kinds of those groups whose short name a definition inside another kind may share. Example: a StatefulSet's claim templates are
 * PersistentVolumeClaims. The definition is named `Embedded…` whether or not a cluster serves the kind.
 */
export const builtInKinds: ReadonlySet<string> = new Set(
  `APIService Binding CSIDriver CSINode CSIStorageCapacity CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle
  ComponentStatus ConfigMap ControllerRevision CronJob CustomResourceDefinition DaemonSet Deployment DeviceClass DeviceTaintRule
  EndpointSlice Endpoints Event Eviction FlowSchema HorizontalPodAutoscaler IPAddress Ingress IngressClass Job Lease LeaseCandidate
  LimitRange MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration Namespace NetworkPolicy Node
  PersistentVolume PersistentVolumeClaim Pod PodCertificateRequest PodDisruptionBudget PodSchedulingContext PodSecurityPolicy
  PodTemplate PriorityClass PriorityLevelConfiguration ReplicaSet ReplicationController ResourceClaim ResourceClaimTemplate
  ResourceQuota ResourceSlice Role RoleBinding RuntimeClass Scale Secret Service ServiceAccount ServiceCIDR StatefulSet Status
  StorageClass StorageVersion StorageVersionMigration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
  ValidatingWebhookConfiguration VolumeAttachment VolumeAttributesClass Workload`.split(/\s+/),
);

/** Types with the same definition in every kind. Their shapes come from shared-shapes.ts, never from a cluster. */
export const sharedTypes: ReadonlySet<string> = new Set([
  'Condition',
  'EmbeddedObjectMeta',
  'ObjectMeta',
  'OwnerReference',
]);

/** Type names of the static schema, of GraphQL itself, and reserved for future use. */
export const staticTypes: ReadonlySet<string> = new Set(
  `Aggregate ApplyInput ApplySetInput ApplyPayload BatchPayload Boolean BooleanFilter ChangePhase ChangeType Cluster Column ColumnValue
  CompareFilter Condition ConditionFilter ConflictingField CordonInput CreateInput DateTime DateTimeFilter DeleteInput DeleteSetInput
  DeletePayload Denied DeniedBy Duration DurationFilter EmbeddedObjectMeta EmbeddedObjectMetaFilter EditConflict EditInput EvictInput ExactNumber
  Facet FacetValue FieldChange FieldConflict FieldManager Float FloatFilter Graph GraphEdge Group GroupAggregate
  GroupCondition GroupMeasure GroupOrder GroupValue Health HealthFilter HealthSource HealthSourceFilter HealthStatus
  HealthStatusFilter History HistoryEntry HistoryReach ID IDFilter IngestPhase Int Int64 Int64Filter IntFilter IntOrString
  IntOrStringFilter InvalidField JSON JSONFilter JSONObject JSONObjectFilter KubernetesObject KubernetesObjectChange
  KubernetesObjectChanges KubernetesObjectConnection KubernetesObjectEdge KubernetesObjectFilter
  KubernetesObject_ListFilter KubernetesObject_OneFilter LiveHint LogLine LogMessage
  LogNotice LogNoticeType LogsFrom LogsQuery
  ManifestInput Mutation MutationInput NullsPosition ObjectChanges ObjectFilter ObjectMeta ObjectMetaFilter ObjectOrder
  OnError OrderDirection OwnerReference OwnerReferenceFilter PageInfo PatchInput PatchPayload PatchType Path PathFilter
  PathValue PromotedPath PromotionReason Propagation Quantity QuantityFilter QuantityMap Query RecordedChange
  RecordedChangeConnection RecordedChangeEdge RecordedChangeType Reference ReferenceConnection ReferenceEdge ReferenceState RelationOrigin
  RelationWay RemovalReason Resource ResourceChange ResourceChanges ResourceCollection ResourceCount ResourceCountGroup
  ResourceField ResourceRelation ResourceRestart RestartInput RevertInput RevertSetInput RollbackInput RollUp ScaleInput Search SearchConnection SearchEdge SetInput SetMember
  SetMemberState StaleObject StateInput
  String StringFilter StringMap StringMapFilter Subscription TargetInput TargetQuery TargetsInput TreeNode TryLater
  UsedByFilter ValueCast Viewer ViewerNamespace VisibleScope Warning WhoCan Write WriteError WriteErrorCode WriteFailure WriteItem WriteOptions
  WriteOrder WritePayload WriteProgress WriteResult WriteTarget`.split(/\s+/),
);

/** Root fields of the static schema (queries and subscriptions), and root fields reserved for future use. */
export const staticRoots: ReadonlySet<string> = new Set(
  `apply can changes cluster clusters create danglingReferences delete generation history kinds log logs object objectChanges
  objects objectsById objectsChanges patch portolan resource resourceChanges resources revision search sets version viewer
  viewerCan whoCan writes`.split(/\s+/),
);

/**
 * Fields of every kind's own type that belong to the gateway, now or later. A data field of the same name gets the suffix "_".
 * Names are reserved before they are used, because a later reservation would rename data fields.
 */
export const injectedFields: ReadonlySet<string> = new Set([
  'abstractObjects',
  'id',
  'cluster',
  'columns',
  'condition',
  'events',
  'graph',
  'health',
  'history',
  'memberOf',
  'owned',
  'owners',
  'raw',
  'redacted',
  'references',
  'tree',
  'usedBy',
  'value',
  'viewerCan',
  'yaml',
]);

/** Fields of every filter input. A data field of the same name gets the suffix "_" there. A relation never has one of these names. */
export const filterFields: ReadonlySet<string> = new Set(
  'and clusters compare condition fieldSelector health ids labelSelector metadata namespaces not or path search usedBy'.split(
    ' ',
  ),
);

/** The kind of sets for kubectl, which Portolan itself serves to API servers (src/aggregate), in any group. */
export const servedSets = { kind: 'ShadowResource', plural: 'shadowresources' } as const;
