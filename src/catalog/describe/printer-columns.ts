/**
 * The columns that `kubectl get` shows for built-in kinds, as paths.
 *
 * kube-apiserver computes these columns in code that OpenAPI does not describe. A computed column (a Pod's READY, a Service's
 * EXTERNAL-IP) is replaced by the nearest path, or by null. Every path is checked against the served tree, so one table serves
 * all versions. describe.ts adds the name column.
 */
import type { PrinterColumn } from '../resources/catalog.ts';

/** `Name:type:path`, with Kubernetes' types. `*` before a name: only in `-o wide`. `-` for no path. */
const notes: Readonly<Record<string, string>> = {
  pods: `Ready:string:status.conditions[type=Ready].status Status:string:status.phase Restarts:integer:sum(status.containerStatuses[].restartCount) Age
    *IP:string:status.podIP *Node:string:spec.nodeName *Nominated-Node:string:status.nominatedNodeName`,
  'deployments.apps': `Ready:integer:status.readyReplicas Desired:integer:spec.replicas Up-to-date:integer:status.updatedReplicas Available:integer:status.availableReplicas Age
    *Containers:string:spec.template.spec.containers[].name *Images:string:spec.template.spec.containers[].image *Selector:-`,
  'replicasets.apps': `Desired:integer:spec.replicas Current:integer:status.replicas Ready:integer:status.readyReplicas Age
    *Containers:string:spec.template.spec.containers[].name *Images:string:spec.template.spec.containers[].image *Selector:-`,
  'statefulsets.apps': `Ready:integer:status.readyReplicas Desired:integer:spec.replicas Age
    *Containers:string:spec.template.spec.containers[].name *Images:string:spec.template.spec.containers[].image`,
  'daemonsets.apps': `Desired:integer:status.desiredNumberScheduled Current:integer:status.currentNumberScheduled Ready:integer:status.numberReady
    Up-to-date:integer:status.updatedNumberScheduled Available:integer:status.numberAvailable Node-Selector:- Age
    *Containers:string:spec.template.spec.containers[].name *Images:string:spec.template.spec.containers[].image *Selector:-`,
  'controllerrevisions.apps':
    'Controller:string:metadata.ownerReferences[controller=true].name Revision:integer:revision Age',
  replicationcontrollers: `Desired:integer:spec.replicas Current:integer:status.replicas Ready:integer:status.readyReplicas Age
    *Containers:string:spec.template.spec.containers[].name *Images:string:spec.template.spec.containers[].image *Selector:-`,
  podtemplates:
    'Containers:string:template.spec.containers[].name Images:string:template.spec.containers[].image Pod-Labels:- Age',
  'jobs.batch': `Status:string:status.conditions[status=True].type Completions:integer:spec.completions Succeeded:integer:status.succeeded Duration:- Age
    *Containers:string:spec.template.spec.containers[].name *Images:string:spec.template.spec.containers[].image *Selector:-`,
  'cronjobs.batch': `Schedule:string:spec.schedule Timezone:string:spec.timeZone Suspend:boolean:spec.suspend Active:string:status.active[].name
    Last-Schedule:date:status.lastScheduleTime Age *Containers:string:spec.jobTemplate.spec.template.spec.containers[].name
    *Images:string:spec.jobTemplate.spec.template.spec.containers[].image`,
  services: `Type:string:spec.type Cluster-IP:string:spec.clusterIP External-IP:string:status.loadBalancer.ingress[].ip Port(s):integer:spec.ports[].port Age
    *Selector:-`,
  endpoints: 'Endpoints:string:subsets[].addresses[].ip Age',
  'endpointslices.discovery.k8s.io':
    'AddressType:string:addressType Ports:integer:ports[].port Endpoints:string:endpoints[].addresses[] Age',
  nodes: `Status:string:status.conditions[type=Ready].status Unschedulable:boolean:spec.unschedulable Roles:- Age Version:string:status.nodeInfo.kubeletVersion
    *Internal-IP:string:status.addresses[type=InternalIP].address *External-IP:string:status.addresses[type=ExternalIP].address
    *OS-Image:string:status.nodeInfo.osImage *Kernel-Version:string:status.nodeInfo.kernelVersion
    *Container-Runtime:string:status.nodeInfo.containerRuntimeVersion`,
  namespaces: 'Status:string:status.phase Age',
  configmaps: 'Data:- Age',
  secrets: 'Type:string:type Data:- Age',
  serviceaccounts: 'Secrets:string:secrets[].name Age',
  events: `Last-Seen:date:lastTimestamp Type:string:type Reason:string:reason Object-Kind:string:involvedObject.kind Object:string:involvedObject.name
    *Source:string:source.component Message:string:message *First-Seen:date:firstTimestamp *Count:integer:count`,
  'ingresses.networking.k8s.io': `Class:string:spec.ingressClassName Hosts:string:spec.rules[].host Address:string:status.loadBalancer.ingress[].ip
    Ports:- Age`,
  'ingressclasses.networking.k8s.io': 'Controller:string:spec.controller Parameters:string:spec.parameters.name Age',
  'networkpolicies.networking.k8s.io': 'Pod-Selector:- Age',
  'ipaddresses.networking.k8s.io': 'ParentRef:string:spec.parentRef.name Age',
  'servicecidrs.networking.k8s.io': 'CIDRs:string:spec.cidrs[] Age',
  persistentvolumes: `Capacity:string:spec.capacity["storage"] Access-Modes:string:spec.accessModes[] Reclaim-Policy:string:spec.persistentVolumeReclaimPolicy
    Status:string:status.phase Claim-Namespace:string:spec.claimRef.namespace Claim:string:spec.claimRef.name StorageClass:string:spec.storageClassName
    Reason:string:status.reason Age *VolumeMode:string:spec.volumeMode`,
  persistentvolumeclaims: `Status:string:status.phase Volume:string:spec.volumeName Capacity:string:status.capacity["storage"]
    Access-Modes:string:status.accessModes[] StorageClass:string:spec.storageClassName Age *VolumeMode:string:spec.volumeMode`,
  'storageclasses.storage.k8s.io': `Provisioner:string:provisioner ReclaimPolicy:string:reclaimPolicy VolumeBindingMode:string:volumeBindingMode
    AllowVolumeExpansion:boolean:allowVolumeExpansion Age`,
  'volumeattachments.storage.k8s.io': `Attacher:string:spec.attacher PV:string:spec.source.persistentVolumeName Node:string:spec.nodeName
    Attached:boolean:status.attached Age`,
  'csidrivers.storage.k8s.io': `AttachRequired:boolean:spec.attachRequired PodInfoOnMount:boolean:spec.podInfoOnMount
    StorageCapacity:boolean:spec.storageCapacity Modes:string:spec.volumeLifecycleModes[] Age`,
  'csinodes.storage.k8s.io': 'Drivers:string:spec.drivers[].name Age',
  'csistoragecapacities.storage.k8s.io': 'StorageClass:string:storageClassName Capacity:string:capacity Age',
  'horizontalpodautoscalers.autoscaling': `Reference-Kind:string:spec.scaleTargetRef.kind Reference:string:spec.scaleTargetRef.name Targets:-
    MinPods:integer:spec.minReplicas MaxPods:integer:spec.maxReplicas Replicas:integer:status.currentReplicas Age`,
  'poddisruptionbudgets.policy': `Min-Available:string:spec.minAvailable Max-Unavailable:string:spec.maxUnavailable
    Allowed-Disruptions:integer:status.disruptionsAllowed Age`,
  resourcequotas: 'Request:- Limit:- Age',
  limitranges: 'Created-At:date:metadata.creationTimestamp',
  'priorityclasses.scheduling.k8s.io':
    'Value:integer:value Global-Default:boolean:globalDefault Age PreemptionPolicy:string:preemptionPolicy',
  'leases.coordination.k8s.io': 'Holder:string:spec.holderIdentity Age',
  'roles.rbac.authorization.k8s.io': 'Created-At:date:metadata.creationTimestamp',
  'clusterroles.rbac.authorization.k8s.io': 'Created-At:date:metadata.creationTimestamp',
  'rolebindings.rbac.authorization.k8s.io': `Role-Kind:string:roleRef.kind Role:string:roleRef.name Age *Users:string:subjects[kind=User].name
    *Groups:string:subjects[kind=Group].name *ServiceAccounts:string:subjects[kind=ServiceAccount].name`,
  'clusterrolebindings.rbac.authorization.k8s.io': `Role-Kind:string:roleRef.kind Role:string:roleRef.name Age *Users:string:subjects[kind=User].name
    *Groups:string:subjects[kind=Group].name *ServiceAccounts:string:subjects[kind=ServiceAccount].name`,
  'customresourcedefinitions.apiextensions.k8s.io':
    'Created-At:date:metadata.creationTimestamp *Group:string:spec.group *Kind:string:spec.names.kind',
  'apiservices.apiregistration.k8s.io': `Service-Namespace:string:spec.service.namespace Service:string:spec.service.name
    Available:string:status.conditions[type=Available].status Age`,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': 'Webhooks:string:webhooks[].name Age',
  'validatingwebhookconfigurations.admissionregistration.k8s.io': 'Webhooks:string:webhooks[].name Age',
  'validatingadmissionpolicies.admissionregistration.k8s.io': 'Validations:- ParamKind:string:spec.paramKind.kind Age',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io':
    'PolicyName:string:spec.policyName ParamRef:string:spec.paramRef.name Age',
  'certificatesigningrequests.certificates.k8s.io': `Age SignerName:string:spec.signerName Requestor:string:spec.username
    RequestedDuration:integer:spec.expirationSeconds Condition:string:status.conditions[].type`,
  'runtimeclasses.node.k8s.io': 'Handler:string:handler Age',
  'flowschemas.flowcontrol.apiserver.k8s.io': `PriorityLevel:string:spec.priorityLevelConfiguration.name
    MatchingPrecedence:integer:spec.matchingPrecedence DistinguisherMethod:string:spec.distinguisherMethod.type Age`,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': 'Type:string:spec.type Age',
  componentstatuses:
    'Status:string:conditions[].status Message:string:conditions[].message Error:string:conditions[].error',
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

/** The creation time of the object, kubectl's AGE. */
export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', priority: 0, path: 'metadata.creationTimestamp' };

export const nameColumn: PrinterColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  path: 'metadata.name',
};

/** The columns of a built-in kind without its name; null for an unknown kind. */
export function builtInColumns(key: string): readonly PrinterColumn[] | null {
  const note = Object.hasOwn(notes, key) ? notes[key] : undefined;
  if (note === undefined) return null;
  return note.split(/\s+/).map((text): PrinterColumn => {
    if (text === 'Age') return ageColumn;
    const wide = text.startsWith('*');
    const [name = '', type = '', ...path] = text.slice(wide ? 1 : 0).split(':');
    const shown = name.replaceAll('-', ' ').replace('Up to date', 'Up-to-date');
    return type === '-'
      ? { name: shown, type: 'string', priority: wide ? 1 : 0, path: null }
      : { name: shown, type, priority: wide ? 1 : 0, path: path.join(':') };
  });
}

/** Further paths of a built-in kind to index. */
export function builtInSelected(key: string): readonly string[] {
  return (Object.hasOwn(selected, key) ? selected[key] : undefined) ?? [];
}
