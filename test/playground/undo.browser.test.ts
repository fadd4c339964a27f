/** A change that somebody made is found in a browser, looked at, undone by a plan, and seen undone, with the example of the playground. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { hasChromium, launchChromium, openPage } from '../kit/browser.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';

interface FoundChange {
  readonly id: string;
  readonly name: string;
  readonly changedPaths: readonly string[] | null;
  readonly before: { readonly metadata: { readonly resourceVersion: string } } | null;
}

describe.skipIf(!hasChromium())('a change in the playground', () => {
  const gateway = demoGateway({ pods: 200, churn: false }, { readOnly: 'false' });
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    ({ page } = await openPage(browser, new URL(gateway.url).origin, { viewport: { width: 1400, height: 860 } }));
    await page.goto(gateway.page);
  }, 60_000);
  afterAll(() => browser?.close());

  /** The answer to an operation of the document that is run. */
  // biome-ignore lint/suspicious/noExplicitAny: the answer of any operation
  async function run(operation: string): Promise<any> {
    const answer = page.waitForResponse((response) => response.request().postDataJSON()?.operationName === operation, {
      timeout: 60_000,
    });
    const chosen = eventually(async () => {
      await page.getByRole('button', { name: /^Execute query/ }).click({ timeout: 3000 });
      await page.getByRole('menuitem', { name: operation, exact: true }).click({ timeout: 3000 });
    });
    const [response] = await Promise.all([answer, chosen]);
    return response.json();
  }

  /** The visible JSON of the result pane, without white space. */
  const shown = async (): Promise<string> =>
    (await page.locator('.result-window .view-lines').innerText()).replaceAll(/\s/g, '');

  const type = async (variables: object): Promise<void> => {
    await page.locator('.graphiql-editor-tool textarea').first().focus();
    await page.keyboard.press('Control+A');
    // The editor would close the brackets of a text that replaces another one.
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(JSON.stringify(variables));
  };

  async function picture(name: string): Promise<void> {
    const folder = process.env['PORTOLAN_SCREENSHOT'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/undo-${name}.png` });
  }

  test('is found, planned back, undone and seen undone', { timeout: 180_000 }, async () => {
    const examples = page.getByRole('region', { name: 'Examples' });
    await eventually(async () => {
      await examples.getByRole('button', { name: 'ScaleToNone' }).click();
      expect(await page.getByRole('tab', { selected: true }).innerText()).toBe('ScaleToNone');
    });
    await picture('1-example');
    await run('ScaleToNone');
    await eventually(async () => expect(await shown()).toContain('"result":"CHANGED","seen":true'));

    const found = await run('WhatChanged');
    const nodes: readonly FoundChange[] = found.data.changes.nodes;
    const change = must(
      nodes.find(({ changedPaths }) => changedPaths?.includes('spec.replicas')),
      'the change of the scale',
    );
    expect(change).toMatchObject({ name: 'frontend', object: { spec: { replicas: 0 } } });
    await eventually(async () => expect(await shown()).toContain('{"data":{"changes":'));
    await picture('2-changes');

    const version = must(change.before, 'the state before').metadata.resourceVersion;
    await type({ id: change.id, version });
    const planned = await run('PlanUndo');
    const plan = must<string>(planned.data.revert.planId, 'the id of the plan');
    await eventually(async () => expect(await shown()).toMatch(/"path":"spec\.replicas","before":0,"after":[1-9]/));
    await picture('3-plan');

    await type({ id: change.id, version, plan });
    await picture('4-variables');
    await run('UndoIt');
    await eventually(async () => expect(await shown()).toMatch(/"result":"CHANGED","seen":true.*"replicas":[1-9]/));
    await picture('5-undone');

    const after = await run('WhatChanged');
    const newest: readonly FoundChange[] = after.data.changes.nodes;
    expect(newest.filter(({ changedPaths }) => changedPaths?.includes('spec.replicas')).length).toBeGreaterThan(1);
    await picture('6-history');
  });
});
