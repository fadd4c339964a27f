/** Manifests of many namespaced kinds, for writes through a gateway. */

export interface VariedKind {
  readonly key: string;
  readonly head: { readonly apiVersion: string; readonly kind: string };
  readonly body: Readonly<Record<string, unknown>>;
}

const labels = { app: 'app' };
const pod = { containers: [{ name: 'app', image: 'registry.example/app:1' }], restartPolicy: 'Always' };
const template = { metadata: { labels }, spec: pod };
const workload = { selector: { matchLabels: labels }, template };
const job = { template: { spec: { ...pod, restartPolicy: 'Never' } } };
const rbac = 'rbac.authorization.k8s.io';

function kind(key: string, version: string, name: string, body: VariedKind['body'] = {}): VariedKind {
  const [, ...group] = key.split('.');
  const apiVersion = group.length === 0 ? version : `${group.join('.')}/${version}`;
  return { key, head: { apiVersion, kind: name }, body };
}

/** Twenty kinds that API servers since 1.25 serve in these versions. */
export const variedKinds: readonly VariedKind[] = [
  kind('configmaps', 'v1', 'ConfigMap', { data: { a: '1' } }),
  kind('secrets', 'v1', 'Secret', { stringData: { a: '1' } }),
  kind('services', 'v1', 'Service', { spec: { selector: labels, ports: [{ port: 80 }] } }),
  kind('serviceaccounts', 'v1', 'ServiceAccount'),
  kind('pods', 'v1', 'Pod', { spec: pod }),
  kind('limitranges', 'v1', 'LimitRange', {
    spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '100Gi' } }] },
  }),
  kind('resourcequotas', 'v1', 'ResourceQuota', { spec: { hard: { 'count/widgets.example.com': '5' } } }),
  kind('persistentvolumeclaims', 'v1', 'PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  kind('deployments.apps', 'v1', 'Deployment', { spec: workload }),
  kind('statefulsets.apps', 'v1', 'StatefulSet', { spec: { ...workload, serviceName: 'app' } }),
  kind('daemonsets.apps', 'v1', 'DaemonSet', { spec: workload }),
  kind('replicasets.apps', 'v1', 'ReplicaSet', { spec: workload }),
  kind('jobs.batch', 'v1', 'Job', { spec: job }),
  kind('cronjobs.batch', 'v1', 'CronJob', { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: job } } }),
  kind('poddisruptionbudgets.policy', 'v1', 'PodDisruptionBudget', {
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  }),
  kind('networkpolicies.networking.k8s.io', 'v1', 'NetworkPolicy', { spec: { podSelector: {} } }),
  kind('ingresses.networking.k8s.io', 'v1', 'Ingress', {
    spec: { defaultBackend: { service: { name: 'app', port: { number: 80 } } } },
  }),
  kind(`roles.${rbac}`, 'v1', 'Role', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  kind(`rolebindings.${rbac}`, 'v1', 'RoleBinding', {
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'app' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'app' }],
  }),
  kind('endpointslices.discovery.k8s.io', 'v1', 'EndpointSlice', { addressType: 'IPv4', endpoints: [] }),
];
