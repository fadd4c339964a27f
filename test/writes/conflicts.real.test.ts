/**
 * Conflicts of server-side apply are those that kubectl tells, on real API servers.
 *
 *   twins in two namespaces, with the same random applies by the same managers: one by kubectl, one by a mutation
 *   compared: success or conflict, the managers and fields of the conflicts, and who owns what in the end
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import type { WrittenItem } from '../kit/writes-suite.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';

const rounds = Number(process.env['PORTOLAN_CONFLICTS'] ?? randomRuns(6, 20));
const firstSeed = Number(process.env['PORTOLAN_SEED'] ?? '1');
const twins = { kubectl: 'by-kubectl', mutation: 'by-mutation' };
const managers = ['deployer', 'scaler', 'a "quoted" one', 'Argo/CD:1', 'back\\slash'];

interface Outcome {
  /** `manager path`, sorted; null for a success. */
  readonly conflicts: readonly string[] | null;
}

interface Managed {
  readonly metadata: { readonly managedFields?: readonly Record<string, unknown>[] };
  readonly [member: string]: unknown;
}

describeOn(
  [mainServer, oldServer],
  'conflicts of server-side apply',
  { timeout: 1_200_000, needs: ['kubectl'] },
  (server) => {
    let plane: ControlPlane;
    let api: RestClient;
    let gateway: WritingGateway;

    beforeAll(async () => {
      plane = await startControlPlane({ server });
      api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
      for (const name of Object.values(twins)) await api.post('/api/v1/namespaces', { metadata: { name } });
      gateway = await WritingGateway.start(plane.kubeconfigPath);
    });
    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await plane?.stop();
    });

    async function byKubectl(manifest: object, manager: string, force: boolean): Promise<Outcome> {
      const flags = ['--server-side', `--field-manager=${manager}`, `--force-conflicts=${force}`];
      try {
        await plane.kubectl(['apply', ...flags, '-f', '-'], JSON.stringify(manifest));
        return { conflicts: null };
      } catch (error) {
        return { conflicts: conflictsIn(String(error)) };
      }
    }

    async function byMutation(manifest: object, manager: string, force: boolean): Promise<Outcome> {
      const options = { fieldManager: manager };
      const { items } = await gateway.write('apply', { docs: [{ json: manifest }], force, options });
      const { errors, result } = items[0] as WrittenItem;
      if (errors.length === 0) return { conflicts: null };
      expect([result, errors.map(({ code }) => code)]).toEqual(['NONE', ['FIELD_CONFLICT']]);
      const conflicts = errors[0]?.conflicts ?? [];
      return { conflicts: conflicts.map(({ manager: owner, path }) => `${owner} ${path}`).toSorted() };
    }

    test('both succeed, or tell the same managers and fields', async () => {
      let conflicts = 0;
      for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
        const dice = new Dice(seed);
        const isDeployment = dice.chance(0.5);
        const name = `twin-${seed}`;
        for (let step = 0; step < 3; step += 1) {
          const manager = dice.pick(managers);
          const force = step > 0 && dice.chance(0.2);
          const body = isDeployment ? deploymentOf(dice) : configMapOf(dice);
          const outcomes: Outcome[] = [];
          for (const [namespace, apply] of [
            [twins.kubectl, byKubectl],
            [twins.mutation, byMutation],
          ] as const) {
            const { metadata, ...rest } = body;
            outcomes.push(await apply({ ...rest, metadata: { ...metadata, name, namespace } }, manager, force));
          }
          expect([seed, step, outcomes[1]]).toEqual([seed, step, outcomes[0]]);
          conflicts += outcomes[0]?.conflicts === null ? 0 : 1;
          if (!dice.chance(0.4)) continue;
          // Another way of writing owns fields as well.
          const patch = isDeployment
            ? { spec: { replicas: dice.below(4) } }
            : { data: { [dice.pick(keys)]: `${dice.below(3)}` } };
          for (const namespace of Object.values(twins)) {
            await api.patch(pathOf(isDeployment, namespace, name), 'merge', patch, {
              query: { fieldManager: 'editor' },
            });
          }
        }
        const [one, other] = await Promise.all(
          Object.values(twins).map((namespace) => api.get<Managed>(pathOf(isDeployment, namespace, name))),
        );
        expect([seed, comparable(other as Managed)]).toEqual([seed, comparable(one as Managed)]);
      }
      expect(conflicts).toBeGreaterThan(0);
    });
  },
);

const keys = ['a', 'b', 'c', 'd.e', 'f-g'];

function pathOf(isDeployment: boolean, namespace: string, name: string): string {
  return isDeployment
    ? `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`
    : `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

/** What the twins have in common: values, and owners without times. */
function comparable({ metadata: { managedFields = [] }, ...rest }: Managed) {
  const owners = managedFields.map(({ time: _time, ...entry }) => JSON.stringify(entry)).toSorted();
  return { ...rest, owners };
}

/**
 * The conflicts that kubectl tells, sorted.
 *
 *   Apply failed with 1 conflict: conflict with "a" using apps/v1: .spec.replicas
 *   Apply failed with 2 conflicts: conflicts with "a" using apps/v1:
 *   - .spec.replicas
 *   - .metadata.labels.app
 */
function conflictsIn(message: string): readonly string[] {
  const parts = message.split(/conflicts? with (?=")/).slice(1);
  return parts
    .flatMap((part) => {
      const [quoted = '""'] = /^"(?:[^"\\]|\\.)*"/.exec(part) ?? [];
      const manager = JSON.parse(quoted) as string;
      return [...part.slice(quoted.length).matchAll(/(?:^- |: )(\..*)$/gm)].map(([, path]) => `${manager} ${path}`);
    })
    .toSorted();
}

function configMapOf(dice: Dice) {
  const data = Object.fromEntries(dice.sample(keys, 3).map((key) => [key, `${dice.below(3)}`]));
  const labels = dice.chance(0.5) ? { labels: { tier: dice.pick(['front', 'back']) } } : {};
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...labels }, data };
}

function deploymentOf(dice: Dice) {
  const labels = { app: 'app' };
  const env = dice.sample(['A', 'B', 'C'], 2).map((name) => ({ name, value: `${dice.below(3)}` }));
  const ports = dice
    .sample([80, 81], 2)
    .map((containerPort) => ({ containerPort, protocol: dice.pick(['TCP', 'UDP']) }));
  const container = { name: 'app', image: `registry.example/app:${dice.below(2)}`, env, ports };
  const replicas = dice.chance(0.6) ? { replicas: dice.below(4) } : {};
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: dice.chance(0.5) ? { annotations: { note: `${dice.below(2)}` } } : {},
    spec: {
      ...replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}
