/** The core group except Pod, in the notation of notation.ts. */
export const coreTable = `
group v1 package=io.k8s.api.core.v1
kind Node nodes scope=cluster short=no sub=status -- A machine of the cluster.
  spec: NodeSpec -- The desired behaviour of the node.
  status: NodeStatus -- The most recently observed state of the node.
type NodeSpec -- The desired behaviour of a node.
  podCIDR: string -- The range of pod addresses.
  podCIDRs: string[] list=set patch=merge -- The ranges of pod addresses.
  providerID: string -- The id of the machine at its provider.
  taints: Taint[] -- Taints that keep pods away.
  unschedulable: boolean -- Whether new pods are kept away.
type Taint -- Keeps pods away that do not tolerate it.
  effect!: string -- NoSchedule, PreferNoSchedule or NoExecute.
  key!: string -- The key.
  timeAdded: Time -- When it was added.
  value: string -- The value.
type NodeStatus -- The most recently observed state of a node.
  addresses: NodeAddress[] merge=type -- Addresses of the node.
  allocatable: map Quantity -- Resources that pods may use.
  capacity: map Quantity -- All resources.
  conditions: NodeCondition[] merge=type -- Where the node stands.
  daemonEndpoints: NodeDaemonEndpoints -- Ports of the daemons.
  images: ContainerImage[] -- Images on the node.
  nodeInfo: NodeSystemInfo -- Software and ids of the node.
  phase: string -- No longer set.
  volumesAttached: AttachedVolume[] -- Volumes attached to the node.
  volumesInUse: string[] -- Volumes in use.
type NodeAddress -- An address of a node.
  address!: string -- The address.
  type!: string -- Hostname, ExternalIP or InternalIP.
type NodeCondition -- One aspect of the state of a node.
  lastHeartbeatTime: Time -- When it was last reported.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status!: string -- True, False or Unknown.
  type!: string -- The aspect.
type NodeDaemonEndpoints -- Ports of the daemons.
  kubeletEndpoint: DaemonEndpoint -- The kubelet.
type DaemonEndpoint -- A port of a daemon.
  Port!: int32 -- The port.
type ContainerImage -- An image on a node.
  names: string[] -- Its names.
  sizeBytes: int64 -- Its size.
type AttachedVolume -- A volume attached to a node.
  devicePath!: string -- The device.
  name!: string -- The name.
type NodeSystemInfo -- Software and ids of a node.
  architecture!: string -- The architecture.
  bootID!: string -- The id of the boot.
  containerRuntimeVersion!: string -- The container runtime.
  kernelVersion!: string -- The kernel.
  kubeProxyVersion!: string -- No longer meaningful.
  kubeletVersion!: string -- The kubelet.
  machineID!: string -- The id of the machine.
  operatingSystem!: string -- The operating system.
  osImage!: string -- The image of the operating system.
  systemUUID!: string -- The id of the system.
kind Namespace namespaces scope=cluster short=ns verbs=create,delete,get,list,patch,update,watch sub=status,finalize -- A space for names.
  spec: NamespaceSpec -- The desired behaviour of the namespace.
  status: NamespaceStatus -- The state of the namespace.
type NamespaceSpec -- The desired behaviour of a namespace.
  finalizers: string[] -- What must be done before it is gone.
type NamespaceStatus -- The state of a namespace.
  conditions: NamespaceCondition[] merge=type -- Where the namespace stands.
  phase: string -- Active or Terminating.
type NamespaceCondition -- One aspect of the state of a namespace.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status!: string -- True, False or Unknown.
  type!: string -- The aspect.
kind Service services scope=ns short=svc categories=all sub=status -- A name and a port for a set of pods.
  spec: ServiceSpec -- The desired behaviour of the service.
  status: ServiceStatus -- The state of the service.
type ServiceSpec -- The desired behaviour of a service.
  allocateLoadBalancerNodePorts: boolean -- Whether node ports are taken for a load balancer.
  clusterIP: string -- The address of the service, or None.
  clusterIPs: string[] -- The addresses of the service.
  externalIPs: string[] -- Further addresses that lead here.
  externalName: string -- The name an ExternalName service points to.
  externalTrafficPolicy: string -- Cluster or Local.
  healthCheckNodePort: int32 -- The port for health checks of a load balancer.
  internalTrafficPolicy: string -- Cluster or Local.
  ipFamilies: string[] -- IPv4, IPv6.
  ipFamilyPolicy: string -- SingleStack, PreferDualStack or RequireDualStack.
  loadBalancerClass: string -- The class of the load balancer.
  loadBalancerIP: string -- No longer recommended.
  loadBalancerSourceRanges: string[] -- Ranges that may call.
  ports: ServicePort[] merge=port keys=port,protocol -- The ports.
  publishNotReadyAddresses: boolean -- Whether pods that are not ready are published.
  selector: map string map=atomic -- Labels of the pods behind the service.
  sessionAffinity: string -- ClientIP or None.
  sessionAffinityConfig: SessionAffinityConfig -- More about affinity.
  trafficDistribution: string -- How traffic is spread.
  type: string -- ClusterIP, NodePort, LoadBalancer or ExternalName.
type SessionAffinityConfig -- More about affinity.
  clientIP: ClientIPConfig -- By the address of the client.
type ClientIPConfig -- Affinity by the address of the client.
  timeoutSeconds: int32 -- How long it sticks.
type ServicePort -- A port of a service.
  appProtocol: string -- The application protocol.
  name: string -- The name, unique in the service.
  nodePort: int32 -- The port on every node.
  port!: int32 -- The port of the service.
  protocol: string -- TCP, UDP or SCTP.
  targetPort: IntOrString -- The number or name of the port of the pods.
type ServiceStatus -- The state of a service.
  conditions: Condition[] merge=type -- Where the service stands.
  loadBalancer: LoadBalancerStatus -- The load balancer.
type LoadBalancerStatus -- The state of a load balancer.
  ingress: LoadBalancerIngress[] -- Where traffic comes in.
type LoadBalancerIngress -- Where traffic comes in.
  hostname: string -- A name.
  ip: string -- An address.
  ipMode: string -- VIP or Proxy.
  ports: PortStatus[] -- The ports.
type PortStatus -- The state of a port.
  error: string -- What is wrong.
  port!: int32 -- The port.
  protocol!: string -- The protocol.
kind Endpoints endpoints scope=ns short=ep -- Addresses behind a service.
  subsets: EndpointSubset[] -- Groups of addresses with the same ports.
type EndpointSubset -- Addresses with the same ports.
  addresses: EndpointAddress[] -- Addresses that are ready.
  notReadyAddresses: EndpointAddress[] -- Addresses that are not.
  ports: EndpointPort[] -- The ports.
type EndpointAddress map=atomic -- One address.
  hostname: string -- Its host name.
  ip!: string -- The address.
  nodeName: string -- The node.
  targetRef: ObjectReference -- The object behind it.
type EndpointPort map=atomic -- One port.
  appProtocol: string -- The application protocol.
  name: string -- The name.
  port!: int32 -- The port.
  protocol: string -- The protocol.
type ObjectReference map=atomic -- Any object.
  apiVersion: string -- The API version.
  fieldPath: string -- A part of the object.
  kind: string -- The kind.
  name: string -- The name.
  namespace: string -- The namespace.
  resourceVersion: string -- The version.
  uid: string -- The uid.
kind ConfigMap configmaps scope=ns short=cm -- Configuration for pods.
  binaryData: map bytes -- Data that is not text.
  data: map string -- Data that is text.
  immutable: boolean -- Whether the data cannot be changed.
kind Secret secrets scope=ns -- Data that few should see.
  data: map bytes -- The data, in base64.
  immutable: boolean -- Whether the data cannot be changed.
  stringData: map string -- Data as text; write only.
  type: string -- What the data is for.
kind ServiceAccount serviceaccounts scope=ns short=sa -- An identity for processes in pods.
  automountServiceAccountToken: boolean -- Whether pods get a token.
  imagePullSecrets: LocalObjectReference[] -- Secrets to pull images with.
  secrets: ObjectReference[] merge=name -- Secrets pods may use.
kind Event events scope=ns short=ev required=metadata -- Something that happened.
  action: string -- What was done.
  count: int32 -- How often it happened.
  eventTime: MicroTime -- When it was first seen.
  firstTimestamp: Time -- When it was first seen.
  involvedObject!: ObjectReference -- What it is about.
  lastTimestamp: Time -- When it was last seen.
  message: string -- What happened, for people.
  reason: string -- Why it happened, in CamelCase.
  related: ObjectReference -- A second object.
  reportingComponent: string -- The controller that reports.
  reportingInstance: string -- The instance of the controller.
  series: EventSeries -- A series of which this is part.
  source: EventSource -- Who reports.
  type: string -- Normal or Warning.
type EventSeries -- A series of events.
  count: int32 -- How many.
  lastObservedTime: MicroTime -- When the last one was.
type EventSource -- Who reports an event.
  component: string -- The component.
  host: string -- The node.
kind PersistentVolume persistentvolumes scope=cluster short=pv sub=status -- A piece of storage.
  spec: PersistentVolumeSpec -- The storage.
  status: PersistentVolumeStatus -- Its state.
type PersistentVolumeSpec -- A piece of storage.
  accessModes: string[] -- How it can be mounted.
  capacity: map Quantity -- Its size.
  claimRef: ObjectReference map=granular -- The claim it is bound to.
  csi: CSIPersistentVolumeSource -- A volume of a CSI driver.
  hostPath: HostPathVolumeSource -- A path of the host.
  mountOptions: string[] -- Options of the mount.
  nfs: NFSVolumeSource -- An NFS mount.
  nodeAffinity: VolumeNodeAffinity -- From which nodes it can be reached.
  persistentVolumeReclaimPolicy: string -- Retain, Delete or Recycle.
  storageClassName: string -- Its class.
  volumeMode: string -- Filesystem or Block.
type CSIPersistentVolumeSource -- A volume of a CSI driver.
  driver!: string -- The driver.
  fsType: string -- The file system.
  readOnly: boolean -- Whether it is read only.
  volumeAttributes: map string -- Properties the driver knows.
  volumeHandle!: string -- The id of the volume.
type VolumeNodeAffinity -- From which nodes a volume can be reached.
  required: NodeSelector -- The nodes.
type PersistentVolumeStatus -- The state of a volume.
  lastPhaseTransitionTime: Time -- When the phase last changed.
  message: string -- For people.
  phase: string -- Available, Bound, Released or Failed.
  reason: string -- For machines.
kind PersistentVolumeClaim persistentvolumeclaims scope=ns short=pvc sub=status -- A request for storage.
  spec: PersistentVolumeClaimSpec -- What is wanted.
  status: PersistentVolumeClaimStatus -- What there is.
type PersistentVolumeClaimSpec -- What storage is wanted.
  accessModes: string[] -- How it must be mountable.
  dataSource: TypedLocalObjectReference -- What it is filled from.
  resources: VolumeResourceRequirements -- How much.
  selector: LabelSelector -- Which volumes.
  storageClassName: string -- Which class.
  volumeMode: string -- Filesystem or Block.
  volumeName: string -- The volume it is bound to.
type VolumeResourceRequirements -- How much storage.
  limits: map Quantity -- At most.
  requests: map Quantity -- At least.
type TypedLocalObjectReference map=atomic -- An object in the same namespace, with its kind.
  apiGroup: string -- The group.
  kind!: string -- The kind.
  name!: string -- The name.
type PersistentVolumeClaimStatus -- What storage there is.
  accessModes: string[] -- How it can be mounted.
  allocatedResources: map Quantity -- What was set aside.
  capacity: map Quantity -- Its size.
  conditions: PersistentVolumeClaimCondition[] merge=type -- Where the claim stands.
  phase: string -- Pending, Bound or Lost.
type PersistentVolumeClaimCondition -- One aspect of the state of a claim.
  lastProbeTime: Time -- When it was last probed.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status!: string -- True, False or Unknown.
  type!: string -- The aspect.
kind ResourceQuota resourcequotas scope=ns short=quota sub=status -- Bounds what a namespace may use.
  spec: ResourceQuotaSpec -- The bounds.
  status: ResourceQuotaStatus -- The bounds in force, and what is used.
type ResourceQuotaSpec -- Bounds of a namespace.
  hard: map Quantity -- The bounds by resource.
  scopeSelector: ScopeSelector -- Which objects are counted.
  scopes: string[] -- Which objects are counted.
type ScopeSelector map=atomic -- Which objects are counted.
  matchExpressions: ScopedResourceSelectorRequirement[] -- Conditions; all must hold.
type ScopedResourceSelectorRequirement -- A condition on a scope.
  operator!: string -- In, NotIn, Exists or DoesNotExist.
  scopeName!: string -- The scope.
  values: string[] -- The values.
type ResourceQuotaStatus -- Bounds in force, and what is used.
  hard: map Quantity -- The bounds by resource.
  used: map Quantity -- What is used, by resource.
kind LimitRange limitranges scope=ns short=limits -- Bounds and defaults for what single objects request.
  spec: LimitRangeSpec -- The limits.
type LimitRangeSpec -- Limits for single objects.
  limits!: LimitRangeItem[] -- The limits by type.
type LimitRangeItem -- Limits for objects of one type.
  default: map Quantity -- Limits of those without any.
  defaultRequest: map Quantity -- Requests of those without any.
  max: map Quantity -- At most.
  maxLimitRequestRatio: map Quantity -- The most that a limit may be of its request.
  min: map Quantity -- At least.
  type!: string -- Container, Pod or PersistentVolumeClaim.
kind ComponentStatus componentstatuses scope=cluster short=cs verbs=get,list -- The health of a component; no longer maintained.
  conditions: ComponentCondition[] merge=type -- Where the component stands.
type ComponentCondition -- One aspect of the health of a component.
  error: string -- What is wrong.
  message: string -- For people.
  status!: string -- True, False or Unknown.
  type!: string -- Healthy.
`;
