/**
 * `history` and `changes` are what the store had, after any writes, deletions, recreations, lists and cuts of the log. An oracle keeps every
 * state of every object. An answer must be the newest of these states, and have all of them after the time that it claims.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { must } from '../../src/base/must.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { read } from '../kit/written-store.ts';

/** A change of an object as the store recorded it. */
interface State {
  readonly type: string;
  readonly at: number;
  readonly resourceVersion: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A state as an answer shows it. */
interface Shown {
  readonly type: string;
  readonly at: string;
  readonly uid: string;
  readonly kind: string;
  readonly resourceVersion: string;
  readonly changedPaths: readonly string[] | null;
  readonly before: { readonly raw: { readonly spec: { readonly name: string } } } | null;
  readonly object: { readonly raw: { readonly spec: { readonly name: string } } } | null;
}

interface Held {
  readonly name: string;
  readonly uid: string;
  readonly text: string;
  readonly rv: number;
}

const keys = [widgets, gadgets] as const;
const kinds = { [widgets]: 'Widget', [gadgets]: 'Gadget' };
const begun = Date.parse('2026-01-31T12:00:00Z');

/** A server of two kinds, the store that follows it, and the oracle. */
class World {
  readonly fixture;
  now = begun;
  #rv = 100;
  /** What the server has, by key and name. */
  readonly server = new Map<string, Map<string, Held>>(keys.map((key) => [key, new Map()]));
  /** What the store has. */
  stored = new Map<string, Map<string, Held>>(keys.map((key) => [key, new Map()]));
  /** Every state since the last RESET, by key and uid, the oldest first. */
  readonly states = new Map<string, Map<string, State[]>>(keys.map((key) => [key, new Map()]));

  constructor(maxBytes: number) {
    const clock = { ...systemClock, now: () => this.now };
    this.fixture = engineFixture({
      writer: { clock, maxDifferences: 3, changeLog: { maxBytes, maxAgeMs: 100_000_000 } },
      engine: { clock },
    });
  }

  async begin(): Promise<void> {
    await this.fixture.declare(widget(), gadget());
    for (const key of keys) await this.fixture.sync(key, []);
  }

  write(key: string, name: string, what: 'put' | 'remove' | 'recreate', text: string): void {
    const objects = must(this.server.get(key), 'a kind');
    this.#rv += 1;
    const known = objects.get(name);
    if (what === 'remove') objects.delete(name);
    else {
      const uid = known === undefined || what === 'recreate' ? `uid-${name}-${this.#rv}` : known.uid;
      objects.set(name, { name, uid, text, rv: this.#rv });
    }
  }

  /** The store gets the events of all differences. */
  watch(key: string): void {
    const before = must(this.stored.get(key), 'a kind');
    const after = must(this.server.get(key), 'a kind');
    for (const [name, held] of before) {
      if (after.get(name)?.uid === held.uid) continue;
      this.#rv += 1;
      this.fixture.apply(key, 'DELETED', this.#object(key, { ...held, rv: this.#rv }));
      this.#record(key, held.uid, { type: 'DELETED', rv: this.#rv, before: held.text, after: null });
    }
    for (const [name, held] of after) {
      const known = before.get(name);
      if (known?.uid === held.uid && known.rv === held.rv) continue;
      const type = known?.uid === held.uid ? 'MODIFIED' : 'ADDED';
      this.fixture.apply(key, type, this.#object(key, held));
      this.#record(key, held.uid, {
        type,
        rv: held.rv,
        before: type === 'ADDED' ? null : must(known, 'a known object').text,
        after: held.text,
      });
    }
    this.stored.set(key, new Map(after));
  }

  /** The store gets a list: a few differences become changes, and many a RESET. */
  async list(key: string): Promise<void> {
    const resets = this.#resets();
    const revision = this.fixture.writer().revision();
    const replace = this.fixture.writer().replace(this.fixture.handle(key));
    const after = must(this.server.get(key), 'a kind');
    replace.put([...after.values()].map((held) => ({ text: JSON.stringify(this.#object(key, held)) })));
    this.#rv += 1;
    await replace.commit(String(this.#rv));
    if (this.#resets() > resets) {
      must(this.states.get(key), 'a kind').clear();
    } else {
      const before = must(this.stored.get(key), 'a kind');
      // The versions of deletions are those of the list; the oracle takes them from the log.
      const versions = read(this.fixture.file, `SELECT uid, type, rv FROM change WHERE seq > ${revision}`);
      const versionOf = (uid: string, type: string): number =>
        Number(versions.find((row) => row[0] === uid && row[1] === type)?.[2]);
      for (const [name, held] of before) {
        if (after.get(name)?.uid === held.uid) continue;
        const rv = versionOf(held.uid, 'DELETED');
        this.#record(key, held.uid, { type: 'DELETED', rv, before: held.text, after: null });
      }
      for (const [name, { uid, rv, text }] of after) {
        const known = before.get(name);
        if (known?.uid === uid && known.rv === rv) continue;
        if (known?.uid === uid) this.#record(key, uid, { type: 'MODIFIED', rv, before: known.text, after: text });
        else this.#record(key, uid, { type: 'ADDED', rv, before: null, after: text });
      }
    }
    this.stored.set(key, new Map(after));
  }

  #resets(): number {
    return Number(read(this.fixture.file, `SELECT coalesce(max(seq), 0) FROM change WHERE type = 'RESET'`)[0]?.[0]);
  }

  #object(key: string, { name, uid, text, rv }: Held): object {
    const namespace = key === gadgets ? { namespace: null } : {};
    return made({ name, uid, ...namespace, metadata: { resourceVersion: String(rv) }, spec: { name: text } } as never);
  }

  #record(key: string, uid: string, { rv, ...state }: Omit<State, 'at' | 'resourceVersion'> & { rv: number }): void {
    const ofKind = must(this.states.get(key), 'a kind');
    const states = ofKind.get(uid) ?? [];
    states.push({ ...state, at: this.now, resourceVersion: String(rv) });
    ofKind.set(uid, states);
  }

  async ask(text: string, variables: Readonly<Record<string, unknown>> = {}) {
    const { data, errors } = await this.fixture.query(text, variables);
    expect(errors).toEqual([]);
    return JSON.parse(JSON.stringify(data));
  }
}

const fields = 'type at uid kind resourceVersion changedPaths before { raw } object { raw }';

/** All pages, of this size. */
async function pages(
  first: number,
  page: (after: string | null) => Promise<{ nodes: Shown[]; pageInfo: { hasNextPage: boolean; endCursor: string } }>,
): Promise<readonly Shown[]> {
  const nodes: Shown[] = [];
  for (let after: string | null = null; ; ) {
    const found = await page(after);
    expect(found.nodes.length).toBeLessThanOrEqual(first);
    nodes.push(...found.nodes);
    if (!found.pageInfo.hasNextPage) return nodes;
    after = found.pageInfo.endCursor;
  }
}

function shownState({ type, at, resourceVersion, before, object }: Shown): State {
  const textOf = (shown: Shown['object']) => shown?.raw.spec.name ?? null;
  return { type, at: Date.parse(at), resourceVersion, before: textOf(before), after: textOf(object) };
}

/** The answer is the newest of the states, and has all of them after `since`. */
function expectNewest(shown: readonly State[], states: readonly State[], since: number): void {
  const newestFirst = states.toReversed();
  expect(shown).toEqual(newestFirst.slice(0, shown.length));
  expect(newestFirst.slice(shown.length).filter(({ at }) => at > since)).toEqual([]);
}

async function check(world: World, first: number): Promise<void> {
  const reaches = new Map<string, number>();
  const { changes } = await world.ask('{ changes(since: "-20000d", first: 0) { reaches { kind since } } }');
  for (const { kind, since } of changes.reaches) reaches.set(kind, Date.parse(since));
  for (const key of keys) {
    const list = key === widgets ? 'exampleComWidgets' : 'exampleComGadgets';
    const { [list]: objects } = await world.ask(
      `{ ${list} { nodes { id metadata { uid } history(first: 0) { since isComplete } } } }`,
    );
    expect(objects.nodes).toHaveLength(must(world.stored.get(key), 'a kind').size);
    for (const { id, metadata, history } of objects.nodes) {
      const nodes = await pages(first, async (after) => {
        const text = `query ($id: ID!, $after: String) { object(id: $id) { history(first: ${first}, after: $after) {
          nodes { ${fields} } pageInfo { hasNextPage endCursor } } } }`;
        return (await world.ask(text, { id, after })).object.history;
      });
      const states = world.states.get(key)?.get(metadata.uid) ?? [];
      expect(Date.parse(history.since)).toBe(reaches.get(kinds[key]));
      expectNewest(nodes.map(shownState), states, Date.parse(history.since));
      if (history.isComplete) expect(nodes.map(({ type }) => type).at(-1)).toBe('ADDED');
      expect(history.isComplete).toBe(states[0]?.type === 'ADDED' && nodes.length === states.length);
      for (const { type, changedPaths, before, object } of nodes) {
        const differs = before?.raw.spec.name !== object?.raw.spec.name;
        expect(changedPaths).toEqual(type === 'MODIFIED' ? (differs ? ['spec.name'] : []) : null);
      }
    }
  }
  const nodes = await pages(first, async (after) => {
    const text = `query ($after: String) { changes(since: "-20000d", first: ${first}, after: $after) {
      nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`;
    return (await world.ask(text, { after })).changes;
  });
  const times = nodes.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  const byObject = Map.groupBy(nodes, ({ kind, uid }) => `${kind} ${uid}`);
  for (const key of keys) {
    for (const [uid, states] of world.states.get(key) ?? []) {
      const shown = byObject.get(`${kinds[key]} ${uid}`) ?? [];
      byObject.delete(`${kinds[key]} ${uid}`);
      expectNewest(shown.map(shownState), states, must(reaches.get(kinds[key]), 'a reach'));
    }
  }
  expect([...byObject.keys()]).toEqual([]);
  // A shorter time has the newest of them.
  const middle = must(times[Math.floor(times.length / 2)] ?? world.now, 'a time');
  const some = await pages(first, async (after) => {
    const text = `query ($since: DateTime!, $after: String) { changes(since: $since, first: ${first}, after: $after) {
      nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`;
    return (await world.ask(text, { since: new Date(middle).toISOString(), after })).changes;
  });
  expect(some).toEqual(nodes.filter(({ at }) => Date.parse(at) >= middle));
}

type Step =
  | {
      readonly do: 'write';
      readonly key: string;
      readonly name: string;
      readonly what: 'put' | 'remove' | 'recreate';
      readonly text: string;
    }
  | { readonly do: 'watch'; readonly key: string }
  /** `anew`: the server changes many objects before the list. */
  | { readonly do: 'list'; readonly key: string; readonly anew: boolean }
  | { readonly do: 'burst'; readonly key: string; readonly count: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'maintain' }
  | { readonly do: 'check' };

const key = fc.constantFrom(...keys);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      key,
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      what: fc.constantFrom('put', 'put', 'remove', 'recreate'),
      text: fc.oneof(fc.constantFrom('x', 'x'.repeat(600)), fc.string()),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('watch' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('list' as const), key, anew: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('burst' as const), key, count: fc.integer({ min: 1, max: 12 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 400, 1000, 90_000) }) },
  { weight: 2, arbitrary: fc.constantFrom({ do: 'maintain' as const }, { do: 'check' as const }) },
);

test.each([
  ['a log with room', 1_000_000, randomRuns(4, 12)],
  ['a log that is cut', 6000, randomRuns(7, 20)],
])('history is what the store had: %s', async (_, maxBytes, numRuns) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 10, maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      async (all, first) => {
        const world = new World(maxBytes);
        await world.begin();
        for (const step of all) {
          if (step.do === 'write') world.write(step.key, step.name, step.what, step.text);
          else if (step.do === 'watch') world.watch(step.key);
          else if (step.do === 'list') {
            if (step.anew) for (const name of ['a', 'b', 'c', 'd', 'e']) world.write(step.key, name, 'put', 'anew');
            await world.list(step.key);
          } else if (step.do === 'pass') world.now += step.ms;
          else if (step.do === 'maintain') while (world.fixture.writer().maintain());
          else if (step.do === 'check') await check(world, first);
          else {
            for (let index = 0; index < step.count; index += 1) {
              world.write(step.key, 'a', 'put', `burst ${index}`);
              world.watch(step.key);
            }
          }
        }
        await check(world, first);
        while (world.fixture.writer().maintain());
        await check(world, first);
      },
    ),
    { numRuns },
  );
});
