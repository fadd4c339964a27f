/**
 * One run of the consistency test: live clients of a gateway while objects, rights, connections, the API server and the gateway change.
 *
 *   start -> steps by the dice … -> everything is mended -> every client catches up, and what it held at each cursor is checked -> steps …
 *
 * A seed fixes the steps. Their timing on the network depends on the machine.
 */
import { join } from 'node:path';
import { expect } from 'vitest';
import { must } from '../../../src/base/must.ts';
import { Dice } from '../../fuzz/dice.ts';
import { eventually } from '../eventually.ts';
import { type RunningGateway, runGateway } from '../gateway.ts';
import { removeDirectory, sharedDirectory } from '../temporary-directory.ts';
import { FollowedList } from './followed-list.ts';
import { FollowedQuery, textOf } from './followed-query.ts';
import { type GatewayProxy, startGatewayProxy } from './gateway-proxy.ts';
import { checkViews, storedObjects } from './history.ts';
import type { Result } from './live-channel.ts';
import { LiveClient } from './live-client.ts';
import { randomList, randomQuery } from './live-questions.ts';
import { randomRight, randomWrites } from './random-steps.ts';
import { tokenOf, type WatchedCluster } from './watched-cluster.ts';
import {
  type Binding,
  bindingCollection,
  bindingManifest,
  collection,
  kinds,
  lineOf,
  maySee,
  namespaces,
  roleManifests,
  type Shown,
  users,
} from './watched-objects.ts';

export interface RunOptions {
  readonly phases: number;
  /** Steps of each phase. */
  readonly steps: number;
  readonly clients: number;
  /** Milliseconds in which clients catch up after everything is mended. */
  readonly patienceMs: number;
}

/** What a run has done. */
export class RunCounts {
  operations = 0;
  /** Comparisons of a client with the API server or with the history of the store. */
  checks = 0;
  unreachable = 0;
  messages = 0;
  results = 0;
  gaps = 0;
  hidden = 0;
}

/** @throws with the steps, for a client that is not consistent. */
export async function runConsistency(
  cluster: WatchedCluster,
  seed: number,
  options: RunOptions,
  counts: RunCounts,
): Promise<void> {
  const run = new ConsistencyRun(cluster, new Dice(seed), options, counts);
  try {
    await run.start();
    for (let phase = 0; phase < options.phases; phase += 1) {
      for (let step = 0; step < options.steps; step += 1) await run.step();
      await run.quiesce();
    }
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nsteps: ${run.done.join('; ')}`, {
      cause: error,
    });
  } finally {
    await run.close();
  }
}

const mostDisturbances = 4;

/** @throws with the lines that are only in one of the lists. */
function requireSame(found: readonly string[], expected: readonly string[], what: string): void {
  const more = found.filter((line) => !expected.includes(line));
  const less = expected.filter((line) => !found.includes(line));
  if (more.length + less.length + Math.abs(found.length - expected.length) === 0) return;
  throw new Error(`${what} has, of ${found.length}, wrongly\n${more.join('\n')}\nand lacks\n${less.join('\n')}`);
}

class ConsistencyRun {
  readonly done: string[] = [];
  readonly #cluster: WatchedCluster;
  readonly #dice: Dice;
  readonly #options: RunOptions;
  readonly #counts: RunCounts;
  readonly #directory = sharedDirectory('consistency');
  readonly #file = join(this.#directory, 'store.db');
  readonly #clients: LiveClient[] = [];
  readonly #broken: unknown[] = [];
  #disturbances = 0;
  #proxy: GatewayProxy | null = null;
  #gateway: RunningGateway | null = null;

  constructor(cluster: WatchedCluster, dice: Dice, options: RunOptions, counts: RunCounts) {
    this.#cluster = cluster;
    this.#dice = dice;
    this.#options = options;
    this.#counts = counts;
  }

  async start(): Promise<void> {
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    for (const manifest of roleManifests) await this.#cluster.create(roles, manifest);
    for (const name of namespaces) {
      await this.#cluster.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await this.#cluster.create(bindingCollection('a'), bindingManifest('alice', 'everything', 'a'));
    for (let count = 0; count < 12; count += 1) await randomRight(this.#cluster, this.#dice);
    await randomWrites(this.#cluster, this.#dice, 30);
    this.#proxy = await startGatewayProxy();
    await this.#startGateway();
    for (let count = 0; count < this.#options.clients; count += 1) this.#addClient();
  }

  async step(): Promise<void> {
    const dice = this.#dice;
    const [name, work] = dice.choose<readonly [string, () => unknown]>([
      [40, () => ['writes', () => randomWrites(this.#cluster, dice, dice.between(1, 6))]],
      [10, () => ['rights', () => randomRight(this.#cluster, dice)]],
      [6, () => ['drop', () => dice.pick(this.#clients).drop()]],
      [5, () => ['cut', () => this.#proxy?.cut(dice.below(this.#proxy.open))]],
      [5, () => ['pause', () => dice.pick(this.#clients).pause()]],
      [5, () => ['resume', () => dice.pick(this.#clients).resume()]],
      [4, () => ['subscribe again', () => dice.pick(this.#clients).subscribeAgain(dice.below(3))]],
      [3, () => ['another client', () => this.#exchangeClient()]],
      [5, () => ['disturb', () => this.#disturb()]],
      [1, () => ['gateway', () => this.#restartGateway()]],
      [1, () => ['large writes', () => this.#largeWrites()]],
    ]);
    this.done.push(name);
    await work();
    this.#counts.operations += 1;
    if (dice.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, dice.below(50)));
    this.#requireNoneBroken();
  }

  /** Mends everything, and checks every client. */
  async quiesce(): Promise<void> {
    this.done.push('quiesce');
    await this.#cluster.calm();
    for (const client of this.#clients) client.resume();
    // Each attempt asks every question, which must not keep the gateway from catching up.
    await eventually(() => this.#requireCaughtUp(), this.#options.patienceMs, 200);
    const views = this.#lists().flatMap((list) => list.views.splice(0));
    const { checked, unreachable } = await checkViews(this.#file, views);
    this.#counts.checks += checked;
    this.#counts.unreachable += unreachable;
    this.#requireNoneBroken();
  }

  async close(): Promise<void> {
    for (const client of [...this.#clients]) this.#removeClient(client);
    await this.#proxy?.close();
    await this.#gateway?.close();
    await this.#cluster.close();
    removeDirectory(this.#directory);
  }

  async #requireCaughtUp(): Promise<void> {
    this.#requireNoneBroken();
    const [objects, bindings] = [await this.#objects(), await this.#bindings()];
    const lines = (of: readonly Shown[]): readonly string[] => of.map((object) => lineOf(object, 'wide')).sort();
    requireSame(lines(await storedObjects(this.#file)), lines(objects), 'the store');
    for (const list of this.#lists()) {
      const { user, question, refusal, held } = list;
      const { kinds: followed, selection, filter } = question;
      const expected = objects
        .filter((object) => followed.includes(must(object.kind, 'a kind')) && question.matches(object))
        .filter((object) => maySee(user, bindings, object))
        .map((object) => lineOf(object, selection));
      requireSame(list.lines, expected.sort(), `${user} with ${JSON.stringify(filter)} of ${followed}, ${refusal}`);
      if (refusal !== 'FORBIDDEN' || expected.length > 0) expect([held.whole, refusal]).toEqual([true, null]);
    }
    for (const query of this.#followed().filter((each) => each instanceof FollowedQuery)) {
      const answer = await this.#ask(query);
      expect(query.newest, `${query.user} ${query.question.query} ${JSON.stringify(query.question.variables)}`).toBe(
        answer,
      );
    }
    this.#counts.checks += this.#followed().length;
  }

  async #ask({ user, question: { query, variables } }: FollowedQuery): Promise<string> {
    const response = await fetch(must(this.#proxy, 'a proxy').url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf(user)}`, connection: 'close' },
      body: JSON.stringify({ query: `query ${query}`, variables }),
    });
    return textOf((await response.json()) as Result);
  }

  async #objects(): Promise<readonly Shown[]> {
    const lists = await Promise.all(
      kinds.map(async (kind) =>
        (await this.#cluster.list(`/api/v1/${kind.toLowerCase()}s`)).map((object) => ({ ...object, kind })),
      ),
    );
    return lists.flat();
  }

  async #bindings(): Promise<readonly Binding[]> {
    const group = '/apis/rbac.authorization.k8s.io/v1';
    const lists = [
      await this.#cluster.list(`${group}/rolebindings`),
      await this.#cluster.list(`${group}/clusterrolebindings`),
    ];
    return lists.flat() as unknown as readonly Binding[];
  }

  #followed(): readonly (FollowedList | FollowedQuery)[] {
    return this.#clients.flatMap(({ options }) => options.followed);
  }

  #lists(): readonly FollowedList[] {
    return this.#followed().filter((each) => each instanceof FollowedList);
  }

  #requireNoneBroken(): void {
    const [error] = this.#broken;
    if (error !== undefined) throw error;
  }

  #addClient(): void {
    const dice = this.#dice;
    const user = dice.pick(users);
    const transport = dice.chance(0.25) ? 'events' : 'websocket';
    const followed = dice.times(transport === 'events' ? 1 : dice.between(1, 3), () =>
      dice.chance(0.75) ? new FollowedList(user, randomList(dice)) : new FollowedQuery(user, randomQuery(dice)),
    );
    const { url } = must(this.#proxy, 'a proxy');
    const broken = (error: unknown): void => void this.#broken.push(error);
    this.#clients.push(new LiveClient({ url, user, token: tokenOf(user), transport, followed, broken }));
  }

  #removeClient(client: LiveClient): void {
    client.stop();
    this.#clients.splice(this.#clients.indexOf(client), 1);
    for (const followed of client.options.followed) {
      if (followed instanceof FollowedQuery) this.#counts.results += followed.results;
      else {
        this.#counts.messages += followed.messages;
        this.#counts.gaps += followed.gaps;
        this.#counts.hidden += followed.hidden;
      }
    }
  }

  #exchangeClient(): void {
    this.#removeClient(this.#dice.pick(this.#clients));
    this.#addClient();
  }

  /** Reflectors wait longer after each failure, so a run has few. */
  async #disturb(): Promise<void> {
    if (this.#disturbances >= mostDisturbances) return;
    this.#disturbances += 1;
    this.done.push(await this.#cluster.disturb(this.#dice));
  }

  async #startGateway(): Promise<void> {
    this.#gateway = await runGateway(
      { name: 'test', kubeconfig: this.#cluster.kubeconfig },
      {
        data: this.#file,
        kinds: [...kinds.map((kind) => `${kind.toLowerCase()}s`), 'namespaces'],
        auth: ['token'],
        authorizationMode: 'rbac',
        changeLogMax: '16Mi',
        readers: '3',
        // On a busy machine a read may take long, which is not what is tested.
        leaseMs: '20000',
      },
    );
    this.#proxy?.target(this.#gateway.url);
  }

  async #restartGateway(): Promise<void> {
    await this.#cluster.calm();
    this.#proxy?.target(null);
    await this.#gateway?.close();
    await randomWrites(this.#cluster, this.#dice, this.#dice.below(10));
    await this.#startGateway();
  }

  /** So many bytes that a connection whose client does not read cannot take them, and that the change log forgets older changes. */
  async #largeWrites(): Promise<void> {
    const dice = this.#dice;
    const path = `${collection('ConfigMap', 'c')}/large`;
    if (!(await this.#cluster.has(path))) {
      const metadata = { name: 'large', namespace: 'c' };
      await this.#cluster.create(collection('ConfigMap', 'c'), { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    }
    for (let count = 0; count < 25; count += 1) {
      const pad = String(dice.below(10)).repeat(800_000);
      await this.#cluster.patch(path, { data: { value: String(count), pad } });
      if (count % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
