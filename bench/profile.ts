/**
 * The savings of a profile of twelve kinds for the tools of a large cluster. They are the bytes of introspection, the time of a code
 * generator, and the time until the playground knows the schema.
 *
 * The kinds are those of the simulated cluster and the first CustomResourceDefinitions of a folder. Each figure is measured for the
 * profile and for all kinds in turns, and is a median.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parseArgs, promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import type { Browser } from 'playwright-core';
import { must } from '../src/base/must.ts';
import { describeResource } from '../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../src/catalog/describe/from-crd.ts';
import { resourceKey } from '../src/catalog/resources/resource.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { hasChromium, launchChromium, openPage } from '../test/kit/browser.ts';
import { crdFolder, loadCrds } from '../test/kit/crds.ts';
import { describeSimulatedKinds } from '../test/kit/simulated-kinds.ts';
import { inFolder } from './support/folder.ts';
import { median } from './support/page-load.ts';
import { serveStore } from './support/serve-store.ts';

export const about =
  'what a profile of twelve kinds saves code generators and the playground; --help tells its options';

export const help = `Usage: PORTOLAN_CRDS=FOLDER npm run bench -- profile [options]

  --kinds N      kinds of the whole schema (263)
  --runs N       measurements of each figure (3)

The folder holds CustomResourceDefinitions as YAML, JSON or .tar.xz. Without Chromium, the playground is not measured.
`;

const cluster = 'bench';

/** Kinds of an application: three that run Pods, the kinds that these mount and serve, and a custom one. */
const twelve = [
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'services',
  'configmaps',
  'persistentvolumeclaims',
  'events',
  'nodes',
  'namespaces',
  'jobs.batch',
  'ingresses.networking.k8s.io',
  'projects.apps.titanide.cn',
];

interface Measured {
  readonly bytes: number;
  readonly sentBytes: number;
  readonly codegenMs: number;
  /** Null without Chromium. */
  readonly playgroundMs: number | null;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { kinds: { type: 'string', default: '263' }, runs: { type: 'string', default: '3' } },
  });
  if (crdFolder === null) {
    process.stderr.write('Name a folder of CustomResourceDefinitions with PORTOLAN_CRDS.\n');
    process.exitCode = 2;
    return;
  }
  await inFolder(async (directory) => {
    const writer = openWriter(join(directory, 'store.db'));
    const browser = hasChromium() ? await launchChromium() : null;
    try {
      writer.openCluster(cluster, cluster);
      await declareKinds(writer, Number(values.kinds));
      const profiles = [`twelve=${twelve.join(' ')}`];
      const served = await serveStore(join(directory, 'store.db'), { prepared: true, profiles });
      const kinds = served.engine.source.generation().catalog.kinds.length;
      const found: { profile: Measured[]; whole: Measured[] } = { profile: [], whole: [] };
      for (let turn = 0; turn < Number(values.runs); turn += 1) {
        found.profile.push(await measure(`${served.url}?profile=twelve`, directory, browser));
        found.whole.push(await measure(served.url, directory, browser));
      }
      await served.close();
      report(kinds, medians(found.profile), medians(found.whole));
    } finally {
      await browser?.close();
      writer.close();
    }
  });
}

async function declareKinds(writer: ReturnType<typeof openWriter>, most: number): Promise<void> {
  const builtIn = await describeSimulatedKinds({ objects: 'demo' }, cluster);
  const known = new Set(builtIn.map(({ resource }) => resourceKey(resource)));
  const custom = loadCrds().flatMap(({ source, crd }) => {
    const resource = must(resourceOfCrd(crd), `${source} has names`);
    return known.has(resourceKey(resource)) ? [] : [describeResource({ cluster, resource, crd })];
  });
  for (const each of [...builtIn, ...custom].slice(0, most)) writer.declare(each);
}

async function measure(url: string, directory: string, browser: Browser | null): Promise<Measured> {
  const { bytes, sentBytes } = await introspect(url);
  return {
    bytes,
    sentBytes,
    codegenMs: await generate(url, directory),
    playgroundMs: browser === null ? null : await openPlayground(url, browser),
  };
}

async function introspect(url: string): Promise<Pick<Measured, 'bytes' | 'sentBytes'>> {
  const sent = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'br' },
  });
  sent.end(JSON.stringify({ query: getIntrospectionQuery() }));
  const [response] = await once(sent, 'response');
  const body = await buffer(response);
  if (response.statusCode !== 200) throw new Error(`introspection was answered with ${response.statusCode}`);
  return { bytes: brotliDecompressSync(body).length, sentBytes: body.length };
}

/** Milliseconds of GraphQL Code Generator with the client preset, for one operation. */
async function generate(url: string, directory: string): Promise<number> {
  const config = join(directory, 'codegen.json');
  const document = '{ pods(first: 10) { nodes { metadata { name } node { metadata { name } } } } }';
  const generates = { [`${directory}/generated/`]: { preset: 'client' } };
  writeFileSync(join(directory, 'pods.graphql'), `query Pods ${document}`);
  writeFileSync(config, JSON.stringify({ schema: url, documents: `${directory}/*.graphql`, generates }));
  const began = performance.now();
  const program = new URL('../node_modules/@graphql-codegen/cli/esm/bin.js', import.meta.url).pathname;
  await promisify(execFile)(process.execPath, ['--max-old-space-size=4000', program, '--silent', '--config', config]);
  return performance.now() - began;
}

/** Milliseconds from the request for the page until its documentation shows the roots. */
async function openPlayground(url: string, browser: Browser): Promise<number> {
  const { page } = await openPage(browser, new URL(url).origin);
  try {
    const began = performance.now();
    await page.goto(url);
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const explorer = page.locator('.graphiql-doc-explorer');
    await explorer.getByText('Query', { exact: true }).click({ timeout: 120_000 });
    await explorer.getByText('pods', { exact: true }).first().waitFor({ timeout: 120_000 });
    await page.locator('.graphiql-query-editor .view-lines').waitFor();
    return performance.now() - began;
  } finally {
    await page.close();
  }
}

function medians(all: readonly Measured[]): Measured {
  const of = (name: keyof Measured): number => median(all.map((each) => each[name] ?? Number.NaN));
  const playgroundMs = all[0]?.playgroundMs == null ? null : of('playgroundMs');
  return { bytes: of('bytes'), sentBytes: of('sentBytes'), codegenMs: of('codegenMs'), playgroundMs };
}

function report(kinds: number, profile: Measured, whole: Measured): void {
  const line = (what: string, each: Measured): string => {
    const playground = each.playgroundMs === null ? '-' : `${(each.playgroundMs / 1000).toFixed(1)} s`;
    const [kb, sentKb] = [each.bytes / 1000, each.sentBytes / 1000].map((size) => `${size.toFixed(0)} kB`);
    return `${what.padEnd(12)} introspection ${kb}, sent ${sentKb}; codegen ${(each.codegenMs / 1000).toFixed(1)} s; playground ${playground}\n`;
  };
  process.stdout.write(line('12 kinds', profile) + line(`${kinds} kinds`, whole));
  const ratio = (name: keyof Measured): number | null =>
    profile[name] === null || whole[name] === null ? null : Number((profile[name] / whole[name]).toFixed(3));
  const figures = {
    bench: 'profile',
    kinds,
    sentKb: Math.round(profile.sentBytes / 1000),
    textKb: Math.round(profile.bytes / 1000),
    codegenMs: Math.round(profile.codegenMs),
    playgroundMs: profile.playgroundMs === null ? null : Math.round(profile.playgroundMs),
    sentRatio: ratio('sentBytes'),
    codegenRatio: ratio('codegenMs'),
    playgroundRatio: ratio('playgroundMs'),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  const isMissed = figures.sentKb >= 400 || figures.codegenMs >= 5000 || (figures.playgroundMs ?? 0) >= 3000;
  if (isMissed) process.exitCode = 1;
}
