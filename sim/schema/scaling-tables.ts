/** The groups autoscaling, policy, discovery.k8s.io and scheduling.k8s.io, in the notation of notation.ts. */
export const scalingTables = [
  `
group autoscaling/v2 package=io.k8s.api.autoscaling.v2
kind HorizontalPodAutoscaler horizontalpodautoscalers scope=ns short=hpa categories=all sub=status -- Scales a workload by metrics.
  spec!: HorizontalPodAutoscalerSpec -- What is wanted.
  status: HorizontalPodAutoscalerStatus -- What there is.
type HorizontalPodAutoscalerSpec -- How a workload is scaled.
  behavior: HorizontalPodAutoscalerBehavior -- How fast it is scaled.
  maxReplicas!: int32 -- The most pods.
  metrics: MetricSpec[] -- Metrics and their targets.
  minReplicas: int32 -- The fewest pods.
  scaleTargetRef!: CrossVersionObjectReference -- The workload.
type CrossVersionObjectReference -- An object in the same namespace, by kind and name.
  apiVersion: string -- The API version.
  kind!: string -- The kind.
  name!: string -- The name.
type HorizontalPodAutoscalerBehavior -- How fast a workload is scaled.
  scaleDown: HPAScalingRules -- Rules for fewer pods.
  scaleUp: HPAScalingRules -- Rules for more pods.
type HPAScalingRules -- Rules for one direction.
  policies: HPAScalingPolicy[] -- The policies.
  selectPolicy: string -- Max, Min or Disabled.
  stabilizationWindowSeconds: int32 -- Seconds over which past recommendations count.
  tolerance: Quantity -- The deviation that changes nothing.
type HPAScalingPolicy -- How much may change in a time.
  periodSeconds!: int32 -- The time.
  type!: string -- Pods or Percent.
  value!: int32 -- How much.
type MetricSpec -- A metric and its target.
  containerResource: ContainerResourceMetricSource -- A resource of one container.
  external: ExternalMetricSource -- A metric from outside the cluster.
  object: ObjectMetricSource -- A metric of one object.
  pods: PodsMetricSource -- A metric of each pod.
  resource: ResourceMetricSource -- A resource of the pods.
  type!: string -- Which of the fields is set.
type ContainerResourceMetricSource -- A resource of one container.
  container!: string -- The container.
  name!: string -- The resource.
  target!: MetricTarget -- The target.
type ExternalMetricSource -- A metric from outside the cluster.
  metric!: MetricIdentifier -- The metric.
  target!: MetricTarget -- The target.
type ObjectMetricSource -- A metric of one object.
  describedObject!: CrossVersionObjectReference -- The object.
  metric!: MetricIdentifier -- The metric.
  target!: MetricTarget -- The target.
type PodsMetricSource -- A metric of each pod.
  metric!: MetricIdentifier -- The metric.
  target!: MetricTarget -- The target.
type ResourceMetricSource -- A resource of the pods.
  name!: string -- The resource.
  target!: MetricTarget -- The target.
type MetricIdentifier -- A metric by name and labels.
  name!: string -- The name.
  selector: LabelSelector -- Labels of the metric.
type MetricTarget -- The value that is aimed at.
  averageUtilization: int32 -- Percent of what the pods request.
  averageValue: Quantity -- The mean of all pods.
  type!: string -- Utilization, Value or AverageValue.
  value: Quantity -- The value.
type HorizontalPodAutoscalerStatus -- The state of an autoscaler.
  conditions: HorizontalPodAutoscalerCondition[] merge=type -- Where it stands.
  currentMetrics: MetricStatus[] -- The metrics as last read.
  currentReplicas: int32 -- Pods as last seen.
  desiredReplicas!: int32 -- Pods as last computed.
  lastScaleTime: Time -- When it last scaled.
  observedGeneration: int64 -- The generation the status was set from.
type HorizontalPodAutoscalerCondition -- One aspect of the state of an autoscaler.
  lastTransitionTime: Time -- When the status last changed.
  message: string -- A message for people.
  reason: string -- A word in CamelCase.
  status!: string -- True, False or Unknown.
  type!: string -- The aspect.
type MetricStatus -- A metric as last read.
  containerResource: ContainerResourceMetricStatus -- A resource of one container.
  external: ExternalMetricStatus -- A metric from outside the cluster.
  object: ObjectMetricStatus -- A metric of one object.
  pods: PodsMetricStatus -- A metric of each pod.
  resource: ResourceMetricStatus -- A resource of the pods.
  type!: string -- Which of the fields is set.
type ContainerResourceMetricStatus -- A resource of one container.
  container!: string -- The container.
  current!: MetricValueStatus -- The value.
  name!: string -- The resource.
type ExternalMetricStatus -- A metric from outside the cluster.
  current!: MetricValueStatus -- The value.
  metric!: MetricIdentifier -- The metric.
type ObjectMetricStatus -- A metric of one object.
  current!: MetricValueStatus -- The value.
  describedObject!: CrossVersionObjectReference -- The object.
  metric!: MetricIdentifier -- The metric.
type PodsMetricStatus -- A metric of each pod.
  current!: MetricValueStatus -- The value.
  metric!: MetricIdentifier -- The metric.
type ResourceMetricStatus -- A resource of the pods.
  current!: MetricValueStatus -- The value.
  name!: string -- The resource.
type MetricValueStatus -- The value of a metric.
  averageUtilization: int32 -- Percent of what the pods request.
  averageValue: Quantity -- The mean of all pods.
  value: Quantity -- The value.
`,
  `
group policy/v1 package=io.k8s.api.policy.v1
kind PodDisruptionBudget poddisruptionbudgets scope=ns short=pdb sub=status -- How many pods of a set may be disrupted at once.
  spec: PodDisruptionBudgetSpec -- What is wanted.
  status: PodDisruptionBudgetStatus -- What there is.
type PodDisruptionBudgetSpec -- Which pods, and how many of them.
  maxUnavailable: IntOrString -- The most pods that may be missing.
  minAvailable: IntOrString -- The fewest pods that must be there.
  selector: LabelSelector patch=replace -- The pods.
  unhealthyPodEvictionPolicy: string -- IfHealthyBudget or AlwaysAllow.
type PodDisruptionBudgetStatus -- The state of a budget.
  conditions: Condition[] merge=type -- Where it stands.
  currentHealthy: int32 -- Pods that are healthy.
  desiredHealthy: int32 -- Pods that must be healthy.
  disruptedPods: map Time -- Pods whose eviction was allowed, until they are gone.
  disruptionsAllowed: int32 -- Pods that may be disrupted now.
  expectedPods: int32 -- Pods that are counted.
  observedGeneration: int64 -- The generation the status was set from.
`,
  `
group discovery.k8s.io/v1 package=io.k8s.api.discovery.v1
kind EndpointSlice endpointslices scope=ns -- Some of the endpoints of a service.
  addressType!: string -- IPv4, IPv6 or FQDN.
  endpoints: Endpoint[] -- The endpoints.
  ports: EndpointPort[] -- The ports of every endpoint.
type Endpoint -- One backend of a service.
  addresses!: string[] list=set -- Its addresses.
  conditions: EndpointConditions -- Its state.
  deprecatedTopology: map string -- No longer used.
  hints: EndpointHints -- Where it should be used from.
  hostname: string -- Its host name.
  nodeName: string -- Its node.
  targetRef: ObjectReference -- The object behind it.
  zone: string -- Its zone.
type EndpointConditions -- The state of an endpoint.
  ready: boolean -- Whether it takes traffic.
  serving: boolean -- Whether it answers, even while it ends.
  terminating: boolean -- Whether it ends.
type EndpointHints -- Where an endpoint should be used from.
  forNodes: ForNode[] -- Nodes.
  forZones: ForZone[] -- Zones.
type ForNode -- A node.
  name!: string -- Its name.
type ForZone -- A zone.
  name!: string -- Its name.
type EndpointPort map=atomic -- A port of the endpoints.
  appProtocol: string -- The application protocol.
  name: string -- The name.
  port: int32 -- The number.
  protocol: string -- TCP, UDP or SCTP.
`,
  `
group scheduling.k8s.io/v1 package=io.k8s.api.scheduling.v1
kind PriorityClass priorityclasses scope=cluster short=pc -- A name for a priority of pods.
  description: string -- When to use it.
  globalDefault: boolean -- Whether pods without a class have it.
  preemptionPolicy: string -- Never or PreemptLowerPriority.
  value: int32 -- The priority; higher is more important.
`,
];
