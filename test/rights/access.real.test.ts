/**
 * Decisions of Portolan's index over RBAC objects beside the SubjectAccessReviews of real API servers.
 * PORTOLAN_DECISIONS sets how many are compared on each server.
 */

import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { type AskServer, compareDecisions } from '../kit/rbac-differential.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

const decisions = Number(process.env['PORTOLAN_DECISIONS'] ?? randomRuns(200, 500));

describeOn([mainServer, oldServer], 'decisions of a real API server', { timeout: 1_200_000 }, (server) => {
  let plane: ControlPlane;
  let agent: Agent;

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: server === mainServer });
    agent = new Agent({ connect: { ca: plane.caPem() } });
  }, 180_000);
  afterAll(async () => {
    await agent?.close();
    await plane?.stop();
  }, 60_000);

  const ask: AskServer = async (method, path, body) => {
    const answer = await fetch(`${plane.server}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${plane.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status } = answer;
    const text = await answer.text();
    if (status >= 400 && status !== 404 && status !== 409) throw new Error(`${method} ${path}: ${status} ${text}`);
    return { status, body: JSON.parse(text) };
  };

  test('are those of the index over its roles and bindings', async () => {
    const { allowed, mismatches, decisions: compared } = await compareDecisions(ask, decisions, 17);
    process.stdout.write(
      `${JSON.stringify({ server: server.name, decisions: compared, allowed, mismatches: mismatches.length })}\n`,
    );
    expect(mismatches).toEqual([]);
    // Neither all allowed nor all refused: the requests meet the rules.
    expect(allowed).toBeGreaterThan(compared / 20);
    expect(allowed).toBeLessThan(compared * 0.8);
  });
});
