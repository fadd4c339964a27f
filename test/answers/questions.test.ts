/** Runs every query of docs/questions.md on the demo world and, where there is one, on a real cluster. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const page = readFileSync(new URL('../../docs/questions.md', import.meta.url), 'utf8');
const questions = [...page.matchAll(/^### (.+)\n\n```graphql\n([\s\S]*?)```$/gm)].map(
  ([, question = '', query = '']) => [question, query] as const,
);
/** Kinds of metrics-server, which neither cluster has: test/monitoring/metrics.real.test.ts asks about them. */
const metrics = /\bmetricsK8sIo/;

test('the page has its questions', () => {
  expect(questions.length).toBeGreaterThan(18);
  expect(page.match(/```graphql/g)).toHaveLength(questions.length);
});

async function expectAnswer(gateway: { readonly url: string }, query: string): Promise<void> {
  const { data, errors } = await ask(gateway.url, query);
  expect(errors).toBeUndefined();
  expect(data).not.toBeNull();
}

describe('on the demo world', () => {
  const gateway = demoGateway({ pods: 200, churn: false });

  test.each(questions.filter(([, query]) => !metrics.test(query)))('%s', async (_question, query) => {
    await expectAnswer(gateway, query);
  });
});

describeOn([mainServer], 'on a real cluster', { timeout: 120_000 }, () => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    plane = await startControlPlane();
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath });
    await eventually(async () => expect((await fetch(gateway.url.replace('/graphql', '/readyz'))).status).toBe(200));
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  test.each(questions.filter(([, query]) => !metrics.test(query)))('%s', async (_question, query) => {
    await expectAnswer(gateway, query);
  });
});
