/**
 * Abstract kinds over three real clusters beside an oracle in Python, which knows Portolan by its documentation alone.
 * PORTOLAN_ORACLE_LISTS sets how many random lists are compared, and PORTOLAN_SEED what is random.
 *
 * The life of a run: three API servers -> main.py prepare (kinds, objects, the file of abstract kinds) -> `portolan serve` -> main.py
 * compare, which changes objects, rights and the file, and asks as five callers.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type ControlPlane, startControlPlane, type TokenUser } from '../kit/control-plane.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const lists = Number(process.env['PORTOLAN_ORACLE_LISTS'] ?? randomRuns(50, 150));
const seed = Number(process.env['PORTOLAN_SEED'] ?? '17');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const program = fileURLToPath(new URL('main.py', import.meta.url));

// One name begins another, and goes on with a character before the slash: an order by names joined with others would differ.
const names = ['east', 'east-2', 'west'];
const users: readonly TokenUser[] = [
  { token: 'token-of-ann', user: 'ann', groups: ['devs'] },
  { token: 'token-of-bob', user: 'bob', groups: [] },
  { token: 'token-of-cat', user: 'cat', groups: ['devs', 'ops'] },
  { token: 'token-of-dan', user: 'dan', groups: ['ops'] },
];

describeOn(
  [mainServer],
  hasPython ? 'an oracle in Python' : 'an oracle in Python, which is not installed',
  { timeout: 3_600_000, needs: ['kubectl'] },
  () => {
    let planes: readonly ControlPlane[] = [];
    let gateway: GatewayProcess | undefined;

    beforeAll(async () => {
      if (!hasPython) return;
      // The first says who callers are.
      planes = await Promise.all(names.map((_, index) => startControlPlane(index === 0 ? { users } : {})));
    }, 240_000);
    afterAll(async () => {
      await gateway?.close();
      for (const plane of planes) await plane.stop();
    }, 60_000);

    /** Runs the oracle, and gives what it printed on standard output. */
    async function oracle(command: 'prepare' | 'compare', world: string): Promise<string> {
      const child = spawn('python3', ['-B', program, command, world], { stdio: ['ignore', 'pipe', 'pipe'] });
      child.stderr.pipe(process.stderr, { end: false });
      const [[code], out, complaints] = await Promise.all([
        once(child, 'exit'),
        text(child.stdout),
        text(child.stderr),
      ]);
      expect(`${code} ${complaints}`).toBe('0 ');
      return out;
    }

    test.skipIf(!hasPython)('has the same rows, pages, counts, groups and sums', async () => {
      const { dir } = must(planes[0], 'a control plane was started');
      const clusters = planes.map((plane, index) => ({
        name: names[index],
        server: plane.server,
        ca: join(plane.dir, 'apiserver.crt'),
        token: plane.token,
        kubeconfig: plane.kubeconfigPath,
      }));
      const [kubeconfig, world] = [join(dir, 'clusters.yaml'), join(dir, 'world.json')];
      const abstractKinds = join(dir, 'abstract-kinds.yaml');
      writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(clusters)), { mode: 0o600 });
      const admin = { token: clusters[0]?.token, user: 'admin', groups: ['system:masters'], administrator: true };
      const described = {
        seed,
        lists,
        clusters,
        kubectl: mainServer.assets.path('kubectl'),
        abstractKinds,
        users: [admin, ...users.map((user) => ({ ...user, administrator: false }))],
      };
      writeFileSync(world, JSON.stringify(described), { mode: 0o600 });
      await oracle('prepare', world);
      gateway = await startGatewayProcess([
        ...['--kubeconfig', kubeconfig, ...names.flatMap((name) => ['--context', name])],
        ...['--auth', 'token', '--auth-cluster', 'east', '--same-users', '--abstract-kinds', abstractKinds],
      ]);
      writeFileSync(world, JSON.stringify({ ...described, gateway: gateway.url }), { mode: 0o600 });
      const printed = await oracle('compare', world);
      process.stdout.write(printed);
      const { mismatches, late, lists: compared, partial } = JSON.parse(printed);
      expect({ mismatches, late, compared }).toEqual({ mismatches: 0, late: 0, compared: lists });
      // Rights cut lists, and do not only hide or show them whole.
      expect(partial).toBeGreaterThan(lists / 20);
      const complaints = gateway.log.filter(({ level, msg }) => level >= 40 && /abstract/.test(msg));
      expect(complaints).toEqual([]);
    });
  },
);

interface NamedCluster {
  readonly name: string | undefined;
  readonly server: string;
  readonly ca: string;
  readonly token: string;
}

/** One file with a context of each cluster, as an operator has it. */
function kubeconfigOf(clusters: readonly NamedCluster[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': clusters[0]?.name,
    clusters: clusters.map(({ name, server, ca }) => ({
      name,
      cluster: { server, 'certificate-authority-data': readFileSync(ca).toString('base64') },
    })),
    users: clusters.map(({ name, token }) => ({ name, user: { token } })),
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  };
}
