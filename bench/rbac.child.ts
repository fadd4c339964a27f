/**
 * The gateway of bench/rbac.ts: rights by roles and bindings, callers by tokens.
 *
 *   argv: store file, JSON of the world -> message: { url } -> orders, each answered -> disconnect
 */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { Caller } from '../src/access/caller.ts';
import { rightsOf } from '../src/access/rights.ts';
import { createAuthenticate } from '../src/auth/identity/authenticator.ts';
import { TokenReviews } from '../src/auth/identity/token-reviews.ts';
import { StoredRights } from '../src/auth/rights/stored-rights.ts';
import { systemClock } from '../src/base/clock.ts';
import { silentLogger } from '../src/base/log.ts';
import { must } from '../src/base/must.ts';
import { liveList } from '../src/live/list/live-list.ts';
import { userOf } from '../test/kit/user.ts';
import { callerOf, nameOf, type RbacWorld, subscribed, subscribers } from './rbac.world.ts';
import type { RbacAnswer, RbacOrder } from './rbac.writer.ts';
import { serveStore } from './support/serve-store.ts';

/** `changes`: the cost of changes of one caller's bindings. `callers`: memory for all callers. `revoke`: a revocation under subscribers. */
export type RbacQuestion =
  | { readonly ask: 'changes'; readonly times: number; readonly namespaces: number }
  | { readonly ask: 'callers' }
  | { readonly ask: 'revoke'; readonly subscribers: number };

export interface RbacFigures {
  /** Milliseconds of this thread for a change, until the caller's scopes are known again. */
  readonly changeMs?: readonly number[];
  /** Heap that the rights of all callers take. */
  readonly callersMb?: number;
  /** From the commit of a revocation until the first and the last subscriber have it. */
  readonly firstMs?: number;
  readonly lastMs?: number;
}

const [file = '', given = '{}'] = process.argv.slice(2);
const world = JSON.parse(given) as RbacWorld;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const writer = new Worker(new URL('./rbac.writer.ts', import.meta.url), { workerData: { file, world } });
await once(writer, 'message');

const tokens = new TokenReviews({
  // The token of a caller is its name.
  client: {
    async post<T>(_path: string, body: unknown): Promise<T> {
      const { token } = (body as { readonly spec: { readonly token: string } }).spec;
      return { status: { authenticated: true, user: { username: token, groups: ['system:authenticated'] } } } as T;
    },
  },
  audiences: [],
  clock: systemClock,
  log: silentLogger,
});
let changed = (): void => {};
const served = await serveStore(file, {
  prepared: true,
  authenticate: createAuthenticate({ tokens: (token) => tokens.callerOf(token), proxies: null, certificates: false }),
  rightsOver: (reader) =>
    new StoredRights({
      reader,
      clock: systemClock,
      log: silentLogger,
      clusters: ['bench'],
      served: 1,
      changed: () => changed(),
    }),
});
const { engine } = served;
const rights = served.rights as StoredRights;
changed = () => engine.interrupt();
await rights.refresh();

async function order(of: RbacOrder): Promise<void> {
  writer.postMessage(of);
  const [answer] = (await once(writer, 'message')) as [Exclude<RbacAnswer, 'filled'>];
  rights.wake(answer.committed);
  engine.wake(answer.committed);
}

const caller = (user: string, groups: readonly string[] = []): Caller => ({
  name: user,
  user: userOf(user, groups),
  validUntil: null,
});

async function changes(times: number, namespaces: number): Promise<readonly number[]> {
  const user = nameOf(namespaces);
  const found: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    // The binding is deleted, and the next turn writes it again.
    await order({ bind: turn % 2 === 1, namespace: 'ns-0', name: user, kind: 'User' });
    const began = performance.now();
    await rights.refresh();
    must(rights.now(caller(user)), 'the rights are known').of('pods');
    found.push(performance.now() - began);
  }
  return found;
}

function callers(): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: world.callers }, (_, index) => {
    const scopes = must(rights.now(caller(callerOf(index))), 'the rights are known');
    scopes.of('pods');
    scopes.of('deployments.apps');
    return scopes;
  });
  collectGarbage();
  const after = process.memoryUsage().heapUsed;
  return kept.length === world.callers ? (after - before) / 1e6 : Number.NaN;
}

async function revoke(count: number): Promise<RbacFigures> {
  const kind = must(engine.source.generation().kind('pods'), 'the kind of Pods');
  const stops: AbortController[] = [];
  const first = Promise.withResolvers<number>();
  const removals = Array.from({ length: count }, async (_, index) => {
    // One for each, as each request of a client has its own.
    const stop = new AbortController();
    stops.push(stop);
    const list = liveList(engine.source.feed, {
      kind: { key: 'pods', tree: kind.tree },
      filter: { kind: 'and', of: [] },
      rights: rightsOf(rights, caller(`subscriber-${index}`, [subscribers])),
      clusters: null,
      start: { at: 'snapshot' },
      projection: {},
      signal: stop.signal,
      chunk: 500,
      now: () => Date.now(),
      check: () => {},
    });
    for await (const { phase, changes: found } of list) {
      if (phase === 'SYNCED') ready();
      if (phase !== 'LIVE' || found.length === 0) continue;
      const at = performance.now();
      first.resolve(at);
      return at;
    }
    throw new Error('the subscription ended without a removal');
  });
  let waiting = count;
  const all = Promise.withResolvers<void>();
  function ready(): void {
    waiting -= 1;
    if (waiting === 0) all.resolve();
  }
  await all.promise;
  // Until all of them wait for changes.
  await setTimeout(1000);
  const began = performance.now();
  await order({ bind: false, namespace: subscribed, name: subscribers, kind: 'Group' });
  const times = await Promise.all(removals);
  for (const stop of stops) stop.abort();
  return { firstMs: (await first.promise) - began, lastMs: Math.max(...times) - began };
}

process.on('message', async (question: RbacQuestion) => {
  const figures: RbacFigures =
    question.ask === 'changes'
      ? { changeMs: await changes(question.times, question.namespaces) }
      : question.ask === 'callers'
        ? { callersMb: callers() }
        : await revoke(question.subscribers);
  process.send?.(figures);
});
process.once('disconnect', async () => {
  rights.close();
  await served.close();
  writer.postMessage('close');
});
process.send?.({ url: served.url });
