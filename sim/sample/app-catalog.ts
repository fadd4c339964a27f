/** The content of the demo world: namespaces, applications, images, and pod templates. */

import type { JsonObject } from '../objects/json.ts';

export const teams: readonly { readonly namespace: string; readonly team: string; readonly apps: readonly string[] }[] =
  [
    {
      namespace: 'shop',
      team: 'storefront',
      apps: ['cart', 'catalogue', 'checkout', 'frontend', 'recommendation', 'reviews', 'wishlist'],
    },
    { namespace: 'payments', team: 'payments', apps: ['fraud-check', 'gateway', 'invoicing', 'ledger', 'refunds'] },
    { namespace: 'search', team: 'search', apps: ['indexer', 'query-api', 'ranker', 'suggest'] },
    { namespace: 'media', team: 'media', apps: ['encoder', 'image-proxy', 'thumbnailer', 'uploads'] },
    { namespace: 'analytics', team: 'data', apps: ['collector', 'dashboard', 'etl', 'query-engine', 'scheduler'] },
    { namespace: 'identity', team: 'identity', apps: ['accounts', 'login', 'mfa', 'session-store'] },
    { namespace: 'logistics', team: 'logistics', apps: ['labels', 'routing', 'tracking', 'warehouse'] },
    { namespace: 'messaging', team: 'platform', apps: ['email', 'push', 'sms', 'webhooks'] },
    {
      namespace: 'monitoring',
      team: 'observability',
      apps: ['alertmanager', 'grafana', 'metrics-adapter', 'tracing-collector'],
    },
    { namespace: 'staging', team: 'storefront', apps: ['cart', 'catalogue', 'checkout', 'frontend'] },
  ];

const tiers = ['frontend', 'backend', 'data', 'edge'];
const cpu = ['25m', '50m', '100m', '100m', '250m', '250m', '500m'];
/** Requests, and a limit for each. */
const memory = [
  ['64Mi', '128Mi'],
  ['128Mi', '256Mi'],
  ['256Mi', '512Mi'],
  ['256Mi', '512Mi'],
  ['512Mi', '1Gi'],
  ['1Gi', '1.5Gi'],
  ['1Gi', '2Gi'],
] as const;

/** Random choices; the World implements it. */
interface Dice {
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
}

/** A random version of an application, such as 1.14.2. */
export function someVersion(dice: Dice): string {
  return `${dice.between(0, 4)}.${dice.between(0, 30)}.${dice.between(0, 12)}`;
}

/** The labels that select the pods of an application. */
export function selectorLabels(name: string, instance: string): JsonObject {
  return { 'app.kubernetes.io/name': name, 'app.kubernetes.io/instance': instance };
}

interface TemplateOptions {
  readonly name: string;
  readonly instance: string;
  readonly namespace: string;
  readonly version: string;
  readonly team?: string;
  readonly image?: string;
  readonly extraLabels?: JsonObject;
  /** The Secret to pull images with. */
  readonly pullSecret?: string;
  /** The mount path of the volume `data`, which a StatefulSet makes from a claim. */
  readonly dataPath?: string;
  /** Mounts configuration, credentials and a token also in one projected volume. */
  readonly projected?: boolean;
  /** Fields of the pod spec to add or replace. */
  readonly extraSpec?: JsonObject;
}

/**
 * The pod template of an application: one or two containers, with probes, resources, volumes and environment. It mentions the
 * ServiceAccount NAME, the ConfigMap NAME-config and the Secret NAME-credentials.
 */
export function appTemplate(dice: Dice, options: TemplateOptions): JsonObject {
  const { name, instance, namespace, version } = options;
  const port = dice.pick([8080, 8000, 9090, 3000]);
  const [request, limit] = dice.pick(memory);
  const probe = (path: string, delay: number): JsonObject => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    initialDelaySeconds: delay,
    periodSeconds: 10,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 3,
  });
  const main: JsonObject = {
    name,
    image: options.image ?? `registry.example/${namespace}/${name}:${version}`,
    args: ['serve', `--port=${port}`, '--log-format=json'],
    ports: [
      { name: 'http', containerPort: port, protocol: 'TCP' },
      { name: 'metrics', containerPort: 9100, protocol: 'TCP' },
    ],
    env: [
      { name: 'LOG_LEVEL', value: dice.pick(['info', 'debug', 'warn']) },
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: `${name}-credentials`, key: 'url' } } },
    ],
    envFrom: [{ configMapRef: { name: `${name}-config` } }],
    resources: { requests: { cpu: dice.pick(cpu), memory: request }, limits: { memory: limit } },
    livenessProbe: probe('/healthz', 15),
    readinessProbe: probe('/readyz', 5),
    volumeMounts: [
      { name: 'config', mountPath: '/etc/app', readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      ...(options.dataPath === undefined ? [] : [{ name: 'data', mountPath: options.dataPath }]),
      ...(options.projected ? [{ name: 'identity', mountPath: '/run/identity', readOnly: true }] : []),
    ],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
  };
  const sidecar: JsonObject = {
    name: 'log-shipper',
    image: 'registry.example/platform/log-shipper:2.3.1',
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '64Mi' } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  };
  return {
    metadata: {
      labels: {
        ...selectorLabels(name, instance),
        'app.kubernetes.io/version': version,
        'app.kubernetes.io/managed-by': dice.pick(['Helm', 'kustomize']),
        tier: dice.pick(tiers),
        ...(options.team === undefined ? {} : { team: options.team }),
        ...options.extraLabels,
      },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9100' },
    },
    spec: {
      containers: dice.chance(0.25) ? [main, sidecar] : [main],
      volumes: [
        { name: 'config', configMap: { name: `${name}-config`, defaultMode: 420 } },
        { name: 'tmp', emptyDir: {} },
        ...(options.projected ? [identityVolume(name)] : []),
      ],
      serviceAccountName: name,
      ...(options.pullSecret === undefined ? {} : { imagePullSecrets: [{ name: options.pullSecret }] }),
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      securityContext: { runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: selectorLabels(name, instance) },
        },
      ],
      ...options.extraSpec,
    },
  };
}

function identityVolume(name: string): JsonObject {
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3600, audience: 'internal' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { secret: { name: `${name}-credentials`, items: [{ key: 'url', path: 'database' }] } },
  ];
  return { name: 'identity', projected: { defaultMode: 420, sources } };
}

/** The claims of a StatefulSet: one volume `data` for each Pod. */
export function dataClaims(storageClassName: string, storage: unknown, modes: readonly unknown[] = []): JsonObject[] {
  const accessModes = modes.length === 0 ? ['ReadWriteOnce'] : modes;
  const spec = { accessModes, storageClassName, resources: { requests: { storage } } };
  return [{ metadata: { name: 'data' }, spec }];
}

/** A Deployment of an application; it has an owner only when `owner` is given. */
export function deploymentOf(options: {
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  readonly template: JsonObject;
  readonly selector: JsonObject;
  readonly labels?: JsonObject;
  readonly owner?: JsonObject;
}): JsonObject {
  const { name, namespace, replicas, template, selector, owner } = options;
  return {
    metadata: {
      name,
      namespace,
      labels: options.labels ?? selector,
      annotations: { 'deployment.kubernetes.io/revision': '1' },
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: { replicas, revisionHistoryLimit: 3, selector: { matchLabels: selector }, template },
  };
}
