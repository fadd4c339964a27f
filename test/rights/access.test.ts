/** Decisions of Portolan's index over RBAC objects beside the SubjectAccessReviews of the simulated cluster. */
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { type AskServer, compareDecisions } from '../kit/rbac-differential.ts';

test('decisions of the simulated cluster are those of the index over its roles and bindings', {
  timeout: 120_000,
}, async () => {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const ask: AskServer = async (method, path, body) => {
    const answer = await fetch(`${sim.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status } = answer;
    const text = await answer.text();
    if (status >= 400 && status !== 404 && status !== 409) throw new Error(`${method} ${path}: ${status} ${text}`);
    return { status, body: JSON.parse(text) };
  };
  const { allowed, mismatches, decisions } = await compareDecisions(ask, 2000, 18);
  expect(mismatches).toEqual([]);
  expect(allowed).toBeGreaterThan(decisions / 10);
  expect(allowed).toBeLessThan(decisions * 0.8);
});

test('the simulated cluster authorizes a list of one object by its name', async () => {
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['x'] }];
  const sim = await startSimCluster({ features: { users: [{ token: 't', user: 'alice', groups: [] }] } });
  onTestFinished(() => sim.close());
  const role = { kind: 'ClusterRole', name: 'one-pod' };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  sim.create({ apiVersion, kind: 'ClusterRole', metadata: { name: 'one-pod' }, rules });
  sim.create({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'alice' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  const statusOf = async (selector: string): Promise<number> => {
    const url = `${sim.url}/api/v1/namespaces/default/pods?fieldSelector=${encodeURIComponent(selector)}`;
    return (await fetch(url, { headers: { authorization: 'Bearer t' } })).status;
  };
  expect(await statusOf('metadata.name=x')).toBe(200);
  expect(await statusOf('status.phase=Running,metadata.name==x')).toBe(200);
  expect(await statusOf('metadata.name=y')).toBe(403);
  expect(await statusOf('metadata.name!=x')).toBe(403);
  expect(await statusOf('')).toBe(403);
});
