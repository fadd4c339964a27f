/**
 * The answer of /metrics, in Prometheus' text format.
 *
 * Owns: its registry; no metric is global. Operations are counted when they happen. A scrape reads all other values from memory and
 * from one short lease, which concurrent scrapes share.
 *
 *   scrape -> one lease (none after `patienceMs`) -> facts -> each metric is set from them -> text
 *
 * Invariant: a scrape never fails. A part of the facts that cannot be read is left out and counted in portolan_scrape_failures_total.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { AuditFacts } from '../../admission/audit.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ConfigFacts } from '../../config/live-config.ts';
import type { GraphQLSource } from '../../graphql/generation/generation.ts';
import type { PooledReader, ReaderStats } from '../../store/read/reader.ts';
import { registered, same } from './metric.ts';
import {
  engineMetrics,
  type Facts,
  type RightsChecks,
  readStoreFacts,
  type StoreFacts,
  storeMetrics,
} from './metric-table.ts';
import { OperationMetrics } from './operation-metrics.ts';
import type { Progress } from './readiness.ts';
import { type MetricsBy, ResourceSeries, resourceMetrics } from './resource-metrics.ts';
import type { SetMetrics } from './set-metrics.ts';
import { counted, type ProcessMetrics, summedText } from './summed-metrics.ts';
import type { WriteMetrics } from './write-metrics.ts';

export interface MetricsOptions {
  readonly reader: PooledReader;
  /** Those of further cells. */
  readonly moreReaders?: readonly PooledReader[] | undefined;
  readonly source: GraphQLSource;
  /** Ingest's progress. */
  readonly progress: () => Progress;
  /** The checks of rights; absent or null where there are none. */
  readonly rightsChecks?: (() => RightsChecks | null) | undefined;
  /** How the audit log fares; absent where there is none. */
  readonly audit?: (() => AuditFacts) | undefined;
  /** Secrets that should register a cluster and cannot be used; absent where none register clusters. */
  readonly refusedSecrets?: (() => number) | undefined;
  /** The metrics of writes; absent where nothing is written. */
  readonly writes?: WriteMetrics | undefined;
  /** The metrics of the aggregated API server; absent without one. */
  readonly sets?: SetMetrics | undefined;
  /** The state of the configuration file; absent where it is not read again. */
  readonly config?: ConfigFacts | undefined;
  /** Takes the values of this process, and gives those of the gateway's other ones; absent where there are none. */
  readonly others?: ((own: ProcessMetrics) => Promise<readonly ProcessMetrics[]>) | undefined;
  /** The unit for which the metrics of ingest have a series. `auto`, the default: a resource up to ten clusters, above that a cluster. */
  readonly by?: MetricsBy | 'auto';
  /** Portolan's version. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds that a scrape waits for the store; default 1,000. */
  readonly patienceMs?: number;
}

export interface Metrics {
  readonly operations: OperationMetrics;
  readonly contentType: string;
  /** The exposition. Never rejects. */
  text(): Promise<string>;
  /** The values of this process that count for the gateway besides those of another process. Never rejects. */
  values(): Promise<ProcessMetrics>;
  /** Name, type, labels and help of Portolan's own metrics, in the order of the exposition. */
  described(): readonly MetricDescription[];
}

interface MetricDescription {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** Creates the registry and all metrics. */
export function createMetrics(options: MetricsOptions): Metrics {
  return new MetricsRegistry(options);
}

class MetricsRegistry implements Metrics {
  readonly operations: OperationMetrics;
  readonly #options: MetricsOptions;
  readonly #registry = new Registry();
  readonly #series: ResourceSeries;
  readonly #setters: readonly ((facts: Facts) => void)[];
  readonly #failures: Counter<'part'>;
  readonly #leftOut: Gauge;
  #reading: Promise<StoreFacts | null> | null = null;
  #isOver = false;

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#series = new ResourceSeries(options.by ?? 'auto');
    const registers = [this.#registry];
    new Gauge({
      name: 'portolan_build_info',
      help: 'Always 1; the label is the version that runs.',
      labelNames: ['version'],
      registers,
      aggregator: 'first',
    }).set({ version: options.version }, 1);
    const before = [...resourceMetrics.map(same), ...storeMetrics].map((each) => registered(each, this.#registry));
    this.operations = new OperationMetrics(this.#registry);
    options.writes?.register(this.#registry);
    options.sets?.register(this.#registry);
    this.#setters = [...before, ...engineMetrics.map((each) => registered(each, this.#registry))];
    this.#failures = new Counter({
      name: 'portolan_scrape_failures_total',
      help: 'Parts that a scrape had to leave out.',
      labelNames: ['part'],
      registers,
    });
    this.#leftOut = new Gauge({
      name: 'portolan_scrape_series_left_out',
      help: 'Series that this scrape left out, because a gateway has at most 10,000 of its own.',
      registers,
      aggregator: 'first',
    });
    collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const { others } = this.#options;
    if (others === undefined) {
      await this.#scrape();
      return this.#registry.metrics();
    }
    await this.#scrape();
    const own = await this.#registry.getMetricsAsJSON();
    return summedText([own, ...(await others(counted(own)))]);
  }

  async values(): Promise<ProcessMetrics> {
    await this.#scrape();
    return counted(await this.#registry.getMetricsAsJSON());
  }

  async #scrape(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    const facts = this.#facts(await this.#reading);
    for (const set of this.#setters) this.#part('metrics', () => set(facts));
  }

  described(): readonly MetricDescription[] {
    return this.#registry
      .getMetricsAsArray()
      .map((metric) => metric as unknown as { name: string; type: unknown; help: string; labelNames?: string[] })
      .filter(({ name }) => name.startsWith('portolan_'))
      .map(({ name, type, help, labelNames }) => ({ name, type: String(type), labels: labelNames ?? [], help }));
  }

  get #readers(): readonly PooledReader[] {
    const { reader, moreReaders = [] } = this.#options;
    return [reader, ...moreReaders];
  }

  async #read(): Promise<StoreFacts | null> {
    const { patienceMs = 1000 } = this.#options;
    try {
      const signal = AbortSignal.timeout(patienceMs);
      const options = { signal, timeoutMs: patienceMs };
      return summedFacts(await Promise.all(this.#readers.map((reader) => reader.lease(readStoreFacts, options))));
    } catch (error) {
      this.#failed('store', error);
      return null;
    }
  }

  #facts(store: StoreFacts | null): Facts {
    const { audit, clock, config, progress, refusedSecrets, rightsChecks, source } = this.#options;
    const now = clock.now();
    const resources = this.#part('store', () =>
      this.#series.ofResources(store && source.staleness.shownIn(store.resources), now),
    );
    const readers = this.#part('readers', () => summedStats(this.#readers.map((reader) => reader.stats())));
    const readiness = this.#part('readiness', () => {
      const found = progress();
      return { progress: found, failing: this.#series.ofFailing(found.failing) };
    });
    this.#setLeftOut((resources?.leftOut ?? 0) + (readiness?.failing.leftOut ?? 0));
    return {
      now,
      store,
      resources: resources?.shown,
      readers,
      progress: readiness?.progress,
      failing: readiness?.failing.shown,
      answers: this.#part('answers', () => source.answers.facts),
      live: this.#part('live queries', () => source.liveQueries.facts),
      feed: this.#part('feed', () => feedOf(source)),
      rights: this.#part('feed', () => rightsChecks?.() ?? { checked: 0, alarmed: false }),
      audit: audit?.() ?? { isWritable: true, written: 0, missing: 0 },
      config: config ?? { waiting: [], isRefused: false },
      refusedSecrets: refusedSecrets?.() ?? 0,
      kinds: kindsOf(source),
      generations: source.generations,
      slow: source.slowQueries.count,
    };
  }

  /** Logs when series begin to be left out. */
  #setLeftOut(series: number): void {
    if (series > 0 && !this.#isOver) {
      this.#options.log.warn(
        { series },
        'metrics leave series out, because a gateway has at most 10,000 of its own; use --metrics-by cluster',
      );
    }
    this.#isOver = series > 0;
    this.#leftOut.set(series);
  }

  #part<T>(name: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#failed(name, error);
      return undefined;
    }
  }

  #failed(part: string, error: unknown): void {
    this.#failures.inc({ part });
    this.#options.log.debug({ part, error: messageOf(error) }, 'a scrape leaves a part out');
  }
}

/** The number of kinds; 0 before the first generation, which is not a failure. */
function kindsOf(source: GraphQLSource): number {
  try {
    return source.generation().catalog.kinds.length;
  } catch {
    return 0;
  }
}

/** Of all cells. The change log reaches back as far as that of the cell with the shortest one. */
function summedFacts(cells: readonly StoreFacts[]): StoreFacts {
  const [only, ...others] = cells;
  if (only !== undefined && others.length === 0) return only;
  const sum = (of: (facts: StoreFacts) => number): number => cells.reduce((total, facts) => total + of(facts), 0);
  const since = cells.flatMap(({ log }) => log.wholeSince ?? []);
  return {
    resources: cells.flatMap(({ resources }) => resources),
    revision: sum(({ revision }) => revision),
    log: {
      floor: sum(({ log }) => log.floor),
      bytes: sum(({ log }) => log.bytes),
      wholeSince: since.length === 0 ? null : Math.max(...since),
    },
  };
}

/** Of all cells. */
function summedStats(cells: readonly ReaderStats[]): ReaderStats {
  const [only, ...others] = cells;
  if (only !== undefined && others.length === 0) return only;
  const sum = (name: keyof ReaderStats): number => cells.reduce((total, stats) => total + stats[name], 0);
  return {
    readers: sum('readers'),
    active: sum('active'),
    waiting: sum('waiting'),
    walBytes: sum('walBytes'),
    cutForWal: sum('cutForWal'),
    restarts: sum('restarts'),
  };
}

/** Summed over the cells. */
function feedOf(source: GraphQLSource): NonNullable<Facts['feed']> {
  const sum = { held: 0, reads: { leases: 0, now: 0, changes: 0, bodies: 0 } };
  for (const { feed } of source.cells ?? [source]) {
    sum.held += feed.held;
    for (const name of ['leases', 'now', 'changes', 'bodies'] as const) sum.reads[name] += feed.reads[name];
  }
  return sum;
}
