/**
 * The editor of manifests in a browser that reaches only the gateway: it completes fields by the kind's schema, shows descriptions, marks
 * errors, plans an apply and carries it out. PORTOLAN_SCREENSHOT names a file for a picture of it.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium, openPage, type WatchedPage } from '../kit/browser.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { data } from '../kit/graphql-client.ts';

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: typed
  namespace: shop
spec:
  selector: { matchLabels: { app: typed } }
  template:
    metadata: { labels: { app: typed } }
    spec: { containers: [{ name: a, image: b }] }
`;

describe.skipIf(!hasChromium()).each([{}, { typePrefix: 'K8s_' }])('the editor of manifests with %o', (flags) => {
  const gateway = demoGateway({ pods: 20, churn: false }, { readOnly: 'false', ...flags });
  let browser: Browser;
  let opened: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    opened = await openPage(browser, new URL(gateway.url).origin, { viewport: { width: 1400, height: 860 } });
    page = opened.page;
    await page.goto(gateway.page);
  }, 60_000);
  afterAll(() => browser?.close());

  const panel = () => page.getByRole('region', { name: 'Manifest' });
  const text = async (): Promise<string> =>
    (await panel().locator('.view-lines').innerText()).replaceAll('\u00a0', ' ');
  /**
   * Replaces the whole text. Typed lines would get the editor's own indentation. The editor pastes later than the event, and gives it up
   * if the cursor moves meanwhile.
   */
  const paste = async (pasted: string): Promise<void> => {
    await page.keyboard.press('Control+A');
    await panel()
      .locator('textarea')
      .first()
      .evaluate((area, given) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', given);
        area.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
      }, pasted);
    await eventually(async () => expect(await text()).toContain(pasted.trimEnd().split('\n').at(-1)));
  };
  /** Asks for suggestions until one is this. The editor finds none while it still reads a text that was changed. */
  const suggests = (name: string): Promise<void> =>
    eventually(async () => {
      const shown = page.locator('.suggest-widget.visible .monaco-list-row .label-name');
      if ((await shown.count()) === 0) await page.keyboard.press('Control+Space');
      expect(await shown.allInnerTexts()).toContain(name);
    });

  test('begins with the head of the chosen kind', async () => {
    await page.getByRole('button', { name: 'Show Manifest' }).click();
    await panel().getByLabel('Kind').waitFor();
    await eventually(async () => expect(await page.locator('#portolan-kinds option').count()).toBeGreaterThan(10));
    await panel().getByLabel('Kind').fill('deployments.apps');
    await eventually(async () => expect(await text()).toContain('kind: Deployment'));
  });

  test('completes fields, and shows their descriptions', async () => {
    await panel().locator('textarea').first().focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('sp');
    await suggests('spec');
    await page.keyboard.press('Escape');
    await paste(manifest);
    await page.keyboard.press('Control+End');
    await page.keyboard.type('  repl');
    await suggests('replicas');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await eventually(async () => expect(await text()).toContain('replicas: two'));
    await panel().locator('.view-lines').getByText('replicas').first().hover();
    await eventually(async () =>
      expect(await page.locator('.monaco-hover:visible').innerText()).toContain('How many pods'),
    );
  });

  test('marks what the server would refuse', async () => {
    await eventually(async () =>
      expect(await panel().locator('.squiggly-warning, .squiggly-error').count()).toBeGreaterThan(0),
    );
    const file = process.env['PORTOLAN_SCREENSHOT'];
    if (file !== undefined && file !== '1') await page.screenshot({ path: file });
    await panel().locator('textarea').first().focus();
    await page.keyboard.press('Control+End');
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('Backspace');
    await page.keyboard.type('2');
    await eventually(async () => expect(await panel().locator('.squiggly-warning, .squiggly-error').count()).toBe(0));
  });

  test('plans an apply, and carries exactly that plan out', async () => {
    const apply = panel().getByRole('button', { name: 'Apply this plan' });
    expect(await apply.isDisabled()).toBe(true);
    await panel().getByRole('button', { name: 'Plan', exact: true }).click();
    const outcome = panel().getByRole('status');
    await eventually(async () => expect(await outcome.innerText()).toContain('would be CREATED'));
    expect(
      await data(gateway.url, '{ deployments(filter: { metadata: { name: { eq: "typed" } } }) { totalCount } }'),
    ).toEqual({
      deployments: { totalCount: 0 },
    });
    await apply.click();
    await eventually(async () => expect(await outcome.innerText()).toMatch(/shop\/typed: CREATED/));
    expect(
      await data(
        gateway.url,
        '{ deployments(filter: { metadata: { name: { eq: "typed" } } }) { nodes { spec { replicas } } } }',
      ),
    ).toEqual({
      deployments: { nodes: [{ spec: { replicas: 2 } }] },
    });
    expect(opened.foreign).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});
