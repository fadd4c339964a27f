/** Runs every query of docs/questions.md on the demo world and, where there is one, on a real cluster. Mutations need the demo world. */
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
const mutations = questions.filter(([, query]) => query.startsWith('mutation'));
const queries = questions.filter(([, query]) => !query.startsWith('mutation'));
/** Kinds of metrics-server, which neither cluster has: test/monitoring/metrics.real.test.ts asks about them. */
const metrics = /\bmetricsK8sIo/;

test('the page has its questions', () => {
  expect(queries.length).toBeGreaterThan(18);
  expect(mutations.length).toBeGreaterThan(6);
  expect(page.match(/```graphql/g)).toHaveLength(questions.length);
});

interface Plan {
  readonly planId: string | null;
  readonly items: readonly { readonly errors: readonly { readonly code: string }[] }[];
}

async function expectAnswer(gateway: { readonly url: string }, query: string): Promise<void> {
  const { data, errors } = await ask(gateway.url, query);
  expect(errors).toBeUndefined();
  expect(data).not.toBeNull();
}

describe('on the demo world', () => {
  const gateway = demoGateway({ pods: 200, churn: false }, { readOnly: 'false' });

  test.each(queries.filter(([, query]) => !metrics.test(query)))('%s', async (_question, query) => {
    await expectAnswer(gateway, query);
  });

  test.each(mutations)('%s', async (_question, mutation) => {
    const authorization = `Bearer ${new URL(gateway.page).hash.replace('#token=', '')}`;
    const { data, errors } = await ask<Record<string, Plan>>(gateway.url, mutation, {}, { authorization });
    expect(errors).toBeUndefined();
    const [plan] = Object.values(data ?? {});
    // Only a dry run has an id of a plan.
    expect(plan?.planId).toEqual(expect.any(String));
    const codes = plan?.items.flatMap((item) => item.errors.map(({ code }) => code));
    expect(codes).toEqual(mutation.includes('FieldConflict') ? ['FIELD_CONFLICT'] : []);
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

  test.each(queries.filter(([, query]) => !metrics.test(query)))('%s', async (_question, query) => {
    await expectAnswer(gateway, query);
  });
});
