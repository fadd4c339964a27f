/**
 * The property of live lists over several cells. After each message whose cursor holds a place in each cell, a client holds exactly the
 * objects that matched at these places, and that its caller could see there. The property holds for random writes, lists, rights of single
 * cells, generations and reading speeds. It also holds across GAPs, and for clients that resume by `since`.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Rights } from '../../src/access/rights.ts';
import { allRows, isVisible, noRows, type Scope, type Scopes, scopeIn } from '../../src/access/scope.ts';
import { must } from '../../src/base/must.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { cursorMarks, nowhere, splitCellCursors } from '../../src/live/log/live-cursor.ts';
import type { MatchedObjectLike } from '../../src/query/evaluate/matches.ts';
import { decodeObjectId } from '../../src/query/plan/object-id.ts';
import { Dice } from '../fuzz/dice.ts';
import { type CellsFixture, cellsFixture } from '../kit/cells-fixture.ts';
import { type Held, TableHistory } from '../kit/checked-subscriber.ts';
import { describedCrd, type Events, made, queryOf, subscribeTo } from '../kit/engine-fixture.ts';
import { transferring } from '../kit/followed-cells.ts';

const runs = Number(process.env['PORTOLAN_CELL_RUNS'] ?? '3');
const steps = 150;

const things = 'things.example.com';
const gears = 'gears.example.com';
const kinds = [things, gears];
/** Keeps each cluster in the schema. */
const noise = 'noises.example.com';
/** `south` is declared later. */
const clusters = ['east', 'west', 'north', 'south'];
const names = [...'abcdef'];

interface Layout {
  readonly cells: number;
  readonly at: Readonly<Record<string, number>>;
  /** The cells follow the logs of others, which have the writes. */
  readonly follows: boolean;
}

const layouts: readonly Layout[] = [
  { cells: 1, at: { east: 0, west: 0, north: 0, south: 0 }, follows: false },
  { cells: 3, at: { east: 0, west: 1, north: 2, south: 2 }, follows: false },
  { cells: 3, at: { east: 1, west: 1, north: 2, south: 0 }, follows: false },
  { cells: 8, at: { east: 5, west: 3, north: 0, south: 7 }, follows: false },
  { cells: 1, at: { east: 0, west: 0, north: 0, south: 0 }, follows: true },
  { cells: 3, at: { east: 0, west: 1, north: 2, south: 2 }, follows: true },
];

const only: Scope = {
  rows: 'some',
  clusters: new Map(
    clusters.map((cluster) => [cluster, { namespaces: new Set(), names: new Map([['default', new Set(['a', 'b'])]]) }]),
  ),
};
const east: Scope = { rows: 'some', clusters: new Map([['east', 'all']]) };
const scopesOfCallers: readonly Scopes[] = [
  { id: 'all', of: () => allRows },
  { id: 'single', of: () => only },
  { id: 'east', of: () => east },
  { id: 'single things', of: (key) => (key === things ? only : allRows) },
  { id: 'no gears', of: (key) => (key === gears ? noRows : allRows) },
];

function described(key: string, cluster: string, extra: Readonly<Record<string, unknown>> = {}): DescribedResource {
  const [plural = ''] = key.split('.');
  const spec = { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' }, ...extra } };
  const kind = `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}`;
  return describedCrd({ cluster, kind, plural, properties: { spec } });
}

/** A subscription with what it must show. */
interface Question {
  readonly keys: readonly string[];
  readonly within: readonly string[] | null;
  readonly filter: string;
  readonly isDistinct: boolean;
  matches(object: MatchedObjectLike): boolean;
}

const filters = [
  { filter: '{}', within: null, matches: () => true },
  {
    filter: '{ metadata: { name: { in: ["a", "b", "c"] } } }',
    within: null,
    matches: ({ name }: MatchedObjectLike) => 'abc'.includes(name),
  },
  { filter: '{ clusters: ["east", "north"] }', within: ['east', 'north'], matches: () => true },
  { filter: '{ clusters: ["west"] }', within: ['west'], matches: () => true },
];

const questions: readonly Question[] = [[things], [gears], [things, gears]].flatMap((keys) =>
  filters.map((each, index) => ({ keys, isDistinct: index % 2 === 1, ...each })),
);

function textOf({ keys, filter, isDistinct }: Question): string {
  const [key = ''] = keys;
  const plural = key.split('.')[0] ?? '';
  const root =
    keys.length > 1
      ? `objectChanges(kinds: ${JSON.stringify(keys)}, `
      : `exampleCom${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}Changes(`;
  return `subscription ($since: String, $snapshot: Boolean) {
    list: ${root}filter: ${filter}, since: $since, snapshot: $snapshot, distinct: ${isDistinct}) {
      phase reset cursor totalCount changes { type id object { metadata { resourceVersion } } } } }`;
}

interface Message {
  readonly phase: 'SNAPSHOT' | 'SYNCED' | 'LIVE' | 'GAP';
  readonly reset: boolean;
  readonly cursor: string;
  readonly totalCount: number | null;
  readonly changes: readonly {
    readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
    readonly id: string;
    readonly object: { readonly metadata: { readonly resourceVersion: string } } | null;
  }[];
}

/** What a client had, at a cursor. */
interface Place {
  readonly cursor: string;
  readonly held: Held;
}

/** A client that reads when the test calls it, and that folds what it has read when the tables have been noted. */
class CellsClient {
  readonly question: Question;
  readonly #world: World;
  /** resourceVersions by `kind cluster namespace name`. */
  held = new Map<string, string>();
  places: Place[] = [];
  checked = 0;
  gaps = 0;
  /** Objects of a cell that came as LIVE before the client had a place in the cell. */
  joined = 0;
  isRefused = false;
  #unread: Message[] = [];
  #events: Events | null = null;
  #opening: Promise<Events> | null = null;
  #pending: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #isSynced = false;
  #isLeaving = false;
  /** Without a snapshot, the client holds the matches of its first SYNCED. */
  #isNow = false;
  #before: readonly (string | null)[] = [];

  constructor(world: World, question: Question) {
    this.#world = world;
    this.question = question;
    this.open(null);
  }

  /** @param from null for a snapshot, now for none */
  open(from: Place | 'now' | null): void {
    const since = from === null || from === 'now' ? null : from.cursor;
    this.held = new Map(from === null || from === 'now' ? [] : from.held);
    this.#isNow = from === 'now';
    this.isRefused = false;
    this.#isLeaving = false;
    this.#isSynced = false;
    this.places = this.places.slice(-20);
    this.#opening = subscribeTo(this.#world.fixture.engine.source, textOf(this.question), {
      since,
      snapshot: from !== 'now',
    });
    this.#opening.catch((error: unknown) => {
      this.#failure = { error };
    });
  }

  async leave(): Promise<void> {
    this.#isLeaving = true;
    const events = await this.#opening?.catch(() => null);
    await events?.return();
    await this.#pending;
    this.check();
  }

  request(): void {
    this.#pending ??= this.#read()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#pending = null;
      });
  }

  get pending(): Promise<void> {
    return this.#pending ?? Promise.resolve();
  }

  async #read(): Promise<void> {
    this.#events = await must(this.#opening, 'it is open');
    const { value } = await this.#events.next();
    if (value === undefined) {
      if (!this.#isLeaving && !this.isRefused) throw new Error('the list has ended by itself');
      return;
    }
    if (value.errors?.[0] !== undefined) throw value.errors[0].originalError ?? value.errors[0];
    this.#unread.push(JSON.parse(JSON.stringify(value)).data.list as Message);
  }

  check(): void {
    const failure = this.#failure;
    this.#failure = null;
    // Callers who may see nothing are refused.
    this.isRefused ||= failure !== null && /You may not/.test(String(failure.error));
    if (failure !== null && !this.isRefused) throw failure.error;
    for (const message of this.#unread.splice(0)) this.#take(message);
  }

  #take(message: Message): void {
    const { phase, reset, changes, cursor, totalCount } = message;
    const cells = splitCellCursors(cursor, this.#world.cells);
    const isWhole = cells.every((cell) => cell === null || cell.sequence !== nowhere);
    const expected = isWhole ? this.#world.expectedAt(cursor, this.question) : null;
    if (this.#isNow && phase === 'SYNCED') {
      if (expected !== null) this.held = new Map(expected);
      this.#isNow = expected === null;
    }
    if (phase === 'GAP') {
      this.gaps += 1;
      this.#isSynced = false;
    }
    if (reset) this.held.clear();
    if (phase === 'LIVE' && (!this.#isSynced || changes.length === 0)) throw new Error('LIVE before SYNCED, or empty');
    if ((phase === 'SYNCED' || phase === 'LIVE') !== (isWhole || phase === 'LIVE')) {
      throw new Error(`${phase} with the cursor ${cursor}`);
    }
    const seen = new Set<string>();
    for (const { type, id, object } of changes) {
      const { key, cluster, namespace, name } = decodeObjectId(id);
      const place = [key, cluster, namespace, name].join(' ');
      if (seen.has(place)) throw new Error(`${place} is twice in one message`);
      seen.add(place);
      if (this.held.has(place) === (type === 'ADDED')) {
        throw new Error(`${phase} ${type} of ${place}, ${this.held.has(place) ? 'held' : 'not held'}`);
      }
      if (type === 'REMOVED') this.held.delete(place);
      else this.held.set(place, must(object, 'an object').metadata.resourceVersion);
      if (phase === 'LIVE' && this.#before[this.#world.cellOf(cluster)] === null) this.joined += 1;
    }
    if (phase === 'SYNCED') this.#isSynced = true;
    this.#before = cells.map((cell) => (cell === null ? null : String(cell.sequence)));
    if (totalCount !== null) expect(totalCount, `totalCount of ${phase}`).toBe(this.held.size);
    this.places.push({ cursor, held: new Map(this.held) });
    if (expected === null || this.#isNow) return;
    expect(Object.fromEntries(this.held), `${textOf(this.question)} ${phase} ${JSON.stringify(cells)}`).toEqual(
      Object.fromEntries(expected),
    );
    this.checked += 1;
  }

  /** Reads until the client has what is in the tables, at most 30 s. */
  async drain(expected: Held): Promise<void> {
    const deadline = performance.now() + 30_000;
    for (;;) {
      this.check();
      if (this.isRefused) this.open(this.places.at(-1) ?? null);
      this.request();
      const quiet = await Promise.race([
        this.pending.then(() => false),
        new Promise<true>((resolve) => setTimeout(() => resolve(true), 50)),
      ]);
      if (quiet && (isDeepStrictEqual(this.held, expected) || performance.now() > deadline)) break;
    }
    this.check();
    expect(Object.fromEntries(this.held), textOf(this.question)).toEqual(Object.fromEntries(expected));
  }
}

/** The stores of the cells, what was in them, and the rights in them. */
class World {
  readonly cells: number;
  /** What the clients read. */
  readonly fixture: CellsFixture;
  /** What is written. */
  readonly #written: CellsFixture;
  readonly #transfer: () => Promise<void>;
  readonly cellOf: (cluster: string) => number;
  readonly dice: Dice;
  readonly rights: Scopes[];
  readonly #histories: readonly TableHistory[];
  /** What the client of a cursor sees, by kinds, clusters and the marks of the cursor. */
  readonly #visible = new Map<string, ReadonlyMap<string, Scope>>();
  readonly declared: [key: string, cluster: string][] = [];
  #lives = 0;
  #shapes = 0;

  constructor({ cells, at, follows }: Layout, dice: Dice) {
    this.cells = cells;
    this.dice = dice;
    this.cellOf = (cluster) => at[cluster] ?? 0;
    this.rights = Array.from({ length: cells }, () => must(scopesOfCallers[0], 'scopes'));
    // Few entries stay in some logs, so that places fall off their floors.
    const changeLog = { maxBytes: dice.chance(0.3) ? 6000 : 1e9, maxAgeMs: 3_600_000 };
    const rightsOf = (cell: number): Rights => ({
      now: () => must(this.rights[cell], 'rights'),
      at: async () => must(this.rights[cell], 'rights'),
      after: () => must(this.rights[cell], 'rights'),
      statement: null,
      isCurrent: () => true,
      pending: () => null,
      allows: async () => null,
      whoCan: () => null,
    });
    this.#written = cellsFixture(cells, this.cellOf, rightsOf, { writer: { changeLog } });
    this.fixture = follows
      ? cellsFixture(cells, this.cellOf, rightsOf, { writer: { changeLog, follows } })
      : this.#written;
    this.#transfer = follows ? transferring(this.#written, this.fixture) : async () => {};
    this.#histories = this.fixture.readers().map((reader) => new TableHistory({ reader }));
    for (const within of [null, ...filters.flatMap((each) => (each.within === null ? [] : [each.within]))]) {
      for (const keys of [[things], [gears], kinds]) {
        for (const scopes of scopesOfCallers) {
          const visible = new Map(keys.map((key) => [key, scopeIn(scopes.of(key), within)]));
          this.#visible.set(JSON.stringify([keys, within, cursorMarks(visible)]), visible);
        }
      }
    }
  }

  async note(): Promise<void> {
    await this.#transfer();
    await Promise.all(this.#histories.map((history) => history.note()));
  }

  /** Declares a kind that keeps a cluster in the schema. */
  async declareNoise(cluster: string): Promise<void> {
    await this.#written.declare(described(noise, cluster));
  }

  async declare(key: string, cluster: string): Promise<void> {
    if (this.declared.some(([a, b]) => a === key && b === cluster)) return;
    this.declared.push([key, cluster]);
    await this.#written.declare(described(key, cluster, this.#extra(key)));
  }

  #extra(key: string): Readonly<Record<string, unknown>> {
    return key === things && this.#shapes > 0 ? { [`more${this.#shapes}`]: { type: 'string' } } : {};
  }

  /** A new generation of the kind of `things`. */
  async reshape(): Promise<void> {
    this.#shapes += 1;
    const of = this.declared.filter(([key]) => key === things);
    await this.#written.declare(...of.map(([key, cluster]) => described(key, cluster, this.#extra(key))));
  }

  async drop(key: string, cluster: string): Promise<void> {
    // The kind itself stays in the schema.
    if (this.declared.filter(([of]) => of === key).length < 2) return;
    const at = this.declared.findIndex(([a, b]) => a === key && b === cluster);
    if (at < 0) return;
    await this.#written.writer(cluster).drop(this.#written.handle(key, cluster));
    this.declared.splice(at, 1);
    await this.fixture.engine.refreshCatalog();
  }

  /** What a client of the question must hold at a cursor; null where the histories cannot tell. */
  expectedAt(cursor: string, { keys, within, matches }: Question): Held | null {
    const held = new Map<string, string>();
    for (const [index, cell] of splitCellCursors(cursor, this.cells).entries()) {
      if (cell === null) continue;
      const { sequence, epoch: _, ...marks } = cell;
      // A cell that serves one of the kinds has the marks of one kind.
      const found = [...keys.map((key) => [key]), keys].flatMap((of) =>
        [null, within].flatMap((at) => [...(this.#visible.get(JSON.stringify([of, at, marks])) ?? [])]),
      );
      const visible = new Map(found);
      expect(visible.size, `scopes with the marks ${JSON.stringify(marks)}`).toBeGreaterThan(0);
      const table = must(this.#histories[index], 'a history').at(sequence, (object) => {
        if (!keys.includes(object.key) || !(within?.includes(object.cluster) ?? true)) return false;
        return isVisible(visible.get(object.key) ?? noRows, object) && matches(object);
      });
      if (table === null) return null;
      for (const [id, body] of table) held.set(id, versionOf(body));
    }
    return held;
  }

  /** What is in the tables now. */
  now({ keys, within, matches }: Question): Held {
    const held = new Map<string, string>();
    for (const [index, history] of this.#histories.entries()) {
      const writer = must(this.fixture.writers()[index], 'a writer');
      const scopes = must(this.rights[index], 'rights');
      const table = history.at(writer.revision(), (object) => {
        if (!keys.includes(object.key) || !(within?.includes(object.cluster) ?? true)) return false;
        return isVisible(scopes.of(object.key), object) && matches(object);
      });
      for (const [id, body] of must(table, 'the newest revision was noted')) held.set(id, versionOf(body));
    }
    return held;
  }

  object(name: string, uid?: string): unknown {
    const spec = { color: this.dice.pick(['red', 'green']), size: this.dice.below(6) };
    return made({ name, ...(uid === undefined ? {} : { uid }), spec });
  }

  isSynced(key: string, cluster: string): boolean {
    return this.#written.writer(cluster).state(this.#written.handle(key, cluster)).synced;
  }

  async list(key: string, cluster: string): Promise<void> {
    const listed = names.filter(() => this.dice.chance(0.6)).map((name) => this.object(name));
    await this.#written.sync(key, listed, cluster);
  }

  async write(): Promise<void> {
    const { dice, fixture } = this;
    const written = this.#written;
    const [key, cluster] = dice.pick(this.declared);
    const isSynced = this.isSynced(key, cluster);
    await dice.choose<Promise<void> | void>([
      [isSynced ? 3 : 15, () => this.list(key, cluster)],
      ...(isSynced
        ? ([
            [15, () => written.apply(key, 'DELETED', this.object(dice.pick(names)), cluster)],
            [35, () => written.apply(key, 'MODIFIED', this.object(dice.pick(names)), cluster)],
            [
              8,
              () => {
                this.#lives += 1;
                written.apply(key, 'ADDED', this.object(dice.pick(names), `life-${this.#lives}`), cluster);
              },
            ],
            [4, () => void written.writer(cluster).maintain()],
          ] as const)
        : []),
      [
        5,
        () => {
          this.rights[dice.below(this.cells)] = dice.pick(scopesOfCallers);
          fixture.engine.interrupt();
        },
      ],
      [2, () => this.declare(dice.pick(kinds), dice.pick(clusters))],
      [1, () => this.reshape()],
      [1, () => this.drop(key, cluster)],
    ]);
    await this.note();
  }
}

function versionOf(body: string): string {
  return (JSON.parse(body) as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion;
}

/** A list of the question with its cursor. */
async function listed(world: World, { keys, filter }: Question): Promise<Place | null> {
  const [key = ''] = keys;
  const plural = key.split('.')[0] ?? '';
  const root =
    keys.length > 1
      ? `objects(kinds: ${JSON.stringify(keys)}, `
      : `exampleCom${plural.slice(0, 1).toUpperCase()}${plural.slice(1)}(`;
  const { data, errors } = await queryOf(
    world.fixture.engine.source,
    `{ list: ${root}filter: ${filter}, first: 500) { nodes { id metadata { resourceVersion } } changesCursor } }`,
  );
  // Nothing may be synced, or visible.
  if (errors.length > 0) return null;
  const { nodes, changesCursor } = data.list as {
    readonly nodes: readonly { readonly id: string; readonly metadata: { readonly resourceVersion: string } }[];
    readonly changesCursor: string;
  };
  const held = nodes.map(({ id, metadata }) => {
    const { key: of, cluster, namespace, name } = decodeObjectId(id);
    return [[of, cluster, namespace, name].join(' '), metadata.resourceVersion] as const;
  });
  return { cursor: changesCursor, held: new Map(held) };
}

describe.each(layouts)('$cells cells, clusters at $at, followers: $follows', (layout) => {
  test.each(Array.from({ length: runs }, (_, index) => index + 1))(
    'clients hold what matches at each cursor, seed %i [L1] [L2]',
    { timeout: 600_000 },
    async (seed) => {
      const dice = new Dice(seed, layout.cells, layout.at['east'] ?? 0);
      const world = new World(layout, dice);
      for (const cluster of ['east', 'west', 'north']) {
        await world.declareNoise(cluster);
        for (const key of kinds) if (dice.chance(0.8) || cluster === 'east') await world.declare(key, cluster);
      }
      for (const [key, cluster] of world.declared) if (dice.chance(0.6)) await world.list(key, cluster);
      await world.note();
      const clients = questions.map((question) => new CellsClient(world, question));
      const speeds = clients.map(() => dice.below(100) / 100);
      for (let step = 0; step < steps; step += 1) {
        await world.write();
        for (const client of clients) client.check();
        for (const [index, client] of clients.entries()) {
          if (dice.chance(must(speeds[index], 'a speed'))) client.request();
          if (!dice.chance(client.isRefused ? 0.2 : 0.02)) continue;
          await client.leave();
          const from = await dice.choose<Promise<Place | 'now' | null> | Place | 'now' | null>([
            [4, () => (client.places.length === 0 ? null : dice.pick(client.places))],
            [2, () => client.places.at(-1) ?? null],
            [2, () => listed(world, client.question)],
            [1, () => 'now'],
            [1, () => null],
          ]);
          client.open(from);
        }
      }
      // Every cell becomes ready, and the callers may see something of each cell again.
      for (const [index] of world.rights.entries()) world.rights[index] = must(scopesOfCallers[0], 'scopes');
      world.fixture.engine.interrupt();
      for (const [key, cluster] of world.declared) {
        if (!world.isSynced(key, cluster)) await world.list(key, cluster);
      }
      await world.note();
      world.fixture.engine.interrupt();
      await Promise.all(clients.map((client) => client.drain(world.now(client.question))));
      const sum = (of: (client: CellsClient) => number) => clients.reduce((total, client) => total + of(client), 0);
      expect(sum(({ checked }) => checked)).toBeGreaterThan(50);
      await Promise.all(clients.map((client) => client.leave()));
    },
  );
});
