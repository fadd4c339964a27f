/**
 * Runs every example of docs/clusters.md on two simulated clusters; the answers must equal those on the page.
 * `npm test -- test/docs/clusters.test.ts -u` updates the page.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { gadgetCrd } from '../kit/gadget-crd.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sourceMessages } from '../kit/source-messages.ts';
import { blocksOf, readPage, sectionOf, withAnswers } from '../kit/written-page.ts';

const page = readPage('docs/clusters.md');
const down = sectionOf(page, 'When a cluster is down');
const clusters = new Map<string, SimCluster>();
const folder = kubeconfigFolder();
let gateway: RunningGateway;

const worlds = [
  {
    name: 'east',
    image: 'web:1.0',
    pods: ['web-1', 'web-2'],
    properties: { size: { type: 'integer' }, color: { type: 'string' } },
    spec: { size: 3, color: 'red' },
  },
  {
    name: 'west',
    image: 'web:1.1',
    pods: ['web-1'],
    properties: { size: { type: 'string' }, weight: { type: 'number' } },
    spec: { size: 'large', weight: 1.5 },
  },
];

beforeAll(async () => {
  const options = [];
  for (const { name, image, pods, properties, spec } of worlds) {
    const cluster = await startSimCluster({ objects: 'empty', crds: [gadgetCrd(properties)] });
    clusters.set(name, cluster);
    const metadata = (of: string): object => ({ name: of, namespace: 'default' });
    cluster.create({ apiVersion: 'two.portolan.example/v1', kind: 'Gadget', metadata: metadata('same'), spec });
    for (const pod of pods) {
      const containers = [{ name: 'web', image }];
      cluster.create({ apiVersion: 'v1', kind: 'Pod', metadata: metadata(pod), spec: { containers } });
    }
    options.push({ name, kubeconfig: folder.file(name, cluster.kubeconfig()) });
  }
  gateway = await runGateway(options);
});
afterAll(async () => {
  await gateway?.close();
  for (const cluster of clusters.values()) await cluster.close();
  folder.remove();
});

test('every example answers as the page says', async () => {
  expect(down).toContain('```graphql');
  const whole = await withAnswers(page.replace(down, '(down)'), (query) => ask(gateway.url, query));
  expect(whole.examples).toBeGreaterThan(5);
  expect(whole.failing).toBe(2);
  await clusters.get('west')?.close();
  await eventually(async () => {
    expect(await data(gateway.url, '{ clusters { reachable } }')).toEqual({
      clusters: [{ reachable: true }, { reachable: false }],
    });
  });
  const alone = await withAnswers(down, (query) => ask(gateway.url, query));
  expect(alone.failing).toBe(0);
  await expect(whole.page.replace('(down)', () => alone.page)).toMatchFileSnapshot('../../docs/clusters.md');
});

test('its messages are in the source code', () => {
  const patterns = sourceMessages();
  const messages = blocksOf(page, 'text').flatMap((block) => block.trim().split('\n'));
  expect(messages.length).toBeGreaterThan(1);
  expect(messages.filter((text) => !patterns.some((pattern) => pattern.test(text)))).toEqual([]);
});
