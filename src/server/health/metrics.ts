/**
 * The answer of /metrics, in Prometheus' text format.
 *
 * Owns: its registry; no metric is global. Operations are counted when they happen. A scrape reads all other values from memory and
 * from one short lease, which concurrent scrapes share.
 *
 *   scrape -> one lease (none after `patienceMs`) -> gauges are set -> text
 *
 * Invariant: a scrape never fails. A part that cannot be read is left out and counted in portolan_scrape_failures_total.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { AuditFacts } from '../../admission/audit.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { GraphQLSource } from '../../graphql/generation/generation.ts';
import type { PooledReader } from '../../store/read/reader.ts';
import { AnswerMetrics } from './answer-metrics.ts';
import { AuditMetrics } from './audit-metrics.ts';
import { ConfigMetrics, type ConfigState } from './config-metrics.ts';
import { FeedMetrics } from './feed-metrics.ts';
import { LiveMetrics } from './live-metrics.ts';
import { OperationMetrics } from './operation-metrics.ts';
import type { Progress } from './readiness.ts';
import { type MetricsBy, ResourceMetrics } from './resource-metrics.ts';
import { type RightsChecks, RightsMetrics } from './rights-metrics.ts';
import { readStoreFacts, type StoreFacts, StoreMetrics } from './store-metrics.ts';

export interface MetricsOptions {
  readonly reader: PooledReader;
  readonly source: GraphQLSource;
  /** Ingest's progress. */
  readonly progress: () => Progress;
  /** The checks of rights; absent or null where there are none. */
  readonly rightsChecks?: (() => RightsChecks | null) | undefined;
  /** How the audit log fares; absent where there is none. */
  readonly audit?: (() => AuditFacts) | undefined;
  /** Secrets that should register a cluster and cannot be used; absent where none register clusters. */
  readonly refusedSecrets?: (() => number) | undefined;
  /** The state of the configuration file; absent where it is not read again. */
  readonly config?: ConfigState | undefined;
  /** What the metrics of ingest have a series for. `auto`, the default: a resource up to ten clusters, above that a cluster. */
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
  /** Name, type, labels and help of Portolan's own metrics, in the order of the exposition. */
  described(): readonly MetricDescription[];
}

export interface MetricDescription {
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
  readonly #resources: ResourceMetrics;
  readonly #store: StoreMetrics;
  readonly #feed: FeedMetrics;
  readonly #answers: AnswerMetrics;
  readonly #live: LiveMetrics;
  readonly #rights: RightsMetrics;
  readonly #audit: AuditMetrics;
  readonly #config: ConfigMetrics;
  readonly #secrets: Gauge;
  readonly #kinds: Gauge;
  readonly #generations: Counter;
  readonly #slow: Counter;
  readonly #failures: Counter<'part'>;
  readonly #leftOut: Gauge;
  #reading: Promise<StoreFacts | null> | null = null;
  #isOver = false;

  constructor(options: MetricsOptions) {
    this.#options = options;
    const registers = [this.#registry];
    new Gauge({
      name: 'portolan_build_info',
      help: 'Always 1; the label is the version that runs.',
      labelNames: ['version'],
      registers,
    }).set({ version: options.version }, 1);
    this.#resources = new ResourceMetrics(this.#registry, options.by ?? 'auto');
    this.#store = new StoreMetrics(this.#registry);
    this.operations = new OperationMetrics(this.#registry);
    this.#feed = new FeedMetrics(this.#registry);
    this.#answers = new AnswerMetrics(this.#registry);
    this.#live = new LiveMetrics(this.#registry);
    this.#rights = new RightsMetrics(this.#registry);
    this.#audit = new AuditMetrics(this.#registry);
    this.#config = new ConfigMetrics(this.#registry);
    this.#secrets = new Gauge({
      name: 'portolan_cluster_secrets_refused',
      help: 'Secrets of --cluster-secrets that cannot be used. The log says why; what they registered before stays.',
      registers,
    });
    this.#kinds = new Gauge({ name: 'portolan_schema_kinds', help: 'Kinds in the current GraphQL schema.', registers });
    this.#generations = new Counter({
      name: 'portolan_schema_generations_total',
      help: 'GraphQL schemas that were built and published.',
      registers,
    });
    this.#slow = new Counter({
      name: 'portolan_graphql_slow_operations_total',
      help: 'Queries and mutations that took longer than --slow-query-ms; each is in the log by its shape.',
      registers,
    });
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
    });
    collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const { clock, progress, reader, source } = this.#options;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    const facts = await this.#reading;
    let leftOut = 0;
    this.#part('store', () => {
      this.#store.setFacts(facts, clock.now());
      leftOut += this.#resources.setResources(facts && source.staleness.shownIn(facts.resources), clock.now());
    });
    this.#part('readers', () => this.#store.setReaders(reader.stats()));
    this.#part('readiness', () => {
      const { disk, failing, fault, ready, rebuilds } = progress();
      this.#store.setReady(ready);
      leftOut += this.#resources.setFailing(failing);
      this.#store.setDisk(disk ?? null);
      this.#store.setFault(fault ?? null, rebuilds ?? 0);
    });
    this.#config.set(this.#options.config ?? { waiting: [], isRefused: false });
    this.#secrets.set(this.#options.refusedSecrets?.() ?? 0);
    this.#audit.set(this.#options.audit?.() ?? { isWritable: true, written: 0, missing: 0 });
    this.#setLeftOut(leftOut);
    this.#part('answers', () => this.#answers.set(source.answers.facts));
    this.#part('live queries', () => this.#live.set(source.liveQueries.facts));
    this.#part('feed', () => {
      this.#feed.set(source.feed);
      this.#rights.set(this.#options.rightsChecks?.() ?? { checked: 0, alarmed: false });
    });
    this.#generations.reset();
    this.#generations.inc(source.generations);
    this.#slow.reset();
    this.#slow.inc(source.slowQueries.count);
    this.#kinds.set(kindsOf(source));
    return this.#registry.metrics();
  }

  described(): readonly MetricDescription[] {
    return this.#registry
      .getMetricsAsArray()
      .map((metric) => metric as unknown as { name: string; type: unknown; help: string; labelNames?: string[] })
      .filter(({ name }) => name.startsWith('portolan_'))
      .map(({ name, type, help, labelNames }) => ({ name, type: String(type), labels: labelNames ?? [], help }));
  }

  async #read(): Promise<StoreFacts | null> {
    const { reader, patienceMs = 1000 } = this.#options;
    try {
      const signal = AbortSignal.timeout(patienceMs);
      return await reader.lease(readStoreFacts, { signal, timeoutMs: patienceMs });
    } catch (error) {
      this.#failed('store', error);
      return null;
    }
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

  #part(name: string, take: () => void): void {
    try {
      take();
    } catch (error) {
      this.#failed(name, error);
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
