/** Chromium for tests: the system's, or the one that CHROMIUM names. A page can reach named origins only. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export function hasChromium(): boolean {
  return existsSync(executablePath);
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** URLs outside the origins that the page requested; each request was aborted. */
  readonly foreign: readonly string[];
  /** Warnings and errors of the console, and uncaught errors. */
  readonly complaints: readonly string[];
}

/** A page that can reach only these origins. */
export async function openPage(
  browser: Browser,
  origins: string | readonly string[],
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<WatchedPage> {
  const reachable = new Set(typeof origins === 'string' ? [origins] : origins);
  const hosts = new Set([...reachable].map((origin) => new URL(origin).host));
  const page = await browser.newPage(options);
  const foreign: string[] = [];
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'warning' || message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.route(
    (url) => !reachable.has(url.origin) && url.protocol !== 'data:' && url.protocol !== 'blob:',
    (route) => {
      foreign.push(route.request().url());
      return route.abort();
    },
  );
  await page.routeWebSocket(
    (url) => !hosts.has(url.host),
    (socket) => {
      foreign.push(socket.url());
      socket.close();
    },
  );
  return { page, foreign, complaints };
}
