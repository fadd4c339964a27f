/** The editor of manifests over two clusters, with answers that are late or broken. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { hasChromium, launchChromium, openPage, type WatchedPage } from '../kit/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const secret = (password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'typed', namespace: 'default' },
  data: { password: Buffer.from(password).toString('base64') },
});
const endpoint = '**/graphql';

describe.skipIf(!hasChromium())('the editor of manifests over two clusters', () => {
  const folder = kubeconfigFolder();
  const clusters: SimCluster[] = [];
  let gateway: RunningGateway;
  let browser: Browser;
  let opened: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    for (const name of ['east', 'west']) {
      const cluster = await startSimCluster({ objects: 'empty' });
      folder.file(name, cluster.kubeconfig());
      clusters.push(cluster);
    }
    const contexts = ['east', 'west'].map((name) => ({ name, kubeconfig: `${folder.dir}/${name}` }));
    gateway = await runGateway(contexts, { readOnly: 'false' });
    browser = await launchChromium();
    opened = await openPage(browser, new URL(gateway.url).origin, { viewport: { width: 1400, height: 860 } });
    page = opened.page;
    await page.goto(gateway.page);
    await page.getByRole('button', { name: 'Show Manifest' }).click();
    await eventually(async () => expect(await page.locator('#portolan-kinds option').count()).toBeGreaterThan(10));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    for (const cluster of clusters) await cluster.close();
    folder.remove();
  });

  const panel = () => page.getByRole('region', { name: 'Manifest' });
  const button = (name: string) => panel().getByRole('button', { name, exact: true });
  const outcome = () => panel().getByRole('status');
  const text = async (): Promise<string> =>
    (await panel().locator('.view-lines').innerText()).replaceAll('\u00a0', ' ');
  const kinds = () =>
    page.locator('#portolan-kinds option').evaluateAll((all) => all.map((each) => each.getAttribute('value')));

  async function write(manifest: object): Promise<void> {
    const area = panel().locator('textarea').first();
    await area.focus();
    await page.keyboard.press('Control+A');
    await area.evaluate((element, given) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', given);
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    }, JSON.stringify(manifest));
    await eventually(async () => expect(await text()).toContain(JSON.stringify(manifest).slice(-16)));
  }

  test('has each kind once', async () => {
    const found = await kinds();
    expect(found).toContain('secrets');
    expect(new Set(found).size).toBe(found.length);
  });

  test('keeps the head of the newest choice if an older answer comes later', async () => {
    const held = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route(endpoint, async (route) => {
      if (route.request().postData()?.includes('"configmaps"') !== true) return route.fallback();
      const response = await route.fetch();
      await held.promise;
      await route.fulfill({ response });
      return answered.resolve();
    });
    await panel().getByLabel('Kind').fill('configmaps');
    await panel().getByLabel('Kind').fill('secrets');
    await eventually(async () => expect(await text()).toContain('kind: Secret'));
    held.resolve();
    await answered.promise;
    await page.evaluate(() => fetch(location.href).then((response) => response.text()));
    await page.unroute(endpoint);
    expect(await text()).toContain('kind: Secret');
  });

  test('can plan again after an answer that is broken', async () => {
    await page.route(endpoint, (route) => route.fulfill({ contentType: 'application/json', body: 'null' }));
    await button('Plan').click();
    await eventually(async () => expect(await outcome().getByRole('alert').count()).toBe(1));
    await page.unroute(endpoint);
    expect(await button('Plan').isDisabled()).toBe(false);
  });

  test('writes into the chosen cluster, and shows that a change is withheld', async () => {
    await panel().getByLabel('Cluster').selectOption('west');
    for (const [password, result] of [
      ['first-text', 'CREATED'],
      ['other-text', 'CHANGED'],
    ] as const) {
      await write(secret(password));
      await button('Plan').click();
      await eventually(async () => expect(await outcome().innerText()).toContain(`would be ${result}`));
      if (result === 'CHANGED') expect(await outcome().innerText()).toMatch(/data\S*: withheld/);
      await button('Apply this plan').click();
      await eventually(async () => expect(await outcome().innerText()).toContain(`default/typed: ${result}`));
    }
    const [inEast, inWest] = clusters.map((cluster) => cluster.get('/api/v1/namespaces/default/secrets/typed'));
    expect(inEast).toBeUndefined();
    expect(inWest).toBeDefined();
    expect(opened.complaints).toEqual([]);
  });

  test('needs another plan for another cluster', async () => {
    await write(secret('third-text'));
    await button('Plan').click();
    await eventually(async () => expect(await button('Apply this plan').isDisabled()).toBe(false));
    await panel().getByLabel('Cluster').selectOption('east');
    expect(await button('Apply this plan').isDisabled()).toBe(true);
  });
});
