/** What a browser loads before it shows GraphiQL, and what it loads later. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { hasChromium, launchChromium, openPage } from '../kit/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const interfaceOf = (page: Page) => page.locator('.graphiql-container');
const isReady = (page: Page) => page.locator('.graphiql-query-editor .view-lines').waitFor();

describe.skipIf(!hasChromium())('the playground at first sight', () => {
  let cluster: SimCluster;
  let folder: KubeconfigFolder;
  let gateway: RunningGateway;
  let browser: Browser;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([startSimCluster({ objects: 'demo', pods: 20 }), launchChromium()]);
    folder = kubeconfigFolder();
    gateway = await runGateway({ name: 'demo', kubeconfig: folder.file('config', cluster.kubeconfig()) });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  /** A new page, the names of the parts that it has asked for, and the bytes that it has got. */
  async function watchedPage() {
    const { page, foreign, complaints } = await openPage(browser, new URL(gateway.url).origin);
    onTestFinished(() => page.close());
    const parts: string[] = [];
    page.on('request', (request) => {
      const name = new URL(request.url()).searchParams.get('playground');
      if (name !== null) parts.push(name);
    });
    const received = { bytes: 0 };
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      received.bytes += encodedDataLength;
    });
    return { page, foreign, complaints, parts, received };
  }

  test('takes few bytes, without the editor, the formatter and the workers', async () => {
    const { page, foreign, parts, received } = await watchedPage();
    // The editor is held back, so that what is loaded for the interface is complete.
    const editor = Promise.withResolvers<void>();
    let isShownBefore = false;
    await page.route(/playground=editor\.js$/, async (route) => {
      isShownBefore = await interfaceOf(page).isVisible();
      await editor.promise;
      await route.continue();
    });
    await page.goto(gateway.url);
    await interfaceOf(page).waitFor();
    await eventually(async () => expect(parts).toContain('editor.js'));
    await page.evaluate(
      () => (globalThis as unknown as { document: { fonts: { ready: unknown } } }).document.fonts.ready,
    );
    expect(isShownBefore).toBe(true);
    const code = parts.filter((name) => !name.startsWith('font-'));
    expect(code.toSorted()).toEqual(['editor.js', 'graphiql.css', 'graphiql.js', 'page.css', 'page.js']);
    expect(received.bytes).toBeGreaterThan(100_000);
    expect(received.bytes).toBeLessThanOrEqual(700_000);
    editor.resolve();
    await isReady(page);
    await eventually(async () => expect(parts).toContain('graphql-worker.js'));
    expect(parts.filter((name) => name.startsWith('prettier'))).toEqual([]);
    expect(foreign).toEqual([]);
  });

  test('formats a document with parts that are loaded then, from the gateway', async () => {
    const { page, foreign, parts } = await watchedPage();
    await page.goto(gateway.url);
    await isReady(page);
    await page.locator('.graphiql-query-editor .view-lines').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('query  A  {clusters{name}}');
    await page.getByRole('button', { name: /^Prettify query/ }).click();
    const document = page.locator('.graphiql-query-editor .view-lines');
    await eventually(async () => expect(await document.innerText()).toMatch(/^query\sA\s\{\n\s\sclusters\s\{\n/));
    const formatter = parts.filter((name) => name.startsWith('prettier'));
    // Babel and estree are for the variables.
    expect(formatter.toSorted()).toEqual([
      'prettier-babel.js',
      'prettier-estree.js',
      'prettier-graphql.js',
      'prettier.js',
    ]);
    expect(foreign).toEqual([]);
  });

  test('says that a part could not be loaded, and keeps GraphiQL', async () => {
    const { page } = await watchedPage();
    await page.route(/playground=explorer\.js$/, (route) => route.abort());
    await page.goto(gateway.url);
    await isReady(page);
    await page.getByRole('button', { name: 'Show Explorer' }).click();
    await page.getByRole('alert').getByText('Load the page again').waitFor();
    expect(await interfaceOf(page).isVisible()).toBe(true);
  });

  test('works below another path, as a proxy may have it', async () => {
    const { page, foreign, parts } = await watchedPage();
    const { origin } = new URL(gateway.url);
    await page.route(`${origin}/clusters/here**`, (route) =>
      route.continue({ url: route.request().url().replace('/clusters/here', '/graphql') }),
    );
    await page.goto(`${origin}/clusters/here`);
    await isReady(page);
    expect(parts).toContain('editor.js');
    expect(foreign).toEqual([]);
  });

  test('loads the Explorer when it is opened, and it writes the document', async () => {
    const { page, parts } = await watchedPage();
    await page.goto(gateway.url);
    await isReady(page);
    await page.locator('.graphiql-query-editor .view-lines').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('query A { clusters { name } }');
    expect(parts).not.toContain('explorer.js');
    await page.getByRole('button', { name: 'Show Explorer' }).click();
    await page.locator('[data-field-name="resources"] .graphiql-explorer-field-view').first().click();
    await eventually(async () =>
      expect(await page.locator('.graphiql-query-editor .view-lines').innerText()).toContain('resources'),
    );
  });

  test('the Explorer shows lists of input objects as they are written, and complains of none', async () => {
    const { page, complaints } = await watchedPage();
    await page.goto(gateway.url);
    await isReady(page);
    await page.getByRole('button', { name: 'Show Explorer' }).click();
    const explorer = page.locator('.graphiql-explorer-root');
    await explorer.locator('code', { hasText: 'path: "metadata.creationTimestamp"' }).waitFor();
    expect(await explorer.innerText()).not.toMatch(/OneGraph/i);
    expect(complaints).toEqual([]);
  });
});
