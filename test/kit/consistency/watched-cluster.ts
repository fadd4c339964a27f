/** The API server of the consistency test: its objects, and what goes wrong with it. */

import type { SimOptions } from '../../../sim/sim-cluster.ts';
import { must } from '../../../src/base/must.ts';
import type { Dice } from '../../fuzz/dice.ts';
import type { FaultSwitches } from '../faults/faults.ts';
import { type FaultyCluster, startFaultyCluster } from '../faults/faulty-cluster.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kubeconfig-file.ts';
import { seededRandom } from '../seeded-random.ts';
import { kinds, type Shown, users } from './watched-objects.ts';

export interface WatchedCluster {
  /** The path of a kubeconfig that may do everything. */
  readonly kubeconfig: string;
  create(collection: string, manifest: object): Promise<void>;
  patch(path: string, patch: object): Promise<void>;
  delete(path: string): Promise<void>;
  has(path: string): Promise<boolean>;
  /** The objects of a kind or of bindings in all namespaces. @param path of the collection, without a namespace */
  list(path: string): Promise<readonly Shown[]>;
  /** Makes something go wrong, which ends by itself or with `calm`. Returns its name. */
  disturb(dice: Dice): Promise<string>;
  calm(): Promise<void>;
  close(): Promise<void>;
}

export function tokenOf(user: string): string {
  return `token-of-${user}`;
}

export const tokenUsers = users.map((user) => ({
  token: tokenOf(user),
  user,
  groups: user === 'admin' ? ['system:masters'] : [],
}));

/**
 * The simulated cluster, which can be restarted. It is never put back to an earlier state: writes may then reach the revision that the
 * gateway knows before it connects again, and no client of an API server can tell the two histories apart.
 */
export class SimulatedCluster implements WatchedCluster {
  readonly #folder: KubeconfigFolder = kubeconfigFolder();
  #sim: FaultyCluster;
  #starts = 1;
  readonly kubeconfig: string;

  private constructor(sim: FaultyCluster) {
    this.#sim = sim;
    this.kubeconfig = this.#folder.file('config', sim.kubeconfig());
  }

  static async start(): Promise<SimulatedCluster> {
    return new SimulatedCluster(await startFaultyCluster(simulated(0, 1)));
  }

  async create(_collection: string, manifest: object): Promise<void> {
    this.#sim.create(manifest as Parameters<FaultyCluster['create']>[0]);
  }

  async patch(path: string, patch: object): Promise<void> {
    this.#sim.patch(path, patch);
  }

  async delete(path: string): Promise<void> {
    this.#sim.delete(path);
  }

  async has(path: string): Promise<boolean> {
    return this.#sim.get(path) !== undefined;
  }

  async list(path: string): Promise<readonly Shown[]> {
    return this.#sim.list(path) as unknown as readonly Shown[];
  }

  async disturb(dice: Dice): Promise<string> {
    const [name, happen] = dice.choose<readonly [string, () => unknown]>([
      [3, () => ['watches dropped', () => this.#sim.dropWatches()]],
      [3, () => ['compacted', () => this.#relist()]],
      [4, () => faultOf(dice, (switches) => this.#sim.faults.set(switches))],
      [2, () => ['unavailable', () => this.#unavailable(dice.between(10, 150))]],
      [2, () => ['restarted', () => this.#restart()]],
    ]);
    await happen();
    return name;
  }

  async calm(): Promise<void> {
    this.#sim.faults.clear();
    this.#sim.setAvailable(true);
  }

  async close(): Promise<void> {
    await this.#sim.close();
    this.#folder.remove();
  }

  #relist(): void {
    this.#sim.compact();
    this.#sim.dropWatches();
  }

  async #unavailable(milliseconds: number): Promise<void> {
    this.#sim.setAvailable(false);
    this.#sim.dropWatches();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    this.#sim.setAvailable(true);
  }

  async #restart(): Promise<void> {
    const backup = this.#sim.save();
    const port = Number(new URL(this.#sim.url).port);
    await this.#sim.close();
    this.#starts += 1;
    this.#sim = await startFaultyCluster(simulated(port, this.#starts));
    this.#sim.restore(backup);
  }
}

/** @param start differs for each start, so that uids never come again. */
function simulated(port: number, start: number): SimOptions {
  return { port, random: seededRandom(start), features: { users: tokenUsers, bookmarkMs: 200 } };
}

function faultOf(dice: Dice, set: (switches: FaultSwitches) => void): readonly [string, () => void] {
  const resource = `${dice.pick(kinds).toLowerCase()}s`;
  const aim = { resource, times: dice.between(1, 2) };
  const event = dice.between(1, 4);
  const switches = must(
    dice.pick<FaultSwitches>([
      { F1: { ...aim, event } },
      { F2: { ...aim, event } },
      { F3: aim },
      { F5: aim },
      { F6: aim },
      { F7: { ...aim, event } },
      { F8: aim },
      { F12: { ...aim, form: dice.pick(['cut', 'length', 'chunk'] as const) } },
      { F29: aim },
      { F35: aim },
      { F47: { ...aim, form: 'absent' } },
    ]),
    'a fault',
  );
  return [JSON.stringify(switches), () => set(switches)];
}
