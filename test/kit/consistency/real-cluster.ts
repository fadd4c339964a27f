/** A real control plane for the consistency test. The gateway reaches it through a proxy that can be cut. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/kube/client/connection.ts';
import { RestClient } from '../../../src/kube/client/rest-client.ts';
import { ApiError } from '../../../src/kube/http/api-error.ts';
import type { Dice } from '../../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { type CutProxy, startCutProxy } from '../cut-proxy.ts';
import type { RealServer } from '../real-servers.ts';
import { tokenUsers, type WatchedCluster } from './watched-cluster.ts';
import type { Shown } from './watched-objects.ts';

export class RealCluster implements WatchedCluster {
  readonly kubeconfig: string;
  readonly #plane: ControlPlane;
  readonly #proxy: CutProxy;
  readonly #api: RestClient;

  private constructor(plane: ControlPlane, proxy: CutProxy, api: RestClient) {
    this.#plane = plane;
    this.#proxy = proxy;
    this.#api = api;
    this.kubeconfig = plane.writeKubeconfig('gateway', { token: plane.token }, proxy.url);
  }

  static async start(server: RealServer): Promise<RealCluster> {
    const plane = await startControlPlane({ server, users: tokenUsers });
    const proxy = await startCutProxy(Number(new URL(plane.server).port));
    return new RealCluster(plane, proxy, new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {} })));
  }

  async create(collection: string, manifest: object): Promise<void> {
    await this.#api.post(collection, manifest);
  }

  async patch(path: string, patch: object): Promise<void> {
    await this.#api.patch(path, 'merge', patch);
  }

  async delete(path: string): Promise<void> {
    await this.#api.delete(path);
  }

  async has(path: string): Promise<boolean> {
    try {
      await this.#api.get(path);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.httpStatus === 404) return false;
      throw error;
    }
  }

  async list(path: string): Promise<readonly Shown[]> {
    return (await this.#api.get<{ readonly items: readonly Shown[] }>(path)).items;
  }

  async disturb(dice: Dice): Promise<string> {
    const [name, happen] = dice.choose<readonly [string, () => Promise<unknown>]>([
      [2, () => ['cut', () => this.#cut(dice.between(10, 500), async () => {})]],
      [2, () => ['compacted', () => this.#cut(100, () => this.#plane.compactEtcd())]],
      [1, () => ['restarted', () => this.#restart(dice.chance(0.5))]],
    ]);
    await happen();
    return name;
  }

  async calm(): Promise<void> {
    await this.#proxy.mend();
  }

  async close(): Promise<void> {
    await this.#api.connection.close();
    await this.#proxy.close();
    await this.#plane.stop();
  }

  async #cut(milliseconds: number, meanwhile: () => Promise<unknown>): Promise<void> {
    this.#proxy.cut();
    await meanwhile();
    await sleep(milliseconds);
    await this.#proxy.mend();
  }

  async #restart(watchCache: boolean): Promise<void> {
    await this.#plane.killApiServer('SIGKILL');
    await this.#plane.startApiServer({ watchCache });
  }
}
