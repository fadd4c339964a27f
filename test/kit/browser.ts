/** Chromium for tests: the system's, or the one that CHROMIUM names. A page can reach one origin only. */
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
  /** URLs outside the origin that the page requested; each request was aborted. */
  readonly foreign: readonly string[];
  /** Warnings and errors of the console, and uncaught errors. */
  readonly complaints: readonly string[];
}

/** A page that can reach only `origin`. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  const foreign: string[] = [];
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'warning' || message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.route(
    (url) => url.origin !== origin && url.protocol !== 'data:' && url.protocol !== 'blob:',
    (route) => {
      foreign.push(route.request().url());
      return route.abort();
    },
  );
  await page.routeWebSocket(
    (url) => url.host !== new URL(origin).host,
    (socket) => {
      foreign.push(socket.url());
      socket.close();
    },
  );
  return { page, foreign, complaints };
}
