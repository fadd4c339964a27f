/** Relations over HTTP on the demo world: fields, filters, orders, groups, references, graphs, and the number of SQL statements. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const file = join(sharedDirectory('relations'), 'relations.yaml');
writeFileSync(
  file,
  `
off: [Pod.nominatedNode]
relations:
  - { from: Namespace, name: claims, to: PersistentVolumeClaim, at: [spec.nowhere] }
  - { from: Pod, name: metadata, to: Node, at: [spec.nodeName] }
  - { from: Node, name: broken }
  - { from: ReplicaSet.apps, name: claims, to: PersistentVolumeClaim, at: ["spec.template.spec.volumes[].persistentVolumeClaim.claimName"] }
  - nothing
`,
);
const gateway = demoGateway({ pods: 200, churn: false }, { explain: true, relations: file });

interface Named {
  readonly metadata: { readonly name: string; readonly namespace: string | null };
}
const names = (nodes: readonly Named[]): string[] => nodes.map(({ metadata }) => metadata.name);

async function failure(query: string): Promise<{ readonly code: unknown; readonly message: string }> {
  const { errors } = await ask(gateway.url, query);
  const [first] = errors ?? [];
  return { code: first?.extensions?.['code'], message: first?.message ?? '' };
}

describe('fields', () => {
  test('Foo, Deployment, ReplicaSet, Pod and what a Pod needs, in one query', async () => {
    const { foos } = await data<{ foos: { nodes: readonly unknown[] } }>(
      gateway.url,
      `{ foos: samplecontrollerK8sIoFoos(first: 1) { nodes { metadata { name } deployments { nodes { foo { kind } replicaSets { nodes {
         pods(first: 1) { nodes { replicaSet { deployment { foo { metadata { name } } } } node { metadata { name } }
           serviceAccount { metadata { name } } configMaps { nodes { metadata { name } } } secrets { nodes { metadata { name } } }
         } } } } } } } } }`,
    );
    const named = (name: unknown) => ({ metadata: { name } });
    const pod = {
      replicaSet: { deployment: { foo: named('example-foo-1') } },
      node: named(expect.stringMatching(/^worker-/)),
      serviceAccount: named('nginx'),
      configMaps: { nodes: [named('nginx-config')] },
      secrets: { nodes: [named('nginx-credentials')] },
    };
    expect(foos.nodes).toMatchObject([
      {
        ...named('example-foo-1'),
        deployments: { nodes: [{ foo: { kind: 'Foo' }, replicaSets: { nodes: [{ pods: { nodes: [pod] } }] } }] },
      },
    ]);
  });

  test('the parts of a CloudManager, and the way back', async () => {
    const { managers } = await data<{ managers: { nodes: readonly Record<string, { nodes: readonly Named[] }>[] } }>(
      gateway.url,
      `{ managers: cloudPortolanExampleCloudManagers(first: 1) { nodes { front { frontOf { nodes { kind } } } deployments { nodes { metadata { name } cloudManager { kind } } }
         statefulSets { nodes { metadata { name } } } services { nodes { metadata { name } } } secrets { nodes { metadata { name } } } } } }`,
    );
    const [manager] = managers.nodes;
    expect(manager?.['deployments']?.nodes).toHaveLength(2);
    expect(manager?.['deployments']?.nodes[0]).toMatchObject({ cloudManager: { kind: 'CloudManager' } });
    for (const part of ['statefulSets', 'secrets']) expect(manager?.[part]?.nodes).toHaveLength(1);
    expect(manager?.['services']?.nodes).toHaveLength(3);
    expect(manager?.['front']).toMatchObject({ frontOf: { nodes: [{ kind: 'CloudManager' }] } });
  });

  test('pages with filter, order, cursor, count and groups of their own, for each parent', async () => {
    const query = (after: string) => `{ nodes(first: 3) { nodes { metadata { name } pods(first: 2, ${after}
      filter: { status: { phase: { eq: "Running" } } }, orderBy: [{ path: "metadata.name", direction: DESC }]) {
        totalCount edges { cursor via node { metadata { name } } } pageInfo { hasNextPage hasPreviousPage endCursor }
        aggregate { count groups(by: ["metadata.namespace"]) { keys aggregate { count } } } } } } }`;
    interface Page {
      readonly totalCount: number;
      readonly edges: readonly { readonly via: readonly string[]; readonly node: Named }[];
      readonly pageInfo: {
        readonly hasNextPage: boolean;
        readonly hasPreviousPage: boolean;
        readonly endCursor: string;
      };
      readonly aggregate: { readonly count: number };
    }
    const { nodes } = await data<{ nodes: { nodes: readonly (Named & { readonly pods: Page })[] } }>(
      gateway.url,
      query(''),
    );
    for (const node of nodes.nodes) {
      const ofNode = `filter: { spec: { nodeName: { eq: "${node.metadata.name}" } }, status: { phase: { eq: "Running" } } }`;
      const { pods } = await data<{ pods: { totalCount: number; nodes: readonly Named[] } }>(
        gateway.url,
        `{ pods(first: 4, ${ofNode}, orderBy: [{ path: "metadata.name", direction: DESC }]) { totalCount nodes { metadata { name } } } }`,
      );
      expect(node.pods.totalCount).toBe(pods.totalCount);
      expect(node.pods.aggregate.count).toBe(pods.totalCount);
      expect(names(node.pods.edges.map((edge) => edge.node))).toEqual(names(pods.nodes).slice(0, 2));
      expect(node.pods.edges.every(({ via }) => via.join() === 'spec.nodeName')).toBe(true);
      const { endCursor } = node.pods.pageInfo;
      if (endCursor === null) continue;
      const next = await data<{ nodes: { nodes: readonly (Named & { readonly pods: Page })[] } }>(
        gateway.url,
        query(`after: "${endCursor}",`),
      );
      const same = next.nodes.nodes.find(({ metadata }) => metadata.name === node.metadata.name);
      expect(names((same?.pods.edges ?? []).map((edge) => edge.node))).toEqual(names(pods.nodes).slice(2, 4));
      expect(same?.pods.pageInfo.hasPreviousPage).toBe(true);
    }
  });

  test('what a polymorphic reference names, and events of any kind', async () => {
    const { autoscalers } = await data<{
      autoscalers: {
        nodes: readonly { spec: { scaleTargetRef: object & { kind: string; name: string } }; scaleTarget: unknown }[];
      };
    }>(
      gateway.url,
      '{ autoscalers: horizontalPodAutoscalers { nodes { spec { scaleTargetRef { kind name } } scaleTarget { kind metadata { name } ... on Deployment { spec { replicas } } } } } }',
    );
    expect(autoscalers.nodes.length).toBeGreaterThan(0);
    for (const { spec, scaleTarget } of autoscalers.nodes) {
      const { kind, name } = spec.scaleTargetRef;
      expect(scaleTarget).toMatchObject({ kind, metadata: { name } });
    }
    const { pods } = await data<{ pods: { nodes: readonly { events: { totalCount: number } }[] } }>(
      gateway.url,
      '{ pods(first: 50, orderBy: [{ path: "count(events)", direction: DESC }]) { nodes { events { totalCount nodes { involved { kind } } } } } }',
    );
    expect(pods.nodes[0]?.events.totalCount).toBeGreaterThan(0);
  });
});

describe('filters, orders and groups', () => {
  test('a filter through two relations gives what two queries give', async () => {
    const { nodes } = await data<{ nodes: { nodes: readonly Named[] } }>(
      gateway.url,
      '{ nodes { nodes { metadata { name } } } }',
    );
    const [zone] = ['zone-a'];
    const { through, one } = await data<Record<string, { totalCount: number }>>(
      gateway.url,
      `{ through: services(filter: { pods: { some: { node: { is: { labelSelector: "topology.kubernetes.io/zone=${zone}" } } } } }) { totalCount }
         one: services(filter: { pods: { exists: true } }) { totalCount } }`,
    );
    expect(nodes.nodes.length).toBeGreaterThan(3);
    expect(through?.totalCount).toBeGreaterThan(0);
    expect(through?.totalCount).toBeLessThanOrEqual(one?.totalCount ?? 0);
  });

  test('groups through a to-one relation add up to all', async () => {
    const { pods } = await data<{
      pods: { totalCount: number; aggregate: { groups: readonly { aggregate: { count: number } }[] } };
    }>(
      gateway.url,
      '{ pods { totalCount aggregate { groups(by: ["node.metadata.labels[\\"topology.kubernetes.io/zone\\"]"]) { keys aggregate { count } } } } }',
    );
    const sum = pods.aggregate.groups.reduce((all, group) => all + group.aggregate.count, 0);
    expect(pods.aggregate.groups.length).toBeGreaterThan(2);
    expect(sum).toBe(pods.totalCount);
  });

  test.each([
    ['{ pods(orderBy: [{ path: "nowhere.metadata.name" }]) { totalCount nodes { id } } }', 'nowhere'],
    ['{ pods(orderBy: [{ path: "secrets.metadata.name" }]) { nodes { id } } }', 'count(secrets)'],
    ['{ pods(orderBy: [{ path: "node" }]) { nodes { id } } }', 'name one of its fields'],
    ['{ pods(filter: { node: {} }) { totalCount } }', 'filter.node'],
    ['{ pods(filter: { node: { is: {} } }) { totalCount } }', 'filter.node.is'],
    ['{ pods(filter: { node: { exists: null } }) { totalCount } }', 'filter.node.exists'],
    ['{ nodes { nodes { pods(after: "x") { nodes { id } } } } }', 'is not a cursor'],
    ['{ nodes { nodes { pods(first: -1) { nodes { id } } } } }', '`first` is -1'],
    ['{ pods { nodes { graph(depth: 9) { truncated } } } }', '`depth`'],
    ['{ danglingReferences(kinds: ["Nothing"]) { nodes { name } } }', 'Nothing'],
    ['{ danglingReferences(after: "x") { nodes { name } } }', 'is not a cursor'],
  ])('%s', async (query, message) => {
    expect(await failure(query)).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining(message) });
  });

  test('at most three relations one after another', async () => {
    const deep =
      '{ pods(filter: { node: { is: { pods: { some: { node: { is: { pods: { exists: true } } } } } } } }) { totalCount } }';
    expect(await failure(deep)).toMatchObject({ code: 'QUERY_TOO_COSTLY' });
  });
});

describe('references', () => {
  test('what is broken in the sandbox, and nothing else', async () => {
    const { dangling } = await data<{
      dangling: { nodes: readonly { from: Named & { kind: string }; path: string; kind: string; name: string }[] };
    }>(
      gateway.url,
      '{ dangling: danglingReferences(first: 100) { nodes { from { kind metadata { namespace name } } path kind name state } } }',
    );
    expect(dangling.nodes.length).toBeGreaterThan(4);
    expect(new Set(dangling.nodes.map(({ from }) => from.metadata.namespace))).toEqual(new Set(['sandbox']));
    expect(dangling.nodes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
      expect.arrayContaining(['Secret legacy-tls', 'Service legacy', 'Role auditor']),
    );
  });

  test('pages of dangling references follow each other', async () => {
    const all: string[] = [];
    let after = 'null';
    for (;;) {
      const { page } = await data<{
        page: { nodes: readonly { name: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
      }>(
        gateway.url,
        `{ page: danglingReferences(first: 2, after: ${after}) { nodes { name } pageInfo { hasNextPage endCursor } } }`,
      );
      all.push(...page.nodes.map(({ name }) => name));
      if (!page.pageInfo.hasNextPage) break;
      after = JSON.stringify(page.pageInfo.endCursor);
    }
    const { page } = await data<{ page: { nodes: readonly { name: string }[] } }>(
      gateway.url,
      '{ page: danglingReferences(first: 100) { nodes { name } } }',
    );
    expect(all).toEqual(page.nodes.map(({ name }) => name));
  });

  test('what an object names and what names it are the same pairs', async () => {
    interface Used {
      readonly id: string;
      readonly usedBy: {
        readonly totalCount: number;
        readonly nodes: readonly { readonly references: readonly { readonly object: { readonly id: string } }[] }[];
      };
    }
    const { secrets } = await data<{ secrets: { nodes: readonly Used[] } }>(
      gateway.url,
      '{ secrets(first: 100) { nodes { id usedBy(first: 100) { totalCount nodes { id references(states: [THERE]) { object { id } } } } } } }',
    );
    const used = secrets.nodes.filter(({ usedBy }) => usedBy.totalCount > 0);
    expect(used.length).toBeGreaterThan(3);
    for (const { id, usedBy } of used) {
      expect(usedBy.nodes).toHaveLength(usedBy.totalCount);
      for (const { references } of usedBy.nodes) {
        expect(references.map(({ object }) => object.id)).toContain(id);
      }
    }
    const unused = await data<{ secrets: { totalCount: number } }>(
      gateway.url,
      '{ secrets(filter: { usedBy: { exists: false } }) { totalCount } }',
    );
    const { secrets: all } = await data<{ secrets: { totalCount: number } }>(gateway.url, '{ secrets { totalCount } }');
    expect(all.totalCount - unused.secrets.totalCount).toBe(used.length);
  });

  test('the graph of an object has what uses it, also by Pod templates and by references that state their kind', async () => {
    interface Node {
      readonly id: string;
      readonly usedBy: { readonly nodes: readonly { readonly id: string; readonly kind: string }[] };
      readonly graph: {
        readonly nodes: readonly { readonly id: string }[];
        readonly edges: readonly { readonly from: string; readonly to: string; readonly relation: string }[];
      };
    }
    const selected =
      'nodes { id usedBy(first: 100) { nodes { id kind } } graph(depth: 1, limit: 500) { nodes { id } edges { from to relation } } }';
    const found = await data<Record<string, { readonly nodes: readonly Node[] }>>(
      gateway.url,
      `{ configMaps(first: 5, filter: { usedBy: { exists: true } }) { ${selected} }
         deployments(first: 5, filter: { horizontalPodAutoscalers: { exists: true } }) { ${selected} } }`,
    );
    const kinds = new Set<string>();
    for (const { id, usedBy, graph } of Object.values(found).flatMap(({ nodes }) => nodes)) {
      const ids = graph.nodes.map((node) => node.id);
      for (const user of usedBy.nodes) {
        kinds.add(user.kind);
        expect(ids).toContain(user.id);
        expect(graph.edges.some(({ from, to }) => from === user.id && to === id)).toBe(true);
      }
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['Pod', 'StatefulSet', 'HorizontalPodAutoscaler']));
    const { autoscalers } = await data<{ autoscalers: { readonly nodes: readonly Pick<Node, 'graph'>[] } }>(
      gateway.url,
      '{ autoscalers: horizontalPodAutoscalers(first: 2) { nodes { graph(depth: 1) { nodes { id } edges { from to relation } } } } }',
    );
    for (const { graph } of autoscalers.nodes) {
      expect(graph.edges.map(({ relation }) => relation)).toEqual(['scaleTarget']);
    }
  });

  test('a graph has its objects once, and edges between them only', async () => {
    interface Graph {
      readonly nodes: readonly { readonly id: string; readonly kind: string }[];
      readonly edges: readonly { readonly from: string; readonly to: string; readonly relation: string }[];
      readonly truncated: boolean;
    }
    const { deployments } = await data<{ deployments: { nodes: readonly { graph: Graph }[] } }>(
      gateway.url,
      '{ deployments(first: 1) { nodes { graph(depth: 3, limit: 20) { truncated nodes { id kind } edges { from to relation } } } } }',
    );
    const [{ graph } = { graph: null }] = deployments.nodes;
    const ids = graph?.nodes.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThanOrEqual(20);
    expect(graph?.nodes[0]?.kind).toBe('Deployment');
    expect(graph?.edges.length).toBeGreaterThan(3);
    for (const { from, to } of graph?.edges ?? []) expect(ids).toEqual(expect.arrayContaining([from, to]));
    expect(graph?.edges.map(({ relation }) => relation)).toEqual(expect.arrayContaining(['owner']));
  });
});

describe('declarations', () => {
  test('a broken declaration costs its relation, and its kind says so', async () => {
    const { resources } = await data<{
      resources: readonly { key: string; diagnostics: readonly string[]; relations: readonly { name: string }[] }[];
    }>(
      gateway.url,
      '{ resources(kinds: ["Namespace", "Pod", "Node", "ReplicaSet"]) { key diagnostics relations { name origin } } }',
    );
    const of = (key: string) => resources.find((each) => each.key === key);
    expect(of('namespaces')?.diagnostics.join()).toContain('claims refers to spec.nowhere');
    expect(of('nodes')?.diagnostics.join()).toContain('Node.broken is left out');
    expect(of('pods')?.relations.map(({ name }) => name)).not.toContain('nominatedNode');
    expect(of('pods')?.relations).toContainEqual({ name: 'node', origin: 'SHIPPED' });
    expect(of('replicasets.apps')?.relations).toContainEqual({ name: 'claims', origin: 'CONFIGURED' });
  });

  test('a relation never takes the name of a field', async () => {
    const { __type: type } = await data<{
      __type: { fields: readonly { name: string; type: { name: string | null } }[] };
    }>(gateway.url, '{ __type(name: "Pod") { fields { name type { name } } } }');
    const named = type.fields.map(({ name }) => name);
    expect(new Set(named).size).toBe(named.length);
    expect(named).toEqual(expect.arrayContaining(['node', 'services', 'events', 'metadata']));
  });

  test('inferred relations of custom resources are listed with their counts', async () => {
    const { resources } = await data<{ resources: readonly { relations: readonly unknown[] }[] }>(
      gateway.url,
      '{ resources(kinds: ["Plugin"]) { relations { name to origin references missing } } }',
    );
    expect(resources[0]?.relations).toContainEqual({
      name: 'project',
      to: 'Project.platform.portolan.example',
      origin: 'ANNOTATION',
      references: expect.any(Number),
      missing: 0,
    });
  });
});

describe('statements', () => {
  const query = (
    first: number,
  ): string => `{ deployments(first: ${first}) { nodes { metadata { name } events { nodes { reason } }
    replicaSets { nodes { pods { nodes { metadata { name } node { metadata { name } } serviceAccount { metadata { name } }
      events { nodes { reason } } } } } } } } }`;

  async function explained(query: string): Promise<string> {
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, extensions: { portolan: { explain: true } } }),
    });
    const { extensions, errors } = (await response.json()) as {
      errors?: unknown;
      extensions: { portolan: { explain: { statements: readonly unknown[] } } };
    };
    expect(errors).toBeUndefined();
    return JSON.stringify(extensions.portolan.explain);
  }
  const statementsOf = async (text: string): Promise<number> => (await explained(text)).split('"sql":').length - 1;
  const statements = (first: number): Promise<number> => statementsOf(query(first));

  test('their number does not grow with the rows', async () => {
    await eventually(async () => expect(await statements(50)).toBeGreaterThan(5));
    const few = await statements(2);
    expect(await statements(50)).toBe(few);
    // Three for each relation at most: the readiness of its kind, the survey of its index and the objects.
    expect(few).toBeLessThanOrEqual(3 + 6 * 3);
  });

  test('nor with the edges whose references are asked for', async () => {
    const referring = (first: number): string =>
      `{ serviceAccounts(first: 100, filter: { usedBy: { exists: true } }) { nodes { usedBy(kinds: ["Pod"], first: ${first}) { edges { via node { id } } } } } }`;
    expect(await statementsOf(referring(50))).toBe(await statementsOf(referring(1)));
  });

  test('those of a label selector are found by their object, not among all of the kind', async () => {
    const related = '{ services(first: 5) { nodes { pods { nodes { metadata { name } } } } } }';
    await eventually(async () =>
      expect(await explained(related)).toContain('SEARCH q_r USING INDEX selector_of (id=?)'),
    );
    expect(await explained(related)).not.toContain('SEARCH q_r USING PRIMARY KEY');
  });
});
