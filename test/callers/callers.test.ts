/** Callers of a gateway over the simulated cluster see what its API server lets them read. */
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { type AskAs, compareCallers, prepareCallerWorld, tokenCallers } from '../kit/caller-differential.ts';
import { runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const admin = 'token-of-admin';

test.each(['rbac', 'auto'])(
  'callers see what the API server lets them read, in the mode %s',
  { timeout: 240_000 },
  async (mode) => {
    const masters = { token: admin, user: 'admin', groups: ['system:masters'] };
    const sim = await startSimCluster({ features: { users: [masters, ...tokenCallers] } });
    onTestFinished(() => sim.close());
    const ask: AskAs = async (token, method, path, body) => {
      const answer = await fetch(`${sim.url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return { status: answer.status, body: JSON.parse(text) };
    };
    await prepareCallerWorld(ask, admin);
    const folder = kubeconfigFolder();
    onTestFinished(() => folder.remove());
    const kubeconfig = folder.file('config', sim.kubeconfig());
    const gateway = await runGateway({ name: 'east', kubeconfig }, { auth: ['token'], authorizationMode: mode });
    onTestFinished(() => gateway.close());
    const world = { ask, admin, gateway: gateway.url, callers: tokenCallers };
    const { compared, partial, mismatches } = await compareCallers(world, 6, 1711);
    expect(mismatches).toEqual([]);
    expect(partial).toBeGreaterThan(compared / 20);
  },
);
