/**
 * Callers of a gateway over real API servers see what the API server lets them read: users with tokens, and a service account with the
 * token of `kubectl create token`.
 */
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AskAs,
  compareCallers,
  prepareCallerWorld,
  type TokenCaller,
  tokenCallers,
} from './kit/caller-differential.ts';
import { type ControlPlane, startControlPlane } from './kit/control-plane.ts';
import { type RunningGateway, runGateway } from './kit/gateway.ts';
import { describeOn, mainServer, oldServer } from './kit/real-servers.ts';

const rounds = Number(process.env['PORTOLAN_CALLER_ROUNDS'] ?? '3');

describeOn([mainServer, oldServer], 'callers of a real cluster', { timeout: 600_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;
  let agent: Agent;
  let robot: TokenCaller;

  const ask: AskAs = async (token, method, path, body) => {
    const answer = await fetch(`${plane.server}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return { status: answer.status, body: JSON.parse(text) };
  };

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true });
    plane.setTokens(tokenCallers);
    await plane.killApiServer('SIGTERM');
    await plane.startApiServer();
    agent = new Agent({ connect: { ca: plane.caPem() } });
    await prepareCallerWorld(ask, plane.token);
    await plane.kubectl(['create', 'serviceaccount', 'robot', '--namespace', 'rbac-a']);
    robot = {
      token: await tokenOfRobot(),
      user: 'system:serviceaccount:rbac-a:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:rbac-a'],
    };
    gateway = await runGateway({ name: 'east', kubeconfig: plane.kubeconfigPath }, { auth: ['token'] });
  }, 240_000);
  afterAll(async () => {
    await gateway?.close();
    await agent?.close();
    await plane?.stop();
  }, 60_000);

  /** `kubectl create token` asks for it in the same way; kubectl 1.20 does not have that command. */
  async function tokenOfRobot(): Promise<string> {
    const path = '/api/v1/namespaces/rbac-a/serviceaccounts/robot/token';
    const { body } = await ask(plane.token, 'POST', path, { spec: { audiences: [] } });
    return (body as { readonly status: { readonly token: string } }).status.token;
  }

  test('see what the API server lets them read', async () => {
    const callers = [...tokenCallers, robot];
    const world = { ask, admin: plane.token, gateway: gateway.url, callers };
    const { compared, partial, mismatches } = await compareCallers(world, rounds, 1712);
    process.stdout.write(
      `${JSON.stringify({ server: server.name, compared, partial, mismatches: mismatches.length })}\n`,
    );
    expect(mismatches).toEqual([]);
    expect(partial).toBeGreaterThan(compared / 20);
  });
});
