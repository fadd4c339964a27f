/** Objects of many kinds, and a CRD with selectable fields, for tests that compare filters with kubectl. */
import * as manifests from './manifests.ts';

/** Objects of many kinds, no two alike. */
export function variety(namespace: string): readonly object[] {
  const labels = { app: 'web' };
  const port = { protocol: 'TCP', port: 80, targetPort: 'http' };
  return [
    ...[3, 7, 11, 12].map((index) => manifests.pod(namespace, index)),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'rich',
        namespace,
        annotations: { note: 'ünï' },
        finalizers: ['example.com/x', 'example.com/y'],
      },
      spec: {
        nodeName: 'nowhere',
        hostNetwork: true,
        containers: [
          {
            name: 'a',
            image: 'example/A:1',
            env: [{ name: 'X', value: '1' }, { name: 'Y' }],
            ports: [{ containerPort: 80, name: 'http' }, { containerPort: 443 }],
            resources: { limits: { cpu: '2', memory: '1Gi' } },
          },
          { name: 'b', image: 'example/b:1', args: ['-v', ''] },
        ],
        volumes: [
          { name: 'v', emptyDir: { sizeLimit: '1500Mi' } },
          { name: 'c', configMap: { name: 'm', optional: true } },
        ],
      },
    },
    manifests.deployment(namespace, 2),
    manifests.secret(namespace),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'm', namespace, labels },
      data: { k: 'v' },
      immutable: true,
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'n', namespace } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', namespace },
      spec: { selector: labels, ports: [port] },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'headless', namespace },
      spec: {
        clusterIP: 'None',
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2, protocol: 'UDP' },
        ],
      },
    },
    ...['1Gi', '500Mi'].map((storage, index) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: `claim-${index}`, namespace },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    })),
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'deny', namespace },
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ ports: [{ port: 80 }] }],
      },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'in', namespace },
      spec: {
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
          { host: 'b.example' },
        ],
      },
    },
    {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h', namespace },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', namespace },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'example/j:1' }] } } },
    },
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'nowhere', labels: { zone: 'a' } },
      spec: { unschedulable: true },
    },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'elsewhere' } },
  ];
}

/** A CRD with selectable fields of every type that they may have. */
export function selectableCrd(): object {
  const properties = { n: { type: 'integer' }, flag: { type: 'boolean' }, text: { type: 'string' } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gizmos.e2e.portolan.example' },
    spec: {
      group: 'e2e.portolan.example',
      scope: 'Namespaced',
      names: { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
          selectableFields: Object.keys(properties).map((field) => ({ jsonPath: `.spec.${field}` })),
        },
      ],
    },
  };
}
