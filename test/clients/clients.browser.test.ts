/**
 * The printed cache policies in a browser, with the real clients and a real gateway: a paged list, live lists, details, a deletion and a
 * lost connection. No object appears twice, stays after its deletion, or is lost.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { hasChromium, launchChromium, openPage, type WatchedPage } from '../kit/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { bundlePage } from './bundle-page.ts';
import type { Driver, PodList, PodRow } from './documents.ts';
import type { Page as DrivenPage } from './page.ts';
import { type Site, startSite } from './site.ts';

const first = 3;
const names = (rows: readonly PodRow[]): readonly string[] => rows.map(({ metadata }) => metadata.name);
const named = (rows: readonly PodRow[], name: string): PodRow =>
  must(
    rows.find(({ metadata }) => metadata.name === name),
    name,
  );

function pod(namespace: string, name: string): Record<string, unknown> & { kind: string } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { step: 'new' } },
    spec: {
      nodeName: `node-of-${name}`,
      containers: ['main', 'proxy'].map((each) => ({
        name: each,
        image: `registry.example/${each}:1`,
        resources: { limits: { cpu: each === 'main' ? '2' : '100m' } },
      })),
    },
  };
}

describe.skipIf(!hasChromium())('GraphQL clients in a browser', () => {
  let cluster: SimCluster;
  let folder: KubeconfigFolder;
  let gateway: RunningGateway;
  let browser: Browser;
  let script: string;

  beforeAll(async () => {
    [cluster, browser, script] = await Promise.all([startSimCluster(), launchChromium(), bundlePage()]);
    folder = kubeconfigFolder();
    gateway = await runGateway({ name: 'sim', kubeconfig: folder.file('config', cluster.kubeconfig()) });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  describe.each(['apollo', 'urql'] as const)('%s', (client) => {
    const namespace = `live-${client}`;
    const path = (name: string): string => `/api/v1/namespaces/${namespace}/pods/${name}`;
    let site: Site;
    let opened: WatchedPage;
    let call: <K extends keyof Driver>(
      name: K,
      ...values: Parameters<Driver[K]>
    ) => Promise<Awaited<ReturnType<Driver[K]>>>;

    beforeAll(async () => {
      cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      for (const number of [1, 2, 3, 4, 5, 6, 7, 8]) cluster.create(pod(namespace, `p0${number}`));
      site = await startSite(gateway.url, script);
      opened = await openPage(browser, new URL(site.url).origin);
      await opened.page.goto(site.url);
      await opened.page.evaluate(
        ([which, inNamespace, size]) => {
          const { page } = globalThis as unknown as { page: DrivenPage };
          page.open(
            which,
            new URL('/graphql', (globalThis as unknown as { location: { href: string } }).location.href).href,
            inNamespace,
            size,
          );
        },
        [client, namespace, first] as const,
      );
      call = (name, ...values) =>
        opened.page.evaluate(
          ([method, given]) => (globalThis as unknown as { page: DrivenPage }).page.call(method, ...given),
          [name, values as readonly unknown[]] as const,
        ) as never;
      await eventually(async () => expect(names((await call('load', null)).nodes)).toEqual(['p01', 'p02', 'p03']));
    });
    afterAll(async () => {
      await call?.('stop');
      await opened?.page.close();
      await site?.close();
    });

    const list = async (): Promise<PodList> => must(await call('list'), 'the list is in the cache');
    const rows = async (name: string): Promise<readonly PodRow[]> => {
      const { failed, rows: found } = await call('live', name);
      expect(failed).toBeNull();
      return found;
    };

    test('a second page joins the first', async () => {
      const { pageInfo, nodes } = await list();
      expect(pageInfo).toMatchObject({ hasNextPage: true });
      const both = await call('load', pageInfo.endCursor);
      expect(names(both.nodes)).toEqual(['p01', 'p02', 'p03', 'p04', 'p05', 'p06']);
      expect(both.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
      expect(both.nodes.slice(0, first)).toEqual(nodes);
    });

    test('a live list holds the snapshot; one of a page goes on from where the page was read', async () => {
      const { changesCursor, nodes } = await list();
      await call('watch', 'all', {});
      await call('watch', 'page', { ids: nodes.map(({ id }) => id), since: changesCursor, rows: nodes });
      await eventually(async () => {
        expect(await call('live', 'all')).toMatchObject({ phases: ['SNAPSHOT', 'SYNCED'], whole: true });
        expect((await call('live', 'page')).phases[0]).toBe('SYNCED');
      });
      expect(names(await rows('all'))).toEqual(['p01', 'p02', 'p03', 'p04', 'p05', 'p06', 'p07', 'p08']);
      expect(names(await rows('page'))).toEqual(names(nodes));
      expect(names((await list()).nodes)).toEqual(names(nodes));
    });

    test('a live query gives each result to the client and its cache', async () => {
      await call('follow', 3);
      const newest = async () => must((await call('followed')).at(-1), 'a result');
      await eventually(async () => {
        const { totalCount, nodes } = await newest();
        expect([totalCount, ...names(nodes as readonly PodRow[])]).toEqual([8, 'p08', 'p07', 'p06']);
      });
      cluster.create(pod(namespace, 'p99'));
      await eventually(async () => {
        const { totalCount, nodes } = await newest();
        expect([totalCount, ...names(nodes as readonly PodRow[])]).toEqual([9, 'p99', 'p08', 'p07']);
      });
      cluster.patch(path('p07'), { metadata: { labels: { step: 'live' } } });
      await eventually(async () => expect((await newest()).nodes[2]?.metadata.labels).toEqual({ step: 'live' }));
      // Other queries see the object of the cache.
      await eventually(async () => expect(named(await rows('all'), 'p07').metadata.labels).toEqual({ step: 'live' }));
      await call('cut');
      cluster.delete(path('p99'));
      await eventually(async () => {
        const { totalCount, nodes } = await newest();
        expect([totalCount, ...names(nodes as readonly PodRow[])]).toEqual([8, 'p08', 'p07', 'p06']);
      });
      cluster.patch(path('p07'), { metadata: { labels: { step: 'new' } } });
      await eventually(async () => expect((await newest()).nodes[1]?.metadata.labels).toEqual({ step: 'new' }));
    });

    test('what is added arrives once, and only where it belongs', async () => {
      cluster.create(pod(namespace, 'p09'));
      await eventually(async () => expect(names(await rows('all')).at(-1)).toBe('p09'));
      expect(await rows('all')).toHaveLength(9);
      expect(names(await rows('page'))).not.toContain('p09');
      expect((await list()).nodes).toHaveLength(6);
    });

    test('what is changed is changed in place, in every list', async () => {
      cluster.patch(path('p02'), { metadata: { labels: { step: 'changed' } } });
      await eventually(async () => {
        expect(named(await rows('all'), 'p02').metadata.labels).toEqual({ step: 'changed' });
        expect(named(await rows('page'), 'p02').metadata.labels).toEqual({ step: 'changed' });
      });
      expect(names(await rows('all')).slice(0, 3)).toEqual(['p01', 'p02', 'p03']);
      const row = named((await list()).nodes, 'p02');
      expect(row.metadata.labels).toEqual({ step: 'changed' });
      expect(row.spec?.nodeName).toBe('node-of-p02');
    });

    test('a detail and a list keep what the other read', async () => {
      cluster.patch(
        `${path('p02')}/status`,
        {
          status: {
            podIP: '10.0.0.2',
            conditions: ['PodScheduled', 'Ready'].map((type) => ({ type, status: 'True', reason: `because-${type}` })),
          },
        },
        'merge',
      );
      const expected = {
        kind: 'Pod',
        spec: { containers: [{ resources: { limits: { cpu: '2' } } }, { resources: { limits: { cpu: '100m' } } }] },
        status: {
          podIP: '10.0.0.2',
          conditions: [
            { type: 'PodScheduled', reason: 'because-PodScheduled' },
            { type: 'Ready', reason: 'because-Ready' },
          ],
        },
      };
      await eventually(async () => expect(await call('detail', 'p02')).toMatchObject(expected));
      const both = await call('load', null);
      expect(names(both.nodes)).toEqual(['p01', 'p02', 'p03', 'p04', 'p05', 'p06']);
      expect(named(both.nodes, 'p02')).toMatchObject({
        metadata: { labels: { step: 'changed' } },
        spec: {
          nodeName: 'node-of-p02',
          containers: [{ image: 'registry.example/main:1' }, { image: 'registry.example/proxy:1' }],
        },
        status: {
          conditions: [
            { type: 'PodScheduled', status: 'True' },
            { type: 'Ready', status: 'True' },
          ],
        },
      });
      expect(await call('cachedDetail', 'p02')).toMatchObject(expected);
      await call('detail', 'p02');
      expect(await list()).toEqual(both);
    });

    test('what is deleted goes everywhere and stays away, also when a detail of it comes late', async () => {
      const late = site.holdBack('PodDetail');
      const detail = call('detail', 'p03');
      await late.arrived;
      cluster.delete(path('p03'), { gracePeriodSeconds: 0 });
      await eventually(async () => {
        expect(names(await rows('all'))).not.toContain('p03');
        expect(names(await rows('page'))).not.toContain('p03');
      });
      expect(names((await list()).nodes)).toEqual(['p01', 'p02', 'p04', 'p05', 'p06']);
      late.release();
      expect(await detail).toMatchObject({ kind: 'Pod' });
      expect(names((await list()).nodes)).toEqual(['p01', 'p02', 'p04', 'p05', 'p06']);
      expect(await call('detail', 'p03')).toBeNull();
      expect(names((await list()).nodes)).toEqual(['p01', 'p02', 'p04', 'p05', 'p06']);
      expect(names(await rows('all'))).not.toContain('p03');
    });

    test('after a lost connection the lists go on where they stood', async () => {
      const before = {
        all: (await call('live', 'all')).phases.length,
        page: (await call('live', 'page')).phases.length,
      };
      const { upgrades } = site;
      site.cut();
      await eventually(() => expect(site.upgrades).toBeGreaterThan(upgrades));
      cluster.delete(path('p01'), { gracePeriodSeconds: 0 });
      cluster.create(pod(namespace, 'p10'));
      cluster.patch(path('p04'), { metadata: { labels: { step: 'while-away' } } });
      expect(names(await rows('all'))).toContain('p01');
      site.mend();
      await eventually(async () => {
        expect(names(await rows('all'))).toEqual(['p02', 'p04', 'p05', 'p06', 'p07', 'p08', 'p09', 'p10']);
        expect(named(await rows('all'), 'p04').metadata.labels).toEqual({ step: 'while-away' });
        expect(names(await rows('page'))).toEqual(['p02', 'p04', 'p05', 'p06']);
        expect(named(await rows('page'), 'p04').metadata.labels).toEqual({ step: 'while-away' });
      });
      for (const name of ['all', 'page'] as const) {
        const since = (await call('live', name)).phases.slice(before[name]);
        expect(since[0]).toBe('SYNCED');
        expect(since.slice(1).every((phase) => phase === 'LIVE')).toBe(true);
      }
      const { nodes } = await list();
      expect(names(nodes)).toEqual(['p02', 'p04', 'p05', 'p06']);
      expect(named(nodes, 'p04')).toMatchObject({
        metadata: { labels: { step: 'while-away' } },
        spec: { nodeName: 'node-of-p04' },
      });
    });

    test('the pages that follow join on, each object once', async () => {
      const third = await call('load', (await list()).pageInfo.endCursor);
      expect(names(third.nodes)).toEqual(['p02', 'p04', 'p05', 'p06', 'p07', 'p08', 'p09']);
      const fourth = await call('load', third.pageInfo.endCursor);
      expect(names(fourth.nodes)).toEqual(['p02', 'p04', 'p05', 'p06', 'p07', 'p08', 'p09', 'p10']);
      expect(fourth.pageInfo.hasNextPage).toBe(false);
    });

    test('the clients had nothing to complain about, and asked nobody else', () => {
      expect(opened.complaints.filter((text) => !text.startsWith('WebSocket connection to'))).toEqual([]);
      expect(opened.foreign).toEqual([]);
    });
  });
});
