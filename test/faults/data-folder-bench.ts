/**
 * What the tests of faults of the data folder share: a gateway process over a simulated cluster whose objects change all the time, fifty
 * subscribers, queries one after the other, and an oracle that judges each answer and each message.
 *
 * Each ConfigMap has a number `v` and a text that follows from its name and `v`, from a line to some pages of the store. An answer is right if
 * - each object is one that the API server had, and no older than in any answer that had ended before the question was sent;
 * - it has all objects that it must have;
 * - without an entry in `extensions.portolan.stale`, no object is older than `freshMs`.
 * Errors are right if they have a code, and another one than that of a defect.
 */
import { join } from 'node:path';
import { type Client, createClient } from 'graphql-ws';
import { expect, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { type Answer, ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { seededRandom } from '../kit/seeded-random.ts';

const objects = 150;
const subscribers = 50;
const queriers = 4;
/** Milliseconds between two changes of objects. */
const changeMs = 20;
/** An answer without a sign of its age shows no object that was changed before this many milliseconds. */
const freshMs = 5000;

export interface Readiness {
  readonly ready: boolean;
  readonly status: string;
  readonly fault: { readonly kind: string; readonly error: string } | null;
  readonly rebuilds: number;
  readonly disk: { readonly tight: boolean } | null;
}

interface Version {
  readonly v: number;
  /** When the API server got it, by the monotonic clock. */
  readonly at: number;
}

interface FoundObject {
  readonly metadata: { readonly name: string };
  readonly raw: { readonly data: { readonly v: string; readonly text: string } };
}

/** What was judged so far. */
export interface Judged {
  readonly answers: number;
  /** Answers with a sign of their age. */
  readonly stale: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly messages: number;
  readonly wrong: readonly string[];
}

export interface DataFolder {
  readonly gateway: GatewayProcess;
  readonly folder: string;
  readonly file: string;
  readonly judged: Judged;
  readyz(): Promise<Readiness>;
  /** Waits until the readiness has this, at most five seconds. Returns the milliseconds. */
  saysWithin(check: (readiness: Readiness) => void): Promise<number>;
  /** Waits until everything is right, at most thirty seconds. Returns the milliseconds. */
  wellWithin(): Promise<number>;
  /** Resolves when some more answers have been right. */
  answered(): Promise<void>;
  /** Resolves when no answer has shown a change for longer than an answer without a sign of its age may. */
  outdated(): Promise<void>;
  /** Ends all, and prints what was judged. Asserts that nothing was wrong. */
  end(): Promise<void>;
}

function textOf(name: string, v: number): string {
  const length = seededRandom([...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7))() ** 3 * 12_000;
  return `${name} is at ${v}. `.repeat(1 + Math.floor(length / 16));
}

const questions: readonly { readonly document: string; readonly whole: number }[] = [
  { document: '{ configMaps(first: 200) { totalCount nodes { metadata { name } raw } } }', whole: objects },
  { document: '{ configMaps(first: 20) { nodes { metadata { name } raw } } }', whole: 20 },
  {
    document:
      '{ configMaps(first: 30, orderBy: [{ path: "metadata.resourceVersion", direction: DESC }]) { nodes { metadata { name } raw } } }',
    whole: 30,
  },
  {
    document:
      '{ configMaps(first: 200, filter: { metadata: { name: { contains: "c1" } } }) { nodes { metadata { name } raw } } }',
    whole: Array.from({ length: objects }, (_, index) => `c${index}`).filter((name) => name.includes('c1')).length,
  },
];
const changesDocument = `subscription ($since: String) { configMapChanges(since: $since) {
  phase reset cursor removedIds changes { type id object { metadata { name } raw } } } }`;

class Oracle {
  answers = 0;
  stale = 0;
  messages = 0;
  readonly errors: Record<string, number> = {};
  readonly wrong: string[] = [];
  /** The versions of each object, oldest first. */
  readonly #versions = new Map<string, Version[]>();
  /** The newest version of each object in an answer that has ended. */
  readonly #shown = new Map<string, number>();

  note(name: string, v: number): void {
    this.#versions.set(name, [...(this.#versions.get(name) ?? []), { v, at: performance.now() }]);
  }

  current(name: string): number {
    return this.#versions.get(name)?.at(-1)?.v ?? 0;
  }

  /** The oldest versions that an answer to a question of now may show. */
  ask(): ReadonlyMap<string, number> {
    return new Map(this.#shown);
  }

  /** Milliseconds since the oldest change that no answer has shown yet. */
  unshownMs(): number {
    let oldest = performance.now();
    for (const [name, versions] of this.#versions) {
      const next = versions[this.#shown.get(name) ?? 0];
      if (next !== undefined) oldest = Math.min(oldest, next.at);
    }
    return performance.now() - oldest;
  }

  judgeObject({ metadata: { name }, raw }: FoundObject): number | null {
    const v = Number(raw?.data?.v);
    const isRight = v >= 1 && v <= this.current(name) && raw.data.text === textOf(name, v);
    if (isRight) return v;
    this.wrong.push(`${name}: ${JSON.stringify(raw).slice(0, 200)}`);
    return null;
  }

  judge(
    answer: Answer,
    asked: { readonly at: number; readonly floor: ReadonlyMap<string, number> },
    whole: number,
  ): void {
    if (answer.errors !== undefined) {
      this.judgeErrors(answer.errors);
      return;
    }
    this.answers += 1;
    const { nodes, totalCount } = (answer.data as { configMaps: { nodes: FoundObject[]; totalCount?: number } })
      .configMaps;
    const stale = (answer.extensions?.['portolan'] as { stale?: unknown[] } | undefined)?.stale;
    if (stale !== undefined) this.stale += 1;
    if (nodes.length !== whole || (totalCount ?? objects) !== objects) {
      this.wrong.push(`${nodes.length} of ${whole} objects, counted ${totalCount}`);
    }
    for (const node of nodes) {
      const v = this.judgeObject(node);
      if (v === null) continue;
      const { name } = node.metadata;
      if (v < (asked.floor.get(name) ?? 0)) this.wrong.push(`${name} at ${v}, was shown at ${asked.floor.get(name)}`);
      const next = this.#versions.get(name)?.find((version) => version.v === v + 1);
      if (stale === undefined && next !== undefined && next.at < asked.at - freshMs) {
        this.wrong.push(
          `${name} at ${v}, changed ${Math.round(asked.at - next.at)} ms before, without a sign of its age`,
        );
      }
      this.#shown.set(name, Math.max(v, this.#shown.get(name) ?? 0));
    }
  }

  judgeErrors(errors: readonly { readonly message: string; readonly extensions?: Record<string, unknown> }[]): void {
    for (const { message, extensions } of errors) {
      const code = String(extensions?.['code'] ?? 'none');
      this.errors[code] = (this.errors[code] ?? 0) + 1;
      if (code === 'none' || code === 'INTERNAL_SERVER_ERROR') this.wrong.push(`${code}: ${message}`);
    }
  }
}

/** A subscriber that subscribes again after an error, from its last cursor. */
class Subscriber {
  readonly held = new Map<string, FoundObject>();
  readonly #client: Client;
  readonly #oracle: Oracle;
  #cursor: string | null = null;
  #stopped = false;
  #end: () => void = () => {};
  readonly #over: Promise<void>;

  constructor(url: string, oracle: Oracle) {
    this.#oracle = oracle;
    this.#client = createClient({ url: url.replace(/^http/, 'ws'), webSocketImpl: WebSocket, retryAttempts: 1000 });
    this.#over = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await new Promise<void>((resolve) => {
        const end = this.#client.subscribe<{ configMapChanges: Message }>(
          { query: changesDocument, variables: { since: this.#cursor } },
          {
            next: ({ data, errors }) => {
              if (errors !== undefined) this.#oracle.judgeErrors(errors);
              else if (data) this.#take(data.configMapChanges);
            },
            error: (error) => {
              if (Array.isArray(error)) this.#oracle.judgeErrors(error);
              resolve();
            },
            complete: () => resolve(),
          },
        );
        this.#end = () => {
          end();
          resolve();
        };
      });
      if (!this.#stopped) await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  #take({ reset, cursor, phase, removedIds, changes }: Message): void {
    this.#oracle.messages += 1;
    if (reset) this.held.clear();
    for (const id of removedIds) this.held.delete(id);
    for (const { id, object } of changes) {
      if (object === null) continue;
      this.#oracle.judgeObject(object);
      this.held.set(id, object);
    }
    if (phase === 'SYNCED' || phase === 'LIVE') this.#cursor = cursor;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#end();
    await this.#over;
    await this.#client.dispose();
  }
}

interface Message {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly removedIds: readonly string[];
  readonly changes: readonly { readonly id: string; readonly object: FoundObject | null }[];
}

/**
 * Starts everything on this folder; resolves when all subscribers hold all objects.
 * @param args of the gateway, besides its kubeconfig and its file
 */
export async function dataFolder(folder: string, seed = 1, args: readonly string[] = []): Promise<DataFolder> {
  const random = seededRandom(seed);
  const oracle = new Oracle();
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  for (let index = 0; index < objects; index += 1) put(sim, oracle, `c${index}`);
  const configs = kubeconfigFolder();
  onTestFinished(() => configs.remove());
  const file = join(folder, 'portolan.db');
  const kubeconfig = configs.file('config', sim.kubeconfig());
  const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig, '--data', file, ...args]);
  const base = gateway.url.replace('/graphql', '');
  const readyz = async (): Promise<Readiness> => (await (await fetch(`${base}/readyz`)).json()) as Readiness;
  await eventually(async () => expect(await readyz()).toMatchObject({ ready: true }));

  let changing = true;
  const stop = new AbortController();
  const changes = setInterval(() => {
    if (changing) put(sim, oracle, `c${Math.floor(random() * objects)}`);
  }, changeMs);
  const all = Array.from({ length: subscribers }, () => new Subscriber(gateway.url, oracle));
  const asking = Array.from({ length: queriers }, async (_, at) => {
    for (let turn = at; !stop.signal.aborted; turn += 1) {
      const { document, whole } = must(questions[turn % questions.length], 'a question');
      const asked = { at: performance.now(), floor: oracle.ask() };
      try {
        oracle.judge(await ask(gateway.url, document), asked, whole);
      } catch (error) {
        if (!stop.signal.aborted) oracle.wrong.push(`no answer: ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const areEqual = (): void => {
    const expected = Array.from({ length: objects }, (_, index) => `c${index} ${oracle.current(`c${index}`)}`).sort();
    const differs = all.filter(({ held }) => {
      const found = [...held.values()].map(({ metadata: { name }, raw }) => `${name} ${raw.data.v}`);
      return found.sort().join() !== expected.join();
    });
    if (differs.length > 0) throw new Error(`${differs.length} subscribers differ: ${JSON.stringify(oracle.errors)}`);
  };
  const within = async (milliseconds: number, check: () => Promise<void> | void): Promise<number> => {
    const began = performance.now();
    await eventually(check, milliseconds, 50);
    return Math.round(performance.now() - began);
  };
  let closing: Promise<void> | null = null;
  const closed = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  const close = async (): Promise<void> => {
    stop.abort();
    clearInterval(changes);
    await Promise.all(asking);
    await Promise.all(all.map((subscriber) => subscriber.stop()));
    await gateway.close();
  };
  const bench: DataFolder = {
    gateway,
    folder,
    file,
    judged: oracle,
    readyz,
    saysWithin: (check) => within(5000, async () => check(await readyz())),
    async wellWithin() {
      const took = await within(30_000, async () => {
        expect(await readyz()).toMatchObject({ ready: true, status: 'ready', fault: null });
        // Changes stop only for the comparison: a change on its way is no difference.
        const answer = await ask(gateway.url, must(questions[0], 'a question').document);
        expect(answer.errors).toBeUndefined();
        expect(answer.extensions).not.toMatchObject({ portolan: { stale: expect.anything() } });
        changing = false;
        try {
          await eventually(areEqual, 1000, 20);
        } finally {
          changing = true;
        }
      });
      return took;
    },
    async answered() {
      const enough = oracle.answers + 20;
      await eventually(() => expect(oracle.answers).toBeGreaterThan(enough), 30_000, 20);
    },
    outdated: () => eventually(() => expect(oracle.unshownMs()).toBeGreaterThan(freshMs), 60_000, 50),
    async end() {
      await closed();
      const { answers, stale, messages, errors, wrong } = oracle;
      process.stdout.write(`judged: ${JSON.stringify({ answers, stale, messages, errors, wrong: wrong.length })}\n`);
      expect(wrong).toEqual([]);
    },
  };
  onTestFinished(() => closed().catch(() => {}));
  await bench.wellWithin();
  return bench;
}

/** Creates the object, or changes it to its next version. */
function put(sim: SimCluster, oracle: Oracle, name: string): void {
  const v = oracle.current(name) + 1;
  oracle.note(name, v);
  const data = { v: String(v), text: textOf(name, v) };
  if (v === 1) sim.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data });
  else sim.patch(`/api/v1/namespaces/default/configmaps/${name}`, { data });
}
