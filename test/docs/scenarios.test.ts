/**
 * Runs every command of docs/scenarios.md against the demo world; the output must equal that on the page.
 * `npm test -- test/docs/scenarios.test.ts -u` updates the page.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { runCommand } from '../kit/command-process.ts';
import { demoFlags } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data, subscribe } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { blocksOf, compact, readPage } from '../kit/written-page.ts';

const page = readPage('docs/scenarios.md');
const folder = kubeconfigFolder();
let cluster: SimCluster;
let gateway: RunningGateway;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'demo', churn: false });
  gateway = await runGateway({ name: 'demo', kubeconfig: folder.file('config', cluster.kubeconfig()) }, demoFlags);
});
afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  folder.remove();
});

/** A command, and the output printed after it. */
const command = (words: string): RegExp =>
  new RegExp(
    `(?<sh>\`\`\`sh\\nnpm run --silent portolan -- ${words}\\n\`\`\`\\n)(?:\\n\`\`\`(?:json|text)\\n[\\s\\S]*?\`\`\`\\n)?`,
    'g',
  );

test('every command prints what the page says', async () => {
  let written = page;
  const queries = [...page.matchAll(command("query '(?<query>[^']*)' \\| jq \\.data"))];
  expect(queries.length).toBeGreaterThan(4);
  for (const { 0: whole, groups } of queries) {
    const { sh = '', query = '' } = groups ?? {};
    // References are read after the first sync.
    let answer = '';
    await eventually(async () => {
      answer = compact(await data(gateway.url, query));
    }, 60_000);
    written = written.replace(whole, () => `${sh}\n\`\`\`json\n${answer}\n\`\`\`\n`);
  }
  const [status] = page.matchAll(command('status --all \\| grep portolan\\.example'));
  const { 0: whole, groups } = must(status, 'the page has the command status');
  const { out } = await runCommand(['status', '--all', '--url', gateway.url], {
    folder: temporaryDirectory('scenarios'),
  });
  const lines = out.split('\n').filter((line) => line.includes('portolan.example'));
  // The last columns are times.
  const shown = lines.map((line) => (/^\S+ +\S+ +\S+ +\d+/.exec(line) ?? [line])[0]);
  written = written.replace(whole, () => `${groups?.['sh']}\n\`\`\`text\n${shown.join('\n')}\n\`\`\`\n`);
  await expect(written).toMatchFileSnapshot('../../docs/scenarios.md');
});

test('a hundred lists are no request to the API server', async () => {
  const before = cluster.requests;
  for (let first = 1; first <= 100; first += 1) {
    await data(
      gateway.url,
      `{ appInstances(first: ${first}) { nodes { version } } pods(first: ${first}) { totalCount } }`,
    );
  }
  expect(cluster.requests).toBe(before);
});

test('a watch prints the lines of the page', async () => {
  const [, root = '', selection = ''] = must(/watch '(\w+)(\([^']*)'/.exec(page), 'the page has a watch');
  const document = `subscription { ${root.replace(/s$/, '')}Changes${selection} }`;
  const wanted = blocksOf(page, 'jsonl').flatMap((block) => block.trim().split('\n'));
  expect(wanted).toHaveLength(2);
  const live = subscribe(gateway.url, document, {}, (found) => Object.values(found as object)[0] as object);
  await live.until((all) => all.some((message) => 'phase' in message && message.phase === 'SYNCED'));
  const redis = '/apis/cache.portolan.example/v1/namespaces/analytics/redises/query-cache';
  cluster.patch(redis, { spec: { replicas: 2 } });
  const lines = (all: readonly object[]): readonly string[] => all.map((message) => JSON.stringify(message));
  const seen = await live.until((all) => wanted.every((line) => lines(all).includes(line)));
  expect(seen.length).toBeGreaterThan(2);
  await live.stop();
});
