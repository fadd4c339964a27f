/** The examples of a gateway that writes, in a browser: a scale is planned, carried out by its plan, and watched. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { hasChromium, launchChromium, openPage } from '../kit/browser.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { exampleTitles, logsTitle, writeTitles } from '../kit/playground-examples.ts';

describe.skipIf(!hasChromium())('the playground of a gateway that writes', () => {
  const gateway = demoGateway({ pods: 200, churn: false }, { readOnly: 'false' });
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    ({ page } = await openPage(browser, new URL(gateway.url).origin, { viewport: { width: 1400, height: 860 } }));
    await page.goto(gateway.page);
  }, 60_000);
  afterAll(() => browser?.close());

  const examples = () => page.getByRole('region', { name: 'Examples' });

  /** The visible JSON of the result pane, without white space. */
  async function shown(): Promise<string> {
    return (await page.locator('.result-window .view-lines').innerText()).replaceAll(/\s/g, '');
  }

  async function open(example: string): Promise<void> {
    await eventually(async () => {
      await examples().getByRole('button', { name: example }).click();
      expect(await page.getByRole('tab', { selected: true }).innerText()).toBe(example);
    });
  }

  /** Clicks again if GraphiQL takes the first click for the end of the subscription before. */
  async function execute(begun: () => Promise<void>): Promise<void> {
    await eventually(async () => {
      await page.getByRole('button', { name: /^Execute query/ }).click({ timeout: 3000 });
      await begun();
    });
  }

  /** Runs one of the operations of the document. */
  const run = (operation: string): Promise<void> =>
    execute(() => page.getByRole('menuitem', { name: operation }).click({ timeout: 3000 }));

  test('lists them after the others', async () => {
    await eventually(async () =>
      expect(await examples().getByRole('listitem').locator('b').allInnerTexts()).toEqual([
        ...exampleTitles,
        ...writeTitles,
      ]),
    );
  });

  test('plans a scale, carries it out and watches it', async () => {
    await open('PlanScale');
    // The answer to the introspection has `planId` too, so the request decides.
    const answer = page.waitForResponse(
      (response) => response.request().postData()?.includes('mutation PlanScale') ?? false,
    );
    await page.getByRole('button', { name: /^Execute query/ }).click();
    const { data } = await (await answer).json();
    const planId = must<string>(data.scale.planId, 'the id of the plan');
    await eventually(async () => expect(await shown()).toContain('"path":"spec.replicas","before":1,"after":3'));

    await open('CarryOutScale');
    await page.locator('.graphiql-editor-tool textarea').first().focus();
    await page.keyboard.insertText(JSON.stringify({ plan: planId }));
    await run('CarryOutScale');
    await eventually(async () => expect(await shown()).toContain('"result":"CHANGED","seen":true,"errors":[]'));

    await run('WatchScale');
    await eventually(async () => expect(await shown()).toContain('"spec":{"replicas":3}'));
    await page.getByRole('button', { name: /^Stop query/ }).waitFor();
    await page.getByRole('button', { name: /^Stop query/ }).click();
    await page.getByRole('button', { name: /^Execute query/ }).waitFor();
  });

  test('follows the logs of the Pods that are not healthy', async () => {
    await open(logsTitle);
    await execute(() => page.getByRole('button', { name: /^Stop query/ }).waitFor({ timeout: 3000 }));
    await eventually(async () => expect(await shown()).toMatch(/"lines":\[\{"time":"[^"]+Z".*"text":"level=/));
    const folder = process.env['PORTOLAN_SCREENSHOT'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/follow-logs.png` });
    await page.getByRole('button', { name: /^Stop query/ }).click();
    await page.getByRole('button', { name: /^Execute query/ }).waitFor();
  });

  test('creates an application as a set, breaks it, sees it, repairs and deletes it', async () => {
    /** Follows the set until the result pane shows the text. */
    const watched = async (text: string): Promise<void> => {
      await run('WatchApplication');
      await eventually(async () => expect(await shown()).toContain(text));
      await page.getByRole('button', { name: /^Stop query/ }).click();
    };
    await open('SubmitApplication');
    await run('SubmitApplication');
    await eventually(async () => expect(await shown()).toContain('"complete":true'));
    await watched('"setHealth":{"status":"Current"');
    await run('BreakApplication');
    await eventually(async () => expect(await shown()).toContain('"result":"CHANGED"'));
    await watched('"reason":"ContainerCrashLooping"');
    await run('SubmitApplication');
    await eventually(async () => expect(await shown()).toContain('"applySet":{"complete":true'));
    await watched('"setHealth":{"status":"Current"');
    await run('DeleteApplication');
    await eventually(async () => expect(await shown()).toContain('"deleteSet":{"complete":true'));
  });
});
