/**
 * The playground in a browser that reaches only the gateway: it loads, knows the schema, answers its examples, keeps a subscription open,
 * shows syntax errors and costs, and completes paths. PORTOLAN_SCREENSHOT=1 writes docs/playground.png.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { hasChromium, launchChromium, openPage, type WatchedPage } from '../kit/browser.ts';
import { demoFlags } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { configMapTitles, exampleTitles } from '../kit/playground-examples.ts';

/** The visible JSON of the result pane. White space is removed, because the pane wraps long lines. */
async function shown(page: Page): Promise<string> {
  return (await page.locator('.result-window .view-lines').innerText()).replaceAll(/\s/g, '');
}

const examples = (page: Page) => page.getByRole('region', { name: 'Examples' });

/** The names of the examples in the panel. */
function exampleNames(page: Page): Promise<readonly string[]> {
  return examples(page).getByRole('listitem').locator('b').allInnerTexts();
}

/** Opens an example and runs it until the pane shows the expected result. It may take several runs. */
async function runExample(page: Page, name: string, expected: RegExp): Promise<void> {
  const execute = page.getByRole('button', { name: /^Execute query/ });
  await eventually(async () => {
    await examples(page).getByRole('button', { name }).click();
    expect(await page.getByRole('tab', { selected: true }).innerText()).toBe(name);
    if (await execute.isVisible()) await execute.click();
    await eventually(async () => expect(await shown(page)).toMatch(expected), 2000);
  });
}

const editorLines = '.graphiql-query-editor .view-lines';

/** Types a document in place of the one that the editor has. The editor closes brackets and quotes itself. */
async function write(page: Page, document: string): Promise<void> {
  // Without a click: the middle of a long line may be outside the editor.
  await page.locator('.graphiql-query-editor textarea').first().focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.type(document);
}

/** The document in the editor, without white space. */
async function written(page: Page): Promise<string> {
  return (await page.locator(editorLines).innerText()).replaceAll(/\s/g, '');
}

/** The suggestions that are visible, from the first. */
async function suggested(page: Page): Promise<readonly string[]> {
  return await page.locator('.suggest-widget.visible .monaco-list-row .label-name').allInnerTexts();
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
    gateway = await runGateway(
      { name: 'demo', kubeconfig: folder.file('config', cluster.kubeconfig()) },
      { ...demoFlags, explain: true, profile: ['team=pods deployments.apps'] },
    );
    opened = await openPage(browser, new URL(gateway.url).origin, { viewport: { width: 1400, height: 860 } });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await cluster?.close();
    folder?.remove();
  });

  test('loads from the gateway alone, with one tab, a list of examples, and the schema in the documentation', async () => {
    const { page } = opened;
    await page.goto(new URL('/', gateway.url).href);
    await eventually(async () => expect(await exampleNames(page)).toEqual(exampleTitles));
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['AppInstances']);
    expect(await page.getByRole('tab').getAttribute('aria-selected')).toBe('true');
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const explorer = page.locator('.graphiql-doc-explorer');
    await explorer.getByText('Query', { exact: true }).click();
    await explorer.getByText('samplecontrollerK8sIoFoos', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show Examples' }).click();
  });

  test('keeps the list of its first tab true: two custom kinds as one', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await eventually(async () => expect(await shown(page)).toMatch(/"engine":"redis".*"engine":"mysql"/));
    if (process.env['PORTOLAN_SCREENSHOT'] === '1') await takeScreenshot(page);
    const redis = '/apis/cache.portolan.example/v1/namespaces/analytics/redises/query-cache';
    cluster.patch(redis, { spec: { version: '99.9' } });
    await eventually(async () => expect(await shown(page)).toContain('"version":"99.9"'));
    expect(await shown(page)).not.toContain('"errors"');
    await page.getByRole('button', { name: /^Stop query/ }).click();
  });

  test.each([
    ['Applications', /"name":"us-east".*"culprit":\{"kind":"Pod".*"chain":\[\{"kind":"Deployment"/],
    ['TemplatesInUse', /"plugins":\{"totalCount":[1-9].*"project":\{"id":"/],
    ['CloudManagers', /"name":"us-east".*"phase":"Provisioning".*"name":"us-east-front"/],
    ['FooTree', /"deployment":\{"id":.*"kind":"Deployment".*"kind":"ReplicaSet"/],
  ] as const)('answers %s, one of its first tabs', async (example, expected) => {
    const { page } = opened;
    await runExample(page, example, expected);
    expect(await shown(page)).not.toContain('"errors"');
    const stop = page.getByRole('button', { name: /^Stop query/ });
    if (await stop.isVisible()) await stop.click();
  });

  test('shows the time and the size of an answer, and its rows as a table', async () => {
    const { page } = opened;
    await runExample(page, 'CloudManagers', /"totalCount":6/);
    const bar = page.getByRole('toolbar', { name: 'Answer' });
    expect(await bar.getByRole('status').innerText()).toMatch(/^[\d,]+ ms · [\d.]+ k?B$/);
    await bar.getByRole('button', { name: 'Table (6)' }).click();
    const table = page.getByRole('region', { name: 'Rows' });
    expect(await table.getByRole('columnheader').allInnerTexts()).toContain('identity.metadata.name');
    expect(await table.getByRole('row').count()).toBe(7);
    expect(await page.locator('.result-window').isVisible()).toBe(false);
    await bar.getByRole('button', { name: 'Table (6)' }).click();
    await page.locator('.result-window').waitFor();
  });

  test('copies the request as a command, without its credentials', async () => {
    const { page } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command = await page.evaluate(() =>
      (
        globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
      ).navigator.clipboard.readText(),
    );
    expect(command).toContain(`curl -sS '${gateway.url}'`);
    expect(command).toContain('query CloudManagers');
    expect(command).not.toContain('TOKEN');
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({
      data: { cloudPortolanExampleCloudManagers: { totalCount: 6 } },
    });
  });

  test('keeps an example in its tab, however soon another one is opened', async () => {
    const { page } = opened;
    await examples(page).getByRole('button', { name: 'Resources', disabled: false }).waitFor();
    await examples(page)
      .getByRole('button', { name: /^(Workloads|Resources)/ })
      .evaluateAll((buttons) => {
        for (const button of buttons as unknown as readonly { click(): void }[]) button.click();
      });
    await eventually(async () =>
      expect(await page.getByRole('tab').allInnerTexts()).toEqual([
        ...exampleTitles.slice(0, 5),
        'Workloads',
        'Resources',
      ]),
    );
  });

  test('answers an example', async () => {
    const { page } = opened;
    await runExample(page, 'WaitingPods', /"totalCount":[1-9]\d*,"nodes":\[\{"id":"/);
    expect(await shown(page)).toMatch(/"phase":"(Pending|Failed|Succeeded)"/);
    expect(await shown(page)).not.toContain('"errors"');
  });

  test('scrolls a table that is wider than its pane', async () => {
    const { page } = opened;
    await runExample(page, 'NewestPods', /"columns":\[/);
    await page.getByRole('button', { name: 'Table (20)' }).click();
    const table = page.getByRole('region', { name: 'Rows' });
    const { x, width } = must(await table.boundingBox(), 'the table is visible');
    expect(x + width).toBeLessThanOrEqual(1400);
    expect(await table.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true);
    await page.getByRole('button', { name: 'Table (20)' }).click();
  });

  test('answers other examples', async () => {
    const { page } = opened;
    for (const [example, expected] of [
      ['Workloads', /"objects":\{"totalCount":[1-9].*"kind":"(Deployment|StatefulSet|DaemonSet)"/],
      ['Resources', /"resources":\[\{"key":"/],
    ] as const) {
      await runExample(page, example, expected);
      expect(await shown(page)).not.toContain('"errors"');
    }
  });

  test('shows the active tab, also where the tabs have no room', async () => {
    const { page } = opened;
    await page.setViewportSize({ width: 900, height: 860 });
    for (let added = 0; added < 6; added += 1) await page.getByRole('button', { name: 'New tab' }).click();
    const active = page.getByRole('tab', { selected: true });
    const isInside = async (): Promise<boolean> => {
      const [tab, list] = [
        await active.boundingBox(),
        await page.getByRole('tablist').or(page.locator('.graphiql-tabs')).first().boundingBox(),
      ];
      return tab !== null && list !== null && tab.x >= list.x - 1 && tab.x + tab.width <= list.x + list.width + 1;
    };
    await eventually(async () => expect(await isInside()).toBe(true));
    const line = (tab: Locator): Promise<string> => tab.evaluate((element) => getComputedStyle(element).boxShadow);
    expect(await line(page.locator('.graphiql-tab-active'))).toContain('inset');
    expect(await line(page.locator('.graphiql-tab:not(.graphiql-tab-active)').first())).toBe('none');
    await page.setViewportSize({ width: 1400, height: 860 });
  });

  test('keeps a history of what was run', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.locator('.graphiql-plugin').getByText('FooTree').first().waitFor();
    await page.getByRole('button', { name: 'Show Examples' }).click();
  });

  test('keeps a subscription going', async () => {
    const { page } = opened;
    await runExample(page, 'WatchPods', /"podChanges":\{"phase":"SYNCED"/);
    const failed =
      '{ pods(filter: { health: { status: { ne: Current } } }) { nodes { metadata { namespace name } } } }';
    const { pods } = await data<{ pods: { nodes: { metadata: { namespace: string; name: string } }[] } }>(
      gateway.url,
      failed,
    );
    const { namespace, name } = must(pods.nodes[0], 'a Pod is not healthy').metadata;
    cluster.patch(`/api/v1/namespaces/${namespace}/pods/${name}`, { metadata: { labels: { seen: 'live' } } });
    await eventually(async () => {
      const message = await shown(page);
      expect(message).toMatch(/"phase":"LIVE".*"type":"MODIFIED".*metadata\.labels/);
      expect(message).toContain(`"name":"${name}"`);
    });
    await page.getByRole('button', { name: /^Stop query/ }).click();
    await page.getByRole('button', { name: /^Execute query/ }).waitFor();
  });

  test('shows a syntax error as the gateway reports it, without a stack', async () => {
    const { page } = opened;
    await write(page, '{ pods( { ');
    // By the keyboard: the suggestions may be over the button.
    await page.keyboard.press('Control+Enter');
    await eventually(async () => expect(await shown(page)).toContain('"code":"GRAPHQL_PARSE_FAILED"'));
    const error = await shown(page);
    expect(error).toMatch(/"message":"SyntaxError:ExpectedName,found.*"locations":\[\{"line":1,"column":9\}\]/);
    expect(error).not.toContain('stack');
  });

  test('completes the paths of a kind', async () => {
    const { page } = opened;
    await write(page, '{ pods(orderBy: [{ path: "status.pha');
    await eventually(async () => expect((await suggested(page))[0]).toBe('status.phase'));
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await written(page)).toBe('{pods(orderBy:[{path:"status.phase"}])}'));
  });

  test('completes paths through lists and maps', async () => {
    const { page } = opened;
    await write(page, '{ pods { aggregate { groups(by: ["spec.containers[0].resources.req');
    await eventually(async () =>
      expect((await suggested(page)).slice(0, 2)).toEqual([
        'spec.containers[0].resources.requests',
        "spec.containers[0].resources.requests['…']",
      ]),
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type('cpu');
    await eventually(async () =>
      expect(await written(page)).toContain(`groups(by:["spec.containers[0].resources.requests['cpu']"])`),
    );
  });

  test('completes the paths of a custom resource, and those that several kinds have', async () => {
    const { page } = opened;
    await write(page, '{ samplecontrollerK8sIoFoos { facets(paths: ["spec.dep');
    await eventually(async () => expect(await suggested(page)).toContain('spec.deploymentName'));
    await write(page, '{ objects(kinds: ["deployments.apps", "statefulsets.apps"], orderBy: { path: "spec.repl');
    await eventually(async () => expect(await suggested(page)).toContain('spec.replicas'));
    await page.keyboard.press('Escape');
  });

  test('shows what an answer cost, its warnings, and how it was found', async () => {
    const { page } = opened;
    await write(page, '{ pods(filter: { namespaces: ["not-there"] }) { totalCount } }');
    const run = page.getByRole('button', { name: /^Execute query/ });
    await run.click();
    await page.getByRole('button', { name: 'Show Cost and warnings' }).click();
    const panel = page.getByRole('region', { name: 'Cost and warnings' });
    await eventually(async () => expect(await panel.innerText()).toMatch(/Values of the answer\s+\d+/));
    expect(await panel.innerText()).toMatch(/Warnings[\s\S]*not-there/);
    expect(await panel.innerText()).not.toContain('EXPLAIN');
    expect(await panel.innerText()).not.toContain('Statements');
    await panel.getByRole('checkbox').check();
    await run.click();
    await eventually(async () => expect(await panel.innerText()).toMatch(/Statements[\s\S]*SELECT/));
    await panel.getByRole('checkbox').uncheck();
    await page.getByRole('button', { name: 'Hide Cost and warnings' }).click();
  });

  test('offers the profiles, and knows the kinds of the chosen one only', async () => {
    const { page } = opened;
    const choice = page.getByRole('combobox', { name: 'Profile' });
    expect(await choice.locator('option').allInnerTexts()).toEqual(['All kinds', 'team']);
    const introspection = page.waitForResponse(
      (response) => response.request().postData()?.includes('__schema') ?? false,
    );
    await choice.selectOption('team');
    const schema = await (await introspection).text();
    expect([schema.includes('"deployments"'), schema.includes('"configMaps"')]).toEqual([true, false]);
    await eventually(async () => expect(await choice.inputValue()).toBe('team'));
    expect(new URL(page.url()).searchParams.get('profile')).toBe('team');
  });

  test('asked nobody else and had nothing to complain about', () => {
    expect(opened.foreign).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});

describe.skipIf(!hasChromium())('the playground of another cluster', () => {
  test('has its own tabs, also where the browser kept those of an earlier one on the same port', async () => {
    const [cluster, browser] = await Promise.all([startSimCluster({ objects: 'demo', pods: 20 }), launchChromium()]);
    const folder = kubeconfigFolder();
    const kubeconfig = folder.file('config', cluster.kubeconfig());
    let gateway = await runGateway({ name: 'first', kubeconfig }, demoFlags);
    try {
      const { origin, port } = new URL(gateway.url);
      const { page, complaints } = await openPage(browser, origin);
      await page.setViewportSize({ width: 1400, height: 860 });
      const titles = () => exampleNames(page);
      await page.goto(gateway.url);
      await eventually(async () => expect(await titles()).toContain('FooTree'));
      // The editor loads its workers when it is there.
      await eventually(async () => expect(page.workers().length).toBeGreaterThan(1));
      await gateway.close();
      gateway = await runGateway({ name: 'second', kubeconfig }, { port, kinds: ['configmaps'] });
      await page.goto(gateway.url);
      await eventually(async () => expect(await titles()).toEqual(configMapTitles));
      await runExample(page, 'ConfigMapList', /"totalCount":[1-9]/);
      await runExample(page, 'ConfigMapGroups', /"groups":\[\{"keys":\["/);
      await gateway.close();
      await page.getByRole('button', { name: /^Execute query/ }).click();
      await eventually(async () => expect(await shown(page)).toContain('Thegatewaycannotbereached'));
      expect(await shown(page)).not.toContain('stack');
      // A worker that the editor wants for the first time now cannot be loaded; the editor does its work itself.
      const expected = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|Could not create web worker|^undefined$|^Event$/;
      expect(complaints.filter((each) => !expected.test(each))).toEqual([]);
    } finally {
      await browser.close();
      await gateway.close();
      await cluster.close();
      folder.remove();
    }
  });
});

async function takeScreenshot(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Hide editor tools' }).click();
  await page.mouse.move(700, 850);
  await page.evaluate(() =>
    (globalThis as unknown as { document: { activeElement: { blur(): void } } }).document.activeElement.blur(),
  );
  await page.screenshot({
    path: fileURLToPath(new URL('../../docs/playground.png', import.meta.url)),
    animations: 'disabled',
    caret: 'hide',
    style: '.monaco-scrollable-element > .scrollbar { visibility: hidden }',
  });
  await page.getByRole('button', { name: 'Show editor tools' }).click();
}
