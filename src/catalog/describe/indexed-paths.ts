/**
 * The paths of built-in kinds that are indexed from the start. API servers select by some of them, and the columns of `kubectl get` show the
 * others (src/catalog/columns). Every path is checked against the served tree, so one table serves all versions.
 */

/** The paths behind columns. Paths of columns that are always shown come first. */
const shown: Readonly<Record<string, string>> = {
  pods: `status.conditions[type=Ready].status status.phase sum(status.containerStatuses[].restartCount) status.podIP
    spec.nodeName status.nominatedNodeName`,
  'deployments.apps': 'status.readyReplicas spec.replicas status.updatedReplicas status.availableReplicas',
  'replicasets.apps': 'spec.replicas status.replicas status.readyReplicas',
  'statefulsets.apps': 'status.readyReplicas spec.replicas',
  'daemonsets.apps': `status.desiredNumberScheduled status.currentNumberScheduled status.numberReady status.updatedNumberScheduled
    status.numberAvailable`,
  'controllerrevisions.apps': 'metadata.ownerReferences[controller=true].name revision',
  replicationcontrollers: 'spec.replicas status.replicas status.readyReplicas',
  'jobs.batch': 'status.conditions[status=True].type spec.completions status.succeeded',
  'cronjobs.batch': 'spec.schedule spec.timeZone spec.suspend status.lastScheduleTime',
  services: 'spec.type spec.clusterIP',
  'endpointslices.discovery.k8s.io': 'addressType',
  nodes: `status.conditions[type=Ready].status spec.unschedulable status.nodeInfo.kubeletVersion
    status.addresses[type=InternalIP].address status.addresses[type=ExternalIP].address status.nodeInfo.osImage
    status.nodeInfo.kernelVersion status.nodeInfo.containerRuntimeVersion`,
  namespaces: 'status.phase',
  secrets: 'type',
  events: `lastTimestamp type reason involvedObject.kind involvedObject.name message source.component firstTimestamp
    count`,
  'ingresses.networking.k8s.io': 'spec.ingressClassName',
  'ingressclasses.networking.k8s.io': 'spec.controller spec.parameters.name',
  'ipaddresses.networking.k8s.io': 'spec.parentRef.name',
  persistentvolumes: `spec.capacity["storage"] spec.persistentVolumeReclaimPolicy status.phase spec.claimRef.namespace
    spec.claimRef.name spec.storageClassName status.reason spec.volumeMode`,
  persistentvolumeclaims:
    'status.phase spec.volumeName status.capacity["storage"] spec.storageClassName spec.volumeMode',
  'storageclasses.storage.k8s.io': 'provisioner reclaimPolicy volumeBindingMode allowVolumeExpansion',
  'volumeattachments.storage.k8s.io': 'spec.attacher spec.source.persistentVolumeName spec.nodeName status.attached',
  'csidrivers.storage.k8s.io': 'spec.attachRequired spec.podInfoOnMount spec.storageCapacity',
  'csistoragecapacities.storage.k8s.io': 'storageClassName capacity',
  'horizontalpodautoscalers.autoscaling':
    'spec.scaleTargetRef.kind spec.scaleTargetRef.name spec.minReplicas spec.maxReplicas status.currentReplicas',
  'poddisruptionbudgets.policy': 'spec.minAvailable spec.maxUnavailable status.disruptionsAllowed',
  'priorityclasses.scheduling.k8s.io': 'value globalDefault preemptionPolicy',
  'leases.coordination.k8s.io': 'spec.holderIdentity',
  'rolebindings.rbac.authorization.k8s.io': `roleRef.kind roleRef.name subjects[kind=User].name subjects[kind=Group].name
    subjects[kind=ServiceAccount].name`,
  'clusterrolebindings.rbac.authorization.k8s.io': `roleRef.kind roleRef.name subjects[kind=User].name subjects[kind=Group].name
    subjects[kind=ServiceAccount].name`,
  'customresourcedefinitions.apiextensions.k8s.io': 'spec.group spec.names.kind',
  'apiservices.apiregistration.k8s.io':
    'spec.service.namespace spec.service.name status.conditions[type=Available].status',
  'validatingadmissionpolicies.admissionregistration.k8s.io': 'spec.paramKind.kind',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': 'spec.policyName spec.paramRef.name',
  'certificatesigningrequests.certificates.k8s.io': 'spec.signerName spec.username spec.expirationSeconds',
  'runtimeclasses.node.k8s.io': 'handler',
  'flowschemas.flowcontrol.apiserver.k8s.io':
    'spec.priorityLevelConfiguration.name spec.matchingPrecedence spec.distinguisherMethod.type',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': 'spec.type',
};

/** Field selectors of API servers, and common filters of consoles; the most useful first. */
const selected: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'status.phase',
    'spec.serviceAccountName',
    'status.podIP',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.hostNetwork',
    'status.nominatedNodeName',
  ],
  events: [
    'involvedObject.uid',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.kind',
    'reason',
    'type',
    'lastTimestamp',
    'reportingComponent',
    'source.component',
    'involvedObject.apiVersion',
    'involvedObject.fieldPath',
    'involvedObject.resourceVersion',
  ],
  secrets: ['type'],
  namespaces: ['status.phase'],
  nodes: ['spec.unschedulable'],
  'replicasets.apps': ['status.replicas'],
  replicationcontrollers: ['status.replicas'],
  'jobs.batch': ['status.succeeded', 'status.failed', 'status.completionTime'],
  'certificatesigningrequests.certificates.k8s.io': ['spec.signerName'],
};

/** Paths of a built-in kind that API servers select by. */
export function builtInSelected(key: string): readonly string[] {
  return (Object.hasOwn(selected, key) ? selected[key] : undefined) ?? [];
}

/** Paths of a built-in kind behind the columns of `kubectl get`. */
export function builtInShown(key: string): readonly string[] {
  return (Object.hasOwn(shown, key) ? shown[key] : undefined)?.split(/\s+/) ?? [];
}
