import { afterEach, beforeEach, expect, test } from 'vitest';
import { at, type JsonObject } from '../objects/json.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';

// Without controllers: nothing counts the budget but these tests.
let cluster: SimCluster;
beforeEach(async () => {
  cluster = await startSimCluster();
});
afterEach(() => cluster.close());

const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/budget';
const pod = '/api/v1/namespaces/default/pods/pod';
const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

function makeBoth(status?: JsonObject): void {
  cluster.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', labels: { app: 'a' } },
    spec: { containers: [{ name: 'c', image: 'example/c:1' }] },
  });
  cluster.patch(`${pod}/status`, { status: running });
  cluster.create({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'budget' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
  });
  if (status) cluster.patch(`${budget}/status`, { status: { observedGeneration: 1, ...status } });
}

const evict = (): Promise<Response> =>
  fetch(`${cluster.url}${pod}/eviction`, {
    method: 'POST',
    body: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'pod' } }),
    headers: { 'content-type': 'application/json' },
  });
const causesOf = async (response: Response): Promise<unknown> => at(await response.json(), 'details', 'causes');

test('a budget that nobody counted yet forbids an eviction, and says when to ask again', async () => {
  makeBoth();
  const refused = await evict();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect(await causesOf(refused)).toEqual([
    { reason: 'DisruptionBudget', message: 'The disruption budget budget is still being processed by the server.' },
  ]);
});

const condition = { type: 'DisruptionAllowed', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
test.each([
  ['needs 2 healthy pods and has 1 currently', { desiredHealthy: 2, currentHealthy: 1 }],
  ['does not allow evicting pods currently', { desiredHealthy: 1, currentHealthy: 2 }],
  [
    'does not allow evicting pods currently (InsufficientPods): why',
    {
      desiredHealthy: 1,
      currentHealthy: 2,
      conditions: [{ ...condition, reason: 'InsufficientPods', message: 'why' }],
    },
  ],
  [
    'does not allow evicting pods currently because it failed sync: why',
    { desiredHealthy: 2, currentHealthy: 1, conditions: [{ ...condition, reason: 'SyncFailed', message: 'why' }] },
  ],
])('a budget %s', async (words, status) => {
  makeBoth({ disruptionsAllowed: 0, expectedPods: 2, ...status });
  const refused = await evict();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
  expect(await causesOf(refused)).toEqual([
    { reason: 'DisruptionBudget', message: `The disruption budget budget ${words}` },
  ]);
});

test('an eviction that a budget allows is counted in its status until the controller counts', async () => {
  makeBoth({ disruptionsAllowed: 1, desiredHealthy: 1, currentHealthy: 2, expectedPods: 2 });
  expect((await evict()).status).toBe(201);
  expect(cluster.get(pod)).toBeUndefined();
  expect(cluster.get(budget)?.status).toMatchObject({
    disruptionsAllowed: 0,
    disruptedPods: { pod: expect.any(String) },
    conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
  });
});

test('a budget whose disruptions nobody counts any more forbids every eviction', async () => {
  const disruptedPods = Object.fromEntries(
    Array.from({ length: 2001 }, (_item, index) => [`pod-${index}`, '2026-01-01T00:00:00Z']),
  );
  makeBoth({ disruptionsAllowed: 5, desiredHealthy: 1, currentHealthy: 2, expectedPods: 2, disruptedPods });
  const refused = await evict();
  expect(refused.status).toBe(403);
  expect(await causesOf(refused)).toMatchObject([{ reason: 'DisruptionBudget' }]);
});
