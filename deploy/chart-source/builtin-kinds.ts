/**
 * The resources that kube-apiserver 1.37 serves itself and that can be listed. A rule may name kinds that an older server does not have.
 * `test/chart/builtin-kinds.real.test.ts` compares the table with the server.
 */
import type { Resource } from '../../src/catalog/resources/resource.ts';

type BuiltinKind = Pick<Resource, 'group' | 'plural' | 'kind' | 'namespaced' | 'verbs'>;

/** Of each group, `plural Kind` of the namespaced resources, and of those of the whole cluster. */
const groups: readonly (readonly [group: string, namespaced: string, cluster: string])[] = [
  [
    '',
    'configmaps ConfigMap, endpoints Endpoints, events Event, limitranges LimitRange, persistentvolumeclaims PersistentVolumeClaim, pods Pod, podtemplates PodTemplate, replicationcontrollers ReplicationController, resourcequotas ResourceQuota, secrets Secret, serviceaccounts ServiceAccount, services Service',
    'componentstatuses ComponentStatus, namespaces Namespace, nodes Node, persistentvolumes PersistentVolume',
  ],
  [
    'admissionregistration.k8s.io',
    '',
    'mutatingadmissionpolicies MutatingAdmissionPolicy, mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding, mutatingwebhookconfigurations MutatingWebhookConfiguration, validatingadmissionpolicies ValidatingAdmissionPolicy, validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding, validatingwebhookconfigurations ValidatingWebhookConfiguration',
  ],
  ['apiextensions.k8s.io', '', 'customresourcedefinitions CustomResourceDefinition'],
  ['apiregistration.k8s.io', '', 'apiservices APIService'],
  [
    'apps',
    'controllerrevisions ControllerRevision, daemonsets DaemonSet, deployments Deployment, replicasets ReplicaSet, statefulsets StatefulSet',
    '',
  ],
  ['autoscaling', 'horizontalpodautoscalers HorizontalPodAutoscaler', ''],
  ['batch', 'cronjobs CronJob, jobs Job', ''],
  [
    'certificates.k8s.io',
    'podcertificaterequests PodCertificateRequest',
    'certificatesigningrequests CertificateSigningRequest, clustertrustbundles ClusterTrustBundle',
  ],
  ['coordination.k8s.io', 'leases Lease', ''],
  ['discovery.k8s.io', 'endpointslices EndpointSlice', ''],
  [
    'flowcontrol.apiserver.k8s.io',
    '',
    'flowschemas FlowSchema, prioritylevelconfigurations PriorityLevelConfiguration',
  ],
  [
    'networking.k8s.io',
    'ingresses Ingress, networkpolicies NetworkPolicy',
    'ingressclasses IngressClass, ipaddresses IPAddress, servicecidrs ServiceCIDR',
  ],
  ['node.k8s.io', '', 'runtimeclasses RuntimeClass'],
  ['policy', 'poddisruptionbudgets PodDisruptionBudget', ''],
  [
    'rbac.authorization.k8s.io',
    'rolebindings RoleBinding, roles Role',
    'clusterrolebindings ClusterRoleBinding, clusterroles ClusterRole',
  ],
  [
    'resource.k8s.io',
    'resourceclaims ResourceClaim, resourceclaimtemplates ResourceClaimTemplate',
    'deviceclasses DeviceClass, devicetaintrules DeviceTaintRule, resourceslices ResourceSlice',
  ],
  ['scheduling.k8s.io', '', 'priorityclasses PriorityClass'],
  [
    'storage.k8s.io',
    'csistoragecapacities CSIStorageCapacity',
    'csidrivers CSIDriver, csinodes CSINode, storageclasses StorageClass, volumeattachments VolumeAttachment, volumeattributesclasses VolumeAttributesClass',
  ],
  ['storagemigration.k8s.io', '', 'storageversionmigrations StorageVersionMigration'],
];

/** Sorted by group and plural. The only kind that can be listed and not watched is ComponentStatus. */
export const builtinKinds: readonly BuiltinKind[] = groups.flatMap(([group, inNamespaces, inCluster]) =>
  [...kindsOf(group, inNamespaces, true), ...kindsOf(group, inCluster, false)].sort((a, b) =>
    a.plural < b.plural ? -1 : 1,
  ),
);

function kindsOf(group: string, names: string, namespaced: boolean): readonly BuiltinKind[] {
  return names
    .split(', ')
    .filter(Boolean)
    .map((name) => {
      const [plural = '', kind = ''] = name.split(' ');
      const verbs = plural === 'componentstatuses' ? ['list'] : ['list', 'watch'];
      return { group, plural, kind, namespaced, verbs };
    });
}
