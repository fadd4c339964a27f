/** The system components and applications of the demo world, each with all that belongs to it. */
import { createTlsSecret, ensureBelongings, freeClusterIp, pullSecret } from '../controllers/belongings.ts';
import { asObject, type JsonObject } from '../objects/json.ts';
import { appTemplate, dataClaims, deploymentOf, selectorLabels, someVersion, teams } from '../sample/app-catalog.ts';
import type { World } from '../world/world.ts';
import { daysAgo } from './demo-cluster-parts.ts';
import type { WorkloadBuilder } from './demo-workloads.ts';

const system = 'kube-system';

export function createSystem(world: World, builder: WorkloadBuilder, pods: number): void {
  const daemons = pods < 200 ? [] : pods < 600 ? ['kube-proxy'] : ['kube-proxy', 'cni-agent', 'node-exporter'];
  for (const name of daemons) {
    const template = appTemplate(world, {
      name,
      instance: name,
      namespace: system,
      version: '1.35.0',
      extraLabels: { 'k8s-app': name },
      extraSpec: {
        hostNetwork: true,
        priorityClassName: 'system-node-critical',
        tolerations: [{ operator: 'Exists' }],
      },
    });
    ensureBelongings(world, { namespace: system, name, created: daysAgo(world, 200) }, 'kubeadm');
    builder.daemonSet(system, name, template);
  }
  const component = (name: string, selector: JsonObject, version: string, namespace: string): JsonObject => {
    ensureBelongings(world, { namespace, name, created: daysAgo(world, 200) }, 'kubeadm');
    const extraSpec = { priorityClassName: 'system-cluster-critical' };
    return appTemplate(world, { name, instance: name, namespace, version, extraLabels: selector, extraSpec });
  };
  const dns = { 'k8s-app': 'kube-dns' };
  const dnsTemplate = component('coredns', dns, '1.12.1', system);
  builder.deployment(
    deploymentOf({ name: 'coredns', namespace: system, replicas: 2, template: dnsTemplate, selector: dns }),
  );
  service(world, { name: 'kube-dns', namespace: system, labels: dns }, dns, { clusterIP: '10.96.0.10' });
  createApiService(world);
  const nginx = selectorLabels('ingress-nginx', 'ingress-nginx');
  const nginxTemplate = component('ingress-nginx', nginx, '1.14.1', 'ingress-nginx');
  const name = 'ingress-nginx-controller';
  const replicas = pods < 200 ? 1 : 2;
  builder.deployment(
    deploymentOf({ name, namespace: 'ingress-nginx', replicas, template: nginxTemplate, selector: nginx }),
  );
  service(world, { name, namespace: 'ingress-nginx', labels: nginx }, nginx, { type: 'LoadBalancer' });
}

/** The Service of the API server, whose endpoints are the control planes. */
function createApiService(world: World): void {
  const labels = { component: 'apiserver', provider: 'kubernetes' };
  const metadata = { name: 'kubernetes', namespace: 'default', labels, creationTimestamp: daysAgo(world, 400) };
  const ports = [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }];
  world.create(
    '',
    'services',
    { metadata, spec: { clusterIP: '10.96.0.1', ports, type: 'ClusterIP' } },
    'kube-apiserver',
  );
  const nodes = world.list('nodes').filter(({ name }) => name.startsWith('control-plane'));
  const addresses = nodes
    .flatMap((node) => asObject(node.object.status).addresses as { type: string; address: string }[])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address);
  const [port] = [{ name: 'https', port: 6443, protocol: 'TCP' }];
  const subsets = addresses.length > 0 ? [{ addresses: addresses.map((ip) => ({ ip })), ports: [port] }] : [];
  world.create('', 'endpoints', { metadata, ...(subsets.length > 0 ? { subsets } : {}) }, 'kube-apiserver');
  const sliceLabels = { ...labels, 'kubernetes.io/service-name': 'kubernetes' };
  world.create(
    'discovery.k8s.io',
    'endpointslices',
    {
      metadata: { ...metadata, labels: sliceLabels },
      addressType: 'IPv4',
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [port],
    },
    'kube-apiserver',
  );
}

function service(world: World, metadata: JsonObject, selector: JsonObject, spec: JsonObject): void {
  const clusterIP = freeClusterIp(world);
  const type = spec.type ?? 'ClusterIP';
  world.create(
    '',
    'services',
    {
      metadata: { creationTimestamp: daysAgo(world, 200), ...metadata },
      spec: { selector, clusterIP, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec },
      ...(type === 'LoadBalancer' ? { status: { loadBalancer: balancerOf(clusterIP) } } : {}),
    },
    'helm',
  );
}

/** The public address of a load balancer. */
function balancerOf(clusterIP: string): JsonObject {
  return { ingress: [{ ip: clusterIP.replace('10.96.', '192.0.'), ipMode: 'VIP' }] };
}

/**
 * Creates applications until there are enough Pods. Each has a Service, a ConfigMap, a Secret and a ServiceAccount; some have an Ingress,
 * an autoscaler, a budget, or a CronJob. Every ninth is a StatefulSet with claims.
 */
export function createApplications(world: World, builder: WorkloadBuilder, pods: number): void {
  const apps = teams.flatMap(({ namespace, team, apps: names }) => names.map((name) => ({ namespace, team, name })));
  for (const { namespace } of teams) createLimits(world, namespace);
  for (let i = 0; world.api.store.count('pods') < pods && i < 20_000; i++) {
    const app = apps[i % apps.length];
    if (!app) return;
    const { namespace, team } = app;
    const round = Math.floor(i / apps.length);
    const name = round === 0 ? app.name : `${app.name}-${round + 1}`;
    const missing = pods - world.api.store.count('pods');
    const replicas = Math.min(missing, 1 + Math.floor(world.random() ** 3 * (pods > 20_000 ? 200 : 30)));
    const selector = selectorLabels(name, `${name}-${namespace}`);
    const stateful = i % 9 === 4;
    const critical = namespace === 'payments' || namespace === 'identity';
    const template = appTemplate(world, {
      name,
      instance: `${name}-${namespace}`,
      namespace,
      team,
      version: someVersion(world),
      pullSecret,
      projected: i % 5 === 3,
      ...(stateful ? { dataPath: '/var/lib/data' } : {}),
      ...(critical ? { extraSpec: { priorityClassName: 'business-critical' } } : {}),
    });
    createBelongings(world, { namespace, name, selector, index: i, stateful });
    const labels = { ...selector, team };
    if (i % 4 === 1 || stateful) createBudget(world, { namespace, name, labels }, selector, stateful ? 1 : '25%');
    if (stateful) {
      builder.statefulSet({
        metadata: { name, namespace, labels },
        spec: {
          replicas: Math.min(3, missing),
          serviceName: name,
          selector: { matchLabels: selector },
          template,
          volumeClaimTemplates: dataClaims(i % 2 === 0 ? 'fast' : 'standard', world.pick(['10Gi', '20Gi', '50Gi'])),
        },
      });
      continue;
    }
    builder.deployment(deploymentOf({ name, namespace, replicas, template, selector, labels }), {
      leftovers: missing > 20 && world.chance(0.1) ? 1 : 0,
    });
    if (i % 5 === 2) createAutoscaler(world, { namespace, name, labels }, replicas);
    if (i % 11 === 7 && missing > 20)
      builder.cronJob(namespace, `${name}-report`, world.pick(['0 * * * *', '*/15 * * * *', '30 2 * * 1']), template);
  }
}

interface Belongings {
  readonly namespace: string;
  readonly name: string;
  readonly selector: JsonObject;
  readonly index: number;
  readonly stateful: boolean;
}

function createBelongings(world: World, { namespace, name, selector, index, stateful }: Belongings): void {
  const created = daysAgo(world, 200);
  const metadata = { name, namespace, labels: selector, creationTimestamp: created };
  service(world, metadata, selector, {
    ...(stateful ? { clusterIP: 'None' } : {}),
    type: index % 12 === 3 && !stateful ? 'LoadBalancer' : 'ClusterIP',
  });
  const config = {
    'application.yaml': `name: ${name}\nnamespace: ${namespace}\n`,
    'feature.flags': world.pick(['a', 'a,b', '']),
  };
  ensureBelongings(world, { namespace, name, labels: selector, created, config }, 'helm');
  if (index % 6 !== 0 || stateful) return;
  const host = `${name}.${namespace}.portolan.example`;
  const secretName = `${name}-tls`;
  createTlsSecret(world, { ...metadata, name: secretName }, host);
  createIngress(world, metadata, host, name, secretName);
}

/** An Ingress for a host, with a backend and the Secret of its certificate. */
export function createIngress(
  world: World,
  metadata: JsonObject,
  host: string,
  backend: string,
  secretName: string,
): void {
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service: { name: backend, port: { name: 'http' } } } }];
  const controller = world.get('services', 'ingress-nginx', 'ingress-nginx-controller');
  const ingress = asObject(asObject(asObject(controller?.object).status).loadBalancer).ingress as { ip: string }[];
  world.create(
    'networking.k8s.io',
    'ingresses',
    {
      metadata,
      spec: { ingressClassName: 'nginx', rules: [{ host, http: { paths } }], tls: [{ hosts: [host], secretName }] },
      status: { loadBalancer: { ingress: ingress.map(({ ip }) => ({ ip })) } },
    },
    'helm',
  );
}

interface About {
  readonly namespace: string;
  readonly name: string;
  readonly labels: JsonObject;
}

function createAutoscaler(world: World, about: About, replicas: number): void {
  const { name } = about;
  const target = { type: 'Utilization', averageUtilization: world.pick([60, 70, 80]) };
  // One in six is at its maximum.
  const maxReplicas = world.chance(1 / 6) ? replicas : replicas + world.between(2, 20);
  world.create(
    'autoscaling',
    'horizontalpodautoscalers',
    {
      metadata: { ...about, creationTimestamp: daysAgo(world, 60) },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: Math.max(1, Math.floor(replicas / 2)),
        maxReplicas,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
      },
    },
    'helm',
  );
}

function createBudget(world: World, about: About, matchLabels: JsonObject, maxUnavailable: unknown): void {
  const metadata = { ...about, creationTimestamp: daysAgo(world, 60) };
  world.create(
    'policy',
    'poddisruptionbudgets',
    { metadata, spec: { maxUnavailable, selector: { matchLabels } } },
    'helm',
  );
}

/** Bounds and defaults for the containers and claims of a namespace; those of the applications are within them. */
function createLimits(world: World, namespace: string): void {
  const limits = [
    {
      type: 'Container',
      default: { memory: '512Mi' },
      defaultRequest: { cpu: '50m', memory: '128Mi' },
      min: { cpu: '5m', memory: '16Mi' },
      max: { cpu: '4', memory: '8Gi' },
    },
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '1Ti' } },
  ];
  const metadata = { name: 'defaults', namespace, creationTimestamp: daysAgo(world, 300) };
  world.create('', 'limitranges', { metadata, spec: { limits } }, 'kubectl-create');
}
