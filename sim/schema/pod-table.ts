/** Pod and the shapes inside it, in the notation of notation.ts. Shared by every workload through PodTemplateSpec. */
export const podTable = `
group v1 package=io.k8s.api.core.v1
kind Pod pods scope=ns short=po categories=all sub=status,log,exec,eviction,binding -- A collection of containers that run on one host.
  spec: PodSpec -- The desired behaviour of the pod.
  status: PodStatus -- The most recently observed state of the pod.
type PodTemplateSpec -- The data a pod has when it is made from a template.
  metadata: ObjectMeta -- Metadata of the pods to be made.
  spec: PodSpec -- The desired behaviour of the pods to be made.
type PodSpec -- A description of a pod.
  activeDeadlineSeconds: int64 -- Seconds the pod may be active on the node before it is failed.
  affinity: Affinity -- Where the pod should or must be scheduled.
  automountServiceAccountToken: boolean -- Whether a service account token is mounted.
  containers!: Container[] merge=name -- The containers of the pod; at least one.
  dnsConfig: PodDNSConfig -- DNS parameters of the pod.
  dnsPolicy: string -- ClusterFirstWithHostNet, ClusterFirst, Default or None.
  enableServiceLinks: boolean -- Whether services are injected as environment variables.
  ephemeralContainers: EphemeralContainer[] merge=name -- Containers added for debugging while the pod runs.
  hostAliases: HostAlias[] merge=ip -- Entries added to the hosts file.
  hostIPC: boolean -- Use the IPC namespace of the host.
  hostNetwork: boolean -- Use the network namespace of the host.
  hostPID: boolean -- Use the process namespace of the host.
  hostUsers: boolean -- Use the user namespace of the host.
  hostname: string -- The hostname of the pod.
  imagePullSecrets: LocalObjectReference[] merge=name -- Secrets to pull images with.
  initContainers: Container[] merge=name -- Containers that run to completion, in order, before the others start.
  nodeName: string -- The node the pod is scheduled to.
  nodeSelector: map string map=atomic -- Labels a node must have to run the pod.
  os: PodOS -- The operating system of the containers.
  overhead: map Quantity -- Resources the runtime itself needs.
  preemptionPolicy: string -- Never or PreemptLowerPriority.
  priority: int32 -- The higher, the more important.
  priorityClassName: string -- The name of a PriorityClass.
  readinessGates: PodReadinessGate[] -- Conditions that must be true for the pod to be ready.
  resourceClaims: PodResourceClaim[] merge=name patch=merge,retainKeys -- Claims that must be allocated before the pod starts.
  resources: ResourceRequirements -- Resources of all containers together.
  restartPolicy: string -- Always, OnFailure or Never.
  runtimeClassName: string -- The RuntimeClass to run the pod with.
  schedulerName: string -- The scheduler that places the pod.
  schedulingGates: PodSchedulingGate[] merge=name -- The pod is not scheduled before this list is empty.
  securityContext: PodSecurityContext -- Security settings of the whole pod.
  serviceAccount: string -- An old alias of serviceAccountName.
  serviceAccountName: string -- The ServiceAccount the pod runs as.
  setHostnameAsFQDN: boolean -- Whether the hostname is the full domain name.
  shareProcessNamespace: boolean -- Share one process namespace among the containers.
  subdomain: string -- The subdomain of the full name of the pod.
  terminationGracePeriodSeconds: int64 -- Seconds the pod gets to end gracefully.
  tolerations: Toleration[] -- Taints the pod tolerates.
  topologySpreadConstraints: TopologySpreadConstraint[] merge=topologyKey keys=topologyKey,whenUnsatisfiable -- How pods spread over domains.
  volumes: Volume[] merge=name patch=merge,retainKeys -- Volumes that containers can mount.
type Container -- One application container of a pod.
  args: string[] -- Arguments of the entrypoint.
  command: string[] -- The entrypoint, not run in a shell.
  env: EnvVar[] merge=name -- Environment variables.
  envFrom: EnvFromSource[] -- Sources of environment variables.
  image: string -- The image name.
  imagePullPolicy: string -- Always, Never or IfNotPresent.
  lifecycle: Lifecycle -- What to do after start and before stop.
  livenessProbe: Probe -- The container is restarted when this probe fails.
  name!: string -- The name of the container, unique in the pod.
  ports: ContainerPort[] merge=containerPort keys=containerPort,protocol -- Ports to expose.
  readinessProbe: Probe -- The container gets no traffic while this probe fails.
  resizePolicy: ContainerResizePolicy[] -- How resources are resized.
  resources: ResourceRequirements -- Resources the container needs.
  restartPolicy: string -- Always makes an init container a sidecar.
  securityContext: SecurityContext -- Security settings of the container.
  startupProbe: Probe -- Other probes wait until this one succeeds.
  stdin: boolean -- Whether a buffer for stdin is allocated.
  stdinOnce: boolean -- Whether stdin closes after the first attach.
  terminationMessagePath: string -- The file the termination message is read from.
  terminationMessagePolicy: string -- File or FallbackToLogsOnError.
  tty: boolean -- Whether a terminal is allocated.
  volumeDevices: VolumeDevice[] merge=devicePath -- Block devices of the container.
  volumeMounts: VolumeMount[] merge=mountPath -- Volumes mounted into the file system.
  workingDir: string -- The working directory.
type EphemeralContainer -- A temporary container added to a running pod.
  args: string[] -- Arguments of the entrypoint.
  command: string[] -- The entrypoint.
  env: EnvVar[] merge=name -- Environment variables.
  image: string -- The image name.
  imagePullPolicy: string -- Always, Never or IfNotPresent.
  name!: string -- The name of the container.
  stdin: boolean -- Whether a buffer for stdin is allocated.
  targetContainerName: string -- The container whose namespaces are shared.
  tty: boolean -- Whether a terminal is allocated.
type EnvVar -- An environment variable.
  name!: string -- The name of the variable.
  value: string -- The value, with $(VAR) expanded.
  valueFrom: EnvVarSource -- Where the value comes from.
type EnvVarSource -- Where the value of an environment variable comes from.
  configMapKeyRef: ConfigMapKeySelector -- A key of a ConfigMap.
  fieldRef: ObjectFieldSelector -- A field of the pod.
  resourceFieldRef: ResourceFieldSelector -- A resource of the container.
  secretKeyRef: SecretKeySelector -- A key of a Secret.
type ConfigMapKeySelector map=atomic -- A key of a ConfigMap.
  key!: string -- The key.
  name: string -- The name of the ConfigMap.
  optional: boolean -- Whether it may be missing.
type SecretKeySelector map=atomic -- A key of a Secret.
  key!: string -- The key.
  name: string -- The name of the Secret.
  optional: boolean -- Whether it may be missing.
type ObjectFieldSelector map=atomic -- A field of an object.
  apiVersion: string -- The version of the schema of the path.
  fieldPath!: string -- The path of the field.
type ResourceFieldSelector map=atomic -- A resource of a container.
  containerName: string -- The container.
  divisor: Quantity -- The unit of the output.
  resource!: string -- The resource.
type EnvFromSource -- A source of environment variables.
  configMapRef: ConfigMapEnvSource -- The ConfigMap to take from.
  prefix: string -- Put in front of each name.
  secretRef: SecretEnvSource -- The Secret to take from.
type ConfigMapEnvSource -- A ConfigMap whose keys become variables.
  name: string -- The name of the ConfigMap.
  optional: boolean -- Whether it may be missing.
type SecretEnvSource -- A Secret whose keys become variables.
  name: string -- The name of the Secret.
  optional: boolean -- Whether it may be missing.
type Lifecycle -- What to do after start and before stop.
  postStart: LifecycleHandler -- Run right after the container is made.
  preStop: LifecycleHandler -- Run right before the container is ended.
  stopSignal: string -- The signal that ends the container.
type LifecycleHandler -- One action.
  exec: ExecAction -- A command in the container.
  httpGet: HTTPGetAction -- A GET request.
  sleep: SleepAction -- A pause.
  tcpSocket: TCPSocketAction -- A TCP connection.
type SleepAction -- A pause.
  seconds!: int64 -- How long.
type ExecAction -- A command.
  command: string[] -- The command line.
type HTTPGetAction -- A GET request.
  host: string -- The host; the pod's address by default.
  httpHeaders: HTTPHeader[] -- Headers of the request.
  path: string -- The path.
  port!: IntOrString -- The number or name of the port.
  scheme: string -- HTTP or HTTPS.
type HTTPHeader -- One header.
  name!: string -- The name.
  value!: string -- The value.
type TCPSocketAction -- A TCP connection.
  host: string -- The host; the pod's address by default.
  port!: IntOrString -- The number or name of the port.
type GRPCAction -- A gRPC health check.
  port!: int32 -- The port.
  service: string -- The service to ask for.
type Probe -- A check of a container.
  exec: ExecAction -- A command in the container.
  failureThreshold: int32 -- Failures in a row before it counts as failed.
  grpc: GRPCAction -- A gRPC health check.
  httpGet: HTTPGetAction -- A GET request.
  initialDelaySeconds: int32 -- Seconds before the first probe.
  periodSeconds: int32 -- Seconds between probes.
  successThreshold: int32 -- Successes in a row before it counts as succeeded.
  tcpSocket: TCPSocketAction -- A TCP connection.
  terminationGracePeriodSeconds: int64 -- Seconds to end after a failure.
  timeoutSeconds: int32 -- Seconds after which a probe times out.
type ContainerPort -- A port of a container.
  containerPort!: int32 -- The number of the port.
  hostIP: string -- The host address to bind to.
  hostPort: int32 -- The port on the host.
  name: string -- The name of the port, unique in the pod.
  protocol: string -- UDP, TCP or SCTP.
type ContainerResizePolicy -- How a resource is resized.
  resourceName!: string -- The resource.
  restartPolicy!: string -- NotRequired or RestartContainer.
type ResourceRequirements -- Resources of a container.
  claims: ResourceClaim[] keys=name -- Claims the container uses.
  limits: map Quantity -- The most that may be used.
  requests: map Quantity -- The least that is needed.
type ResourceClaim -- A claim the container uses.
  name!: string -- The name of an entry of resourceClaims.
  request: string -- The request within the claim.
type SecurityContext -- Security settings of a container.
  allowPrivilegeEscalation: boolean -- Whether a process may gain more rights than its parent.
  appArmorProfile: AppArmorProfile -- The AppArmor profile.
  capabilities: Capabilities -- Capabilities added and dropped.
  privileged: boolean -- Whether the container is root on the host.
  procMount: string -- Default or Unmasked.
  readOnlyRootFilesystem: boolean -- Whether the root file system is read only.
  runAsGroup: int64 -- The group id of the entrypoint.
  runAsNonRoot: boolean -- Whether the user must not be root.
  runAsUser: int64 -- The user id of the entrypoint.
  seLinuxOptions: SELinuxOptions -- The SELinux context.
  seccompProfile: SeccompProfile -- The seccomp profile.
type PodSecurityContext -- Security settings of a pod.
  appArmorProfile: AppArmorProfile -- The AppArmor profile.
  fsGroup: int64 -- The group that owns the volumes.
  fsGroupChangePolicy: string -- OnRootMismatch or Always.
  runAsGroup: int64 -- The group id of the entrypoints.
  runAsNonRoot: boolean -- Whether users must not be root.
  runAsUser: int64 -- The user id of the entrypoints.
  seLinuxOptions: SELinuxOptions -- The SELinux context.
  seccompProfile: SeccompProfile -- The seccomp profile.
  supplementalGroups: int64[] -- Further groups of the first process.
  sysctls: Sysctl[] -- Kernel parameters of the pod.
type AppArmorProfile -- An AppArmor profile.
  localhostProfile: string -- A profile loaded on the node.
  type!: string -- Localhost, RuntimeDefault or Unconfined.
type SeccompProfile -- A seccomp profile.
  localhostProfile: string -- A file on the node.
  type!: string -- Localhost, RuntimeDefault or Unconfined.
type SELinuxOptions -- Labels applied to the container.
  level: string -- The level label.
  role: string -- The role label.
  type: string -- The type label.
  user: string -- The user label.
type Capabilities -- Capabilities added and dropped.
  add: string[] -- Added capabilities.
  drop: string[] -- Dropped capabilities.
type Sysctl -- A kernel parameter.
  name!: string -- The name.
  value!: string -- The value.
type VolumeMount -- A volume mounted into a container.
  mountPath!: string -- Where it is mounted.
  mountPropagation: string -- How mounts spread between host and container.
  name!: string -- The name of a volume.
  readOnly: boolean -- Whether it is read only.
  recursiveReadOnly: string -- Disabled, IfPossible or Enabled.
  subPath: string -- The path within the volume.
  subPathExpr: string -- As subPath, with $(VAR) expanded.
type VolumeDevice -- A block device of a container.
  devicePath!: string -- The path in the container.
  name!: string -- The name of a claim in the pod.
type Volume -- A named volume of a pod.
  configMap: ConfigMapVolumeSource -- A ConfigMap as files.
  csi: CSIVolumeSource -- A volume of a CSI driver.
  downwardAPI: DownwardAPIVolumeSource -- Fields of the pod as files.
  emptyDir: EmptyDirVolumeSource -- A directory that lives as long as the pod.
  hostPath: HostPathVolumeSource -- A path of the host.
  name!: string -- The name, unique in the pod.
  nfs: NFSVolumeSource -- An NFS mount.
  persistentVolumeClaim: PersistentVolumeClaimVolumeSource -- A claim in the same namespace.
  projected: ProjectedVolumeSource -- Several sources in one directory.
  secret: SecretVolumeSource -- A Secret as files.
type ConfigMapVolumeSource -- A ConfigMap as files.
  defaultMode: int32 -- The mode of the files.
  items: KeyToPath[] -- Which keys, and where.
  name: string -- The name of the ConfigMap.
  optional: boolean -- Whether it may be missing.
type SecretVolumeSource -- A Secret as files.
  defaultMode: int32 -- The mode of the files.
  items: KeyToPath[] -- Which keys, and where.
  optional: boolean -- Whether it may be missing.
  secretName: string -- The name of the Secret.
type KeyToPath -- A key and its file.
  key!: string -- The key.
  mode: int32 -- The mode of the file.
  path!: string -- The relative path.
type CSIVolumeSource -- A volume of a CSI driver.
  driver!: string -- The name of the driver.
  fsType: string -- The file system.
  nodePublishSecretRef: LocalObjectReference -- A Secret for the driver.
  readOnly: boolean -- Whether it is read only.
  volumeAttributes: map string -- Properties the driver knows.
type DownwardAPIVolumeSource -- Fields of the pod as files.
  defaultMode: int32 -- The mode of the files.
  items: DownwardAPIVolumeFile[] -- The files.
type DownwardAPIVolumeFile -- One file.
  fieldRef: ObjectFieldSelector -- A field of the pod.
  mode: int32 -- The mode of the file.
  path!: string -- The relative path.
  resourceFieldRef: ResourceFieldSelector -- A resource of a container.
type EmptyDirVolumeSource -- A directory that lives as long as the pod.
  medium: string -- Memory, or empty for the disk.
  sizeLimit: Quantity -- The most it may hold.
type HostPathVolumeSource -- A path of the host.
  path!: string -- The path.
  type: string -- What must be there.
type NFSVolumeSource -- An NFS mount.
  path!: string -- The exported path.
  readOnly: boolean -- Whether it is read only.
  server!: string -- The host of the server.
type PersistentVolumeClaimVolumeSource -- A claim in the same namespace.
  claimName!: string -- The name of the claim.
  readOnly: boolean -- Whether it is read only.
type ProjectedVolumeSource -- Several sources in one directory.
  defaultMode: int32 -- The mode of the files.
  sources: VolumeProjection[] -- The sources.
type VolumeProjection -- One source of a projected volume.
  configMap: ConfigMapProjection -- A ConfigMap.
  downwardAPI: DownwardAPIProjection -- Fields of the pod.
  secret: SecretProjection -- A Secret.
  serviceAccountToken: ServiceAccountTokenProjection -- A token.
type ConfigMapProjection -- A projected ConfigMap.
  items: KeyToPath[] -- Which keys, and where.
  name: string -- The name of the ConfigMap.
  optional: boolean -- Whether it may be missing.
type DownwardAPIProjection -- Projected fields of the pod.
  items: DownwardAPIVolumeFile[] -- The files.
type SecretProjection -- A projected Secret.
  items: KeyToPath[] -- Which keys, and where.
  name: string -- The name of the Secret.
  optional: boolean -- Whether it may be missing.
type ServiceAccountTokenProjection -- A projected token.
  audience: string -- Whom the token is meant for.
  expirationSeconds: int64 -- How long it is good.
  path!: string -- The relative path.
type Affinity -- Where a pod should or must be scheduled.
  nodeAffinity: NodeAffinity -- By node.
  podAffinity: PodAffinity -- Near other pods.
  podAntiAffinity: PodAntiAffinity -- Away from other pods.
type NodeAffinity -- Scheduling by node.
  preferredDuringSchedulingIgnoredDuringExecution: PreferredSchedulingTerm[] -- Wishes.
  requiredDuringSchedulingIgnoredDuringExecution: NodeSelector -- Demands.
type PreferredSchedulingTerm -- A wish with a weight.
  preference!: NodeSelectorTerm -- The wish.
  weight!: int32 -- From 1 to 100.
type NodeSelector map=atomic -- Terms, one of which must match.
  nodeSelectorTerms!: NodeSelectorTerm[] -- The terms.
type NodeSelectorTerm map=atomic -- Requirements, all of which must hold.
  matchExpressions: NodeSelectorRequirement[] -- By label.
  matchFields: NodeSelectorRequirement[] -- By field.
type NodeSelectorRequirement -- A key, an operator and values.
  key!: string -- The label.
  operator!: string -- In, NotIn, Exists, DoesNotExist, Gt or Lt.
  values: string[] -- The values.
type PodAffinity -- Scheduling near other pods.
  preferredDuringSchedulingIgnoredDuringExecution: WeightedPodAffinityTerm[] -- Wishes.
  requiredDuringSchedulingIgnoredDuringExecution: PodAffinityTerm[] -- Demands.
type PodAntiAffinity -- Scheduling away from other pods.
  preferredDuringSchedulingIgnoredDuringExecution: WeightedPodAffinityTerm[] -- Wishes.
  requiredDuringSchedulingIgnoredDuringExecution: PodAffinityTerm[] -- Demands.
type WeightedPodAffinityTerm -- A wish with a weight.
  podAffinityTerm!: PodAffinityTerm -- The wish.
  weight!: int32 -- From 1 to 100.
type PodAffinityTerm -- A set of pods and a topology.
  labelSelector: LabelSelector -- Which pods.
  matchLabelKeys: string[] -- Keys taken from the incoming pod.
  namespaceSelector: LabelSelector -- In which namespaces, by label.
  namespaces: string[] -- In which namespaces, by name.
  topologyKey!: string -- The label that makes nodes one place.
type TopologySpreadConstraint -- How pods spread over domains.
  labelSelector: LabelSelector -- Which pods.
  matchLabelKeys: string[] -- Keys taken from the incoming pod.
  maxSkew!: int32 -- How uneven it may be.
  minDomains: int32 -- The least number of domains.
  nodeAffinityPolicy: string -- Honor or Ignore.
  nodeTaintsPolicy: string -- Honor or Ignore.
  topologyKey!: string -- The label that makes a domain.
  whenUnsatisfiable!: string -- DoNotSchedule or ScheduleAnyway.
type Toleration -- A taint the pod tolerates.
  effect: string -- NoSchedule, PreferNoSchedule or NoExecute.
  key: string -- The key of the taint.
  operator: string -- Exists or Equal.
  tolerationSeconds: int64 -- How long NoExecute is tolerated.
  value: string -- The value of the taint.
type HostAlias -- An entry of the hosts file.
  hostnames: string[] -- The names.
  ip!: string -- The address.
type PodDNSConfig -- DNS parameters of a pod.
  nameservers: string[] -- Name servers.
  options: PodDNSConfigOption[] -- Resolver options.
  searches: string[] -- Search domains.
type PodDNSConfigOption -- A resolver option.
  name: string -- The name.
  value: string -- The value.
type PodOS -- The operating system of the containers.
  name!: string -- linux or windows.
type PodReadinessGate -- A condition that must be true.
  conditionType!: string -- The type of the condition.
type PodSchedulingGate -- A gate before scheduling.
  name!: string -- The name of the gate.
type PodResourceClaim -- A claim the pod uses.
  name!: string -- The name within the pod.
  resourceClaimName: string -- The name of a ResourceClaim.
  resourceClaimTemplateName: string -- The name of a template.
type LocalObjectReference map=atomic -- An object in the same namespace.
  name: string -- The name.
type PodStatus -- The most recently observed state of a pod.
  conditions: PodCondition[] merge=type -- Where the pod stands.
  containerStatuses: ContainerStatus[] -- The state of each container.
  ephemeralContainerStatuses: ContainerStatus[] -- The state of each ephemeral container.
  hostIP: string -- The address of the host.
  hostIPs: HostIP[] merge=ip list=atomic -- The addresses of the host.
  initContainerStatuses: ContainerStatus[] -- The state of each init container.
  message: string -- Why the pod is in this condition, for people.
  nominatedNodeName: string -- The node the pod will move to after preemption.
  observedGeneration: int64 -- The generation the status was set from.
  phase: string -- Pending, Running, Succeeded, Failed or Unknown.
  podIP: string -- The address of the pod.
  podIPs: PodIP[] merge=ip -- The addresses of the pod.
  qosClass: string -- Guaranteed, Burstable or BestEffort.
  reason: string -- Why the pod is in this state, such as Evicted.
  resize: string -- The state of a resize.
  startTime: Time -- When the kubelet acknowledged the pod.
type HostIP -- An address of the host.
  ip!: string -- The address.
type PodIP -- An address of the pod.
  ip!: string -- The address.
type PodCondition -- One aspect of the state of a pod.
  lastProbeTime: Time -- When it was last probed.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people about the last transition.
  observedGeneration: int64 -- The generation the condition was set from.
  reason: string -- A word in CamelCase for the last transition.
  status!: string -- True, False or Unknown.
  type!: string -- The aspect.
type ContainerStatus -- The state of one container.
  allocatedResources: map Quantity -- Resources the node set aside.
  containerID: string -- The id, as type://id.
  image!: string -- The image that runs.
  imageID!: string -- The id of the image.
  lastState: ContainerState -- The state before the last restart.
  name!: string -- The name of the container.
  ready!: boolean -- Whether the readiness probe passes.
  resources: ResourceRequirements -- The resources in effect.
  restartCount!: int32 -- How often it was restarted.
  started: boolean -- Whether the startup probe has passed.
  state: ContainerState -- The present state.
  volumeMounts: VolumeMountStatus[] merge=mountPath -- The mounts in effect.
type VolumeMountStatus -- A mount in effect.
  mountPath!: string -- Where it is mounted.
  name!: string -- The name of the volume.
  readOnly: boolean -- Whether it is read only.
type ContainerState -- One of running, terminated, waiting.
  running: ContainerStateRunning -- It runs.
  terminated: ContainerStateTerminated -- It has ended.
  waiting: ContainerStateWaiting -- It waits.
type ContainerStateRunning -- A container that runs.
  startedAt: Time -- Since when.
type ContainerStateTerminated -- A container that has ended.
  containerID: string -- The id, as type://id.
  exitCode!: int32 -- The exit code.
  finishedAt: Time -- When it ended.
  message: string -- A message from the container.
  reason: string -- A short reason.
  signal: int32 -- The signal that ended it.
  startedAt: Time -- When it started.
type ContainerStateWaiting -- A container that waits.
  message: string -- A message for people.
  reason: string -- A short reason.
`;
