/** The playground of a gateway with authentication, in a browser: it asks for a token, and keeps it for the tab only. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { hasChromium, launchChromium } from '../kit/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const serviceAccount = 'system:serviceaccount:red:alice';
/** A JWT, as `kubectl create token` makes it. */
const alicesToken = ['{"alg":"RS256"}', JSON.stringify({ sub: serviceAccount }), 'signature']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');
const bobsToken = 'token-of-bob';
const users = [
  { token: 'token-of-admin', user: 'admin', groups: ['system:masters'] },
  { token: alicesToken, user: serviceAccount, groups: [] },
  { token: bobsToken, user: 'bob', groups: [] },
];

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };

/** A namespace with two Pods, which one user may read. */
function grant(cluster: SimCluster, namespace: string, user: string): void {
  cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const name of [`${namespace}-1`, `${namespace}-2`]) {
    const containers = [{ name: 'c', image: 'registry.example/i:1' }];
    cluster.create({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, spec: { containers } });
  }
  const metadata = { namespace, name: 'readers' };
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
  cluster.create({ ...rbac, kind: 'Role', metadata, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'readers' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
  cluster.create({ ...rbac, kind: 'RoleBinding', metadata, roleRef, subjects });
}

const form = (page: Page) => page.getByRole('dialog', { name: 'Portolan needs a token' });
const input = (page: Page) => form(page).getByLabel('Bearer token');
const problem = (page: Page) => form(page).getByRole('alert');
const bar = (page: Page) => page.getByRole('banner');
const ready = (page: Page) => page.getByRole('button', { name: /^Execute query/ });

async function give(page: Page, token: string): Promise<void> {
  await input(page).fill(token);
  await form(page).getByRole('button', { name: 'Continue' }).click();
}

/** The visible JSON of the result pane, without white space. */
async function shown(page: Page): Promise<string> {
  return (await page.locator('.result-window .view-lines').innerText()).replaceAll(/\s/g, '');
}

async function run(page: Page, document: string, expected: RegExp): Promise<string> {
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(document);
  await eventually(async () => {
    if (await ready(page).isVisible()) await ready(page).click();
    await eventually(async () => expect(await shown(page)).toMatch(expected), 2000);
  });
  return shown(page);
}

/** Everything that outlives the tab or is visible to others. */
async function traces(page: Page, context: BrowserContext): Promise<string> {
  const { localStorage, cookies } = await page.evaluate(() => {
    const { localStorage, document } = globalThis as unknown as { localStorage: object; document: { cookie: string } };
    return { localStorage: JSON.stringify(localStorage), cookies: document.cookie };
  });
  return [localStorage, cookies, await page.content(), page.url(), JSON.stringify(await context.storageState())].join();
}

const pods = '{ pods { nodes { metadata { name } } } }';

describe.skipIf(!hasChromium())('the playground with authentication', () => {
  let cluster: SimCluster;
  let folder: KubeconfigFolder;
  let gateway: RunningGateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([
      startSimCluster({ objects: 'empty', features: { users } }),
      launchChromium(),
    ]);
    grant(cluster, 'red', serviceAccount);
    grant(cluster, 'blue', 'bob');
    folder = kubeconfigFolder();
    const kubeconfig = folder.file('config', cluster.kubeconfig());
    gateway = await runGateway({ name: 'hidden-name', kubeconfig }, { auth: ['token'] });
    context = await browser.newContext({ viewport: { width: 1400, height: 860 } });
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (['warning', 'error'].includes(message.type())) complaints.push(message.text());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  test('asks for a token first, and the page tells nothing of the cluster', async () => {
    const answer = await page.goto(gateway.url);
    expect((await answer?.text())?.includes('hidden-name')).toBe(false);
    await form(page).waitFor();
    expect(await problem(page).innerText()).toBe('');
    expect(await form(page).innerText()).toContain('kubectl create token');
    expect(await input(page).getAttribute('type')).toBe('password');
    expect(await input(page).evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await ready(page).count()).toBe(0);
    await screenshot(page, 'form');
  });

  test('shows what is wrong with a token, and asks again', async () => {
    await give(page, 'a wrong token');
    await eventually(async () => expect(await problem(page).innerText()).toContain('without spaces'));
    await give(page, 'wrong');
    await eventually(async () => expect(await problem(page).innerText()).toContain('rejects the bearer token'));
    expect(await input(page).getAttribute('aria-invalid')).toBe('true');
    expect(await ready(page).count()).toBe(0);
    await screenshot(page, 'wrong');
  });

  test('shows a caller her rows only, and who she is', async () => {
    await give(page, `Bearer ${alicesToken}`);
    await ready(page).waitFor();
    expect(await form(page).count()).toBe(0);
    expect(await bar(page).innerText()).toContain(`Token of ${serviceAccount}`);
    const answer = await run(page, pods, /"nodes":\[\{/);
    expect(answer).toContain('red-1');
    expect(answer).toContain('red-2');
    expect(answer).not.toContain('blue');
    await screenshot(page, 'rows');
  });

  test('delivers a subscription', async () => {
    const document = 'subscription { podChanges { phase changes { type object { metadata { name } } } } }';
    await run(page, document, /"phase":"SYNCED"/);
    const labels = { metadata: { labels: { seen: 'live' } } };
    cluster.patch('/api/v1/namespaces/blue/pods/blue-1', labels);
    cluster.patch('/api/v1/namespaces/red/pods/red-1', labels);
    await eventually(async () => expect(await shown(page)).toMatch(/"phase":"LIVE".*"name":"red-1"/));
    expect(await shown(page)).not.toContain('blue');
    await page.getByRole('button', { name: /^Stop query/ }).click();
  });

  test('keeps the token for the tab over a reload, and nowhere else', async () => {
    await page.reload();
    await ready(page).waitFor();
    expect(await bar(page).innerText()).toContain(serviceAccount);
    expect(await traces(page, context)).not.toContain(alicesToken);
    const other = await context.newPage();
    await other.goto(gateway.url);
    await form(other).waitFor();
    await other.close();
  });

  test('does not keep what the header editor has', async () => {
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .view-lines').last().click();
    await page.keyboard.insertText(`{ "authorization": "Bearer ${bobsToken}" }`);
    const answer = await run(page, pods, /blue-1/);
    expect(answer).not.toContain('red');
    await page.reload();
    await ready(page).waitFor();
    expect(await traces(page, context)).not.toContain(bobsToken);
    await run(page, pods, /red-1/);
  });

  test('asks again when a request or a WebSocket is refused', async () => {
    const spoil = (): Promise<void> =>
      page.evaluate(() => {
        const { sessionStorage } = globalThis as unknown as { sessionStorage: Record<string, string> };
        for (const key of Object.keys(sessionStorage)) sessionStorage[key] = 'expired';
      });
    await spoil();
    await ready(page).click();
    await eventually(async () => expect(await problem(page).innerText()).toContain('rejects the bearer token'));
    await page.keyboard.press('Escape');
    expect(await form(page).count()).toBe(0);
    await run(page, 'subscription { podChanges { phase } }', /4403/);
    await eventually(async () => expect(await problem(page).innerText()).toContain('of the subscription'));
    await screenshot(page, 'again');
    await give(page, bobsToken);
    await eventually(async () => expect(await bar(page).innerText()).toContain('Requests are sent with your token.'));
    await ready(page).waitFor();
    const answer = await run(page, pods, /"nodes":\[\{/);
    expect(answer).toContain('blue-1');
    expect(answer).not.toContain('red');
  });

  test('lets the person use another token, and forget it', async () => {
    await bar(page).getByRole('button', { name: 'Use another token' }).click();
    expect(await problem(page).innerText()).toBe('');
    await form(page).getByRole('button', { name: 'Cancel' }).click();
    await bar(page).getByRole('button', { name: 'Use another token' }).click();
    await give(page, alicesToken);
    await eventually(async () => expect(await bar(page).innerText()).toContain(serviceAccount));
    await ready(page).waitFor();
    await bar(page).getByRole('button', { name: 'Forget the token' }).click();
    await form(page).waitFor();
    expect(await page.evaluate(() => JSON.stringify((globalThis as { sessionStorage?: object }).sessionStorage))).toBe(
      '{}',
    );
    expect(complaints.filter((each) => !each.includes('status of 401'))).toEqual([]);
  });
});

/** With PORTOLAN_SCREENSHOT=<folder>, the states of the form are written there. */
async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['PORTOLAN_SCREENSHOT'] ?? '';
  if (folder.includes('/')) await page.screenshot({ path: `${folder}/${name}.png`, caret: 'hide' });
}
