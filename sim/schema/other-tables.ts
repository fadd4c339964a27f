/** The smaller groups, in the notation of notation.ts. */
export const otherTables = [
  `
group events.k8s.io/v1 package=io.k8s.api.events.v1
kind Event events scope=ns short=ev -- Something that happened.
  action: string -- What was done.
  deprecatedCount: int32 -- How often it happened.
  deprecatedFirstTimestamp: Time -- When it was first seen.
  deprecatedLastTimestamp: Time -- When it was last seen.
  deprecatedSource: EventSource -- Who reports.
  eventTime!: MicroTime -- When it was first seen.
  note: string -- What happened, for people.
  reason: string -- Why it happened, in CamelCase.
  regarding: ObjectReference -- What it is about.
  related: ObjectReference -- A second object.
  reportingController: string -- The controller that reports.
  reportingInstance: string -- The instance of the controller.
  series: EventSeries -- A series of which this is part.
  type: string -- Normal or Warning.
type EventSeries -- A series of events.
  count!: int32 -- How many.
  lastObservedTime!: MicroTime -- When the last one was.
`,
  `
group coordination.k8s.io/v1 package=io.k8s.api.coordination.v1
kind Lease leases scope=ns -- A lock that must be renewed.
  spec: LeaseSpec -- The lock.
type LeaseSpec -- A lock that must be renewed.
  acquireTime: MicroTime -- When it was taken.
  holderIdentity: string -- Who holds it.
  leaseDurationSeconds: int32 -- Seconds after which others may take it.
  leaseTransitions: int32 -- How often it changed hands.
  preferredHolder: string -- Who should hold it.
  renewTime: MicroTime -- When it was last renewed.
  strategy: string -- How the holder is chosen.
`,
  `
group networking.k8s.io/v1 package=io.k8s.api.networking.v1
kind Ingress ingresses scope=ns short=ing sub=status -- Leads outside traffic to services.
  spec: IngressSpec -- What is wanted.
  status: IngressStatus -- What there is.
type IngressSpec -- What is wanted of an Ingress.
  defaultBackend: IngressBackend -- Where everything else goes.
  ingressClassName: string -- The class that serves it.
  rules: IngressRule[] -- Hosts and paths.
  tls: IngressTLS[] -- Certificates.
type IngressBackend -- Where traffic goes.
  resource: TypedLocalObjectReference -- An object.
  service: IngressServiceBackend -- A service.
type IngressServiceBackend -- A service.
  name!: string -- The name of the service.
  port: ServiceBackendPort -- The port of the service.
type ServiceBackendPort map=atomic -- A port of a service.
  name: string -- Its name.
  number: int32 -- Its number.
type IngressRule -- A host and its paths.
  host: string -- The host.
  http: HTTPIngressRuleValue -- The paths.
type HTTPIngressRuleValue -- Paths of a host.
  paths!: HTTPIngressPath[] -- The paths.
type HTTPIngressPath -- A path and its backend.
  backend!: IngressBackend -- Where it goes.
  path: string -- The path.
  pathType!: string -- Exact, Prefix or ImplementationSpecific.
type IngressTLS -- A certificate.
  hosts: string[] -- The hosts.
  secretName: string -- The Secret.
type IngressStatus -- What there is of an Ingress.
  loadBalancer: IngressLoadBalancerStatus -- The load balancer.
type IngressLoadBalancerStatus -- The load balancer of an Ingress.
  ingress: IngressLoadBalancerIngress[] -- Where traffic comes in.
type IngressLoadBalancerIngress -- Where traffic comes in.
  hostname: string -- A name.
  ip: string -- An address.
kind IngressClass ingressclasses scope=cluster -- A controller that serves Ingresses.
  spec: IngressClassSpec -- The controller.
type IngressClassSpec -- A controller that serves Ingresses.
  controller: string -- Its name.
  parameters: IngressClassParametersReference -- An object with more settings.
type IngressClassParametersReference -- An object with settings of a class.
  apiGroup: string -- The group.
  kind!: string -- The kind.
  name!: string -- The name.
  namespace: string -- The namespace.
  scope: string -- Cluster or Namespace.
kind NetworkPolicy networkpolicies scope=ns short=netpol -- Which traffic pods may have.
  spec: NetworkPolicySpec -- The rules.
type NetworkPolicySpec -- Which traffic pods may have.
  egress: NetworkPolicyEgressRule[] -- Traffic going out.
  ingress: NetworkPolicyIngressRule[] -- Traffic coming in.
  podSelector: LabelSelector -- Which pods.
  policyTypes: string[] -- Ingress, Egress.
type NetworkPolicyEgressRule -- Traffic going out.
  ports: NetworkPolicyPort[] -- To which ports.
  to: NetworkPolicyPeer[] -- To whom.
type NetworkPolicyIngressRule -- Traffic coming in.
  from: NetworkPolicyPeer[] -- From whom.
  ports: NetworkPolicyPort[] -- To which ports.
type NetworkPolicyPeer -- The other side.
  ipBlock: IPBlock -- By address.
  namespaceSelector: LabelSelector -- By namespace.
  podSelector: LabelSelector -- By pod.
type IPBlock -- A range of addresses.
  cidr!: string -- The range.
  except: string[] -- Ranges taken out.
type NetworkPolicyPort -- A port.
  endPort: int32 -- The last port of a range.
  port: IntOrString -- The number or name of the port.
  protocol: string -- TCP, UDP or SCTP.
`,
  `
group rbac.authorization.k8s.io/v1 package=io.k8s.api.rbac.v1
kind Role roles scope=ns -- Rights within a namespace.
  rules: PolicyRule[] -- The rights.
kind ClusterRole clusterroles scope=cluster -- Rights in the whole cluster.
  aggregationRule: AggregationRule -- Roles this one is put together from.
  rules: PolicyRule[] -- The rights.
type AggregationRule -- Roles a role is put together from.
  clusterRoleSelectors: LabelSelector[] -- Which roles.
type PolicyRule -- What may be done to what.
  apiGroups: string[] -- Groups.
  nonResourceURLs: string[] -- Paths that are not resources.
  resourceNames: string[] -- Names; empty means all.
  resources: string[] -- Resources.
  verbs!: string[] -- What may be done.
kind RoleBinding rolebindings scope=ns -- Gives rights within a namespace.
  roleRef!: RoleRef -- The role.
  subjects: Subject[] -- To whom.
kind ClusterRoleBinding clusterrolebindings scope=cluster -- Gives rights in the whole cluster.
  roleRef!: RoleRef -- The role.
  subjects: Subject[] -- To whom.
type RoleRef map=atomic -- A role.
  apiGroup: string -- The group.
  kind!: string -- The kind.
  name!: string -- The name.
type Subject map=atomic -- A user, a group or a service account.
  apiGroup: string -- The group.
  kind!: string -- User, Group or ServiceAccount.
  name!: string -- The name.
  namespace: string -- The namespace of a service account.
`,
  `
group storage.k8s.io/v1 package=io.k8s.api.storage.v1
kind StorageClass storageclasses scope=cluster short=sc -- A class of storage.
  allowVolumeExpansion: boolean -- Whether volumes can grow.
  mountOptions: string[] -- Options of mounts.
  parameters: map string -- Parameters of the provisioner.
  provisioner!: string -- Who makes the volumes.
  reclaimPolicy: string -- Delete or Retain.
  volumeBindingMode: string -- Immediate or WaitForFirstConsumer.
`,
  `
group apiextensions.k8s.io/v1 package=io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
kind CustomResourceDefinition customresourcedefinitions scope=cluster short=crd,crds categories=api-extensions sub=status -- A resource that is served by name and schema.
  spec!: CustomResourceDefinitionSpec -- What is wanted.
  status: CustomResourceDefinitionStatus -- What there is.
type CustomResourceDefinitionSpec -- What resource is wanted.
  conversion: CustomResourceConversion -- How versions are converted.
  group!: string -- The group.
  names!: CustomResourceDefinitionNames -- The names.
  preserveUnknownFields: boolean -- Must be false.
  scope!: string -- Cluster or Namespaced.
  versions!: CustomResourceDefinitionVersion[] -- The versions.
type CustomResourceConversion -- How versions are converted.
  strategy!: string -- None or Webhook.
  webhook: WebhookConversion -- The webhook.
type WebhookConversion -- A webhook that converts.
  clientConfig: WebhookClientConfig -- How to call it.
  conversionReviewVersions!: string[] -- Versions of the review it knows.
type WebhookClientConfig -- How to call a webhook.
  caBundle: bytes -- The CA that signs its certificate.
  service: ServiceReference -- The service.
  url: string -- The address.
type ServiceReference -- A service.
  name!: string -- The name.
  namespace!: string -- The namespace.
  path: string -- The path.
  port: int32 -- The port.
type CustomResourceDefinitionNames -- The names of a resource.
  categories: string[] -- Groups of resources it belongs to, such as all.
  kind!: string -- The kind.
  listKind: string -- The kind of lists.
  plural!: string -- The plural, used in paths.
  shortNames: string[] -- Short names.
  singular: string -- The singular.
type CustomResourceDefinitionVersion -- One version of a resource.
  additionalPrinterColumns: CustomResourceColumnDefinition[] -- Columns of tables.
  deprecated: boolean -- Whether callers are warned.
  deprecationWarning: string -- The warning.
  name!: string -- The name, such as v1beta1.
  schema: CustomResourceValidation -- The schema.
  selectableFields: SelectableField[] -- Fields that field selectors may use.
  served!: boolean -- Whether it is served.
  storage!: boolean -- Whether objects are stored in it; true for exactly one.
  subresources: CustomResourceSubresources -- status and scale.
type CustomResourceColumnDefinition -- A column of a table.
  description: string -- What it shows.
  format: string -- The format.
  jsonPath!: string -- Where the value is.
  name!: string -- The heading.
  priority: int32 -- Above zero only in wide tables.
  type!: string -- The type.
type SelectableField -- A field that field selectors may use.
  jsonPath!: string -- Where the value is.
type CustomResourceSubresources -- Subresources of a resource.
  scale: CustomResourceSubresourceScale -- The scale.
  status: CustomResourceSubresourceStatus -- The status.
type CustomResourceSubresourceStatus -- The status has a path of its own.
type CustomResourceSubresourceScale -- Where the scale is kept.
  labelSelectorPath: string -- The path of the selector.
  specReplicasPath!: string -- The path of the wanted number.
  statusReplicasPath!: string -- The path of the present number.
type CustomResourceValidation -- A schema.
  openAPIV3Schema: JSONSchemaProps -- The schema.
type CustomResourceDefinitionStatus -- What there is of a resource.
  acceptedNames: CustomResourceDefinitionNames -- The names in use.
  conditions: CustomResourceDefinitionCondition[] keys=type -- Where the resource stands.
  observedGeneration: int64 -- The generation the status was set from.
  storedVersions: string[] -- Versions objects may be stored in.
type CustomResourceDefinitionCondition -- One aspect of the state of a resource.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status!: string -- True, False or Unknown.
  type!: string -- Established, NamesAccepted and others.
type ExternalDocumentation -- A document elsewhere.
  description: string -- What it is.
  url: string -- Where it is.
type JSONSchemaProps -- A JSON schema.
  $ref: string -- Not allowed.
  $schema: string -- Not allowed.
  additionalItems: JSONSchemaPropsOrBool -- Not allowed.
  additionalProperties: JSONSchemaPropsOrBool -- The schema of the values of a map, or true.
  allOf: JSONSchemaProps[] -- All must hold.
  anyOf: JSONSchemaProps[] -- One must hold.
  default: JSON -- The value of an absent field.
  definitions: map JSONSchemaProps -- Not allowed.
  dependencies: map JSONSchemaPropsOrStringArray -- Not allowed.
  description: string -- For people.
  enum: JSON[] -- The values allowed.
  example: JSON -- An example.
  exclusiveMaximum: boolean -- Whether the maximum itself is out.
  exclusiveMinimum: boolean -- Whether the minimum itself is out.
  externalDocs: ExternalDocumentation -- A document elsewhere.
  format: string -- The format of a string or number.
  id: string -- Not allowed.
  items: JSONSchemaPropsOrArray -- The schema of the items.
  maxItems: int64 -- The most items.
  maxLength: int64 -- The longest string.
  maxProperties: int64 -- The most properties.
  maximum: double -- The greatest number.
  minItems: int64 -- The fewest items.
  minLength: int64 -- The shortest string.
  minProperties: int64 -- The fewest properties.
  minimum: double -- The least number.
  multipleOf: double -- What the number is a multiple of.
  not: JSONSchemaProps -- Must not hold.
  nullable: boolean -- Whether null is a value.
  oneOf: JSONSchemaProps[] -- Exactly one must hold.
  pattern: string -- A regular expression.
  patternProperties: map JSONSchemaProps -- Not allowed.
  properties: map JSONSchemaProps -- The fields.
  required: string[] -- Fields that must be there.
  title: string -- For people.
  type: string -- object, array, string, integer, number or boolean.
  uniqueItems: boolean -- Not allowed.
  x-kubernetes-embedded-resource: boolean -- The value is an object with apiVersion, kind and metadata.
  x-kubernetes-int-or-string: boolean -- The value is an integer or a string.
  x-kubernetes-list-map-keys: string[] -- Keys that tell items apart.
  x-kubernetes-list-type: string -- atomic, set or map.
  x-kubernetes-map-type: string -- granular or atomic.
  x-kubernetes-preserve-unknown-fields: boolean -- Unknown fields are kept.
  x-kubernetes-validations: ValidationRule[] merge=rule -- Rules.
type ValidationRule -- A rule in CEL.
  fieldPath: string -- The field a failure points to.
  message: string -- What is wrong, for people.
  messageExpression: string -- What is wrong, as an expression.
  optionalOldSelf: boolean -- Whether it runs without an old value.
  reason: string -- The reason of a failure.
  rule!: string -- The expression.
`,
  `
group authentication.k8s.io/v1 package=io.k8s.api.authentication.v1
kind TokenReview tokenreviews scope=cluster bare -- Asks whose token this is.
  spec!: TokenReviewSpec -- The token.
  status: TokenReviewStatus -- The answer.
kind SelfSubjectReview selfsubjectreviews scope=cluster bare -- Asks who the caller is.
  status: SelfSubjectReviewStatus -- The answer.
type SelfSubjectReviewStatus -- The answer.
  userInfo: UserInfo -- The caller.
type TokenReviewSpec -- A token.
  audiences: string[] -- Whom it should be meant for.
  token!: string -- The token.
type TokenReviewStatus -- Whose token it is.
  audiences: string[] -- Whom it is meant for.
  authenticated: boolean -- Whether it is good.
  error: string -- What is wrong.
  user: UserInfo -- Whose it is.
type UserInfo -- A user.
  extra: map string[] -- More about the user.
  groups: string[] -- The groups.
  uid: string -- The uid.
  username: string -- The name.
`,
  `
group authorization.k8s.io/v1 package=io.k8s.api.authorization.v1
kind SubjectAccessReview subjectaccessreviews scope=cluster bare -- Asks whether a user may do something.
  spec!: SubjectAccessReviewSpec -- The question.
  status: SubjectAccessReviewStatus -- The answer.
kind SelfSubjectAccessReview selfsubjectaccessreviews scope=cluster bare -- Asks whether the caller may do something.
  spec!: SelfSubjectAccessReviewSpec -- The question.
  status: SubjectAccessReviewStatus -- The answer.
kind SelfSubjectRulesReview selfsubjectrulesreviews scope=cluster bare -- Asks what the caller may do in a namespace.
  spec!: SelfSubjectRulesReviewSpec -- The question.
  status: SubjectRulesReviewStatus -- The answer.
kind LocalSubjectAccessReview localsubjectaccessreviews scope=ns bare -- Asks whether a user may do something in a namespace.
  spec!: SubjectAccessReviewSpec -- The question.
  status: SubjectAccessReviewStatus -- The answer.
type SubjectAccessReviewSpec -- May this user do this?
  extra: map string[] -- More about the user.
  groups: string[] -- The groups of the user.
  nonResourceAttributes: NonResourceAttributes -- A path.
  resourceAttributes: ResourceAttributes -- A resource.
  uid: string -- The uid of the user.
  user: string -- The name of the user.
type SelfSubjectAccessReviewSpec -- May the caller do this?
  nonResourceAttributes: NonResourceAttributes -- A path.
  resourceAttributes: ResourceAttributes -- A resource.
type SelfSubjectRulesReviewSpec -- What may the caller do?
  namespace: string -- In which namespace.
type NonResourceAttributes -- A path and a verb.
  path: string -- The path.
  verb: string -- The verb.
type ResourceAttributes -- A resource and a verb.
  group: string -- The group.
  name: string -- The name.
  namespace: string -- The namespace.
  resource: string -- The resource.
  subresource: string -- The subresource.
  verb: string -- The verb.
  version: string -- The version.
type SubjectAccessReviewStatus -- The answer.
  allowed!: boolean -- Whether it is allowed.
  denied: boolean -- Whether it is refused outright.
  evaluationError: string -- What went wrong.
  reason: string -- Why.
type SubjectRulesReviewStatus -- The answer.
  evaluationError: string -- What went wrong.
  incomplete!: boolean -- Whether rules are missing.
  nonResourceRules!: NonResourceRule[] -- Rules for paths.
  resourceRules!: ResourceRule[] -- Rules for resources.
type NonResourceRule -- Paths and verbs.
  nonResourceURLs: string[] -- The paths.
  verbs!: string[] -- The verbs.
type ResourceRule -- Resources and verbs.
  apiGroups: string[] -- The groups.
  resourceNames: string[] -- The names.
  resources: string[] -- The resources.
  verbs!: string[] -- The verbs.
`,
];
