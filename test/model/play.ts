/**
 * One run of the model, by its seed: the whole of ingest (supervisor, reflectors, writer, a real store file) against the model's API server, random
 * operations and random faults, all in one thread and in the model's own time. Whatever happens happens again with the same seed.
 *
 *   start -> steps: operations, faults, restarts, time -> now and then, and in the end: the faults stop, all comes to rest, I1 to I7 hold
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import type { ReflectorSettings } from '../../src/ingest/context/reflector-context.ts';
import { IngestHost } from '../../src/ingest/thread/ingest-host.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import { ModelClock, settle } from './model-clock.ts';
import { type FaultName, ModelFaults } from './model-faults.ts';
import { ModelServer } from './model-server.ts';
import { type Backup, configMaps, type ModelResource, modelResources, revisionOf } from './model-storage.ts';
import { RequestJudge } from './request-judge.ts';
import { TableOracle } from './table-oracle.ts';
import { overlaid, watchedWriter } from './watched-writer.ts';

const cluster = 'model';
/** Where files need no disk, if there is such a place: real ones all the same. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Milliseconds between two rounds of the supervisor. */
const rediscoverMs = 15_000;
const requests = { burst: 4, perSecond: 2 };
/** Milliseconds of quiet after which all must be in step: two rounds of the supervisor, and the longest watch. */
const patienceMs = 600_000;

/** Plays a seed, with `only` these faults if they are given. Throws what does not hold, with how to play it alone. */
export async function play(seed: number, only?: readonly FaultName[]): Promise<void> {
  const folder = mkdtempSync(join(memory, 'portolan-model-'));
  const run = new Run(seed, folder, only);
  try {
    await run.play();
  } catch (error) {
    throw new Error(
      `Seed ${seed} failed; PORTOLAN_SEED=${seed} npx vitest run test/model/${only === undefined ? 'seeds' : 'each-fault'} plays it alone. ${messageOf(error)}\nWhat happened: ${run.story}`,
      { cause: error },
    );
  } finally {
    run.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Run {
  readonly #folder: string;
  readonly #random: () => number;
  readonly #clock = new ModelClock();
  readonly #faults: ModelFaults;
  readonly #judge: RequestJudge;
  readonly #resources: readonly ModelResource[];
  readonly #server: ModelServer;
  readonly #settings: Partial<ReflectorSettings> & { readonly batchEvents: number };
  readonly #store: { readonly maxDifferences: number };
  readonly #findings: string[] = [];
  readonly #log: Logger;
  readonly #done: string[] = [];
  #file: string;
  #files = 0;
  #writer: StoreWriter;
  #oracle: TableOracle;
  #host: IngestHost;
  #backup: Backup | null = null;

  constructor(seed: number, folder: string, only: readonly FaultName[] | undefined) {
    this.#folder = folder;
    this.#random = seededRandom(seed);
    this.#faults = new ModelFaults(this.#random, only);
    const second = this.#pick(3);
    this.#resources = modelResources.filter((_, index) => index === 0 || second === 0 || second === index);
    this.#judge = new RequestJudge(this.#clock, this.#random, requests);
    this.#server = new ModelServer({
      name: cluster,
      clock: this.#clock,
      random: this.#random,
      faults: this.#faults,
      judge: this.#judge,
      resources: this.#resources,
    });
    this.#settings = {
      requests,
      pageSize: 2 + this.#pick(3),
      batchEvents: 1 + this.#pick(4),
      streamingLists: this.#pick(2) === 0,
      watchSeconds: { least: 10, most: 40 },
      watchGraceMs: 5000,
      idleMs: 15_000,
      streamSilenceMs: 5000,
      backoff: { firstMs: 100, capMs: 2000, resetMs: 60_000 },
      parked: { firstMs: 200, capMs: 4000, resetMs: 60_000 },
      maxLineBytes: 4096,
      auditMs: this.#faults.has('R24') ? 5000 + this.#pick(15_000) : 0,
    };
    this.#log = {
      ...silentLogger,
      error: (_fields, message) => {
        if (/table is not what/.test(message) && !this.#server.confused)
          this.#findings.push(`R24: without a cause, ${message}`);
      },
      child: () => this.#log,
    };
    this.#store = { maxDifferences: this.#pick(3) === 0 ? 3 : 2000 };
    for (let operations = this.#pick(16); operations > 0; operations -= 1) this.#server.operate();
    this.#file = join(folder, 'store-0.db');
    this.#writer = this.#openWriter();
    this.#oracle = new TableOracle(this.#server, cluster, this.#file);
    this.#host = this.#startHost();
  }

  /** What was done and what went wrong, in order. */
  get story(): string {
    return this.#done.join(', ');
  }

  async play(): Promise<void> {
    for (let steps = 3 + this.#pick(8); steps > 0; steps -= 1) {
      for (let operations = this.#pick(5); operations > 0; operations -= 1) this.#server.operate();
      await this.#act();
      await this.#clock.advance(this.#pick(12) === 0 ? 25_000 * this.#random() : 2500 * this.#random());
      this.#check();
      if (this.#pick(20) === 0) await this.#settled();
    }
    await this.#settled();
    await this.#quiet();
    await this.#host.close();
    await settle();
    this.#expect(this.#server.bodies.size === 0, `R19: ${this.#server.bodies.size} connections are left after the end`);
    this.#expect(this.#clock.sleepers === 0, `R19: ${this.#clock.sleepers} timers are left after the end`);
    this.#check();
  }

  end(): void {
    this.#oracle.close();
    this.#writer.close();
  }

  // ——— what may happen besides writes to objects

  async #act(): Promise<void> {
    const server = this.#server;
    if (this.#pick(3) === 0) server.bookmark();
    if (this.#pick(8) === 0) server.compact();
    if (this.#pick(3) === 0) server.catchUp();
    if (this.#pick(4) === 0) this.#oracle.lend();
    else if (this.#pick(2) === 0) this.#oracle.giveBack();
    if (this.#pick(10) === 0) server.down = false;
    if (this.#pick(4) === 0) server.forbidden.clear();
    if (this.#pick(6) === 0) server.removed.clear();
    if (this.#pick(6) === 0) server.stale.clear();
    const act = this.#faults.pick([...rare, ...common, ...common], 2);
    if (act === null) return;
    this.#done.push(act);
    this.#faults.count(act);
    await this.#strike(act);
  }

  async #strike(act: FaultName): Promise<void> {
    const server = this.#server;
    const resource = must(this.#resources[this.#pick(this.#resources.length)], 'a resource');
    switch (act) {
      case 'F20':
        if (this.#backup === null) {
          if (!server.confused) this.#backup = server.storage.backup();
        } else if (!server.confused && server.storage.revision > this.#backup.revision + 5) {
          const known = this.#lowestAbove(this.#backup.revision);
          if (known !== null) server.restore(this.#backup, known);
          this.#backup = null;
        }
        return;
      case 'F21':
        this.#backup = null;
        return server.becomeAnother();
      case 'F22':
        if (!server.confused) server.lag = this.#pick(8);
        return;
      case 'F24':
        server.down = true;
        return;
      case 'F25':
        return server.dropWatches();
      case 'F27':
        server.forbidden.add(resource.key);
        return;
      case 'F28':
        if (resource !== configMaps && !server.confused && !server.removed.has(resource.key)) server.remove(resource);
        return;
      case 'F30':
        if (resource !== configMaps) server.stale.add(resource.group);
        return;
      case 'F41':
        return void this.#writer.onCommit(() => {
          throw new Error('a listener fails');
        });
      case 'F43':
        return this.#crash();
      case 'F44':
        this.#clock.jump((this.#random() - 0.5) * 7_200_000);
        return this.#holdUp(this.#random() * 40_000);
      case 'F45':
        return this.#restart();
      case 'F50':
        return server.burst();
      case 'R24':
        return server.lose();
    }
  }

  #holdUp(ms: number): void {
    this.#clock.holdUp(ms);
    this.#judge.heldUp();
  }

  /**
   * The lowest version that ingest knows of a future behind this revision; null where it knows none of the collection by which it is
   * noticed that the storage went back: versions of other servers, and those without an order, say nothing.
   */
  #lowestAbove(revision: number): number | null {
    const known = this.#writer.states(cluster).map(({ handle, lastResourceVersion }) => ({
      key: handle.key,
      revision: revisionOf(lastResourceVersion ?? '0'),
    }));
    const above = known.filter((each) => each.revision > revision);
    if (!above.some(({ key }) => key === configMaps.key)) return null;
    return Math.min(...above.map((each) => each.revision));
  }

  /** Ends ingest in order, at whatever it is doing, and starts it again. */
  async #restart(): Promise<void> {
    this.#oracle.giveBack();
    await this.#host.close();
    await settle();
    this.#check();
    this.#expect(this.#server.bodies.size === 0, `R19: ${this.#server.bodies.size} connections are left after a stop`);
    this.#expect(this.#clock.sleepers === 0, `R19: ${this.#clock.sleepers} timers are left after a stop`);
    this.#reopen();
  }

  /** The process is gone in the middle of what it does: the files stay as they are at this moment, and another process opens them. */
  async #crash(): Promise<void> {
    this.#oracle.giveBack();
    this.#files += 1;
    const image = join(this.#folder, `store-${this.#files}.db`);
    for (const suffix of ['', '-wal']) {
      if (existsSync(this.#file + suffix)) copyFileSync(this.#file + suffix, image + suffix);
    }
    const old = { host: this.#host, writer: this.#writer, oracle: this.#oracle };
    // What the old process did behind the image is of another world: nobody looks at it.
    await old.host.close();
    await settle();
    old.oracle.close();
    old.writer.close();
    this.#file = image;
    this.#reopen(true);
  }

  #reopen(elsewhere = false): void {
    this.#judge.restart();
    if (!elsewhere) this.#writer.close();
    this.#writer = this.#openWriter();
    if (elsewhere) this.#oracle = new TableOracle(this.#server, cluster, this.#file);
    this.#oracle.observe();
    this.#host = this.#startHost();
  }

  #openWriter(): StoreWriter {
    return openWriter(this.#file, { checkpoints: 'inline', clock: this.#clock, ...this.#store });
  }

  #startHost(): IngestHost {
    const writer = watchedWriter({
      writer: this.#writer,
      oracle: this.#oracle,
      server: this.#server,
      faults: this.#faults,
      judge: this.#judge,
      batchEvents: this.#settings.batchEvents,
      findings: this.#findings,
      stall: () => this.#holdUp(10_000),
    });
    const host = new IngestHost({
      options: {
        file: this.#file,
        clusters: [{ name: cluster }],
        include: modelResources.map(({ key }) => key),
        // A thread of its own has a time of its own.
        parseThread: false,
        supervisor: { rediscoverMs },
        reflector: this.#settings,
      },
      writer: overlaid(writer, { close: () => {} }),
      open: async () => this.#server.connection,
      post: () => {},
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
    });
    host.start();
    return host;
  }

  // ——— what must hold

  #check(): void {
    this.#oracle.observe();
    this.#findings.push(...this.#judge.findings.splice(0));
    const [finding] = this.#findings;
    if (finding !== undefined) throw new Error(finding);
  }

  /** The faults stop; within bounded time everything is in step with the server. */
  async #settled(): Promise<void> {
    const { storage } = this.#server;
    this.#done.push('rest');
    this.#faults.on = false;
    Object.assign(this.#server, { down: false });
    for (const set of [this.#server.forbidden, this.#server.removed, this.#server.stale]) set.clear();
    this.#server.catchUp();
    this.#oracle.giveBack();
    // Another past is noticed at the supervisor's next round.
    if (this.#server.confused) await this.#clock.advance(2 * rediscoverMs);
    const until = this.#clock.monotonic() + patienceMs;
    for (;;) {
      this.#server.bookmark();
      await this.#clock.advance(4000);
      try {
        const progress = this.#host.progress();
        this.#expect(progress.ready && progress.failing.length === 0, `not in step: ${JSON.stringify(progress)}`);
        this.#oracle.equalsServer();
        this.#expect(this.#watching(), 'not all is watched again');
        break;
      } catch (error) {
        if (this.#clock.monotonic() > until) throw error;
      }
    }
    this.#expect(storage === this.#server.storage, 'the server is another one');
    if (this.#server.confused) {
      this.#server.understood();
      this.#oracle.understood();
      this.#backup = null;
    }
    this.#check();
    await this.#oracle.followAnew();
    this.#faults.on = true;
  }

  /** Is everything watched from where the server still reaches back to? */
  #watching(): boolean {
    const states = this.#writer.states(cluster);
    return (
      this.#server.watched &&
      states.every(
        ({ status, lastResourceVersion }) =>
          status.phase === 'WATCHING' && revisionOf(lastResourceVersion ?? '0') >= this.#server.storage.compacted,
      )
    );
  }

  /** While nothing goes wrong, nothing is listed, and what is no longer needed goes (I5, I6). */
  async #quiet(): Promise<void> {
    this.#faults.on = false;
    this.#judge.lists = 0;
    for (let operations = 0; operations < 3; operations += 1) {
      this.#server.operate();
      await this.#clock.advance(3000);
    }
    this.#check();
    this.#oracle.equalsServer();
    this.#expect(this.#judge.lists === 0, `I5: ${this.#judge.lists} lists while all was well`);
    const left = this.#oracle.leftovers();
    this.#expect(String(left) === '0,0,0,0,0', `rows are left that count no more: ${String(left)}`);
  }

  #expect(holds: boolean, otherwise: string): void {
    if (!holds) throw new Error(otherwise);
  }

  #pick(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

const common = ['F25', 'F45', 'F50', 'F22', 'F44', 'F27', 'F24'] as const;
const rare = ['F20', 'F20', 'F21', 'F28', 'F30', 'F41', 'F43', 'R24'] as const;
