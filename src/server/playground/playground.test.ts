/** The page of the playground and its parts, over HTTP. */

import { cpSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type HandMade, handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { pageOptionsIn } from '../../../test/kit/playground-page.ts';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { startServer } from '../http-server.ts';
import { playgroundFolder } from '../playground-folder.ts';
import type { PlaygroundManifest } from './parts.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

async function world(
  queries: readonly string[] = [],
  { source, log }: HandMade = handMadeSource(),
  playground = playgroundFolder,
) {
  const tabs = queries.map((query, index) => ({ name: `example-${index}`, query }));
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source,
    log,
    tabs,
    playground,
    readiness: () => ({ ready: true }),
  });
  onTestFinished(() => server.close());
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      get(`${server.url}${path}`, { headers, agent: false }, async (response) => {
        resolve({ status: response.statusCode, headers: response.headers, body: await buffer(response) });
      }).on('error', reject);
    });
  const page = (headers: Record<string, string> = {}): Promise<Answer> => ask('', { accept: 'text/html', ...headers });
  return { ask, page };
}

const optionsOf = ({ body }: Answer) => pageOptionsIn(body.toString()) as { readonly examples: readonly string[] };

const { parts } = JSON.parse(readFileSync(`${playgroundFolder}manifest.json`, 'utf8')) as PlaygroundManifest;

describe('the page', () => {
  test('loads nothing from anywhere else', async () => {
    const { page, ask } = await world();
    const html = (await page()).body.toString();
    expect(html).toContain('<title>Portolan</title>');
    const addresses = [...html.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]*)"/g)];
    expect(addresses.map(([, address = '']) => address).filter((each) => !each.startsWith('data:'))).toEqual([
      '?playground=page.css',
      '?playground=page.js',
    ]);
    for (const part of ['page.css', 'graphiql.css']) {
      const style = (await ask(`?playground=${part}`)).body.toString();
      expect(style.match(/@import\s|url\(\s*["']?https?:/g) ?? []).toEqual([]);
    }
    expect(html).not.toMatch(/unpkg\.com|jsdelivr\.net|cdnjs|googleapis\.com/);
  });

  test('is held by its rules to this gateway and to no frame; answers have no such rules', async () => {
    const { ask } = await world();
    const rules = async (accept: string) =>
      (await ask('?query={greeting}', { accept })).headers['content-security-policy'];
    expect(await rules('text/html')).toContain("default-src 'none'");
    expect(await rules('text/html')).toContain("script-src 'self';");
    expect(await rules('text/html')).toContain("frame-ancestors 'none'");
    expect(await rules('text/html')).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(await rules('application/json')).toBeUndefined();
  });

  test('opens with the examples that the schema can answer, exactly as they are', async () => {
    const queries = ['# How are you?\n{ greeting }\n', '{ renamed }', 'subscription { ticks }'];
    const first = await world(queries);
    expect(optionsOf(await first.page()).examples).toEqual([queries[0], queries[2]]);
    const made = handMadeSource();
    made.swap('renamed');
    const second = await world(queries, made);
    expect(optionsOf(await second.page()).examples).toEqual([queries[1], queries[2]]);
  });

  test('opens without examples before there is a schema', async () => {
    const made = handMadeSource();
    made.forget();
    const { page } = await world(['{ greeting }'], made);
    expect(optionsOf(await page())).toEqual({
      examples: [],
      keptFor: '',
      profiles: [],
      explain: false,
      authenticates: false,
    });
    expect(made.logged).toEqual([]);
  });

  test('an example cannot end the script it stands in, nor be taken for a pattern', async () => {
    const query = "# </script><b> $& $' $$\n{ greeting }";
    const { page } = await world([query]);
    const answer = await page();
    expect(answer.body.toString()).not.toContain('</script><b>');
    expect(optionsOf(answer).examples).toEqual([query]);
  });

  test('is made once for browsers that ask together', async () => {
    const made = handMadeSource();
    const { page } = await world(['{ greeting }'], made);
    await Promise.all(Array.from({ length: 30 }, () => page()));
    expect(made.leases.opened).toBe(1);
  });
});

describe('a gateway whose playground is not bundled', () => {
  const missing = join(playgroundFolder, 'not-there');

  test('says in its page what to run, and answers queries', async () => {
    const { page, ask } = await world([], undefined, missing);
    const answer = await page();
    expect([answer.status, answer.headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8']);
    expect(answer.body.toString()).toContain('npm run playground');
    expect((await ask('?playground=page.js')).status).toBe(404);
    expect((await ask('?query={greeting}', { accept: 'application/json' })).body.toString()).toContain('"greeting"');
  });

  test('has the playground when it is bundled, without another start', async () => {
    const folder = temporaryDirectory('playground');
    const { page } = await world([], undefined, folder);
    expect((await page()).status).toBe(503);
    cpSync(playgroundFolder, folder, { recursive: true });
    expect((await page()).status).toBe(200);
  });
});

describe('the parts', () => {
  test('what a caller needs before authentication is small, and GraphiQL without what it loads later is bounded', async () => {
    const { ask, page } = await world();
    const size = async (path: string) => (await ask(path, { 'accept-encoding': 'br' })).body.length;
    const first = (await page({ 'accept-encoding': 'br' })).body.length + (await size('?playground=page.js'));
    expect(first + (await size('?playground=page.css'))).toBeLessThan(40_000);
    expect((await size('?playground=graphiql.js')) + (await size('?playground=graphiql.css'))).toBeLessThan(400_000);
  });

  test.each(parts)('%s is the same in each coding, and not sent to a client that has it', async (part) => {
    const { ask } = await world();
    const path = `?playground=${part}`;
    const plain = await ask(path);
    expect([plain.status, plain.body.length]).toEqual([200, Number(plain.headers['content-length'])]);
    const [brotli, gzip] = [
      await ask(path, { 'accept-encoding': 'br' }),
      await ask(path, { 'accept-encoding': 'gzip' }),
    ];
    const text = plain.headers['content-type'];
    expect([brotli.headers['content-type'], gzip.headers['content-type']]).toEqual([text, text]);
    const decoded = [brotli, gzip].map(({ headers, body }) => {
      if (headers['content-encoding'] === 'br') return brotliDecompressSync(body);
      return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    });
    expect(decoded.every((each) => each.equals(plain.body))).toBe(true);
    const again = await ask(path, { 'if-none-match': String(plain.headers['etag']) });
    expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, plain.headers['etag']]);
    expect(plain.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-cache' });
  });

  test('an unknown part, and names that are those of other things, are not there', async () => {
    const { ask } = await world();
    for (const name of [
      '',
      'nothing.js',
      '__proto__',
      'constructor',
      '../../package.json',
      '../start.ts',
      'manifest.json',
      'page.js.br',
      'page.js&query={greeting}',
    ]) {
      expect([name, (await ask(`?playground=${name}`)).status]).toEqual([name, 404]);
    }
  });

  test('the fonts of the styles are parts, and the styles name them', async () => {
    const { ask } = await world();
    const css = (await ask('?playground=graphiql.css')).body.toString();
    const names = [...css.matchAll(/url\("(\?playground=font-[^"]+)"\)/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(3);
    expect(css).not.toContain('data:font');
    for (const name of names) expect([name, (await ask(name)).status]).toEqual([name, 200]);
    expect(names.length).toBe(parts.filter((part) => part.startsWith('font-')).length);
  });
});
