import { parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';
import { configMapTitles, exampleTitles, logsTitle, writeTitles } from '../../../test/kit/playground-examples.ts';
import { describeSimulatedKinds } from '../../../test/kit/simulated-kinds.ts';
import { must } from '../../base/must.ts';
import { isOwnGroup } from '../../catalog/names/reserved-names.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { readWrittenExamples } from '../written-examples.ts';
import { builtInExamples, examplesFor, offeredExamples } from './examples.ts';

const all = readWrittenExamples();
const written = offeredExamples(all, { writes: false, authenticates: false });

/** Every kind of the demo world: built-in kinds and the CRDs of the samples. */
let demo: readonly DescribedResource[];

beforeAll(async () => {
  demo = await describeSimulatedKinds({ objects: 'demo', pods: 10 });
});

const keyOf = ({ resource }: DescribedResource): string => resourceKey(resource);
const custom = (): readonly DescribedResource[] => demo.filter(({ resource }) => !isOwnGroup(resource.group));
const only = (...keys: readonly string[]): readonly DescribedResource[] =>
  demo.filter((each) => keys.includes(keyOf(each)));

async function served(kinds: readonly DescribedResource[]): Promise<EngineFixture> {
  const fixture = engineFixture();
  await fixture.declare(...kinds);
  for (const each of kinds) await fixture.sync(keyOf(each), [], each.cluster);
  return fixture;
}

function tabsOf({ engine }: EngineFixture, objects: Readonly<Record<string, number>> = {}): readonly string[] {
  return examplesFor(written, engine.source.generation(), new Map(Object.entries(objects)));
}

function titles(tabs: readonly string[]): readonly string[] {
  return tabs.map((tab) => must(/^(?:query|subscription|mutation) (\w+)/m.exec(tab)?.[1], 'a tab names its operation'));
}

/** Executes every tab; each one must be valid, and answered without errors. */
async function answerAll(fixture: EngineFixture, tabs: readonly string[]): Promise<void> {
  for (const tab of tabs) {
    if (parse(tab).definitions.some((each) => 'operation' in each && each.operation === 'subscription')) {
      const first = await (await fixture.subscribe(tab)).next();
      expect(first.value?.errors, tab).toBeUndefined();
    } else {
      expect((await fixture.query(tab)).errors, tab).toEqual([]);
    }
  }
}

describe('the tabs', () => {
  test('are the written examples where all of their kinds are served', async () => {
    const fixture = await served(demo);
    const tabs = tabsOf(fixture);
    expect(tabs).toEqual(written.map(({ query }) => query));
    await answerAll(fixture, tabs);
  });

  test('have those that write only where the gateway does, and serves their kinds', async () => {
    const titlesOf = async (kinds: readonly DescribedResource[], writes: boolean) => {
      const generation = (await served(kinds)).engine.source.generation();
      return titles(examplesFor(offeredExamples(all, { writes, authenticates: false }), generation, new Map()));
    };
    expect(await titlesOf(demo, true)).toEqual([...exampleTitles, ...writeTitles]);
    expect(await titlesOf(demo, false)).toEqual(exampleTitles);
    expect(await titlesOf(only('configmaps'), true)).toEqual(configMapTitles);
    const names = (writes: boolean) => titles(builtInExamples(offeredExamples(all, { writes, authenticates: false })));
    expect(names(true)).toEqual([...names(false), ...writeTitles.filter((each) => each !== 'SubmitApplication')]);
  });

  test('have logs where the gateway knows its callers', () => {
    const names = (authenticates: boolean) =>
      titles(builtInExamples(offeredExamples(all, { writes: false, authenticates })));
    expect(names(true)).toEqual([...names(false), logsTitle]);
  });

  test('show another custom resource where there is no Foo', async () => {
    const fixture = await served([
      ...only('pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps'),
      widget(),
    ]);
    const tabs = tabsOf(fixture);
    expect(titles(tabs)).toEqual([
      'NewestPods',
      'WaitingPods',
      'WatchPods',
      'Workloads',
      'Resources',
      'NodeLoad',
      'FilterMenu',
      'PodRelated',
      'WhatUsesPod',
      'WidgetTree',
    ]);
    expect(tabs.at(-1)).toContain('condition(type: "Ready")');
    await answerAll(fixture, tabs);
  });

  test('show no custom resource where there is none', async () => {
    const fixture = await served(only('pods', 'nodes', 'configmaps'));
    const tabs = tabsOf(fixture, { pods: 5, nodes: 2, configmaps: 9 });
    expect(titles(tabs)).toEqual([
      'NewestPods',
      'WaitingPods',
      'WatchPods',
      'SeveralKinds',
      'Resources',
      'NodeLoad',
      'FilterMenu',
      'ConfigMapRelated',
      'WhatUsesConfigMap',
    ]);
    expect(tabs[3]).toContain('kinds: ["configmaps", "pods", "nodes"]');
    await answerAll(fixture, tabs);
  });

  test('show ConfigMaps on a cluster with nothing else', async () => {
    const fixture = await served(only('configmaps'));
    const tabs = tabsOf(fixture);
    expect(titles(tabs)).toEqual(configMapTitles);
    await answerAll(fixture, tabs);
  });

  test('begin with Pods, then with Nodes, then with the kind that has the most objects', async () => {
    const fixture = await served(only('configmaps', 'secrets', 'nodes', 'pods'));
    const first = (objects: Readonly<Record<string, number>>) => titles(tabsOf(fixture, objects))[0];
    expect(first({ configmaps: 9, nodes: 3, pods: 1 })).toBe('NewestPods');
    expect(first({ configmaps: 9, nodes: 3, pods: 0 })).toBe('NodeList');
    expect(first({ configmaps: 1, nodes: 0, secrets: 4 })).toBe('SecretList');
    expect(first({})).toBe('NewestPods');
    await answerAll(fixture, tabsOf(fixture, { nodes: 30 }));
  });

  test('begin with custom resources and their related ones where both have objects', async () => {
    const both = { 'projects.platform.portolan.example': 2, 'plugins.platform.portolan.example': 5 };
    const fixture = await served(only('pods', ...Object.keys(both)));
    const first = (objects: Readonly<Record<string, number>>) => tabsOf(fixture, { pods: 9, ...objects })[0];
    expect(first(both)).toMatch(
      /^query ProjectRelated[\s\S]*orderBy: \[\{ path: "count\(plugins\)"[\s\S]* plugins\(first: 3\) \{/m,
    );
    expect(first({ 'projects.platform.portolan.example': 2 })).toContain('query NewestPods');
    await answerAll(fixture, tabsOf(fixture, both));
  });

  test('begin with the app store on the demo, however many objects there are', async () => {
    const fixture = await served(demo);
    const tabs = tabsOf(fixture, {
      pods: 9,
      'projects.platform.portolan.example': 2,
      'plugins.platform.portolan.example': 5,
    });
    expect(titles(tabs).slice(0, 6)).toEqual(exampleTitles.slice(0, 6));
  });

  test('prefer a custom resource with objects, then one with conditions', async () => {
    const fixture = await served([widget(), gadget()]);
    const shown = (objects: Readonly<Record<string, number>>) =>
      titles(tabsOf(fixture, objects)).find((each) => each.endsWith('Tree'));
    expect(shown({})).toBe('WidgetTree');
    expect(shown({ 'widgets.example.com': 1, 'gadgets.example.com': 9 })).toBe('WidgetTree');
    expect(shown({ 'gadgets.example.com': 9 })).toBe('GadgetTree');
  });

  test('ask for the condition that the printer columns show', async () => {
    const properties = { type: { type: 'string' }, status: { type: 'string' } };
    const conditions = { type: 'array', items: { type: 'object', properties } };
    const claim = describedCrd({
      kind: 'Claim',
      plural: 'claims',
      properties: { status: { type: 'object', properties: { conditions } } },
      columns: [{ name: 'Synced', type: 'string', jsonPath: '.status.conditions[?(@.type=="Synced")].status' }],
    });
    const fixture = await served([claim]);
    expect(tabsOf(fixture).at(-1)).toContain('condition(type: "Synced")');
    await answerAll(fixture, tabsOf(fixture));
  });

  test('are valid for every custom resource alone, and for all together', async () => {
    expect(custom().length).toBeGreaterThan(3);
    for (const kinds of [...custom().map((each) => [each]), custom()]) {
      const fixture = await served(kinds);
      const tabs = tabsOf(fixture);
      expect(tabs.length).toBeGreaterThan(4);
      await answerAll(fixture, tabs);
    }
  });

  test('are only those about the gateway where no kind is served', async () => {
    const fixture = await served([]);
    expect(titles(tabsOf(fixture))).toEqual(['Resources']);
  });
});

test('the tabs that tell nothing of a cluster can be answered where only built-in kinds are served', async () => {
  const fixture = await served(demo.filter((each) => !custom().includes(each)));
  const tabs = builtInExamples(written);
  expect(tabs.length).toBe(written.length - 5);
  await answerAll(fixture, tabs);
});

test('the written examples are there, in the order of their numbers, and have names without them', () => {
  const names = all.map(({ name }) => name);
  expect(names[0]).toBe('app-store');
  expect(names.every((name) => /^[a-z-]+$/.test(name))).toBe(true);
});
