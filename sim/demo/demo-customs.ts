/** The custom objects of the demo world: Foos, CloudManagers, Projects, Templates and Plugins. */

import { ensureBelongings } from '../controllers/belongings.ts';
import { ensureCloudManagerParts } from '../controllers/cloud-manager-controller.ts';
import { fooDeployment } from '../controllers/custom-controllers.ts';
import { usedIn } from '../controllers/quota-controller.ts';
import { deployments } from '../controllers/workload-controllers.ts';
import { asString, at, type JsonObject } from '../objects/json.ts';
import { someVersion, teams } from '../sample/app-catalog.ts';
import { platformGroup } from '../sample/platform-crds.ts';
import { conditionOf } from '../world/conditions.ts';
import { brokenVersion } from '../world/pod-maker.ts';
import type { World } from '../world/world.ts';
import { daysAgo } from './demo-cluster-parts.ts';
import type { WorkloadBuilder } from './demo-workloads.ts';

export function createFoos(world: World, builder: WorkloadBuilder, count: number): void {
  ensureBelongings(world, { namespace: 'samples', name: 'nginx', created: daysAgo(world, 60) }, 'sample-controller');
  for (let i = 1; i <= count; i++) {
    const name = `example-foo-${i}`;
    const foo = world.create(
      'samplecontroller.k8s.io',
      'foos',
      {
        metadata: { name, namespace: 'samples', labels: { example: 'foo' }, creationTimestamp: daysAgo(world, 60) },
        spec: { deploymentName: name, replicas: world.between(1, 4) },
      },
      'kubectl-create',
    );
    const deployment = builder.deployment(fooDeployment(world, foo), { isHealthy: true });
    const now = world.get(deployments, foo.namespace, deployment.name);
    world.setStatus(
      foo,
      { availableReplicas: Number(at(now?.object, 'status', 'availableReplicas') ?? 0) },
      'sample-controller',
    );
  }
}

/** The versions of a cloud's front and identity service. */
const clouds: readonly (readonly [name: string, front: string, identity: string])[] = [
  ['eu-north', '2.14.0', '1.9.3'],
  ['us-east', '2.14.0', `1.10.0${brokenVersion}`],
  ['asia-east', '2.13.1', '1.9.3'],
  ['eu-west', '2.14.0', '1.9.2'],
  ['us-west', '2.12.4', '1.8.0'],
  ['lab-north', '2.15.0', '1.9.3'],
];

/** The front and the database of the CloudManager us-east run; its identity service exits at once, so it never gets ready. */
export function createCloudManagers(world: World, builder: WorkloadBuilder, count: number): void {
  for (const [name, front, identity] of clouds.slice(0, count)) {
    const deployment = (role: string, version: string): JsonObject => ({
      deployment: { name: `${name}-${role}`, image: `registry.example/cloud/${role}:${version}` },
    });
    const isBroken = identity.endsWith(brokenVersion);
    const manager = world.create(
      'cloud.portolan.example',
      'cloudmanagers',
      {
        metadata: {
          name,
          namespace: 'cloud',
          labels: { region: name },
          creationTimestamp: daysAgo(world, isBroken ? 0.05 : 200),
        },
        spec: {
          front: deployment('front', front),
          identity: deployment('identity', identity),
          db: {
            statefulSet: {
              name: `${name}-db`,
              image: 'registry.example/library/postgres:17.2',
              storage: {
                class: world.pick(['standard', 'fast']),
                accessModes: ['ReadWriteOnce'],
                size: world.pick(['20Gi', '50Gi', '1Ti']),
              },
            },
          },
        },
      },
      'kubectl-create',
    );
    ensureCloudManagerParts(world, manager, (storage, workload) =>
      storage === deployments ? builder.deployment(workload, { isHealthy: true }) : builder.statefulSet(workload),
    );
    const when = world.clock.now() - world.between(60, 3000) * 1000;
    const emit = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
      world.emit(manager, type, reason, message, 'cloud-manager-operator', when);
    if (isBroken) emit('Warning', 'IdentityNotReady', `Deployment ${name}-identity does not get ready`);
    else emit('Normal', 'Running', 'All parts are ready');
  }
}

const templates: readonly (readonly [name: string, title: string, engine: string])[] = [
  ['mysql', 'MySQL', 'helm'],
  ['postgres', 'PostgreSQL', 'helm'],
  ['redis', 'Redis', 'helm'],
  ['kafka', 'Kafka', 'helm'],
  ['grafana', 'Grafana', 'kustomize'],
  ['prometheus', 'Prometheus', 'kustomize'],
  ['static-site', 'Static site', 'raw'],
  ['cron-report', 'Report by the clock', 'raw'],
];

export function createPlatform(world: World): void {
  for (const [name, title, engine] of templates) {
    world.create(
      platformGroup,
      'templates',
      {
        metadata: { name, namespace: 'templates', labels: { engine }, creationTimestamp: daysAgo(world, 300) },
        spec: {
          title,
          engine,
          version: someVersion(world),
          maintainers: ['platform'],
          parameters: [
            { name: 'replicas', type: 'number', required: false, default: 1 },
            { name: 'storage', type: 'string', required: true },
            { name: 'options', type: 'object', default: { backup: { enabled: true, keep: 7 }, tags: ['a', 'b'] } },
          ],
          ports: [
            { name: 'main', port: world.pick([3306, 5432, 6379, 9092]) },
            { name: 'metrics', port: 'http-metrics' },
          ],
          resources: { cpu: world.pick(['250m', '1', 2]), memory: world.pick(['512Mi', '2Gi']) },
          values: {
            image: { tag: 'stable' },
            persistence: { enabled: true, size: '10Gi' },
            nodeSelector: {},
            list: [1, 'two', null],
          },
        },
      },
      'platform-console',
    );
  }
  for (const { namespace, team } of teams) createProject(world, namespace, team);
}

function createProject(world: World, name: string, team: string): void {
  const suspended = world.chance(0.1);
  const project = world.create(
    platformGroup,
    'projects',
    {
      metadata: { name, labels: { team }, creationTimestamp: daysAgo(world, 300) },
      spec: {
        displayName: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        owner: { name: team, email: `${team}@portolan.example` },
        namespaces: [name],
        members: [
          { user: `${team}-lead`, role: 'admin' },
          { user: `${team}-bot`, role: 'viewer' },
        ],
        quota: roomFor(world, name),
        budget: Math.round(world.random() * 1e6) / 100,
        costCenter: 9_007_199_254_000_000 + world.between(0, 700_000),
        tier: world.pick(['bronze', 'silver', 'gold']),
        suspended,
      },
    },
    'platform-console',
  );
  const count = world.between(1, 5);
  for (let i = 0; i < count; i++) createPlugin(world, name, i);
  world.setStatus(
    project,
    {
      phase: suspended ? 'Suspended' : 'Active',
      pluginCount: count,
      observedGeneration: 1,
      conditions: [
        conditionOf(world, project, 'Ready', !suspended, suspended ? 'Suspended' : 'NamespacesReady', 'see phase'),
      ],
    },
    'platform-operator',
  );
}

/**
 * Bounds for what a namespace uses now and some more. The namespace of every third team is nearly full.
 */
function roomFor(world: World, namespace: string): JsonObject {
  const used = usedIn(world, namespace, ['pods', 'requests.cpu', 'requests.memory', 'requests.storage']);
  const index = teams.findIndex((team) => team.namespace === namespace);
  const factor = index % 3 === 1 ? 1.15 : 1.8;
  const bound = (resource: string, unit: number, least: number): number =>
    Math.max(least, Math.ceil(((used.get(resource) ?? 0) * factor) / 1000 / unit));
  return {
    cpu: String(bound('requests.cpu', 1, 4)),
    memory: `${bound('requests.memory', 2 ** 30, 8)}Gi`,
    pods: bound('pods', 1, 20),
    'requests.storage': `${bound('requests.storage', 2 ** 30, 100)}Gi`,
  };
}

function createPlugin(world: World, project: string, index: number): void {
  const [template] = world.pick(templates);
  const version = someVersion(world);
  const plugin = world.create(
    platformGroup,
    'plugins',
    {
      metadata: {
        name: `${template}-${index + 1}`,
        namespace: project,
        labels: { project, template },
        annotations: { 'platform.portolan.example/requested-by': 'platform-console' },
        creationTimestamp: daysAgo(world, 120),
      },
      spec: {
        projectRef: { name: project },
        templateRef: { name: template, namespace: 'templates' },
        enabled: world.chance(0.9),
        version,
        replicas: world.between(1, 3),
        targetPort: world.chance(0.5) ? 8080 : 'http',
        timeout: '5m0s',
        memory: world.pick(['256Mi', '1Gi', 536870912]),
        config: {
          logLevel: world.pick(['info', 'debug']),
          limits: { connections: world.between(10, 900) },
          hosts: ['a.example', 'b.example'],
        },
        annotations: { 'backup.example/policy': 'daily' },
      },
    },
    'platform-console',
  );
  const phase = world.pick(['Ready', 'Ready', 'Ready', 'Ready', 'Failed']);
  world.setStatus(
    plugin,
    {
      phase,
      message: phase === 'Ready' ? 'installed' : 'the template could not be rendered',
      installedVersion: version,
      installedAt: asString(at(plugin.object, 'metadata', 'creationTimestamp')),
      requests: world.between(0, 90_000_000),
      observedGeneration: 1,
      conditions: [
        conditionOf(
          world,
          plugin,
          'Ready',
          phase === 'Ready',
          phase === 'Ready' ? 'Installed' : 'RenderFailed',
          'see message',
        ),
      ],
    },
    'platform-operator',
  );
}
