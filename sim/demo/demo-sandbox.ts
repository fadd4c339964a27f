/**
 * The namespace `sandbox`: objects in trouble, because they mention what does not exist or ask for what no node has.
 *
 * - Deployment `orders`: an environment from a missing ConfigMap (CreateContainerConfigError).
 * - Deployment `receipts`: a volume of a missing Secret (FailedMount).
 * - Deployment `notebook`: mounts the claim `scratch`, which has no class and stays Pending (Unschedulable).
 * - Deployment `trainer`: requests more than any node has (Unschedulable).
 * - Ingress `legacy`: a missing backend and a missing certificate. RoleBinding `auditors`: a missing Role.
 */
import { ensureBelongings } from '../controllers/belongings.ts';
import { asArray, asObject, isObject, type JsonObject } from '../objects/json.ts';
import { appTemplate, deploymentOf, selectorLabels } from '../sample/app-catalog.ts';
import type { World } from '../world/world.ts';
import { createIngress } from './demo-applications.ts';
import { daysAgo } from './demo-cluster-parts.ts';
import type { WorkloadBuilder } from './demo-workloads.ts';

const namespace = 'sandbox';

/** The targets that are mentioned and do not exist, as `plural[.group]/namespace/name`. */
export const danglingTargets: readonly string[] = [
  'configmaps/sandbox/orders-settings',
  'secrets/sandbox/receipts-signing-key',
  'services/sandbox/legacy',
  'secrets/sandbox/legacy-tls',
  'roles.rbac.authorization.k8s.io/sandbox/auditor',
];

export function createSandbox(world: World, builder: WorkloadBuilder): void {
  const broken = (name: string, replicas: number, change: (spec: JsonObject, main: JsonObject) => JsonObject): void => {
    const created = daysAgo(world, 30);
    ensureBelongings(world, { namespace, name, created }, 'kubectl-create');
    const selector = selectorLabels(name, `${name}-${namespace}`);
    const template = appTemplate(world, { name, instance: `${name}-${namespace}`, namespace, version: '0.1.0' });
    const spec = asObject(template.spec);
    const [main = {}] = asArray(spec.containers).filter(isObject);
    const changed = { ...template, spec: change(spec, main) };
    builder.deployment(deploymentOf({ name, namespace, replicas, template: changed, selector }));
  };
  const volume = (spec: JsonObject, added: JsonObject): JsonObject => ({
    ...spec,
    volumes: [...asArray(spec.volumes), added],
  });

  broken('orders', 1, (spec, main) => {
    const envFrom = [...asArray(main.envFrom), { configMapRef: { name: 'orders-settings' } }];
    return { ...spec, containers: [{ ...main, envFrom }] };
  });
  broken('receipts', 1, (spec) =>
    volume(spec, { name: 'signing-key', secret: { secretName: 'receipts-signing-key', defaultMode: 256 } }),
  );
  const scratch = world.create(
    '',
    'persistentvolumeclaims',
    {
      metadata: { name: 'scratch', namespace, creationTimestamp: daysAgo(world, 20) },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '5Gi' } } },
    },
    'kubectl-create',
  );
  world.emit(
    scratch,
    'Normal',
    'FailedBinding',
    'no persistent volumes available for this claim and no storage class is set',
    'persistentvolume-controller',
    world.clock.now() - 120_000,
  );
  broken('notebook', 1, (spec) => volume(spec, { name: 'scratch', persistentVolumeClaim: { claimName: 'scratch' } }));
  broken('trainer', 1, (spec, main) => {
    const resources = { requests: { cpu: '96', memory: '64Gi' }, limits: { memory: '64Gi' } };
    return { ...spec, containers: [{ ...main, resources }] };
  });

  const metadata = (name: string): JsonObject => ({ name, namespace, creationTimestamp: daysAgo(world, 30) });
  createIngress(world, metadata('legacy'), 'legacy.portolan.example', 'legacy', 'legacy-tls');
  world.create(
    'rbac.authorization.k8s.io',
    'rolebindings',
    {
      metadata: metadata('auditors'),
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'auditors' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'auditor' },
    },
    'kubectl-create',
  );
}
