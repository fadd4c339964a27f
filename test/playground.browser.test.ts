/**
 * The playground in a browser that reaches only the gateway: it loads, knows the schema, answers its first tab and keeps a subscription
 * open. PORTOLAN_SCREENSHOT=1 writes docs/playground.png.
 */
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '../src/base/must.ts';
import { asString, at } from '../src/sim/objects/json.ts';
import { type SimCluster, startSimCluster } from '../src/sim/sim-cluster.ts';
import { hasChromium, launchChromium, openPage, type WatchedPage } from './kit/browser.ts';
import { eventually } from './kit/eventually.ts';
import { type RunningGateway, runGateway } from './kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from './kit/kubeconfig-file.ts';

/** The visible JSON of the result pane. White space is removed, because the pane wraps long lines. */
async function shown(page: Page): Promise<string> {
  return (await page.locator('.result-window .view-lines').innerText()).replaceAll(/\s/g, '');
}

/**
 * Runs the operation of a tab until the pane shows the expected result. It may take several runs. A tab may move under the first click
 * of a page. Right after a change of tabs, GraphiQL may still send the previous tab's operation name.
 */
async function runTab(page: Page, name: string, expected: RegExp): Promise<void> {
  const tab = page.getByRole('tab').filter({ hasText: name });
  const execute = page.getByRole('button', { name: /^Execute query/ });
  await eventually(async () => {
    await tab.getByRole('button', { name }).click();
    expect(await tab.getAttribute('aria-selected')).toBe('true');
    if (await execute.isVisible()) await execute.click();
    await eventually(async () => expect(await shown(page)).toMatch(expected), 2000);
  });
}

describe.skipIf(!hasChromium())('the playground', () => {
  let cluster: SimCluster;
  let folder: KubeconfigFolder;
  let gateway: RunningGateway;
  let browser: Browser;
  let opened: WatchedPage;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([startSimCluster({ objects: 'demo', pods: 300 }), launchChromium()]);
    folder = kubeconfigFolder();
    gateway = await runGateway({ name: 'demo', kubeconfig: folder.file('config', cluster.kubeconfig()) });
    opened = await openPage(browser, new URL(gateway.url).origin, { viewport: { width: 1400, height: 860 } });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  test('loads from the gateway alone, with the examples in tabs and the schema in the documentation', async () => {
    const { page } = opened;
    await page.goto(new URL('/', gateway.url).href);
    const tabs = page.getByRole('tab');
    await eventually(async () =>
      expect(await tabs.allInnerTexts()).toEqual([
        'WaitingPods',
        'FooTree',
        'WatchPods',
        'Workloads',
        'Resources',
        'NodeLoad',
        'FilterMenu',
      ]),
    );
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const explorer = page.locator('.graphiql-doc-explorer');
    await explorer.getByText('Query', { exact: true }).click();
    await explorer.getByText('samplecontrollerK8sIoFoos', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
  });

  test('answers the first tab', async () => {
    const { page } = opened;
    await runTab(page, 'WaitingPods', /"totalCount":[1-9]\d*,"nodes":\[\{"id":"/);
    expect(await shown(page)).toMatch(/"phase":"(Pending|Failed|Succeeded)"/);
    expect(await shown(page)).not.toContain('"errors"');
    if (process.env['PORTOLAN_SCREENSHOT'] === '1') await takeScreenshot(page);
  });

  test('answers every other query of its tabs', async () => {
    const { page } = opened;
    for (const [tab, expected] of [
      ['FooTree', /"samplecontrollerK8sIoFoo":\{.*"kind":"Deployment".*"kind":"ReplicaSet"/],
      ['Workloads', /"objects":\{"totalCount":[1-9].*"kind":"(Deployment|StatefulSet|DaemonSet)"/],
      ['Resources', /"resources":\[\{"key":"/],
    ] as const) {
      await runTab(page, tab, expected);
      expect(await shown(page)).not.toContain('"errors"');
    }
  });

  test('keeps a subscription going', async () => {
    const { page } = opened;
    await runTab(page, 'WatchPods', /"podChanges":\{"phase":"SYNCED"/);
    const pod = must(cluster.list('/api/v1/namespaces/shop/pods')[0], 'shop has pods');
    const name = asString(at(pod, 'metadata', 'name'));
    cluster.patch(`/api/v1/namespaces/shop/pods/${name}`, { metadata: { labels: { seen: 'live' } } });
    await eventually(async () => {
      const message = await shown(page);
      expect(message).toMatch(/"phase":"LIVE".*"type":"MODIFIED".*metadata\.labels/);
      expect(message).toContain(`"name":"${name}"`);
    });
    await page.getByRole('button', { name: /^Stop query/ }).click();
  });

  test('asked nobody else and had nothing to complain about', () => {
    expect(opened.foreign).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});

async function takeScreenshot(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Hide editor tools' }).click();
  await page.mouse.move(700, 850);
  await page.evaluate(() =>
    (globalThis as unknown as { document: { activeElement: { blur(): void } } }).document.activeElement.blur(),
  );
  await page.screenshot({
    path: fileURLToPath(new URL('../docs/playground.png', import.meta.url)),
    animations: 'disabled',
    caret: 'hide',
    style: '.monaco-scrollable-element > .scrollbar { visibility: hidden }',
  });
  await page.getByRole('button', { name: 'Show editor tools' }).click();
}
