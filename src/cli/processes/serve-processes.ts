/**
 * Serves a gateway by several processes (--processes). Each serve process has its own readers on the database file, and listens on the same
 * port. This process has what a gateway has only once:
 *
 *   - ingest, and the writer of the store
 *   - the watches of the configuration file and of the Secrets that register clusters
 *   - the audit log, the keys of writes, and the count of what each caller writes in a minute
 *
 *   commit, progress, catalog -> told to each serve process, joined while it is busy (outbox.ts)
 *   a scrape at one process   -> the metrics of all others, and of this process (kept-metrics.ts)
 *   a process ends            -> the others go on; its clients connect to one of them and resume by their cursors; it is started again
 */
import { availableParallelism } from 'node:os';
import { CallerLimits, defaultBounds } from '../../admission/caller-limits.ts';
import type { Clock } from '../../base/clock.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import type { LiveConfig } from '../../config/live-config.ts';
import type { IngestHandle } from '../../ingest/thread/start-ingest.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import type { ProcessesState } from '../../server/health/readiness.ts';
import { ownMetrics, type ProcessMetrics } from '../../server/health/summed-metrics.ts';
import { reservePort } from '../../server/listen.ts';
import type { Shutdown } from '../parts/shutdown.ts';
import type { AuditFile } from '../serving/audit-file.ts';
import type { Serving } from '../serving/serving.ts';
import { type WritingKeys, writingKeys } from '../writes/writing-keys.ts';
import { KeptMetrics } from './kept-metrics.ts';
import { PendingAnswers } from './pending-answers.ts';
import { processCount } from './process-count.ts';
import type {
  FromProcess,
  ProcessConfig,
  ProcessFacts,
  ProcessStart,
  ToProcess,
  WriteRefusal,
} from './process-messages.ts';
import { ServeProcess } from './serve-process.ts';

/** Milliseconds between two looks whether the facts have changed. */
const factsMs = 250;
/** Bytes of the path of a folder with sockets, on every system. */
const longestPath = 100;
/** Milliseconds that a process has for its metrics. */
const patienceMs = 1000;

interface ProcessesParts {
  readonly clusters: readonly ClusterOptions[];
  readonly file: string;
  /** See ProcessStart. */
  readonly folder: string;
  readonly ingest: IngestHandle;
  readonly live: LiveConfig | undefined;
  readonly audit: AuditFile | null;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  readonly log: Logger;
}

/** The part of a running server that a gateway uses. */
type ServedGateway = Pick<Serving, 'url' | 'page' | 'aggregatePort' | 'drain' | 'close'>;

export class ServeProcesses {
  readonly #config: ProcessConfig;
  readonly #parts: ProcessesParts;
  readonly #keys: WritingKeys;
  readonly #all: readonly ServeProcess[];
  readonly #own = ownMetrics();
  readonly #kept = new KeptMetrics();
  /** The writes of callers at all processes together. */
  readonly #limits: Pick<CallerLimits, 'chargeWrites'>;
  /** Requests for metrics that processes have not answered yet. */
  readonly #measures = new PendingAnswers<ProcessMetrics | null>();
  /** Messages about registered clusters that processes have not confirmed yet. */
  readonly #learning = new PendingAnswers<void>();
  #registered: readonly RegisteredCluster[] | null = null;
  #secrets: { readonly refused: number } | null = null;
  #ports: { readonly port: number; readonly aggregatePort: number } = { port: 0, aggregatePort: 0 };
  #told = '';

  /** @throws PortolanError CONFIGURATION for a file of the key of plans, or a folder of sockets, that cannot be used */
  constructor(config: ProcessConfig, parts: ProcessesParts) {
    this.#config = config;
    this.#parts = parts;
    this.#keys = writingKeys(config);
    this.#limits = new CallerLimits(defaultBounds, () => parts.clock.monotonic());
    refuseLongPath(parts.folder);
    const starts = new Semaphore(availableParallelism());
    this.#all = Array.from(
      { length: processCount(config.processes) },
      (_, at) =>
        new ServeProcess({
          number: at + 1,
          clock: parts.clock,
          random: Math.random,
          log: parts.log,
          starts,
          othersServe: () => this.#all.some(({ number, isServing }) => number !== at + 1 && isServing),
          start: () => this.#start(at + 1),
          take: (message, answer) => this.#take(at + 1, message, answer),
          changed: () => this.#tellFacts(),
          ended: () => void this.#kept.end(at + 1),
        }),
    );
  }

  /** Resolves when all processes listen. @throws PortolanError with the failure of the first that cannot be started */
  async start(): Promise<ServedGateway> {
    const { ingest, shutdown } = this.#parts;
    this.#ports = await this.#reservePorts();
    ingest.onWake((committed) => this.#tell({ type: 'wake', committed }));
    ingest.onProgress((progress) => this.#tell({ type: 'progress', progress }));
    ingest.onCatalog(() => this.#tell({ type: 'catalog' }));
    const looking = setInterval(() => this.#tellFacts(), factsMs).unref();
    shutdown.add(() => clearInterval(looking));
    shutdown.add(() => this.#close());
    for (const each of this.#all) void each.run();
    const [first] = await Promise.all(this.#all.map((each) => each.first));
    const { url, page, aggregatePort } = must(first, 'a gateway has a serve process');
    return {
      url,
      page,
      aggregatePort,
      drain: async (ms, signal) => {
        for (const each of this.#all) each.drain(ms);
        await this.#parts.clock.sleep(ms, signal).catch(() => {});
      },
      close: () => this.#close(),
    };
  }

  async #reservePorts(): Promise<{ readonly port: number; readonly aggregatePort: number }> {
    const { shutdown } = this.#parts;
    const { aggregate, host, aggregateHost = host, port, aggregatePort } = this.#config;
    const own = await reservePort({ host, port });
    shutdown.add(() => own.release());
    if (!aggregate) return { port: own.port, aggregatePort };
    const door = await reservePort({ host: aggregateHost, port: aggregatePort, flag: '--aggregate-port' });
    shutdown.add(() => door.release());
    return { port: own.port, aggregatePort: door.port };
  }

  /** Tells the serve processes of the clusters that Secrets register. Resolves when they have learned of them. */
  async learn(clusters: readonly RegisteredCluster[]): Promise<void> {
    this.#registered = clusters;
    // Rights come before rows, so no process is left out. One that has ended starts with these clusters; a silent one is killed.
    const begun = this.#all.filter((each) => each.isBegun);
    await Promise.all(
      begun.map((each) => this.#learning.ask((round) => each.send({ type: 'register', round, clusters }), each.end)),
    );
  }

  /** Says how the Secrets fare that register clusters. */
  follow(secrets: { readonly refused: number } | null): void {
    this.#secrets = secrets;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.close()));
  }

  #start(number: number): ProcessStart {
    const { clusters, file, folder, ingest } = this.#parts;
    return {
      number,
      facts: this.#facts(),
      clusters,
      file,
      folder,
      ...this.#ports,
      ...this.#keys,
      progress: ingest.progress(),
      registered: this.#registered,
    };
  }

  #facts(): ProcessFacts {
    const { audit, live } = this.#parts;
    return {
      config: { ...(live?.config ?? this.#config) },
      file: { waiting: live?.waiting ?? [], isRefused: live?.isRefused ?? false },
      refusedSecrets: this.#secrets?.refused ?? 0,
      audit: audit?.state() ?? null,
      processes: this.#state(),
    };
  }

  #state(): ProcessesState {
    const ended = this.#all.flatMap(({ number, restarts, error }) =>
      error === null ? [] : [{ process: number, restarts, error }],
    );
    return {
      wanted: this.#all.length,
      serving: this.#all.filter(({ isServing }) => isServing).length,
      restarts: this.#all.reduce((sum, { restarts }) => sum + restarts, 0),
      ended,
    };
  }

  #tellFacts(): void {
    const facts = this.#facts();
    const text = JSON.stringify(facts);
    if (text === this.#told) return;
    this.#told = text;
    this.#tell({ type: 'facts', facts });
  }

  #tell(message: Parameters<ServeProcess['tell']>[0]): void {
    for (const each of this.#all) each.tell(message);
  }

  #take(process: number, message: FromProcess, answer: (message: ToProcess) => void): void {
    const { audit, ingest } = this.#parts;
    if (message.type === 'promote') ingest.promote(message.use);
    else if (message.type === 'damaged') ingest.reportDamage({ inode: message.inode, reason: message.reason });
    else if (message.type === 'registered') this.#learning.answered(message.round, undefined);
    else if (message.type === 'missed') audit?.lines.missed(message.lines);
    else if (message.type === 'audit') void this.#note(message.text, message.id, answer);
    else if (message.type === 'charge') answer({ type: 'charged', id: message.id, refusal: this.#charge(message) });
    else if (message.type === 'measured') this.#measures.answered(message.id, message.metrics);
    else if (message.type === 'measure') {
      this.#kept.keep(process, message.own);
      void this.#measure(process).then((others) => answer({ type: 'measured', id: message.id, others }));
    }
  }

  /** Why the caller may not write so many objects now; null where they are counted. */
  #charge({ user, writes }: Extract<FromProcess, { type: 'charge' }>): WriteRefusal | null {
    const { callerWrites } = this.#parts.live?.config ?? this.#config;
    try {
      this.#limits.chargeWrites({ name: user.user, user, validUntil: null }, writes, callerWrites);
      return null;
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      return { message: error.message, details: error.details };
    }
  }

  async #note(text: string, id: number | null, answer: (message: ToProcess) => void): Promise<void> {
    const lines = this.#parts.audit?.lines;
    if (lines === undefined) return;
    if (id === null) return lines.write(text);
    const error = await lines.note(text).then(
      () => null,
      (why: unknown) => messageOf((why instanceof Error && why.cause) || why),
    );
    answer({ type: 'noted', id, error });
  }

  /** The metrics of all processes but that one. */
  async #measure(asker: number): Promise<readonly ProcessMetrics[]> {
    const asked = this.#all.filter(({ number, isServing }) => number !== asker && isServing);
    const [own] = await Promise.all([this.#own(), ...asked.map((each) => this.#keepMetricsOf(each))]);
    return [own, ...this.#kept.without(asker)];
  }

  /** One that does not answer in time has the metrics of the last time. */
  async #keepMetricsOf(process: ServeProcess): Promise<void> {
    const late = this.#parts.clock.sleep(patienceMs).then(() => null);
    const found = await this.#measures.ask((id) => process.send({ type: 'measure', id }), late);
    if (found !== null) this.#kept.keep(process.number, found);
  }
}

/** @throws PortolanError CONFIGURATION */
function refuseLongPath(folder: string): void {
  if (Buffer.byteLength(folder) <= longestPath) return;
  throw new PortolanError(
    'CONFIGURATION',
    `The path of the folder for temporary files is too long for sockets: ${folder}; set TMPDIR to a shorter one.`,
  );
}
