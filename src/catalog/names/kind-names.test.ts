import { describe, expect, test } from 'vitest';
import { definitionName, namesByKey, namesOf } from './kind-names.ts';
import { builtInKinds, isOwnGroup, sharedTypes, staticRoots, staticTypes } from './reserved-names.ts';

/** group, Kind and plural of the lists that kube-apiserver serves. */
const builtIn: readonly (readonly [string, string, string])[] = [
  ...[
    'ComponentStatus componentstatuses',
    'ConfigMap configmaps',
    'Endpoints endpoints',
    'Event events',
    'LimitRange limitranges',
    'Namespace namespaces',
    'Node nodes',
    'PersistentVolume persistentvolumes',
    'PersistentVolumeClaim persistentvolumeclaims',
    'Pod pods',
    'PodTemplate podtemplates',
    'ReplicationController replicationcontrollers',
    'ResourceQuota resourcequotas',
    'Secret secrets',
    'Service services',
    'ServiceAccount serviceaccounts',
  ].map((text) => ['', ...text.split(' ')] as unknown as [string, string, string]),
  ['admissionregistration.k8s.io', 'MutatingAdmissionPolicy', 'mutatingadmissionpolicies'],
  ['admissionregistration.k8s.io', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'],
  ['admissionregistration.k8s.io', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'],
  ['admissionregistration.k8s.io', 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'],
  ['admissionregistration.k8s.io', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'],
  ['apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions'],
  ['apiregistration.k8s.io', 'APIService', 'apiservices'],
  ['apps', 'ControllerRevision', 'controllerrevisions'],
  ['apps', 'DaemonSet', 'daemonsets'],
  ['apps', 'Deployment', 'deployments'],
  ['apps', 'ReplicaSet', 'replicasets'],
  ['apps', 'StatefulSet', 'statefulsets'],
  ['autoscaling', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'],
  ['batch', 'CronJob', 'cronjobs'],
  ['batch', 'Job', 'jobs'],
  ['certificates.k8s.io', 'CertificateSigningRequest', 'certificatesigningrequests'],
  ['certificates.k8s.io', 'ClusterTrustBundle', 'clustertrustbundles'],
  ['coordination.k8s.io', 'Lease', 'leases'],
  ['coordination.k8s.io', 'LeaseCandidate', 'leasecandidates'],
  ['discovery.k8s.io', 'EndpointSlice', 'endpointslices'],
  ['flowcontrol.apiserver.k8s.io', 'FlowSchema', 'flowschemas'],
  ['flowcontrol.apiserver.k8s.io', 'PriorityLevelConfiguration', 'prioritylevelconfigurations'],
  ['internal.apiserver.k8s.io', 'StorageVersion', 'storageversions'],
  ['networking.k8s.io', 'IPAddress', 'ipaddresses'],
  ['networking.k8s.io', 'Ingress', 'ingresses'],
  ['networking.k8s.io', 'IngressClass', 'ingressclasses'],
  ['networking.k8s.io', 'NetworkPolicy', 'networkpolicies'],
  ['networking.k8s.io', 'ServiceCIDR', 'servicecidrs'],
  ['node.k8s.io', 'RuntimeClass', 'runtimeclasses'],
  ['policy', 'PodDisruptionBudget', 'poddisruptionbudgets'],
  ['policy', 'PodSecurityPolicy', 'podsecuritypolicies'],
  ['rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles'],
  ['rbac.authorization.k8s.io', 'ClusterRoleBinding', 'clusterrolebindings'],
  ['rbac.authorization.k8s.io', 'Role', 'roles'],
  ['rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings'],
  ['resource.k8s.io', 'DeviceClass', 'deviceclasses'],
  ['resource.k8s.io', 'ResourceClaim', 'resourceclaims'],
  ['resource.k8s.io', 'ResourceClaimTemplate', 'resourceclaimtemplates'],
  ['resource.k8s.io', 'ResourceSlice', 'resourceslices'],
  ['scheduling.k8s.io', 'PriorityClass', 'priorityclasses'],
  ['storage.k8s.io', 'CSIDriver', 'csidrivers'],
  ['storage.k8s.io', 'CSINode', 'csinodes'],
  ['storage.k8s.io', 'CSIStorageCapacity', 'csistoragecapacities'],
  ['storage.k8s.io', 'StorageClass', 'storageclasses'],
  ['storage.k8s.io', 'VolumeAttachment', 'volumeattachments'],
  ['storage.k8s.io', 'VolumeAttributesClass', 'volumeattributesclasses'],
  ['storagemigration.k8s.io', 'StorageVersionMigration', 'storageversionmigrations'],
];

describe('namesOf', () => {
  test.each<[string, string, string, string, string, string]>([
    // kube-apiserver's own groups: bare.
    ['', 'Pod', 'pods', 'Pod', 'pods', 'pod'],
    ['networking.k8s.io', 'NetworkPolicy', 'networkpolicies', 'NetworkPolicy', 'networkPolicies', 'networkPolicy'],
    ['apiregistration.k8s.io', 'APIService', 'apiservices', 'APIService', 'apiServices', 'apiService'],
    [
      'storage.k8s.io',
      'CSIStorageCapacity',
      'csistoragecapacities',
      'CSIStorageCapacity',
      'csiStorageCapacities',
      'csiStorageCapacity',
    ],
    ['networking.k8s.io', 'ServiceCIDR', 'servicecidrs', 'ServiceCIDR', 'serviceCIDRs', 'serviceCIDR'],
    // Singular equals plural.
    ['', 'Endpoints', 'endpoints', 'Endpoints', 'endpoints', 'endpointsByName'],
    // All other groups: the whole group is the prefix.
    [
      'cert-manager.io',
      'Certificate',
      'certificates',
      'CertManagerIoCertificate',
      'certManagerIoCertificates',
      'certManagerIoCertificate',
    ],
    [
      'samplecontroller.k8s.io',
      'Foo',
      'foos',
      'SamplecontrollerK8sIoFoo',
      'samplecontrollerK8sIoFoos',
      'samplecontrollerK8sIoFoo',
    ],
    [
      'gateway.networking.k8s.io',
      'HTTPRoute',
      'httproutes',
      'GatewayNetworkingK8sIoHTTPRoute',
      'gatewayNetworkingK8sIoHTTPRoutes',
      'gatewayNetworkingK8sIoHTTPRoute',
    ],
    ['metrics.k8s.io', 'PodMetrics', 'pods', 'MetricsK8sIoPodMetrics', 'metricsK8sIoPods', 'metricsK8sIoPodMetrics'],
    [
      'cluster.x-k8s.io',
      'Cluster',
      'clusters',
      'ClusterXK8sIoCluster',
      'clusterXK8sIoClusters',
      'clusterXK8sIoCluster',
    ],
    ['3scale.net', 'Tenant', 'tenants', 'X3scaleNetTenant', 'x3scaleNetTenants', 'x3scaleNetTenant'],
    ['a.3b.io', 'Foo', 'bars', 'AX3bIoFoo', 'ax3bIoBars', 'ax3bIoFoo'],
    // Kinds that end like a derived type.
    ['a.io', 'VPCConnection', 'vpcconnections', 'AIoVPC_Connection', 'aIoVPCConnections', 'aIoVPC_Connection'],
    ['a.io', 'Connection', 'connections', 'AIo_Connection', 'aIoConnections', 'aIo_Connection'],
    ['a.io', 'FooEdge', 'fooedges', 'AIoFoo_Edge', 'aIoFooEdges', 'aIoFoo_Edge'],
    ['a.io', 'FooFilter', 'foofilters', 'AIoFoo_Filter', 'aIoFooFilters', 'aIoFoo_Filter'],
    ['a.io', 'FooChange', 'foochanges', 'AIoFoo_Change', 'aIoFooChanges', 'aIoFoo_Change'],
    ['a.io', 'FooChanges', 'foochanges', 'AIoFoo_Changes', 'aIoFooChanges', 'aIoFoo_ChangesByName'],
    ['a.io', 'FooPayload', 'foopayloads', 'AIoFoo_Payload', 'aIoFooPayloads', 'aIoFoo_Payload'],
    ['a.io', 'FooInput', 'fooinputs', 'AIoFoo_Input', 'aIoFooInputs', 'aIoFoo_Input'],
    // Unusual names that the API server accepts.
    ['a.io', 'Foo-Bar', 'foo-bars', 'AIoFoo__Bar', 'aIoFoo__Bars', 'aIoFoo__Bar'],
    // Names of the static schema.
    ['apps', 'Facet', 'facets', 'Facet_', 'facets', 'facet_'],
    ['apps', 'Object', 'objects', 'Object', 'objects_', 'object_'],
    // Names reserved for future use. A group of a CRD has a dot, so its kinds never have these names.
    ['apps', 'Graph', 'graphs', 'Graph_', 'graphs', 'graph_'],
    ['apps', 'Reference', 'references', 'Reference_', 'references', 'reference_'],
    ['apps', 'LiveHint', 'livehints', 'LiveHint_', 'liveHints', 'liveHint_'],
    ['a.io', 'Graph', 'graphs', 'AIoGraph', 'aIoGraphs', 'aIoGraph'],
  ])('%s %s (%s)', (group, kind, plural, type, list, one) => {
    const names = namesOf({ group, kind, plural });
    expect([names.type, names.list, names.one]).toEqual([type, list, one]);
  });

  test('derives the others', () => {
    expect(namesOf({ group: '', kind: 'Pod', plural: 'pods' })).toEqual({
      type: 'Pod',
      connection: 'PodConnection',
      edge: 'PodEdge',
      filter: 'PodFilter',
      changes: 'PodChanges',
      change: 'PodChange',
      list: 'pods',
      one: 'pod',
      subscription: 'podChanges',
    });
    expect(namesOf({ group: '', kind: 'Endpoints', plural: 'endpoints' }).subscription).toBe('endpointsChanges');
  });

  test('names by a key', () => {
    expect(namesByKey({ group: 'kafka-example.io', kind: 'Topic', plural: 'topics' })).toEqual({
      type: 'Topics___kafka__example___io',
      connection: 'Topics___kafka__example___io_Connection',
      edge: 'Topics___kafka__example___io_Edge',
      filter: 'Topics___kafka__example___io_Filter',
      changes: 'Topics___kafka__example___io_Changes',
      change: 'Topics___kafka__example___io_Change',
      list: 'topics___kafka__example___io',
      one: 'topics___kafka__example___io_ByName',
      subscription: 'topics___kafka__example___io_Changes',
    });
  });

  test('leaves every built-in kind its name, and the static schema its own', () => {
    const types = new Map([...staticTypes].map((name) => [name.toLowerCase(), 'static']));
    const roots = new Map([...staticRoots].map((name) => [name.toLowerCase(), 'static']));
    for (const [group, kind, plural] of builtIn) {
      expect(isOwnGroup(group)).toBe(true);
      expect(builtInKinds.has(kind), kind).toBe(true);
      const names = namesOf({ group, kind, plural });
      expect(names.type).toBe(kind);
      for (const type of [names.type, names.connection, names.edge, names.filter, names.change, names.changes]) {
        expect(types.get(type.toLowerCase()), type).toBeUndefined();
        types.set(type.toLowerCase(), kind);
      }
      for (const root of [names.list, names.one]) {
        expect(roots.get(root.toLowerCase()), root).toBeUndefined();
        roots.set(root.toLowerCase(), kind);
      }
    }
  });

  test('knows its own groups by a closed list, not by their ending', () => {
    for (const group of [
      'gateway.networking.k8s.io',
      'metrics.k8s.io',
      'x-k8s.io',
      'k8s.io',
      'snapshot.storage.k8s.io',
      'Apps',
    ]) {
      expect(isOwnGroup(group)).toBe(false);
    }
  });
});

describe('definitionName', () => {
  test.each([
    ['PodSpec', 'PodSpec'],
    ['Container', 'Container'],
    ['LabelSelector', 'LabelSelector'],
    // Definitions that are kinds themselves.
    ['PersistentVolumeClaim', 'EmbeddedPersistentVolumeClaim'],
    ['ResourceClaim', 'EmbeddedResourceClaim'],
    // Definitions called like a static type.
    ['Resource', 'EmbeddedResource'],
    ['Reference', 'EmbeddedReference'],
    ['SomethingFilter', 'Something_Filter'],
  ])('%s is %s', (short, name) => {
    expect(definitionName(short)).toBe(name);
  });

  test('keeps the shared types', () => {
    for (const name of sharedTypes) {
      expect(definitionName(name)).toBe(name);
      expect(staticTypes.has(name)).toBe(true);
    }
  });
});
