/** The playground's example operations, as typed documents, against the demo world: each one returns data. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse, print } from 'graphql';
import { createClient } from 'graphql-sse';
import { describe, expect, onTestFinished, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import {
  AppInstancesDocument,
  ApplicationsDocument,
  BreakApplicationDocument,
  type BreakApplicationMutation,
  CarryOutScaleDocument,
  type CarryOutScaleMutation,
  CloudManagersDocument,
  DeleteApplicationDocument,
  type DeleteApplicationMutation,
  DeploymentsAndPodsDocument,
  FilterMenuDocument,
  FollowLogsDocument,
  type FollowLogsSubscription,
  FooTreeDocument,
  NewestPodsDocument,
  NodeLoadDocument,
  type NodeLoadQuery,
  PlanScaleDocument,
  type PlanScaleMutation,
  PodsByNodeDocument,
  ResourcesDocument,
  SubmitApplicationDocument,
  type SubmitApplicationMutation,
  TemplatesInUseDocument,
  type TypedDocumentString,
  WaitingPodsDocument,
  type WaitingPodsQuery,
  WatchApplicationDocument,
  type WatchApplicationQuery,
  WatchPodsDocument,
  type WatchPodsSubscription,
  WatchScaleDocument,
  type WatchScaleQuery,
  WhatUsesItDocument,
  WorkloadsDocument,
} from '../generated/graphql.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, data, subscribe } from '../kit/graphql-client.ts';
import { exampleTitles, writeTitles } from '../kit/playground-examples.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const gateway = demoGateway({ pods: 300, churn: true });

function run<Result, Variables extends Record<string, unknown>>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  return data<Result>(gateway.url, document.toString(), variables);
}

test('the app store: two definitions as one list', async () => {
  const { appInstances } = await run(AppInstancesDocument, {});
  const { nodes, totalCount } = must(appInstances, 'the list answers');
  expect(totalCount).toBe(nodes.length);
  expect(new Set(nodes.map(({ engine }) => engine))).toEqual(new Set(['mysql', 'redis']));
  for (const { version, size, servers, state } of nodes) {
    expect(version).toMatch(/^\d+\.\d+/);
    expect(Number(servers)).toBeGreaterThan(0);
    expect([typeof size, state === 'Stopped']).toEqual(['string', false]);
  }
});

test('an application is broken three steps down', async () => {
  const { objects } = await run(ApplicationsDocument, { first: 100 });
  const nodes = must(objects, 'the list answers').nodes;
  expect(new Set(nodes.map(({ kind }) => kind))).toEqual(new Set(['CloudManager', 'Foo', 'MySQL', 'Redis']));
  const { health } = must(
    nodes.find(({ metadata }) => metadata.name === 'us-east'),
    'it is there',
  );
  expect(health).toMatchObject({
    status: 'Failed',
    reason: 'ContainerCrashLooping',
    culprit: { kind: 'Pod', metadata: { name: expect.stringMatching(/^us-east-identity-/) } },
  });
  expect(health.chain?.map(({ kind }) => kind)).toEqual(['Deployment', 'ReplicaSet', 'Pod']);
});

test('Templates with their Plugins and the Projects of these', async () => {
  const { platformPortolanExampleTemplates: templates } = await run(TemplatesInUseDocument, {});
  const nodes = must(templates, 'the list answers').nodes;
  expect(nodes.length).toBeGreaterThan(2);
  for (const { plugins } of nodes) {
    expect(plugins?.nodes.length).toBeGreaterThan(0);
    expect(plugins?.nodes.every(({ project }) => project !== null)).toBe(true);
  }
});

test('CloudManagers with their parts, and Events about all that they own', async () => {
  const { cloudPortolanExampleCloudManagers: managers } = await run(CloudManagersDocument, {});
  const nodes = must(managers, 'the list answers').nodes;
  expect(nodes).toHaveLength(6);
  for (const { metadata, front, identity, db, secrets, events } of nodes) {
    const parts = [front, identity, db].map((part) => part?.metadata.name);
    expect(parts).toEqual(['front', 'identity', 'db'].map((role) => `${metadata.name}-${role}`));
    expect(secrets?.nodes).toEqual([{ metadata: { name: `${metadata.name}-credentials` } }]);
    expect(events?.totalCount).toBeGreaterThan(0);
  }
  const broken = nodes.find(({ metadata }) => metadata.name === 'us-east');
  expect(broken?.status?.phase).toBe('Provisioning');
});

test('the newest pods', async () => {
  const { pods } = await run(NewestPodsDocument, { first: 3 });
  expect(pods?.nodes.map(({ columns }) => columns?.[0]?.name)).toEqual(['Name', 'Name', 'Name']);
});

test('waiting pods, oldest first, page after page', async () => {
  const seen = new Set<string>();
  const times: string[] = [];
  for (let after: string | null = null; ; ) {
    const page: NonNullable<WaitingPodsQuery['pods']> = must(
      (await run(WaitingPodsDocument, { first: 10, after })).pods,
      'the list answers',
    );
    for (const { id, metadata, status } of page.nodes) {
      seen.add(id);
      times.push(must(metadata.creationTimestamp, 'a Pod has its time'));
      expect(status?.phase).not.toBe('Running');
    }
    if (!page.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor ?? null;
  }
  expect(seen.size).toBeGreaterThan(0);
  expect(times).toEqual(times.toSorted());
});

test('a Foo and what it owns', async () => {
  const { samplecontrollerK8sIoFoo: foo } = await run(FooTreeDocument, { namespace: 'samples', name: 'example-foo-1' });
  expect(foo?.deployment?.metadata.name).toBe(foo?.spec?.deploymentName);
  const [deployment] = must(foo?.owned, 'the Foo is there').nodes;
  expect(deployment?.kind).toBe('Deployment');
  expect(deployment?.owned?.nodes.map(({ kind }) => kind)).toEqual(['ReplicaSet']);
});

test('several kinds in one list', async () => {
  const { objects } = await run(WorkloadsDocument, { first: 30 });
  expect(new Set(objects?.nodes.map(({ kind }) => kind)).size).toBeGreaterThan(1);
  expect(objects?.nodes.every(({ columns }) => (columns ?? []).length > 1)).toBe(true);
});

test('resources', async () => {
  const { resources } = await run(ResourcesDocument, {});
  expect(resources?.every(({ synced, error }) => synced && error === null)).toBe(true);
});

test('what nodes carry: groups page after page, whose parts make the whole', async () => {
  type Load = NonNullable<NonNullable<NodeLoadQuery['pods']>['aggregate']>;
  const seen: NonNullable<Load['groups']>[number][] = [];
  let whole: Load | null = null;
  // A group that changes its place between two pages may be on both, so the pages are read again then.
  await eventually(async () => {
    seen.length = 0;
    whole = null;
    for (let after: string | null = null; ; ) {
      const page: Load = must(
        (await run(NodeLoadDocument, { first: 3, after })).pods?.aggregate,
        'the list has its aggregate',
      );
      whole ??= page;
      const groups = must(page.groups, 'groups are affordable');
      seen.push(...groups);
      if (groups.length < 3) break;
      after = must(groups.at(-1), 'a last group').cursor;
    }
    expect(new Set(seen.map(({ keys }) => keys[0])).size).toBe(seen.length);
  });
  // The demo world changes while the pages are read, so only the unchanging parts are compared.
  expect(seen.length).toBeGreaterThan(1);
  expect(Number((whole as Load | null)?.memory?.text)).toBeGreaterThan(0);
  for (const { aggregate } of seen) {
    if (aggregate.cpu === null || aggregate.cpu === undefined) continue;
    expect(aggregate.cpu.number).toBe(Number(aggregate.cpu.text));
    expect(aggregate.cpu.number).toBeGreaterThanOrEqual(Number(aggregate.mean?.text));
  }
});

test('a filter menu shows the other choices, and completes what is typed', async () => {
  const { pods } = await run(FilterMenuDocument, {});
  const [phases, namespaces] = must(pods?.facets, 'the facets answer');
  const phase = (wanted: string) => phases?.values?.find(({ value }) => value === wanted)?.count;
  expect(phase('Running')).toBe(pods?.totalCount);
  expect(phases?.values?.length).toBeGreaterThan(1);
  const inNamespaces = (namespaces?.values ?? []).reduce((sum, { count }) => sum + count, 0);
  expect(namespaces?.more === true ? inNamespaces <= Number(pods?.totalCount) : inNamespaces).toBe(
    namespaces?.more === true ? true : pods?.totalCount,
  );
  const images = pods?.completion?.flatMap(({ values }) => values ?? []) ?? [];
  expect(images.length).toBeGreaterThan(0);
  expect(images.every(({ value }) => String(value).includes('ng'))).toBe(true);
});

test('Deployments with their Pods and Nodes, those with the most Pods first', async () => {
  const { deployments } = await run(DeploymentsAndPodsDocument, { first: 5 });
  const counts = must(deployments, 'the list answers').nodes.map(({ pods }) => Number(pods?.totalCount));
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  const bound = deployments?.nodes.flatMap(({ pods }) => pods?.nodes ?? []).filter(({ node }) => node !== null);
  expect(bound?.length).toBeGreaterThan(0);
});

test('a filter and an order through a relation', async () => {
  const { pods } = await run(PodsByNodeDocument, { first: 50 });
  const times = must(pods, 'the list answers').nodes.map(({ node }) => String(node?.metadata.creationTimestamp));
  expect(times.length).toBeGreaterThan(1);
  expect(times).toEqual(times.toSorted());
});

test('what uses a ConfigMap, and the objects around it', async () => {
  const { configMaps } = await run(WhatUsesItDocument, { first: 3 });
  const nodes = must(configMaps, 'the list answers').nodes;
  expect(nodes.length).toBeGreaterThan(0);
  for (const { id, usedBy, graph } of nodes) {
    expect(usedBy?.totalCount).toBeGreaterThan(0);
    expect(usedBy?.edges.every(({ via }) => (via ?? []).length > 0)).toBe(true);
    expect(graph?.nodes[0]?.id).toBe(id);
  }
});

test('a subscription begins with what there is and goes on with what happens', async () => {
  const live = subscribe(
    gateway.url,
    WatchPodsDocument.toString(),
    {},
    (found) => (found as WatchPodsSubscription).podChanges,
  );
  const messages = await live.until((all) => all.some(({ phase }) => phase === 'SYNCED'));
  expect(messages.flatMap(({ changes }) => changes).length).toBeGreaterThan(0);
  await live.stop();
});

interface HelmPlugins {
  readonly platformPortolanExamplePlugins: {
    readonly totalCount: number;
    readonly nodes: readonly {
      readonly project: { readonly spec: { readonly displayName: string } } | null;
      readonly template: { readonly spec: { readonly title: string } } | null;
    }[];
  };
}

const queries = (name: string): string => readPage(`docs/examples/queries/${name}.graphql`);

test("the README's first queries are the app store and the broken application, and files of docs/examples/queries", async () => {
  const [first = '', second = ''] = blocksOf(readPage('README.md'), 'graphql');
  expect(print(parse(first))).toBe(print(parse(queries('app-instances'))));
  expect(print(parse(second))).toBe(print(parse(queries('broken-applications'))));
  const store = await data<{ appInstances: { nodes: readonly { readonly engine: string }[] } }>(gateway.url, first);
  expect(store.appInstances.nodes.length).toBeGreaterThan(3);
  const { managers } = await data<{ managers: { nodes: readonly object[] } }>(gateway.url, second);
  // Others may just be updating.
  const failed = expect.objectContaining({ status: 'Failed' });
  expect(managers.nodes).toContainEqual(expect.objectContaining({ metadata: { name: 'us-east' }, health: failed }));
});

test('Plugins whose Template is rendered by Helm: a filter and an order through relations of custom kinds', async () => {
  const query = queries('helm-plugins');
  const { platformPortolanExamplePlugins: plugins } = await data<HelmPlugins>(gateway.url, query);
  expect(plugins.totalCount).toBeGreaterThan(1);
  expect(plugins.nodes.every(({ template }) => template !== null)).toBe(true);
  const projects = plugins.nodes.map(({ project }) => must(project, 'a Plugin has a Project').spec.displayName);
  expect(projects).toEqual(projects.toSorted());
});

interface TemplatesInUse {
  readonly platformPortolanExampleTemplates: {
    readonly nodes: readonly { readonly plugins: { readonly nodes: readonly { readonly project: unknown }[] } }[];
  };
  readonly platformPortolanExamplePlugins: {
    readonly aggregate: { readonly groups: readonly { readonly keys: readonly string[] }[] };
  };
}

test('Templates in use: a join back over custom kinds, and groups through a relation', async () => {
  const found = await data<TemplatesInUse>(gateway.url, readPage('docs/examples/queries/templates-in-use.graphql'));
  const { nodes } = found.platformPortolanExampleTemplates;
  expect(nodes.length).toBeGreaterThan(0);
  for (const { plugins } of nodes) expect(plugins.nodes.map(({ project }) => project)).not.toContain(null);
  const { groups } = found.platformPortolanExamplePlugins.aggregate;
  expect(groups.map(({ keys: [engine] }) => engine)).toContain('helm');
});

describe('of a gateway that writes', () => {
  const writing = demoGateway({ pods: 200, churn: false }, { readOnly: 'false' });

  test('the logs of the Pods that are not healthy are followed', async () => {
    const headers = { authorization: `Bearer ${new URL(writing.page).hash.replace('#token=', '')}` };
    const client = createClient({ url: writing.url, headers, retryAttempts: 0 });
    onTestFinished(() => client.dispose());
    const query = FollowLogsDocument.toString();
    const pods = new Set<string>();
    let lines = 0;
    for await (const { data: found, errors } of client.iterate<FollowLogsSubscription>({ query })) {
      expect(errors).toBeUndefined();
      for (const { pod, text } of found?.logs.lines ?? []) {
        expect(text).not.toBe('');
        pods.add(pod);
        lines += 1;
      }
      if (lines > 30 && pods.size > 1) break;
    }
    expect([...pods].some((pod) => pod.startsWith('ledger-'))).toBe(true);
  });

  test('a scale is planned and carried out, and a live query shows it', async () => {
    const replicas = subscribe(
      writing.url,
      WatchScaleDocument.toString(),
      {},
      ({ deployment }) => (deployment as WatchScaleQuery['deployment'])?.spec?.replicas,
    );
    onTestFinished(() => replicas.stop());
    const authorization = `Bearer ${new URL(writing.page).hash.replace('#token=', '')}`;
    await replicas.until((seen) => seen.length > 0);
    const plan = await ask<PlanScaleMutation>(writing.url, PlanScaleDocument.toString(), {}, { authorization });
    const { planId, items } = must(plan.data, 'a plan').scale;
    expect(items).toMatchObject([
      { result: 'CHANGED', changes: [{ path: 'spec.replicas', before: 1, after: 3 }], errors: [] },
    ]);
    expect(replicas.messages).toEqual([1]);
    const done = await ask<CarryOutScaleMutation>(
      writing.url,
      CarryOutScaleDocument.toString(),
      { plan: planId },
      { authorization },
    );
    expect(done.data?.scale).toEqual({
      complete: true,
      items: [{ result: 'CHANGED', seen: true, errors: [] }],
    });
    expect((await replicas.until((seen) => seen.includes(3))).at(-1)).toBe(3);
  });

  test('an application is created, broken, seen, repaired and deleted as one', async () => {
    const headers = { authorization: `Bearer ${new URL(writing.page).hash.replace('#token=', '')}` };
    const mutate = async <T>(document: TypedDocumentString<T, Record<string, never>>): Promise<T> =>
      must((await ask<T>(writing.url, document.toString(), {}, headers)).data, 'the mutation answers');
    const submit = async () => (await mutate<SubmitApplicationMutation>(SubmitApplicationDocument)).applySet;
    const application = subscribe(
      writing.url,
      WatchApplicationDocument.toString(),
      {},
      ({ sets }) => (sets as NonNullable<WatchApplicationQuery['sets']>).nodes,
    );
    onTestFinished(() => application.stop());
    expect(await application.until((seen) => seen.length > 0)).toEqual([[]]);
    const healths = () => application.messages.map(([set]) => set?.setHealth.status ?? null);

    const created = ['CREATED', 'CREATED', 'CREATED', 'CREATED', 'CREATED'];
    expect((await submit()).items.map(({ result }) => result)).toEqual(created);
    const [running] = must((await application.until(() => healths().at(-1) === 'Current')).at(-1), 'a message');
    expect(running?.members.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      'Secret PRESENT',
      'Service PRESENT',
      'StatefulSet PRESENT',
      'Deployment PRESENT',
    ]);

    const { items } = (await mutate<BreakApplicationMutation>(BreakApplicationDocument)).apply;
    expect(items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
    const [broken] = must((await application.until(() => healths().at(-1) === 'Failed')).at(-1), 'a message');
    expect(broken?.setHealth.reason).toBe('ContainerCrashLooping');
    const ofMembers = broken?.members.map(({ object }) => object?.health.status);
    expect(ofMembers).toEqual(['Current', 'Current', 'Current', 'Failed']);

    const repaired = await submit();
    expect(repaired.items.map(({ result }) => result).slice(0, 4)).toEqual([
      'UNCHANGED',
      'UNCHANGED',
      'UNCHANGED',
      'CHANGED',
    ]);
    await application.until(() => healths().at(-1) === 'Current');

    const { deleteSet } = await mutate<DeleteApplicationMutation>(DeleteApplicationDocument);
    expect(deleteSet.complete).toBe(true);
    await application.until((seen) => seen.at(-1)?.length === 0);
  });
});

test('every example has a test here', () => {
  const names = readdirSync(new URL('../../schema/operations/', import.meta.url)).map((file) => {
    const text = readFileSync(new URL(`../../schema/operations/${file}`, import.meta.url), 'utf8');
    return must(/^(?:query|subscription|mutation) (\w+)/m.exec(text)?.[1], `${file} names its operation`);
  });
  expect(names).toEqual([...exampleTitles, ...writeTitles]);
});
