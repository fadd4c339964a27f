/** Objects of the platform of platform-crds.ts. */

export const namespace = 'shop';
/** The StorageClass of databases: nothing makes its volumes. */
export const storageClass = 'disks';
/** On a CloudManager: the claims of its database outlive the database, as is the default of StatefulSets. */
export const keepsClaims = 'cloudmanagercontroller.huayun.com/keeps-claims';

export function cloudManager(name: string, annotations: Readonly<Record<string, string>> = {}): object {
  return {
    apiVersion: 'cloudmanagercontroller.huayun.com/v1',
    kind: 'CloudManager',
    metadata: { name, namespace, annotations },
    spec: {
      front: { deployment: { image: 'registry.example/front:3.1', name: `${name}-front` } },
      identity: { deployment: { image: 'registry.example/identity:3.1', name: `${name}-identity` } },
      db: {
        statefulSet: {
          image: 'registry.example/mysql:8.0',
          name: `${name}-db`,
          storage: { class: storageClass, accessModes: ['ReadWriteOnce'], size: '1Gi' },
        },
      },
    },
  };
}

const store = { apiVersion: 'apps.titanide.cn/v1alpha1' };

/** What users create beside CloudManagers. */
export const applications: readonly object[] = [
  {
    apiVersion: 'samplecontroller.k8s.io/v1alpha1',
    kind: 'Foo',
    metadata: { name: 'example', namespace },
    spec: { deploymentName: 'example-web', replicas: 2 },
  },
  { ...store, kind: 'Template', metadata: { name: 'small', namespace }, spec: { parameters: { memory: '1Gi' } } },
  {
    ...store,
    kind: 'Redis',
    metadata: { name: 'sessions', namespace },
    spec: { version: '7.2.4', templateName: 'small' },
    status: { phase: 'running' },
  },
  {
    ...store,
    kind: 'MySQL',
    metadata: { name: 'orders', namespace },
    spec: { image: { tag: '8.0.36' }, templateName: 'large' },
    status: { phase: 'failed' },
  },
];

export const noProvisioner: object = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: storageClass },
  provisioner: 'kubernetes.io/no-provisioner',
};

/** A volume for the claim of a CloudManager's database, and for no other. */
export function volumeFor(manager: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `disk-${manager}` },
    spec: {
      storageClassName: storageClass,
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { namespace, name: `data-${manager}-db-0` },
      hostPath: { path: `/disks/${manager}` },
    },
  };
}
