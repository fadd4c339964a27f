/**
 * A platform on a real control plane, from the empty cluster to the deletion of an application: custom resources of several groups, a
 * controller that makes Deployments, a StatefulSet and a Secret of each CloudManager, and Pods that run on kwok. kwok makes no volumes,
 * so a claim binds when the test makes the volume.
 *
 *   empty -> definitions -> objects -> controller -> Nodes -> a changed definition -> two databases without a volume -> volumes
 *   -> lost volumes -> deletion of objects -> deletion of definitions
 *
 * At each step the lists, the joins, the Events and the printer columns of the gateway are compared with kubectl, and what subscribers
 * hold with the lists. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, podRunners, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { ask, type Collected, data, subscribe } from '../kit/graphql-client.ts';
import { fakeNode, namespace as namespaceOf } from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';
import { type Facts, tableOf } from './kubectl-facts.ts';
import {
  agreeOnColumns,
  agreeOnJoins,
  agreeOnLists,
  agreeOnPages,
  comparedFacts,
  customResources,
} from './platform-agreement.ts';
import { PlatformController } from './platform-controller.ts';
import { abstractKinds, platformCrds, relations } from './platform-crds.ts';
import { applications, cloudManager, keepsClaims, namespace, noProvisioner, volumeFor } from './platform-manifests.ts';
import { type ManagerRow, type Named, type Overview, overview, type RolledUp } from './platform-pages.ts';
import { PlatformSubscribers } from './platform-subscribers.ts';

const suite = { timeout: 300_000, needs: ['kube-controller-manager', 'kubectl', ...podRunners] } as const;

const listsOfPlatform = '{ samplecontrollerK8sIoFoos { totalCount } appInstances { totalCount } }';
const noSuchLists = ['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED'];

interface Definition {
  readonly spec: { readonly versions: readonly object[] };
}

/** CloudManagers by name. */
type Rows = Readonly<Record<string, Omit<ManagerRow, 'metadata'>>>;

describeOn([mainServer], 'a platform of custom resources', suite, (server) => {
  let plane: ControlPlane;
  let gateway: GatewayProcess;
  let controller: PlatformController | null = null;
  let subscribers: PlatformSubscribers;
  let page: Collected<Overview> | null = null;

  beforeAll(async () => {
    const folder = sharedDirectory('platform');
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    plane = await startControlPlane({ server, controllerManager: true, runPods: true });
    await create(namespaceOf(namespace), noProvisioner, volumeFor('east'));
    gateway = await startGatewayProcess([
      ...['--kubeconfig', plane.kubeconfigPath],
      ...['--relations', file('relations.yaml', relations)],
      ...['--abstract-kinds', file('abstract-kinds.yaml', abstractKinds)],
    ]);
    subscribers = new PlatformSubscribers(gateway.url);
  }, 180_000);

  afterAll(async () => {
    await page?.stop();
    await subscribers?.stop();
    await gateway?.close();
    try {
      await controller?.stop();
    } finally {
      await plane?.stop();
    }
  }, 60_000);

  const create = (...items: readonly object[]): Promise<string> =>
    plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

  const patch = (resource: string, name: string, change: object): Promise<string> =>
    plane.kubectl(['patch', resource, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(change)]);

  const facts = (): Promise<Facts> => comparedFacts(plane);

  /** Everything is compared with one reading of kubectl; repeated while controllers still work. */
  async function agree(): Promise<void> {
    await eventually(
      async () => {
        const now = await facts();
        await agreeOnLists(gateway.url, now);
        await agreeOnJoins(gateway.url, now);
        await agreeOnPages(gateway.url, now);
        await agreeOnColumns(gateway.url, plane);
        const items = now.items.filter(({ metadata }) => metadata.namespace === namespace);
        const expected = items.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
        expect(subscribers.held()).toEqual(expected.toSorted());
      },
      60_000,
      500,
    );
  }

  /** The CloudManagers by name, once the list and the live query are as expected. */
  async function eventuallyManagers(expectation: () => Promise<Rows> | Rows): Promise<void> {
    await eventually(
      async () => {
        const expected = await expectation();
        const fresh = await data<Overview>(gateway.url, overview);
        const { nodes, totalCount } = fresh.cloudmanagercontrollerHuayunComCloudManagers;
        expect(totalCount).toBe(nodes.length);
        const rows = Object.fromEntries(nodes.map(({ metadata, ...row }) => [metadata.name, row]));
        expect(rows).toEqual(expected);
        expect(page?.messages.at(-1)).toEqual(fresh);
      },
      90_000,
      500,
    );
  }

  const codesOf = async (document: string) =>
    (await ask(gateway.url, document)).errors?.map(({ extensions }) => extensions?.['code']);

  const definitionOf = async (name: string): Promise<Definition> =>
    JSON.parse(await plane.kubectl(['get', 'crd', name, '-o', 'json'])) as Definition;

  const reference = (kind: string, name: string): Named => ({ kind, metadata: { name } });
  const current: RolledUp = { status: 'Current', reason: null, message: null, culprit: null, chain: null };
  const rowOf = (phase: string | null, health: ManagerRow['health'], owned: RolledUp, related = owned) => ({
    status: phase === null ? null : { phase },
    health,
    owned,
    related,
  });
  const byPhase = (status: string): ManagerRow['health'] => ({ status, source: 'CONVENTION' });
  const readyRow = (owned = current, related = owned) => rowOf('ready', byPhase('Current'), owned, related);
  /** The Pod is not scheduled, and says why itself. @param owners from the CloudManager to the Pod, without both */
  async function unscheduled(pod: string, ...owners: readonly Named[]): Promise<RolledUp> {
    const { conditions } = ((await facts()).find('Pod', pod)?.['status'] ?? {}) as {
      conditions?: readonly Readonly<Record<string, string>>[];
    };
    const scheduled = conditions?.find(({ type }) => type === 'PodScheduled');
    expect(scheduled).toMatchObject({ status: 'False', reason: 'Unschedulable', message: expect.any(String) });
    return {
      status: 'Failed',
      reason: 'PodUnschedulable',
      message: scheduled?.['message'] ?? '',
      culprit: reference('Pod', pod),
      chain: [...owners, reference('Pod', pod)],
    };
  }
  const databaseOf = (manager: string): Promise<RolledUp> =>
    unscheduled(`${manager}-db-0`, reference('StatefulSet', `${manager}-db`));
  /** The Pods of all parts are Failed; a Pod of a Deployment has one owner more. */
  async function frontOf(manager: string): Promise<RolledUp> {
    const here = await facts();
    const named = (kind: string): string =>
      here.names(kind).find((name) => name.startsWith(`${manager}-front-`)) ?? `no ${kind}`;
    return unscheduled(
      named('Pod'),
      reference('Deployment', `${manager}-front`),
      reference('ReplicaSet', named('ReplicaSet')),
    );
  }

  test('an empty cluster serves none of the kinds', async () => {
    const { resources } = await data<{ resources: readonly { key: string }[] }>(gateway.url, '{ resources { key } }');
    const keys = resources.map(({ key }) => key);
    expect(keys).toContain('deployments.apps');
    expect(customResources.filter((key) => keys.includes(key))).toEqual([]);
    expect(await codesOf(listsOfPlatform)).toEqual(noSuchLists);
    const pattern = '{ objects(kinds: ["*.samplecontroller.k8s.io"]) { totalCount } }';
    expect(await codesOf(pattern)).toEqual(['BAD_USER_INPUT']);
    expect(await data(gateway.url, '{ __type(name: "AppInstance") { name } }')).toEqual({ __type: null });
    await subscribers.synced();
  });

  test('definitions come: the kinds are in the schema, and subscribers hear of them', async () => {
    await create(...platformCrds);
    await subscribers.serves(customResources);
    const { foo, storage, app } = await data<Record<string, { fields: readonly object[] }>>(
      gateway.url,
      `{
        foo: __type(name: "SamplecontrollerK8sIoFoo_spec") { fields { name type { name } } }
        storage: __type(name: "CloudmanagercontrollerHuayunComCloudManager_spec_db_statefulSet_storage") {
          fields { name type { name ofType { name ofType { name } } } }
        }
        app: __type(name: "AppInstance") { fields { name } }
      }`,
    );
    expect(foo?.fields).toEqual([
      { name: 'deploymentName', type: { name: 'String' } },
      { name: 'replicas', type: { name: 'Int64' } },
    ]);
    expect(storage?.fields).toEqual([
      { name: 'accessModes', type: { name: null, ofType: { name: 'String', ofType: null } } },
      { name: 'class', type: { name: 'String', ofType: null } },
      { name: 'size', type: { name: 'String', ofType: null } },
    ]);
    expect(app?.fields).toEqual(expect.arrayContaining([{ name: 'engine' }, { name: 'version' }]));
    page = subscribe(gateway.url, overview, {}, (found) => found as unknown as Overview);
    await eventuallyManagers(() => ({}));
    await agree();
  });

  test('objects without a controller are Current, and name what does not exist yet', async () => {
    await create(...applications, cloudManager('east'));
    await eventuallyManagers(() => ({ east: rowOf(null, { status: 'Current', source: 'DEFAULT' }, current) }));
    await agree();
    const { foos } = await data<{ foos: { nodes: readonly unknown[] } }>(
      gateway.url,
      '{ foos: samplecontrollerK8sIoFoos { nodes { deployment { kind } references { path kind name state } } } }',
    );
    const missing = { path: 'spec.deploymentName', kind: 'Deployment', name: 'example-web', state: 'MISSING' };
    expect(foos.nodes).toEqual([{ deployment: null, references: [missing] }]);
  });

  test('two definitions are one list of applications', async () => {
    const applicationChanges = subscribe(
      gateway.url,
      'subscription { appInstanceChanges(filter: { engine: { eq: "mysql" } }) { changes { type object { version } } } }',
      {},
      (found) => found['appInstanceChanges'] as { readonly changes: readonly unknown[] },
    );
    await applicationChanges.until(([first]) => first?.changes.length === 1);
    const { appInstances } = await data<Overview>(gateway.url, overview);
    expect(appInstances).toEqual({
      totalCount: 2,
      nodes: [
        {
          metadata: { name: 'orders' },
          engine: 'mysql',
          version: '8.0.36',
          health: { status: 'Failed' },
          object: { kind: 'MySQL' },
        },
        {
          metadata: { name: 'sessions' },
          engine: 'redis',
          version: '7.2.4',
          health: { status: 'Current' },
          object: { kind: 'Redis' },
        },
      ],
    });
    await patch('mysql', 'orders', { spec: { image: { tag: '8.4.0' } } });
    const versions = ({ appInstances: { nodes } }: Overview) =>
      (nodes as readonly { readonly version: string }[]).map(({ version }) => version);
    await page?.until((messages) => versions(messages.at(-1) as Overview).includes('8.4.0'));
    const all = await applicationChanges.until((messages) => messages.flatMap(({ changes }) => changes).length === 2);
    await applicationChanges.stop();
    expect(all.flatMap(({ changes }) => changes)).toEqual([
      { type: 'ADDED', object: { version: '8.0.36' } },
      { type: 'MODIFIED', object: { version: '8.4.0' } },
    ]);
    const { newest } = await data<{ newest: { nodes: readonly unknown[] } }>(
      gateway.url,
      `{
        newest: appInstances(filter: { version: { startsWith: "8" }, health: { status: { eq: Failed } } }) {
          nodes { metadata { name } version }
        }
      }`,
    );
    expect(newest.nodes).toEqual([{ metadata: { name: 'orders' }, version: '8.4.0' }]);
    await agree();
  });

  test('the controller makes the parts; without Nodes the roll-up names the Pod at the end of the longest chain', async () => {
    controller = await PlatformController.start(plane.kubeconfigPath);
    await eventuallyManagers(async () => ({
      east: rowOf('progressing', byPhase('InProgress'), await frontOf('east')),
    }));
    await agree();
    const parts = await facts();
    expect(parts.names('Deployment')).toEqual(['east-front', 'east-identity', 'example-web']);
    expect(parts.names('StatefulSet')).toEqual(['east-db']);
    expect(parts.names('Secret')).toEqual(['east-credentials']);
  });

  test('Nodes come: everything runs, and all is Current', async () => {
    await create(fakeNode('node-0'), fakeNode('node-1'));
    await eventuallyManagers(() => ({ east: readyRow() }));
    await agree();
    await eventually(async () => {
      const { foos } = await data<{ foos: { nodes: readonly object[] } }>(
        gateway.url,
        '{ foos: samplecontrollerK8sIoFoos { nodes { spec { replicas } status { availableReplicas } } } }',
      );
      expect(foos.nodes).toEqual([{ spec: { replicas: 2 }, status: { availableReplicas: 2 } }]);
    });
  });

  test('a definition gets printer columns: the rows have them', async () => {
    const [version] = (await definitionOf('foos.samplecontroller.k8s.io')).spec.versions;
    const additionalPrinterColumns = [
      { name: 'Deployment', type: 'string', jsonPath: '.spec.deploymentName' },
      { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
      { name: 'Wanted', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
      { name: 'Made', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ];
    const versions = [{ ...version, additionalPrinterColumns }];
    await patch('crd', 'foos.samplecontroller.k8s.io', { spec: { versions } });
    await agree();
    const [row] = await tableOf(plane, namespace, 'foos');
    expect(row).toMatchObject({ NAME: 'example', DEPLOYMENT: 'example-web', AVAILABLE: '2' });
  });

  /** The claim of `west` is owned by its StatefulSet; that of `north` is only named by its Pod. */
  test('claims do not bind: the roll-up names the Pod, and the Pod leads to its claim', async () => {
    await create(cloudManager('west'), cloudManager('north', { [keepsClaims]: 'true' }));
    const unbound = async (manager: string): Promise<RolledUp> => {
      const pod = await databaseOf(manager);
      expect(pod.message).toContain('unbound immediate PersistentVolumeClaims');
      return pod;
    };
    await eventuallyManagers(async () => ({
      east: readyRow(),
      north: rowOf('progressing', byPhase('InProgress'), await unbound('north')),
      west: rowOf('progressing', byPhase('InProgress'), await unbound('west')),
    }));
    await agree();

    const { managers } = await data<{ managers: { nodes: readonly unknown[] } }>(
      gateway.url,
      `{
        managers: cloudmanagercontrollerHuayunComCloudManagers(
          filter: { metadata: { name: { in: ["north", "west"] } } }
          orderBy: [{ path: "metadata.name" }]
        ) {
          nodes {
            metadata { name }
            health(rollUp: OWNED) {
              culprit {
                ... on Pod {
                  persistentVolumeClaims(filter: { health: { status: { ne: Current } } }) {
                    nodes { metadata { name } health { status reason } }
                  }
                }
              }
            }
            events(includeOwned: true, filter: { reason: { eq: "ProvisioningFailed" } }) {
              nodes { involvedObject { kind name } }
            }
          }
        }
      }`,
    );
    const claimOf = (name: string) => ({ metadata: { name }, health: { status: 'InProgress', reason: 'NotBound' } });
    const about = { involvedObject: { kind: 'PersistentVolumeClaim', name: 'data-west-db-0' } };
    expect(managers.nodes).toEqual(
      [
        { name: 'north', events: [] },
        { name: 'west', events: [about] },
      ].map(({ name, events }) => ({
        metadata: { name },
        health: { culprit: { persistentVolumeClaims: { nodes: [claimOf(`data-${name}-db-0`)] } } },
        events: { nodes: events },
      })),
    );
  });

  test('volumes come: the claims bind, and all is Current again', async () => {
    await create(volumeFor('west'), volumeFor('north'));
    await eventuallyManagers(() => ({ east: readyRow(), north: readyRow(), west: readyRow() }));
    await agree();
    const claims = (await facts()).ofKind('PersistentVolumeClaim');
    expect(claims.map(({ metadata, status }) => [metadata.name, (status as { phase: string }).phase])).toEqual([
      ['data-east-db-0', 'Bound'],
      ['data-north-db-0', 'Bound'],
      ['data-west-db-0', 'Bound'],
    ]);
  });

  test('volumes are lost under running Pods: the roll-up names the claim', async () => {
    for (const manager of ['west', 'north']) {
      await plane.kubectl(['delete', 'pv', `disk-${manager}`, '--wait=false']);
      await patch('pv', `disk-${manager}`, { metadata: { finalizers: null } });
    }
    const claim = (manager: string) => reference('PersistentVolumeClaim', `data-${manager}-db-0`);
    const notBound = (manager: string, ...between: readonly Named[]): RolledUp => ({
      status: 'InProgress',
      reason: 'NotBound',
      message: null,
      culprit: claim(manager),
      chain: [reference('StatefulSet', `${manager}-db`), ...between, claim(manager)],
    });
    // What the named claim of `north` names does not count; the owned claim of `west` names a volume that is gone.
    const gone = { status: 'Failed', reason: 'Missing', culprit: null };
    const missing = { ...notBound('west'), ...gone, message: expect.stringContaining('disk-west') };
    await eventuallyManagers(() => ({
      east: readyRow(),
      north: readyRow(current, notBound('north', reference('Pod', 'north-db-0'))),
      west: readyRow(notBound('west'), missing),
    }));
    await agree();
  });

  test('deleted CloudManagers leave every list, with all that they owned', async () => {
    await plane.kubectl(['delete', 'cloudmanager', 'west', 'north', '-n', namespace, '--wait=false']);
    await eventuallyManagers(() => ({ east: readyRow() }));
    // The garbage collector follows.
    await eventually(async () => {
      const left = (await facts()).items.filter(
        ({ kind, metadata }) => kind !== 'Event' && /^(data-)?(west|north)-/.test(metadata.name),
      );
      expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
        'PersistentVolumeClaim data-north-db-0',
      ]);
    }, 60_000);
    await agree();
    await patch('cloudmanager', 'east', { metadata: { finalizers: ['cloudmanagercontroller.huayun.com/cleanup'] } });
    await plane.kubectl(['delete', 'cloudmanager', 'east', '-n', namespace, '--wait=false']);
    await plane.kubectl(['delete', 'redis', 'sessions', '-n', namespace]);
    const terminating: RolledUp = { ...current, status: 'Terminating' };
    await eventuallyManagers(() => ({
      east: rowOf('ready', { status: 'Terminating', source: 'DELETION' }, terminating),
    }));
    await agree();
    await patch('cloudmanager', 'east', { metadata: { finalizers: null } });
    await eventuallyManagers(() => ({}));
    await eventually(async () => expect((await facts()).names('Deployment')).toEqual(['example-web']), 60_000);
    await agree();
    const { appInstances } = await data<Overview>(gateway.url, overview);
    expect(appInstances.totalCount).toBe(1);
  });

  test('definitions go: the kinds leave the schema, and other objects stay', async () => {
    await controller?.stop();
    controller = null;
    const names = await plane.kubectl(['get', 'crds', '-o', 'name']);
    await plane.kubectl(['delete', ...names.trim().split('\n')]);
    await eventually(async () => expect(await codesOf(listsOfPlatform)).toEqual(noSuchLists));
    await expect(page?.until(() => false)).rejects.toThrow('SCHEMA_RELOAD');
    page = null;
    // The Deployment of the Foo is collected with it; the claim that outlived its database is still there.
    await eventually(async () => {
      const left = subscribers.held().filter((each) => !each.startsWith('Event '));
      expect(left).toEqual([expect.stringMatching(/^PersistentVolumeClaim data-north-db-0 /)]);
      const claims = '{ persistentVolumeClaims { nodes { metadata { name } } } deployments { totalCount } }';
      expect(await data(gateway.url, claims)).toEqual({
        persistentVolumeClaims: { nodes: [{ metadata: { name: 'data-north-db-0' } }] },
        deployments: { totalCount: 0 },
      });
    }, 60_000);
  });
});
