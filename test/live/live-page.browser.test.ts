/**
 * A page with a live query in a browser, with Apollo Client, urql and Relay, while the gateway restarts: the page is right again when the
 * gateway is, without the application's help, whatever happened meanwhile.
 */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { bundlePage } from '../clients/bundle-page.ts';
import type { LiveDriver } from '../clients/documents.ts';
import type { Page as DrivenPage } from '../clients/page.ts';
import { startSite } from '../clients/site.ts';
import { hasChromium, launchChromium, openPage } from '../kit/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

describe.skipIf(!hasChromium())('a live page in a browser', () => {
  let cluster: SimCluster;
  let folder: KubeconfigFolder;
  let gateway: RunningGateway;
  let browser: Browser;
  let script: string;
  const data = join(sharedDirectory('live-page'), 'store.db');

  const start = (): Promise<RunningGateway> =>
    runGateway({ name: 'sim', kubeconfig: folder.file('config', cluster.kubeconfig()) }, { data });

  beforeAll(async () => {
    [cluster, browser, script] = await Promise.all([startSimCluster(), launchChromium(), bundlePage()]);
    folder = kubeconfigFolder();
    gateway = await start();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  test.each(['apollo', 'urql', 'relay'] as const)('%s keeps it right through a restart', async (client) => {
    const namespace = `restart-${client}`;
    const path = (name: string): string => `/api/v1/namespaces/${namespace}/pods/${name}`;
    const create = (name: string): void => {
      cluster.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, labels: { step: 'new' } },
        spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
      });
    };
    cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const name of ['p1', 'p2', 'p3', 'p4']) create(name);
    const site = await startSite(gateway.url, script);
    const opened = await openPage(browser, new URL(site.url).origin);
    try {
      await opened.page.goto(site.url);
      await opened.page.evaluate(
        ([which, inNamespace, endpoint]) => {
          (globalThis as unknown as { page: DrivenPage }).page.open(which, endpoint, inNamespace, 2);
        },
        [client, namespace, new URL('/graphql', site.url).href] as const,
      );
      const call = <K extends keyof LiveDriver>(
        name: K,
        ...values: Parameters<LiveDriver[K]>
      ): Promise<Awaited<ReturnType<LiveDriver[K]>>> =>
        opened.page.evaluate(
          ([method, given]) => (globalThis as unknown as { page: DrivenPage }).page.call(method, ...given),
          [name, values as readonly unknown[]] as const,
        ) as never;
      const shows = (...expected: readonly unknown[]): Promise<void> =>
        eventually(async () => {
          const { totalCount, nodes } = must((await call('followed')).at(-1), 'a result');
          const lines = nodes.map(({ metadata: { name, labels } }) => `${name} ${labels?.['step']}`).sort();
          expect([totalCount, ...lines]).toEqual(expected);
        }, 30_000);
      await call('follow', 2);
      await shows(4, 'p3 new', 'p4 new');
      await gateway.close();
      cluster.delete(path('p4'), { gracePeriodSeconds: 0 });
      create('p9');
      cluster.patch(path('p3'), { metadata: { labels: { step: 'while-away' } } });
      gateway = await start();
      site.moveTo(gateway.url);
      await shows(4, 'p3 while-away', 'p9 new');
      cluster.patch(path('p9'), { metadata: { labels: { step: 'after' } } });
      create('p0');
      await shows(5, 'p3 while-away', 'p9 after');
      await call('stop');
      expect(opened.complaints.filter((text) => !text.startsWith('WebSocket connection to'))).toEqual([]);
      expect(opened.foreign).toEqual([]);
    } finally {
      await opened.page.close();
      await site.close();
    }
  });
});
