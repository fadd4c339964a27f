/**
 * The values of the Helm chart, each with its default, its meaning and its type. values.yaml, values.schema.json and the table in
 * deploy/chart/README.md are made from them.
 */
import { z } from 'zod';
import { configDefaults, configValues } from './config-values.ts';

const text = (help: string, value = '') => z.string().default(value).describe(help);
const on = (help: string, value = false) => z.boolean().default(value).describe(help);
const count = (help: string, value: number, least = 0) => z.int().min(least).default(value).describe(help);
const choice = <const T extends readonly [string, ...string[]]>(help: string, values: T) =>
  z.enum(values).default(values[0]).describe(help);
const texts = (help: string) => z.array(z.string()).default([]).describe(help);
/** A part of a manifest, whose schema is Kubernetes' own. */
const manifest = (help: string, value: Readonly<Record<string, unknown>> = {}) =>
  z.record(z.string(), z.any()).default(value).describe(help);
const manifests = (help: string, value: Record<string, unknown>[] = []) =>
  z.array(z.record(z.string(), z.any())).default(value).describe(help);
const map = (help: string, value: Record<string, string> = {}) =>
  z.record(z.string(), z.string()).default(value).describe(help);
const share = (help: string) =>
  z
    .union([z.int().min(0), z.string().regex(/^(\d+%)?$/)])
    .default('')
    .describe(help);
const group = <T extends z.core.$ZodShape>(help: string, shape: T) => z.strictObject(shape).describe(help);
const secretFile = (help: string, key: string) =>
  group(help, { secret: text('Name of the Secret; empty for none.'), key: text('Key in the Secret.', key) });

const probe = (help: string, period: number, failures: number) =>
  group(help, {
    periodSeconds: count('Seconds between two requests.', period, 1),
    timeoutSeconds: count('Seconds to wait for an answer.', 3, 1),
    failureThreshold: count('Failures in a row before the probe has failed.', failures, 1),
  });

export const chartValues = z.strictObject({
  nameOverride: text('Another name than portolan in the labels and names of the objects.'),
  fullnameOverride: text('The whole name of the objects; otherwise the name of the release with portolan in it.'),
  global: manifest('Values that a parent chart shares with its charts. This chart reads none.'),

  image: group('The image of the gateway.', {
    repository: text('Registry and name.', 'ghcr.io/portolan-dev/portolan'),
    tag: text('Tag; otherwise the version of the chart.'),
    digest: z
      .string()
      .regex(/^(sha256:[0-9a-f]{64})?$/)
      .default('')
      .describe('Digest, such as sha256:0123...; it counts instead of the tag.'),
    pullPolicy: choice('When the image is pulled.', ['IfNotPresent', 'Always', 'Never']),
  }),
  imagePullSecrets: manifests('Secrets for the registry, such as [{ name: registry }].'),

  replicas: count('Pods of the gateway. Each keeps its own copy of the objects.', 1),
  config: configValues
    .prefault(configDefaults)
    .describe('Options of portolan serve, as in portolan.yaml. See docs/configuration.md.'),
  reload: on(
    'Running Pods take changes of the live options, which docs/configuration.md marks. Otherwise every change of config replaces the Pods.',
    true,
  ),
  extraArgs: texts('More arguments of portolan serve. They count instead of the configuration.'),
  env: manifests('More environment variables of the container, such as [{ name: TZ, value: UTC }].'),
  envFrom: manifests('ConfigMaps and Secrets whose keys become environment variables.'),

  abstractKinds: group('Abstract kinds that teams bring as objects (docs/abstract-kinds.md).', {
    objects: on(
      'Use AbstractKind objects: of all clusters, or of those that config.abstractKindObjects names. Their authors add lists to the schema.',
    ),
    definition: on(
      'Install their CustomResourceDefinition in the cluster of the release, if objects is set. It stays when the release is uninstalled.',
      true,
    ),
  }),

  sets: group('Sets of objects that are applied and deleted as one (docs/sets.md).', {
    definition: on(
      'Install the CustomResourceDefinition of ShadowRecord in the cluster of the release. It stays when the release is uninstalled.',
    ),
    callerRole: on(
      'Create a ClusterRole with the rights on ShadowRecords that callers need, if definition is set. Bind it to them; they need rights on the members too.',
      true,
    ),
  }),

  aggregate: group(
    'Sets for kubectl: the aggregated API server of the kind ShadowResource, as a Deployment with an account of its own (docs/shadow.md).',
    {
      enabled: on('Create it. Without it, no namespace finishes its deletion while no Pod of it answers.'),
      definition: on(
        'Install the CustomResourceDefinition of ShadowRecord, as sets.definition does. Set it to false where portolan shadow install has brought it.',
        true,
      ),
      replicas: count('Its Pods. Each keeps its own copy of the objects.', 2, 1),
      group: text('API group of ShadowResource.', 'shadow.portolan.dev'),
      version: text('API version of ShadowResource.', 'v1alpha1'),
      impersonate: choice(
        'How members are written as the caller: by the rights of Kubernetes 1.36, or by the verb impersonate. Its account has these rights, and that of the gateway does not need them.',
        ['constrained', 'classic'],
      ),
      certificates: group(
        'The certificate for the name SERVICE.NAMESPACE.svc, and the authority that the APIService names.',
        {
          from: choice(
            'own: Portolan makes and renews both. certManager: cert-manager does. secret: they are in a Secret.',
            ['own', 'certManager', 'secret'],
          ),
          secret: text(
            'For secret: name of a Secret with tls.crt and tls.key. A renewed certificate is used without a restart.',
          ),
          caBundle: text(
            'For secret: the authority in PEM, as base64. Empty if something else sets it in the APIService.',
          ),
          issuerRef: manifest(
            'For certManager: an issuer that writes ca.crt, such as { name: internal, kind: ClusterIssuer }. Without it, the chart makes an authority of its own.',
          ),
        },
      ),
      servicePort: z.int().min(1).max(65_535).default(443).describe('Port of its Service.'),
      callerRoles: on(
        'Create ClusterRoles with the rights on ShadowResources, which the ClusterRoles view, edit and admin of Kubernetes take in.',
        true,
      ),
      policy: group('ValidatingAdmissionPolicies, where the API server has them (Kubernetes 1.30).', {
        enabled: on(
          'Hold its account: it writes ShadowRecords, Events on ShadowResources, its own certificates, and nothing else.',
          true,
        ),
        records: choice(
          'Who may write ShadowRecords. anybody: who has the right, as applySet of GraphQL needs it. named: the account, recordWriters, and administrators.',
          ['anybody', 'named'],
        ),
        recordWriters: group('For named: those who may use applySet and deleteSet of GraphQL too.', {
          users: texts('Names of users, such as system:serviceaccount:shop:deployer.'),
          groups: texts('Names of groups.'),
        }),
      }),
    },
  ),

  kubeconfig: secretFile(
    'A kubeconfig of other clusters, in a Secret. config.context names the contexts. Without it, the gateway reads its own cluster.',
    'kubeconfig',
  ),
  tls: group('TLS of the gateway itself. Without it, the gateway speaks HTTP.', {
    secret: text('Name of a Secret with tls.crt and tls.key. A renewed certificate is used without a restart.'),
    clientCa: secretFile('Authorities of client certificates, for config.auth certificate.', 'ca.crt'),
    proxyClientCa: secretFile('Authorities of the certificates of front proxies, for config.auth proxy.', 'ca.crt'),
  }),

  planKey: secretFile(
    'The key of the ids of plans, at least 32 random bytes. Without it, a plan of one Pod holds at no other: set it for several replicas.',
    'plan.key',
  ),

  serviceAccount: group('The account of the gateway.', {
    create: on('Create it.', true),
    name: text('Its name; otherwise the name of the objects, or default where it is not created.'),
    annotations: map('Its annotations.'),
  }),
  rbac: group(
    'The rights of the account. By default it reads the built-in kinds without Secrets, and custom resources. config.kinds and config.exclude leave out kinds here too.',
    {
      create: on(
        'Create the roles and bindings. Without them, set config.kinds to the kinds that the account may read.',
        true,
      ),
      secrets: on('Read Secrets too. Their data is never stored.'),
      wildcards: on('Read every kind by one rule, also kinds to come. This includes Secrets.'),
      customResources: group('Custom resources.', {
        lookup: on(
          'Helm looks up the CustomResourceDefinitions of the cluster at helm install and helm upgrade, and grants their groups. helm template finds none.',
          true,
        ),
        groups: texts('More API groups whose resources are read, such as example.com or metrics.k8s.io.'),
      }),
      rules: manifests('The rules of the ClusterRole, instead of all others; for example the output of portolan rbac.'),
      metricsReaders: manifests(
        'Subjects that may read /metrics, such as [{ kind: ServiceAccount, name: prometheus-k8s, namespace: monitoring }].',
      ),
    },
  ),

  data: group('The files of the store, one set for each Pod.', {
    persistent: on('Keep them in a PersistentVolumeClaim. Otherwise a new Pod lists all objects again.'),
    size: z
      .string()
      .regex(/^\d+[MGT]i$/)
      .default('4Gi')
      .describe('Size of the volume. config.maxDisk must be smaller.'),
    storageClass: text('Storage class of the claims; empty for the default of the cluster.'),
    accessModes: z
      .array(z.enum(['ReadWriteOnce', 'ReadWriteOncePod']))
      .default(['ReadWriteOnce'])
      .describe('Access modes of the claims.'),
    annotations: map('Annotations of the claims.'),
    retain: choice('Keep or delete the claims when the StatefulSet is deleted.', ['Retain', 'Delete']),
  }),

  service: group('The Service of the gateway.', {
    type: choice('Its type.', ['ClusterIP', 'NodePort', 'LoadBalancer']),
    port: z.int().min(1).max(65_535).default(4000).describe('Its port.'),
    nodePort: z
      .int()
      .min(0)
      .max(65_535)
      .default(0)
      .describe('Port of the nodes for NodePort and LoadBalancer; 0 for any.'),
    sessionAffinity: choice(
      'ClientIP: connections of one address go to one Pod, so that a subscription continues where it was after a reconnect.',
      ['ClientIP', 'None'],
    ),
    annotations: map('Its annotations.'),
  }),
  ingress: group('An Ingress. Its controller must not end idle connections within 12 seconds.', {
    enabled: on('Create it.'),
    className: text('Class of the Ingress; empty for the default of the cluster.'),
    annotations: map('Its annotations.'),
    hosts: texts('Host names; at least one. [""] takes the requests of every host.'),
    path: text('Prefix of the paths.', '/'),
    tls: manifests('Certificates, such as [{ secretName: portolan-tls, hosts: [portolan.example.com] }].'),
  }),
  httpRoute: group('An HTTPRoute of the Gateway API. It has no timeout for requests, because subscriptions last.', {
    enabled: on('Create it.'),
    annotations: map('Its annotations.'),
    parentRefs: manifests('Gateways, such as [{ name: public, namespace: gateways }].'),
    hostnames: texts('Host names.'),
    path: text('Prefix of the paths.', '/'),
  }),
  networkPolicy: group('A NetworkPolicy for the Pods.', {
    enabled: on('Create it.'),
    from: manifests('Peers that may reach the gateway, as in a NetworkPolicy; empty for all.'),
    apiServerPorts: z.array(z.int().min(1).max(65_535)).default([443, 6443]).describe('Ports of the API servers.'),
    egress: manifests('More egress rules, for example to a collector of traces.'),
  }),

  podDisruptionBudget: group('A PodDisruptionBudget. It is created for more than one replica.', {
    enabled: on('Create it.', true),
    minAvailable: share('Pods that must be available, as a number or in percent; empty for maxUnavailable.'),
    maxUnavailable: share('Pods that may be unavailable, as a number or in percent; empty for 1.'),
  }),
  autoscaling: group('A HorizontalPodAutoscaler. Each new Pod lists all objects before it is ready.', {
    enabled: on('Create it. Then replicas has no effect.'),
    minReplicas: count('The fewest Pods.', 2, 1),
    maxReplicas: count('The most Pods.', 5, 1),
    targetCPUUtilizationPercentage: count('Wanted use of the CPU request in percent.', 70, 1),
    metrics: manifests('More metrics, as in autoscaling/v2.'),
  }),

  serviceMonitor: group('A ServiceMonitor of the Prometheus operator.', {
    enabled: on('Create it.'),
    labels: map('Its labels, by which a Prometheus selects it.'),
    interval: text('Time between two scrapes; empty for the default of the Prometheus.'),
    bearerTokenFile: text(
      'File with the token of the Prometheus; empty for none. rbac.metricsReaders grants its account the metrics.',
      '/var/run/secrets/kubernetes.io/serviceaccount/token',
    ),
    tlsConfig: manifest('How the certificate of the gateway is checked, as in a ServiceMonitor; for tls.secret.'),
    relabelings: manifests('Relabelings of the target.'),
    metricRelabelings: manifests('Relabelings of the samples.'),
  }),
  prometheusRule: group('A PrometheusRule with the alerts of docs/operating.md.', {
    enabled: on('Create it.'),
    labels: map('Its labels, by which a Prometheus selects it.'),
  }),
  dashboard: group('A ConfigMap with a dashboard for Grafana.', {
    enabled: on('Create it.'),
    labels: map('Its labels, by which the sidecar of Grafana selects it.', { grafana_dashboard: '1' }),
    annotations: map('Its annotations, such as grafana_folder.'),
  }),

  startupProbe: probe(
    'Probe of /healthz until the first answer. The gateway answers when it has read the kinds of a cluster.',
    2,
    150,
  ),
  livenessProbe: probe('Probe of /healthz. It does not fail because a cluster is down.', 10, 6),
  readinessProbe: probe('Probe of /readyz. It fails during the first sync and while the Pod ends.', 5, 2),
  preStopSeconds: count(
    'Seconds that a Pod serves as before when it ends, until no new connections reach it; then it drains for config.drain. Needs Kubernetes 1.30; 0 for none.',
    5,
  ),
  terminationGracePeriodSeconds: count(
    'Seconds after which a Pod that ends is killed. More than preStopSeconds and config.drain together.',
    60,
    5,
  ),

  resources: manifest('Requests and limits of the container.', {
    requests: { cpu: '250m', memory: '512Mi' },
    limits: { memory: '2Gi' },
  }),
  podSecurityContext: manifest('Security context of the Pod.', {
    runAsNonRoot: true,
    runAsUser: 65_532,
    runAsGroup: 65_532,
    fsGroup: 65_532,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  }),
  securityContext: manifest('Security context of the container.', {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }),
  podAnnotations: map('Annotations of the Pods.'),
  podLabels: map('Labels of the Pods.'),
  priorityClassName: text('Priority class of the Pods.'),
  nodeSelector: map('Labels of the nodes where Pods may run.'),
  tolerations: manifests('Tolerations of the Pods.'),
  affinity: manifest('Affinity of the Pods.'),
  topologySpreadConstraints: manifests(
    'How Pods are spread. A constraint without a labelSelector gets that of the Pods.',
    [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
  ),
  extraVolumes: manifests('More volumes of the Pods.'),
  extraVolumeMounts: manifests('More volume mounts of the container.'),
  extraObjects: z
    .array(z.union([z.string(), z.record(z.string(), z.any())]))
    .default([])
    .describe('More objects of the release. They may use template expressions; as text they may be whole templates.'),
});
