/** Compares what Portolan answers of the platform with what kubectl says. Each function throws on a difference. */
import { expect } from 'vitest';
import type { ControlPlane } from '../kit/control-plane.ts';
import { data } from '../kit/graphql-client.ts';
import { type Facts, factsOf, type Item, ownersOf, tableOf } from './kubectl-facts.ts';
import { namespace } from './platform-manifests.ts';
import { type Joins, joins, type ManagerPage, managerPage, type Named } from './platform-pages.ts';

/** The resources that the platform adds. */
export const customResources = [
  'foos.samplecontroller.k8s.io',
  'cloudmanagers.cloudmanagercontroller.huayun.com',
  'templates.apps.titanide.cn',
  'redis.apps.titanide.cn',
  'mysqls.apps.titanide.cn',
] as const;

const customKinds = ['Foo', 'CloudManager', 'Template', 'Redis', 'MySQL'];

const builtIn: Readonly<Record<string, string>> = {
  'deployments.apps': 'Deployment',
  'replicasets.apps': 'ReplicaSet',
  'statefulsets.apps': 'StatefulSet',
  'controllerrevisions.apps': 'ControllerRevision',
  pods: 'Pod',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  secrets: 'Secret',
  events: 'Event',
  persistentvolumes: 'PersistentVolume',
  'storageclasses.storage.k8s.io': 'StorageClass',
};

/** The kinds that are compared. */
export const comparedKinds: ReadonlySet<string> = new Set([...customKinds, ...Object.values(builtIn)]);

/** What kubectl has of them now. */
export async function comparedFacts(plane: ControlPlane): Promise<Facts> {
  return factsOf(plane, namespace, [...customResources, ...Object.keys(builtIn)]);
}

interface Listed {
  readonly totalCount: number;
  readonly nodes: readonly { readonly raw: Item }[];
}

/** Every list has the objects that kubectl has, whole. */
export async function agreeOnLists(url: string, facts: Facts): Promise<void> {
  const compared = [...customResources, ...Object.keys(builtIn)];
  const { resources } = await data<{
    resources: readonly { key: string; kind: string; list: string; namespaced: boolean }[];
  }>(url, 'query ($kinds: [String!]) { resources(kinds: $kinds) { key kind list namespaced } }', { kinds: compared });
  expect(resources.map(({ key }) => key).toSorted()).toEqual(compared.toSorted());
  const lists = resources.map((resource) => {
    const filter = resource.namespaced ? `, filter: { namespaces: ["${namespace}"] }` : '';
    const page = `first: 200, orderBy: [{ path: "metadata.name" }]${filter}`;
    return `${resource.kind}: ${resource.list}(${page}) { totalCount nodes { raw } }`;
  });
  const answer = await data<Readonly<Record<string, Listed>>>(url, `{ ${lists.join('\n')} }`);
  for (const { kind } of resources) {
    const expected = facts.ofKind(kind).map(withoutData);
    const { totalCount, nodes } = answer[kind] ?? { totalCount: -1, nodes: [] };
    expect(
      nodes.map(({ raw }) => raw),
      kind,
    ).toEqual(expected);
    expect(totalCount, kind).toBe(expected.length);
  }
}

/** Portolan keeps no data of Secrets. */
function withoutData(item: Item): Item {
  if (item.kind !== 'Secret') return item;
  const { data: _, ...kept } = item;
  return kept as Item;
}

interface Cell {
  readonly name: string;
  readonly type: string;
  readonly priority: number;
  readonly value: unknown;
}

/** The printer columns of the custom resources are those of `kubectl get`. kubectl prints an age where Portolan has the time. */
export async function agreeOnColumns(url: string, plane: ControlPlane): Promise<void> {
  for (const [resource, list] of [
    ['cloudmanagers', 'cloudmanagercontrollerHuayunComCloudManagers'],
    ['foos', 'samplecontrollerK8sIoFoos'],
    ['redis', 'appsTitanideCnRedis'],
  ] as const) {
    const answer = await data<Record<string, { nodes: readonly { columns: readonly Cell[] }[] }>>(
      url,
      `{ ${list}(orderBy: [{ path: "metadata.name" }]) { nodes { columns { name type priority value } } } }`,
    );
    const rows = (answer[list]?.nodes ?? []).map(({ columns }) =>
      columns.filter(({ priority }) => priority === 0).map((cell) => ({ ...cell, name: cell.name.toUpperCase() })),
    );
    const printed = await tableOf(plane, namespace, resource);
    expect(
      rows.map((cells) => cells.map(({ name }) => name)),
      resource,
    ).toEqual(printed.map((row) => Object.keys(row)));
    const texts = rows.map((cells, at) =>
      cells.map(({ name, type, value }) => (type === 'date' ? printed[at]?.[name] : String(value ?? ''))),
    );
    expect(texts, resource).toEqual(printed.map((row) => Object.values(row)));
  }
}

const named = (name: string | null): Named['metadata'] | null => (name === null ? null : { name });
const sorted = ({ nodes }: { readonly nodes: readonly Pick<Named, 'metadata'>[] }): readonly string[] =>
  nodes.map(({ metadata }) => metadata.name).toSorted();

const textsOf = (objects: readonly Named[]): readonly string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();

/** Relations by name and by owner, in both directions, and Events. */
export async function agreeOnJoins(url: string, facts: Facts): Promise<void> {
  const answer = await data<Joins>(url, joins);
  const own = (kind: string, owner: Item): readonly string[] =>
    facts.names(kind, (item) => ownersOf(item).includes(owner.metadata.uid));
  const of = (kind: string, name: string): Item => {
    const found = facts.find(kind, name);
    if (found === null) throw new Error(`kubectl has no ${kind} ${name}`);
    return found;
  };

  expect(sorted(answer.foos)).toEqual(facts.names('Foo'));
  for (const { metadata, deployment } of answer.foos.nodes) {
    const name = String(field(of('Foo', metadata.name), 'spec', 'deploymentName'));
    expect(deployment?.metadata ?? null).toEqual(named(facts.find('Deployment', name)?.metadata.name ?? null));
  }

  expect(sorted(answer.managers)).toEqual(facts.names('CloudManager'));
  for (const { metadata, storageClass, events, allEvents, ...parts } of answer.managers.nodes) {
    const manager = of('CloudManager', metadata.name);
    expect(sorted(parts.deployments)).toEqual(own('Deployment', manager));
    expect(sorted(parts.statefulSets)).toEqual(own('StatefulSet', manager));
    expect(sorted(parts.secrets)).toEqual(own('Secret', manager));
    expect(textsOf(parts.owned.nodes)).toEqual(
      textsOf(facts.items.filter((item) => ownersOf(item).includes(manager.metadata.uid))),
    );
    for (const { owners } of parts.owned.nodes)
      expect(textsOf(owners.nodes)).toEqual([`CloudManager ${metadata.name}`]);
    const storage = String(field(manager, 'spec', 'db', 'statefulSet', 'storage', 'class'));
    expect(storageClass?.metadata ?? null).toEqual(named(facts.find('StorageClass', storage)?.metadata.name ?? null));
    agreeOnEvents(events, facts.eventsAbout(new Set([manager.metadata.uid])));
    const all = facts.eventsAbout(facts.withOwned(manager));
    agreeOnEvents(allEvents, all);
    const times = allEvents.nodes.map((each) => timeOf(of('Event', each.metadata.name)));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  }

  for (const [kind, list] of [
    ['Redis', answer.redises],
    ['MySQL', answer.mysqls],
  ] as const) {
    expect(sorted(list)).toEqual(facts.names(kind));
    for (const { metadata, template, references } of list.nodes) {
      const name = String(field(of(kind, metadata.name), 'spec', 'templateName'));
      const there = facts.find('Template', name) !== null;
      expect(template?.metadata ?? null).toEqual(named(there ? name : null));
      expect(references).toEqual([{ name, state: there ? 'THERE' : 'MISSING' }]);
    }
  }
  for (const { metadata, usedBy } of answer.templates.nodes) {
    const users = ['MySQL', 'Redis'].flatMap((kind) =>
      facts
        .names(kind, (item) => field(item, 'spec', 'templateName') === metadata.name)
        .map((name) => `${kind} ${name}`),
    );
    expect(textsOf(usedBy.nodes)).toEqual(users);
  }

  expect(sorted(answer.deployments)).toEqual(facts.names('Deployment'));
  for (const { metadata, cloudManager, foos } of answer.deployments.nodes) {
    const owners = ownersOf(of('Deployment', metadata.name));
    const [owner = null] = facts.names('CloudManager', (item) => owners.includes(item.metadata.uid));
    expect(cloudManager?.metadata ?? null).toEqual(named(owner));
    expect(sorted(foos)).toEqual(facts.names('Foo', (foo) => field(foo, 'spec', 'deploymentName') === metadata.name));
  }

  expect(sorted(answer.pods)).toEqual(facts.names('Pod'));
  for (const { metadata, persistentVolumeClaims } of answer.pods.nodes) {
    const volumes = (field(of('Pod', metadata.name), 'spec', 'volumes') ?? []) as readonly Volume[];
    const claims = volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
    expect(sorted(persistentVolumeClaims)).toEqual(
      facts.names('PersistentVolumeClaim', (each) => claims.includes(each.metadata.name)),
    );
  }
}

/** The value at a path; undefined where there is none. */
function field(item: Item, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], item);
}

interface Volume {
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

function agreeOnEvents(answer: Joins['managers']['nodes'][number]['events'], expected: readonly Item[]): void {
  expect(sorted(answer)).toEqual(expected.map(({ metadata }) => metadata.name));
  expect(answer.totalCount).toBe(expected.length);
}

/** When an Event was last seen. */
function timeOf({ lastTimestamp, series, eventTime, metadata }: Item): number {
  const observed = (series as { readonly lastObservedTime?: string } | undefined)?.lastObservedTime;
  return Date.parse(String(lastTimestamp ?? observed ?? eventTime ?? metadata.creationTimestamp));
}

/** Pages of two, groups and filters have what the objects of kubectl come to. */
export async function agreeOnPages(url: string, facts: Facts): Promise<void> {
  const managers = facts.ofKind('CloudManager');
  const phaseOf = (item: Item): unknown => field(item, 'status', 'phase') ?? null;
  const found: string[] = [];
  const variables = { phase: 'ready', manager: 'east' };
  for (let after: string | null = null; ; ) {
    const answer: ManagerPage = await data<ManagerPage>(url, managerPage, { ...variables, after });
    const { page, inPhase, databases } = answer;
    expect(page.totalCount).toBe(managers.length);
    const groups = page.aggregate.groups.map(({ keys: [key], aggregate }) => [key, aggregate.count]);
    const expected = Map.groupBy(managers, phaseOf);
    expect(new Map(groups as [unknown, number][])).toEqual(
      new Map([...expected].map(([phase, items]) => [phase, items.length])),
    );
    expect(sorted(inPhase)).toEqual(facts.names('CloudManager', (item) => phaseOf(item) === 'ready'));
    const statefulSets = managers
      .filter(({ metadata }) => metadata.name === 'east')
      .flatMap((east) => facts.ofKind('StatefulSet').filter((set) => ownersOf(set).includes(east.metadata.uid)));
    const owners = statefulSets.map(({ metadata }) => metadata.uid);
    const pods = facts.names('Pod', (pod) => ownersOf(pod).some((uid) => owners.includes(uid)));
    expect(sorted(databases)).toEqual(pods);
    found.push(...page.nodes.map(({ metadata }) => metadata.name));
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage) break;
  }
  const byFront = (item: Item): string => String(field(item, 'spec', 'front', 'deployment', 'name'));
  const expected = managers.toSorted((a, b) => (byFront(a) < byFront(b) ? 1 : -1));
  expect(found).toEqual(expected.map(({ metadata }) => metadata.name));
}
