/**
 * docs/live.md: its timeline is that of a gateway, and its documents and its stream of events run on the demo.
 * `npm test -- test/docs/live.test.ts -u` writes the timeline.
 */
import { getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data, subscribe } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { blocksOf, compact, readPage, sectionOf } from '../kit/written-page.ts';

const page = readPage('docs/live.md');

interface Message {
  readonly phase: string;
  readonly changes: readonly object[];
}

const firstField = (found: Record<string, unknown>): Message => Object.values(found)[0] as Message;

describe('the timeline', () => {
  const folder = kubeconfigFolder();
  let cluster: SimCluster;
  let gateway: RunningGateway;

  const configMap = (name: string, color: string, labels: Record<string, string> = { app: 'web' }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels },
    data: { color },
  });

  beforeAll(async () => {
    cluster = await startSimCluster({ objects: 'empty' });
    for (const name of ['blue', 'green']) cluster.create(configMap(name, name));
    gateway = await runGateway({ kubeconfig: folder.file('config', cluster.kubeconfig()) });
  });
  afterAll(async () => {
    await gateway?.close();
    await cluster?.close();
    folder.remove();
  });

  test('is that of a gateway', async () => {
    const section = sectionOf(page, 'A timeline');
    const [document = ''] = blocksOf(section, 'graphql');
    const live = subscribe(gateway.url, document, {}, firstField);
    const steps: readonly (() => void)[] = [
      () => {},
      () => cluster.update(configMap('blue', 'navy')),
      () => cluster.update(configMap('green', 'green', {})),
      () => cluster.create(configMap('red', 'red')),
      () => cluster.delete('/api/v1/namespaces/default/configmaps/blue'),
    ];
    for (const [index, step] of steps.entries()) {
      step();
      await live.until((messages) => messages.length >= index + 2);
    }
    const lines = live.messages.map((message) => `${compact(message)}\n`).join('');
    await live.stop();
    expect(live.messages.map(({ phase }) => phase)).toEqual(['SNAPSHOT', 'SYNCED', 'LIVE', 'LIVE', 'LIVE', 'LIVE']);
    const written = section.replace(/^```text\n.*?^```$/ms, () => `\`\`\`text\n${lines}\`\`\``);
    await expect(page.replace(section, () => written)).toMatchFileSnapshot('../../docs/live.md');
  });
});

describe('on the demo', () => {
  const gateway = demoGateway({ pods: 60, churn: false });
  const documents = blocksOf(page, 'graphql');

  test('the page has queries and subscriptions', () => {
    expect(documents.length).toBeGreaterThan(3);
  });

  test.each(documents)('%s', async (document) => {
    if (getOperationAST(parse(document))?.operation === 'query') {
      await data(gateway.url, document);
      return;
    }
    const live = subscribe(gateway.url, document, {}, firstField);
    await live.until((messages) => messages.some(({ phase }) => phase === 'SYNCED'));
    await live.stop();
  });

  test('Server-Sent Events as curl shows them', async () => {
    const section = sectionOf(page, 'Server-Sent Events');
    const [command = ''] = blocksOf(section, 'sh');
    const [shown = ''] = blocksOf(section, 'text');
    const headers = Object.fromEntries(
      [...command.matchAll(/-H '([\w-]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
    );
    const [, body = ''] = /-d '(.*)'/.exec(command) ?? [];
    const stop = new AbortController();
    const response = await fetch(gateway.url, { method: 'POST', headers, body, signal: stop.signal });
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      if (text.includes('data: ')) break;
    }
    stop.abort();
    expect(text.trim()).toBe(shown.trim());
  });
});
