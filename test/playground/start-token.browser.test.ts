/** The page of a gateway that writes without --auth: it takes the token of the start from the address, and sends it. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { hasChromium, launchChromium } from '../kit/browser.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';

describe.skipIf(!hasChromium())('the playground of a gateway that writes without --auth', () => {
  let cluster: SimCluster;
  let folder: KubeconfigFolder;
  let gateway: RunningGateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([startSimCluster({ objects: 'empty' }), launchChromium()]);
    folder = kubeconfigFolder();
    gateway = await runGateway(
      { name: 'local', kubeconfig: folder.file('config', cluster.kubeconfig()) },
      { readOnly: 'false' },
    );
    context = await browser.newContext();
    page = await context.newPage();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  /** The Authorization header of the next GraphQL request of the page, after this. */
  async function authorizationAfter(act: () => Promise<unknown>): Promise<string | null> {
    const asked = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().startsWith(gateway.url),
    );
    await act();
    return (await asked).headerValue('authorization');
  }

  test('the token leaves the address and goes with each request of the tab, also after a reload', async () => {
    const token = gateway.page.split('#token=')[1];
    expect(await authorizationAfter(() => page.goto(gateway.page))).toBe(`Bearer ${token}`);
    expect(page.url()).toBe(gateway.url);
    expect(await authorizationAfter(() => page.reload())).toBe(`Bearer ${token}`);
    expect(await page.content()).not.toContain(token);
    expect(JSON.stringify(await context.storageState())).not.toContain(token);
  }, 60_000);

  test('another tab has no token', async () => {
    page = await context.newPage();
    expect(await authorizationAfter(() => page.goto(gateway.url))).toBeNull();
  }, 60_000);
});
