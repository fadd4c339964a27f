/**
 * Subscriptions while the rights of their callers change: a client that applies the messages has exactly the objects that its caller may
 * see, and gets no object that was hidden at the time of the message and since.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { rightsOf } from '../../src/access/rights.ts';
import { StoredRights } from '../../src/auth/rights/stored-rights.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { liveList } from '../../src/live/list/live-list.ts';
import { decodeLiveCursor, nowhere } from '../../src/live/log/live-cursor.ts';
import { made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { LiveClient } from '../kit/live-client.ts';
import { colored, liveSetup, things } from '../kit/live-lists.ts';
import { randomRuns } from '../kit/random-runs.ts';
import {
  binding,
  clusterRoleBindingsKey,
  clusterRolesKey,
  rbacKinds,
  role,
  roleBindingsKey,
  rolesKey,
} from '../kit/rbac-kinds.ts';
import { callerOf } from '../kit/user.ts';

const namespaces = ['a', 'b', 'c'];
const names = ['x', 'y', 'z'];
const alice = callerOf('alice');

type Step =
  | { readonly do: 'put' | 'remove'; readonly namespace: string; readonly name: string; readonly color: string }
  | { readonly do: 'rebind'; readonly namespace: string | null; readonly to: 'watcher' | 'one' }
  | { readonly do: 'wait' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('put' as const, 'put' as const, 'remove' as const),
      namespace: fc.constantFrom(...namespaces),
      name: fc.constantFrom(...names),
      color: fc.constantFrom('red', 'green'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rebind' as const),
      namespace: fc.constantFrom(null, ...namespaces),
      to: fc.constantFrom('watcher' as const, 'one' as const),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'wait' as const }) },
);

async function world() {
  const setup = await liveSetup();
  const { fixture, feed } = setup;
  await fixture.declare(...rbacKinds());
  await fixture.sync(rolesKey, []);
  const verbs = ['list', 'watch'];
  const ofThings = { apiGroups: ['example.com'], resources: ['things'] };
  await fixture.sync(clusterRolesKey, [
    role('watcher', null, { verbs, ...ofThings }),
    role('one', null, { verbs, ...ofThings, resourceNames: ['x'] }),
  ]);
  await fixture.sync(roleBindingsKey, []);
  await fixture.sync(clusterRoleBindingsKey, []);
  await fixture.sync(things, []);
  const rights = new StoredRights({
    reader: fixture.reader,
    clock: systemClock,
    log: silentLogger,
    clusters: ['east'],
    served: 1,
    changed: () => feed.interrupt(),
  });
  onTestFinished(() => rights.close());
  const listening = fixture.writer().onCommit((commit) => rights.wake(commit));
  onTestFinished(() => void listening);
  await rights.refresh();
  return { ...setup, rights };
}

const runs = Number(process.env['PORTOLAN_LIVE_RIGHTS'] ?? randomRuns(8, 30));

test('a client has what its caller may see, whatever becomes of the rights [L1] [L7]', {
  timeout: 240_000,
}, async () => {
  let [moves, hidden] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      fc.boolean(),
      async (steps, filters) => {
        const { fixture, feed, rights } = await world();
        const filter = filters ? colored('red') : ({ kind: 'and', of: [] } as const);
        const objects = new Map<string, string>();
        const bound = new Set<string>();
        /** What alice may see from each sequence number on. */
        const seen: { readonly from: number; readonly bound: ReadonlySet<string> }[] = [{ from: 0, bound: new Set() }];
        const isVisible = (bindings: ReadonlySet<string>, namespace: string, name: string): boolean =>
          [null, namespace].some((at) => bindings.has(`${at} watcher`) || (name === 'x' && bindings.has(`${at} one`)));

        const stop = new AbortController();
        const { tree } = fixture.engine.source.generation().kind(things) ?? { tree: { root: '', shapes: {} } };
        const list = liveList(feed, {
          kind: { key: things, tree },
          filter,
          rights: rightsOf(rights, alice),
          clusters: null,
          start: { at: 'snapshot' },
          projection: 'whole',
          signal: stop.signal,
          chunk: 2,
          now: () => 0,
          check: () => {},
        });
        const client = new LiveClient();
        const reading = (async () => {
          for await (const message of list) {
            client.take(message);
            const { sequence } = decodeLiveCursor(message.cursor);
            if (message.phase === 'LIVE')
              moves += message.changes.filter((each) => each.reason === 'NO_LONGER_VISIBLE').length;
            if (sequence === nowhere) continue;
            for (const { object, identity } of message.changes) {
              if (object === null) continue;
              const since = seen.filter(
                ({ from }, at) => from > sequence || (seen[at + 1]?.from ?? Infinity) > sequence,
              );
              expect(since.some((each) => isVisible(each.bound, identity.namespace ?? '', identity.name))).toBe(true);
            }
          }
        })();

        for (const each of steps) {
          if (each.do === 'wait') {
            await new Promise((resolve) => setTimeout(resolve, 25));
          } else if ('color' in each) {
            const { namespace, name, color } = each;
            const id = `east ${namespace} ${name}`;
            if (each.do === 'remove' && !objects.has(id)) continue;
            const object = made({ name, namespace, spec: { color, size: 1 } });
            const type = each.do === 'remove' ? 'DELETED' : objects.has(id) ? 'MODIFIED' : 'ADDED';
            if (each.do === 'remove') objects.delete(id);
            else objects.set(id, color);
            fixture.apply(things, type, object);
          } else {
            const { namespace, to } = each;
            const id = `${namespace} ${to}`;
            const key = namespace === null ? clusterRoleBindingsKey : roleBindingsKey;
            const wasBound = bound.delete(id);
            if (!wasBound) bound.add(id);
            fixture.apply(key, wasBound ? 'DELETED' : 'ADDED', binding(to, namespace, to, 'alice'));
            seen.push({ from: fixture.writer().revision(), bound: new Set(bound) });
          }
        }
        await eventually(() => {
          const expected = [...objects].filter(([id, color]) => {
            const [, namespace = '', name = ''] = id.split(' ');
            return isVisible(bound, namespace, name) && (!filters || color === 'red');
          });
          hidden += objects.size - expected.length;
          expect([...client.held.keys()].sort()).toEqual(expected.map(([id]) => id).sort());
        }, 20_000);
        stop.abort();
        await reading;
        fixture.engine.close();
      },
    ),
    { numRuns: runs },
  );
  expect(hidden).toBeGreaterThan((runs * 2) / 3);
  expect(moves).toBeGreaterThan(runs / 10);
});
