/**
 * Tests the reflector against a model of an API server with revisions, history, compaction, pages and bookmarks. The model fails at
 * random, by seed.
 *
 * After every run three invariants hold. The table equals the server's set (I1). Folding the change log gives the table,
 * and each entry fits the state before it (I2, I4). The stored version never decreased (I3).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import {
  bookmarkLine,
  endLine,
  errorLine,
  eventLine,
  listText,
  reflectorBench,
  type TestPod,
} from '../../../test/kit/reflector-bench.ts';
import { ScriptedBody } from '../../../test/kit/scripted-client.ts';
import type { Random } from '../../base/clock.ts';
import { must } from '../../base/must.ts';
import type { Query, RestClient } from '../../kube/client/rest-client.ts';
import { apiErrorFromAnswer } from '../../kube/http/api-error.ts';
import { Database } from '../../store/sqlite/database.ts';

interface ModelEvent {
  readonly rv: number;
  readonly line: string;
}

class ModelServer {
  revision = 10;
  compacted = 10;
  faults = true;
  readonly pods = new Map<string, TestPod>();
  readonly #random: Random;
  readonly #events: ModelEvent[] = [];
  readonly #snapshots = new Map<number, TestPod[]>();
  readonly #watches = new Set<ScriptedBody>();
  #uids = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** True once in `times`. */
  chance(times: number): boolean {
    return this.#random() * times < 1;
  }

  operate(): void {
    const name = `p${Math.floor(this.#random() * 12)}`;
    const current = this.pods.get(name);
    if (current === undefined) {
      this.#uids += 1;
      this.#write('ADDED', { name, uid: `u${this.#uids}`, rv: this.revision + 1 });
    } else if (this.chance(2)) this.#write('MODIFIED', { ...current, rv: this.revision + 1 });
    else this.#write('DELETED', { ...current, rv: this.revision + 1 });
  }

  compact(): void {
    this.compacted = this.revision;
  }

  bookmark(): void {
    for (const body of this.#watches) body.write(bookmarkLine(this.revision));
  }

  readonly stream: RestClient['stream'] = async (_, query = {}, { signal } = {}) => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    if (this.faults && this.chance(5)) this.#refuse();
    const body = new ScriptedBody();
    body.on('error', () => {});
    signal?.addEventListener('abort', () => body.destroy(signal.reason as Error), { once: true });
    body.on('close', () => this.#watches.delete(body));
    if (query['sendInitialEvents'] === true) this.#streamList(body, Number(query['resourceVersion']));
    else if (query['watch'] === true) this.#watch(body, Number(query['resourceVersion']));
    else this.#list(body, query);
    return { status: 200, headers: {}, body };
  };

  #write(type: string, pod: TestPod): void {
    this.revision = pod.rv;
    if (type === 'DELETED') this.pods.delete(pod.name);
    else this.pods.set(pod.name, pod);
    const event = { rv: pod.rv, line: eventLine(type, pod) };
    this.#events.push(event);
    for (const body of this.#watches) this.#send(body, event.line);
  }

  /** One line: sometimes in two pieces, twice, broken, or cut with the connection. */
  #send(body: ScriptedBody, line: string): void {
    if (!this.faults || !this.chance(6)) {
      body.write(line);
      return;
    }
    const at = 1 + Math.floor(this.#random() * (line.length - 2));
    const fault = Math.floor(this.#random() * 5);
    if (fault === 0) {
      body.write(line.slice(0, at));
      body.write(line.slice(at));
    } else if (fault === 1) body.write(line + line);
    else if (fault === 2) body.write(`${line.slice(0, at)}\n`);
    else {
      this.#watches.delete(body);
      if (fault === 3) body.write(line.slice(0, at));
      else body.write(line);
      if (this.chance(2)) body.end();
      else void body.reset();
    }
  }

  #list(body: ScriptedBody, query: Query): void {
    const wanted = Number(query['resourceVersion'] ?? 0);
    if (wanted > this.revision) throw status(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] });
    const [at, from] = String(query['continue'] ?? `${this.revision}:0`)
      .split(':')
      .map(Number) as [number, number];
    if (at < this.compacted && query['continue'] !== undefined) throw status(410, 'Expired');
    const snapshot = this.#snapshots.get(at) ?? [...this.pods.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#snapshots.set(at, snapshot);
    const limit = Number(query['limit'] ?? 1000);
    const items = snapshot.slice(from, from + limit);
    const more = from + limit < snapshot.length ? { continue: `${at}:${from + limit}` } : {};
    const text = listText(at, items, more);
    const cut = this.faults && this.chance(8);
    body.write(cut ? text.slice(0, Math.floor(this.#random() * text.length)) : text);
    if (cut && this.chance(2)) void body.reset();
    else body.end();
  }

  /** Objects in any order, then a watch. Sometimes the end mark comes late, with changes before it. */
  #streamList(body: ScriptedBody, wanted: number): void {
    if (wanted > this.revision) throw status(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] });
    if (this.faults && this.chance(10)) throw status(422, 'Invalid');
    this.#watches.add(body);
    const shuffled = [...this.pods.values()]
      .map((pod) => ({ pod, at: this.#random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ pod }) => pod);
    for (const pod of shuffled) if (this.#watches.has(body)) this.#send(body, eventLine('ADDED', pod));
    if (this.faults && this.chance(3)) for (let more = 0; more < 3; more += 1) this.operate();
    if (this.#watches.has(body)) body.write(endLine(this.revision));
  }

  #watch(body: ScriptedBody, from: number): void {
    if (from < this.compacted) {
      if (this.chance(2)) throw status(410, 'Expired');
      body.write(errorLine(410, 'Expired'));
      body.end();
      return;
    }
    if (this.faults && this.chance(8)) {
      body.end();
      return;
    }
    this.#watches.add(body);
    for (const event of this.#events) if (event.rv > from && this.#watches.has(body)) this.#send(body, event.line);
  }

  #refuse(): never {
    const code = must([429, 500, 503, 504, 401, 403, 0][Math.floor(this.#random() * 7)], 'a status');
    if (code === 0) throw new Error('connect ECONNREFUSED');
    throw status(code, 'Trouble', code === 429 ? { retryAfterSeconds: 3 } : {});
  }
}

function status(code: number, reason: string, details: object = {}): Error {
  const text = JSON.stringify({ kind: 'Status', code, reason, message: reason, details });
  return apiErrorFromAnswer({ what: 'GET /api/v1/pods', httpStatus: code, headers: {}, text });
}

/** A small seeded generator; the same sequence on every machine. */
function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Entry {
  readonly type: string;
  readonly name: string;
  readonly uid: string;
}

async function play(seed: number, streamingLists: boolean): Promise<void> {
  const random = seeded(seed);
  const bench = reflectorBench({ settings: { pageSize: 3, batchEvents: 2, streamingLists } });
  const server = new ModelServer(random);
  for (let index = 0; index < 8; index += 1) server.operate();
  let reflector = bench.reflector({ client: server, random });
  reflector.start();
  let version = 0;
  let base: { readonly seq: number; readonly uids: Map<string, string> } | null = null;
  for (let step = 0; step < 40; step += 1) {
    for (let operations = Math.floor(random() * 4); operations > 0; operations -= 1) server.operate();
    if (server.chance(8)) server.compact();
    if (server.chance(4)) server.bookmark();
    if (server.chance(12)) {
      await reflector.stop();
      reflector = bench.reflector({ client: server, random });
      reflector.start();
    }
    await bench.clock.advance(random() * 3000);
    const now = Number(bench.version() ?? 0);
    expect(now).toBeGreaterThanOrEqual(version);
    version = now;
    if (base === null && reflector.synced) base = { seq: bench.writer.revision(), uids: uidsOf(bench.pods()) };
  }
  server.faults = false;
  for (let minute = 0; minute < 22; minute += 1) {
    server.bookmark();
    await bench.clock.advance(60_000);
  }

  const held = uidsOf(bench.pods());
  expect(bench.pods()).toEqual([...server.pods.values()].map(({ name, uid, rv }) => `${name} ${uid}@${rv}`).sort());
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  // Without a sync during the faults, the log is empty.
  const from = base ?? { seq: bench.writer.revision(), uids: held };
  expect(folded(from.uids, entriesAfter(bench.file, from.seq))).toEqual(held);
  await reflector.stop();
  expect(bench.clock.sleepers).toBe(0);
}

function uidsOf(lines: readonly string[]): Map<string, string> {
  return new Map(lines.map((line) => line.split('@')[0]?.split(' ') as [string, string]));
}

function entriesAfter(file: string, seq: number): Entry[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .statement('SELECT type, name, uid FROM change WHERE seq > ? ORDER BY seq')
      .all(seq)
      .map(([type, name, uid]) => ({ type: String(type), name: String(name), uid: String(uid) }));
  } finally {
    database.close();
  }
}

/** Every entry must fit the folded state: an add is new, a change follows an add, and a delete has the same uid. */
function folded(base: ReadonlyMap<string, string>, entries: readonly Entry[]): Map<string, string> {
  const held = new Map(base);
  for (const { type, name, uid } of entries) {
    expect([type, name, held.get(name)]).toEqual([type, name, type === 'ADDED' ? undefined : uid]);
    if (type === 'DELETED') held.delete(name);
    else held.set(name, uid);
  }
  return held;
}

test.each([
  ['pages', false],
  ['streams', true],
] as const)(
  'any operations and any faults, lists in %s: the table and the log are right in the end',
  async (_, streams) => {
    const seeds = fc.integer({ min: 0, max: 2 ** 31 });
    await fc.assert(
      fc.asyncProperty(seeds, (seed) => play(seed, streams)),
      { numRuns: randomRuns(20, 60) },
    );
  },
);
