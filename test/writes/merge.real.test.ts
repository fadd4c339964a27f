/**
 * The three-way merge is that of Kubernetes: the strategic merge patch from base to edited, applied to the live object, by the Go program
 * test/clients/go/merge (what kubectl edit sends). The schema is the API server's own.
 *
 * A conflict is Portolan's alone: Kubernetes' merge takes the edited value silently. Such triples are counted.
 *
 * PORTOLAN_MERGES is the number of triples (60), PORTOLAN_SEED the first seed (1).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import type { MergeSchema } from '../../src/writes/merge/merge-schema.ts';
import { threeWayMerge } from '../../src/writes/merge/three-way-merge.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { buildGo, missingForGo } from '../kit/go-programs.ts';
import { type Json, mutated, randomDeployment } from '../kit/random-deployment.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const triples = Number(process.env['PORTOLAN_MERGES'] ?? randomRuns(60, 200));
const firstSeed = Number(process.env['PORTOLAN_SEED'] ?? '1');

describeOn([mainServer], 'the merge of edits', { timeout: 600_000 }, (server) => {
  const missing = missingForGo();
  let plane: ControlPlane;
  let schema: MergeSchema;
  let program: ChildProcess;

  beforeAll(async () => {
    if (missing !== null) return;
    plane = await startControlPlane({ server });
    const api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    const document = await api.get<{ components: { schemas: Json } }>('/openapi/v3/apis/apps/v1');
    await api.connection.close();
    const definitions = document.components.schemas;
    schema = { schema: definitions['io.k8s.api.apps.v1.Deployment'] as Json, definitions };
    const path = join(plane.dir, 'go-merge');
    await buildGo('merge', path);
    program = spawn(path, { stdio: ['pipe', 'pipe', 'inherit'] });
  });
  afterAll(async () => {
    program?.kill('SIGKILL');
    await plane?.stop();
  });

  test.skipIf(missing !== null)(`${triples} random triples`, async () => {
    const lines = createInterface({ input: program.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    const tally = { equal: 0, conflicts: 0, merged: 0 };
    for (let seed = firstSeed; seed < firstSeed + triples; seed += 1) {
      const dice = new Dice(seed);
      const base = randomDeployment(dice);
      const [edited, live] = [mutated(dice, base), mutated(dice, base)];
      const { merged, conflicts } = threeWayMerge({ base, edited, live }, schema);
      if (conflicts.length > 0) {
        tally.conflicts += 1;
        continue;
      }
      program.stdin?.write(`${JSON.stringify({ base, edited, live })}\n`);
      const { value } = await lines.next();
      expect([seed, comparable(merged)]).toEqual([seed, comparable(JSON.parse(String(value)))]);
      tally.equal += 1;
      const isMerged = [edited, live].every((each) => JSON.stringify(each) !== JSON.stringify(merged));
      if (isMerged) tally.merged += 1;
    }
    process.stdout.write(`${JSON.stringify({ test: 'merges', triples, ...tally })}\n`);
    expect(tally.merged).toBeGreaterThan(triples / 5);
  });
});

/** Without empty lists and objects, and with lists that have keys in the order of these. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(comparable);
    const isKeyed = items.every((item) => typeof item === 'object' && item !== null && 'name' in item);
    return isKeyed ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]): [string, unknown] => [name, comparable(inner)]);
  const isEmpty = (inner: unknown): boolean =>
    inner === undefined || (typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0);
  return Object.fromEntries(members.filter(([, inner]) => !isEmpty(inner)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
