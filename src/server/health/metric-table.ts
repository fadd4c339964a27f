/**
 * The metrics of the store, of the GraphQL engine and of the gateway's files, in the order of the exposition.
 *
 * While the store cannot be read, its revision and its log have no series, because an outdated value would mislead.
 */

import type { AuditFacts } from '../../admission/audit.ts';
import type { ConfigFacts } from '../../config/live-config.ts';
import type { LiveQueriesFacts } from '../../live/query/live-queries.ts';
import type { AnswersFacts } from '../../operation/answers/kept-answers.ts';
import { type LogFacts, readLogFacts } from '../../store/read/changes.ts';
import type { ReaderStats } from '../../store/read/reader.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';
import { counter, gauge, largest, type Metric, same } from './metric.ts';
import type { Progress } from './readiness.ts';
import type { ResourceFacts } from './resource-metrics.ts';

/** The store's figures at one revision. */
export interface StoreFacts {
  readonly resources: readonly ResourceProgress[];
  readonly revision: number;
  readonly log: LogFacts;
}

/** Reads the figures with two small statements; their cost does not grow with the number of objects. */
export async function readStoreFacts(lease: Lease): Promise<StoreFacts> {
  return {
    resources: await readResourceProgress(lease),
    revision: lease.revision,
    log: await readLogFacts(lease),
  };
}

/** The checks so far; see src/auth/rights/rights-check.ts. */
export interface RightsChecks {
  readonly checked: number;
  readonly alarmed: boolean;
}

/** The values that one scrape has read. A part that could not be read is undefined, or null for the store. */
export interface Facts extends ResourceFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly store: StoreFacts | null;
  readonly readers: ReaderStats | undefined;
  readonly progress: Progress | undefined;
  readonly feed:
    | { readonly held: number; readonly reads: Readonly<Record<'leases' | 'now' | 'changes' | 'bodies', number>> }
    | undefined;
  readonly answers: AnswersFacts | undefined;
  readonly live: LiveQueriesFacts | undefined;
  readonly rights: RightsChecks | undefined;
  readonly audit: AuditFacts;
  readonly config: ConfigFacts;
  readonly refusedSecrets: number;
  readonly kinds: number;
  readonly generations: number;
  readonly slow: number;
}

const faults = ['lost', 'full', 'readonly', 'io'] as const;

export const storeMetrics: readonly Metric<Facts>[] = [
  same(
    gauge(
      'ready',
      '1 while /readyz answers 200: every resource has synced or is failing.',
      ({ progress }) => progress?.ready,
    ),
  ),
  same(
    gauge(
      'store_up',
      '1 when this scrape could read the store; without it there are no series by resource.',
      ({ store }) => store !== null,
    ),
  ),
  same(
    gauge('store_revision', 'Sequence number of the newest committed change.', ({ store }) => store?.revision ?? null),
  ),
  same(
    gauge(
      'store_log_floor',
      'Sequence number of the newest change that was removed from the change log.',
      ({ store }) => store?.log.floor ?? null,
    ),
  ),
  same(gauge('store_log_bytes', 'Estimated size of the change log.', ({ store }) => store?.log.bytes ?? null)),
  same(
    gauge(
      'store_log_reach_seconds',
      'How far back the change log is whole for every kind; no series while no entry was removed.',
      ({ now, store }) => {
        const since = store?.log.wholeSince ?? null;
        return since === null ? null : Math.max(0, now - since) / 1000;
      },
    ),
  ),
  same(
    gauge(
      'store_wal_bytes',
      "Size of SQLite's write-ahead log; 0 once all of it is in the database file.",
      ({ readers }) => readers?.walBytes,
    ),
  ),
  same(
    gauge(
      'store_bytes',
      'Size of the database file without free pages.',
      ({ progress }) => progress && (progress.disk?.usedBytes ?? null),
    ),
  ),
  same(
    gauge(
      'store_max_bytes',
      'Maximum size of the database file; no series without --max-disk.',
      ({ progress }) => progress && (progress.disk?.maxBytes ?? null),
    ),
  ),
  same(
    gauge(
      'store_tight',
      '1 while disk space is short and data is removed to free it.',
      ({ progress }) => progress && (progress.disk?.tight ?? null),
    ),
  ),
  same(
    gauge(
      'store_fault',
      '1 while the store has this fault: lost, full, readonly or io.',
      ({ progress }) => progress && faults.map((kind) => [{ kind }, progress.fault?.kind === kind ? 1 : 0]),
      ['kind'],
    ),
  ),
  same(
    counter(
      'store_rebuilds_total',
      'How often a running gateway has made its store anew.',
      ({ progress }) => progress && (progress.rebuilds ?? 0),
    ),
  ),
  same(
    counter(
      'store_shed_total',
      'Entries of the change log and Events that were removed to free disk space.',
      ({ progress }) => progress && Object.entries(progress.disk?.shed ?? {}).map(([what, count]) => [{ what }, count]),
      ['what'],
    ),
  ),
  gauge('store_readers', 'Reader threads.', ({ readers }) => readers?.readers),
  gauge(
    'store_leases',
    'Read leases: running, and waiting for a reader.',
    ({ readers }) =>
      readers && [
        [{ state: 'running' }, readers.active],
        [{ state: 'waiting' }, readers.waiting],
      ],
    ['state'],
  ),
  counter(
    'store_leases_cut_total',
    'Leases that were cut because the write-ahead log was too long.',
    ({ readers }) => readers?.cutForWal,
  ),
  counter(
    'store_reader_restarts_total',
    'Reader threads that died and were replaced.',
    ({ readers }) => readers?.restarts,
  ),
];

export const engineMetrics: readonly Metric<Facts>[] = [
  gauge('feed_window_changes', 'Changes that the feed holds in memory for subscriptions.', ({ feed }) => feed?.held),
  counter(
    'feed_leases_total',
    'Read leases that the feed took to read the change log for subscriptions.',
    ({ feed }) => feed?.reads.leases,
  ),
  counter(
    'feed_short_reads_total',
    'Reads of the change log on the thread that serves HTTP, which need no lease: of few new changes.',
    ({ feed }) => feed?.reads.now,
  ),
  counter(
    'feed_changes_read_total',
    'Changes that the feed read from the change log; only those of kinds with subscriptions.',
    ({ feed }) => feed?.reads.changes,
  ),
  counter(
    'feed_bodies_read_total',
    'Bodies before and after these changes, each read as JSON text.',
    ({ feed }) => feed?.reads.bodies,
  ),
  counter(
    'answer_cache_hits_total',
    'Queries that were answered from memory, because nothing that they depend on had changed.',
    ({ answers }) => answers?.hits,
  ),
  counter(
    'answer_cache_misses_total',
    'Queries whose answer was not in memory, or was no longer true.',
    ({ answers }) => answers?.misses,
  ),
  gauge(
    'answer_cache_bytes',
    'Bytes of answers in memory, at most --answer-cache-bytes.',
    ({ answers }) => answers?.bytes,
  ),
  gauge(
    'live_queries',
    'Live queries that are open; each is also counted as a subscription.',
    ({ live }) => live?.members,
  ),
  gauge(
    'live_query_cohorts',
    'Groups of live queries with the same result, for each of which a query runs once.',
    ({ live }) => live?.cohorts,
  ),
  counter(
    'live_query_runs_total',
    'Queries that ran again for live queries, because something that they depend on had changed.',
    ({ live }) => live?.runs,
  ),
  counter(
    'rights_checks_total',
    'Grants of roles and bindings that were compared with the API server.',
    ({ rights }) => rights?.checked,
  ),
  largest(
    gauge(
      'rights_alarm',
      '1 after an API server has refused what its roles and bindings grant. Rights in that cluster are reviewed since then.',
      ({ rights }) => rights?.alarmed,
    ),
  ),
  same(gauge('audit_writable', '0 while the file of --audit-log cannot be written.', ({ audit }) => audit.isWritable)),
  same(counter('audit_lines_total', 'Lines that were written to the audit log.', ({ audit }) => audit.written)),
  same(
    counter(
      'audit_missing_lines_total',
      'Lines that could not be written. The first line after them tells how many.',
      ({ audit }) => audit.missing,
    ),
  ),
  same(
    gauge(
      'config_restart_needed',
      '1 while the configuration file has changed options that are used after a restart.',
      ({ config }) => config.waiting.length > 0,
    ),
  ),
  same(
    gauge(
      'config_refused',
      '1 while the configuration file cannot be used since its last change. The earlier values stay in use.',
      ({ config }) => config.isRefused,
    ),
  ),
  same(
    gauge(
      'cluster_secrets_refused',
      'Secrets of --cluster-secrets that cannot be used. The log says why; what they registered before stays.',
      ({ refusedSecrets }) => refusedSecrets,
    ),
  ),
  same(gauge('schema_kinds', 'Kinds in the current GraphQL schema.', ({ kinds }) => kinds)),
  counter(
    'schema_generations_total',
    'GraphQL schemas that were built and published.',
    ({ generations }) => generations,
  ),
  counter(
    'graphql_slow_operations_total',
    'Queries and mutations that took longer than --slow-query-ms; each is in the log by its shape.',
    ({ slow }) => slow,
  ),
];
