/**
 * The dashboard for Grafana 11 and later: `npm run dashboard` writes deploy/chart/files/dashboard.json.
 *
 * The file is committed, so the chart needs no generator. test/monitoring compares it with a fresh one, and finds each
 * metric in a running gateway. Expressions hold with metrics by resource and by cluster (--metrics-by). Replicas ingest the same clusters, so
 * numbers of objects and resources are those of the replica with the most (`max by`), never sums over replicas.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Unit = 'short' | 'percentunit' | 's' | 'bytes' | 'ops' | 'bool_yes_no';

interface Panel {
  readonly type: 'stat' | 'timeseries' | 'table';
  readonly title: string;
  readonly description: string;
  readonly unit: Unit;
  /** Of 24. */
  readonly width: number;
  /** PromQL by legend. `$gateway` and `$cluster` stand for the matchers of the variables. */
  readonly queries: Readonly<Record<string, string>>;
}

const height = { stat: 4, timeseries: 8, table: 8 } as const;

const panel =
  (type: Panel['type'], width: number) =>
  (title: string, unit: Unit, description: string, queries: Panel['queries']): Panel => ({
    ...{ type, title, description, unit, width, queries },
  });
const stat = panel('stat', 4);
const graph = panel('timeseries', 8);
const table = panel('table', 8);

const operations = 'portolan_graphql_operations_total';
const latency = (quantile: number): string =>
  `histogram_quantile(${quantile}, sum by (le) (rate(portolan_graphql_operation_duration_seconds_bucket{$gateway}[$__rate_interval])))`;
const codes = (expression: string): string =>
  `sum by (code) (rate(${operations}{$gateway, ${expression}}[$__rate_interval]))`;
const writes = (counter: string): string =>
  `sum by (verb, outcome) (rate(${counter}{$gateway, $cluster}[$__rate_interval]))`;
/** Metrics that every Node.js process may have, of the gateways alone. */
const ofGateways = (expression: string): string => `${expression} and on (instance) portolan_build_info{$gateway}`;

const rows: Readonly<Record<string, readonly Panel[]>> = {
  Overview: [
    stat('Ready gateways', 'short', 'Gateways whose /readyz answers 200.', { '': 'sum(portolan_ready{$gateway})' }),
    stat('Clusters', 'short', 'Clusters whose resources are in the tables.', {
      '': 'count(count by (cluster) (portolan_resource_objects{$gateway, $cluster}))',
    }),
    stat('Objects', 'short', 'Objects in the tables.', {
      '': 'sum(max by (cluster, resource) (portolan_resource_objects{$gateway, $cluster}))',
    }),
    stat('Failing', 'short', 'Resources that cannot be read.', {
      '': 'sum(max by (cluster, resource) (portolan_failing{$gateway, $cluster})) or vector(0)',
    }),
    stat('Stalest objects', 's', 'The longest time for which stored objects may be outdated.', {
      '': 'max(portolan_resource_stale_seconds{$gateway, $cluster})',
    }),
    stat('Versions', 'short', 'Gateways by version.', {
      '{{version}}': 'count by (version) (portolan_build_info{$gateway})',
    }),
  ],
  Ingest: [
    graph('Objects', 'short', 'Objects in the tables.', {
      '{{cluster}}': 'sum by (cluster) (max by (cluster, resource) (portolan_resource_objects{$gateway, $cluster}))',
    }),
    graph('Resources by phase', 'short', 'The state of ingest; docs/operating.md explains the phases.', {
      '{{phase}}': 'sum by (phase) (max by (cluster, resource, phase) (portolan_resource_phase{$gateway, $cluster}))',
    }),
    graph('Staleness', 's', 'Time for which stored objects may be outdated, of the stalest resource.', {
      '{{cluster}}': 'max by (cluster) (portolan_resource_stale_seconds{$gateway, $cluster})',
    }),
    graph('Restarts', 'ops', 'Lists and watches that begin again, by reason.', {
      '{{reason}}': 'sum by (reason) (rate(portolan_resource_restarts_total{$gateway, $cluster}[$__rate_interval]))',
    }),
    graph(
      'Time since the last sign',
      's',
      'Since the last event, bookmark or list. Bookmarks come about every minute.',
      {
        '{{cluster}}': 'max by (cluster) (portolan_resource_last_sign_age_seconds{$gateway, $cluster})',
      },
    ),
    table('Failing resources', 'short', 'Each has its error in /readyz and in portolan status.', {
      '': 'max by (cluster, resource) (portolan_failing{$gateway, $cluster}) > 0',
    }),
    graph(
      'Largest resources',
      'short',
      'The resources with the most objects; clusters, where metrics are by cluster.',
      {
        '{{cluster}} {{resource}}':
          'topk(10, max by (cluster, resource) (portolan_resource_objects{$gateway, $cluster}))',
      },
    ),
    graph('Synced resources', 'short', 'Resources that have been listed completely once.', {
      '{{cluster}}': 'sum by (cluster) (max by (cluster, resource) (portolan_resource_synced{$gateway, $cluster}))',
    }),
    graph('Time since the last event', 's', 'Since the newest event of each cluster.', {
      '{{cluster}}': 'min by (cluster) (portolan_resource_last_event_age_seconds{$gateway, $cluster})',
    }),
  ],
  Store: [
    graph('Database file', 'bytes', 'Size without free pages, and the limit of --max-disk.', {
      '{{pod}} used': 'portolan_store_bytes{$gateway}',
      '{{pod}} limit': 'portolan_store_max_bytes{$gateway}',
    }),
    graph('Write-ahead log', 'bytes', 'Stays under 64 MiB.', { '{{pod}}': 'portolan_store_wal_bytes{$gateway}' }),
    graph('Committed changes', 'ops', 'Changes that are committed in a second.', {
      '{{pod}}': 'deriv(portolan_store_revision{$gateway}[$__rate_interval])',
    }),
    graph('Change log', 'bytes', 'Stays under --change-log-max.', { '{{pod}}': 'portolan_store_log_bytes{$gateway}' }),
    graph('Changes in the change log', 'short', 'Changes after the newest one that was removed.', {
      '{{pod}}': 'portolan_store_revision{$gateway} - portolan_store_log_floor{$gateway}',
    }),
    graph('Reach of the change log', 's', 'How far back the changes of every kind are whole; most kinds keep more.', {
      '{{pod}}': 'portolan_store_log_reach_seconds{$gateway}',
    }),
    graph('Read leases', 'short', 'Leases by state, and the reader threads.', {
      '{{state}}': 'sum by (state) (portolan_store_leases{$gateway})',
      readers: 'sum(portolan_store_readers{$gateway})',
    }),
    graph('Faults of reads', 'ops', 'Leases that were cut, reader threads that died, scrapes without the store.', {
      'cut leases': 'sum(rate(portolan_store_leases_cut_total{$gateway}[$__rate_interval]))',
      'reader threads': 'sum(rate(portolan_store_reader_restarts_total{$gateway}[$__rate_interval]))',
      '{{part}} not scraped': 'sum by (part) (rate(portolan_scrape_failures_total{$gateway}[$__rate_interval]))',
    }),
    graph('Store is readable', 'bool_yes_no', 'Whether the scrape could read the store.', {
      '{{pod}}': 'portolan_store_up{$gateway}',
    }),
    graph('Faults of the data folder', 'bool_yes_no', 'Whether the store has the fault now.', {
      '{{kind}}': 'max by (kind) (portolan_store_fault{$gateway})',
    }),
    graph('Store made anew', 'ops', 'By a running gateway, after a loss of its file.', {
      '{{pod}}': 'rate(portolan_store_rebuilds_total{$gateway}[$__rate_interval])',
    }),
    graph('Disk space is short', 'bool_yes_no', 'Whether data is removed to free disk space.', {
      '{{pod}}': 'portolan_store_tight{$gateway}',
    }),
    graph('Removed for disk space', 'ops', 'Entries of the change log, and Events.', {
      '{{what}}': 'sum by (what) (rate(portolan_store_shed_total{$gateway}[$__rate_interval]))',
    }),
  ],
  Operations: [
    graph('Operations', 'ops', 'GraphQL operations by type.', {
      '{{type}}': `sum by (type) (rate(${operations}{$gateway}[$__rate_interval]))`,
    }),
    graph('Errors', 'ops', 'Operations by the code of their first error.', { '{{code}}': codes('code!="OK"') }),
    graph('Latency', 's', 'Time of execution, without parsing and validation.', {
      p50: latency(0.5),
      p95: latency(0.95),
      p99: latency(0.99),
    }),
    graph('Slow operations', 'ops', 'Operations that took longer than --slow-query-ms; the log has each.', {
      '{{pod}}': 'rate(portolan_graphql_slow_operations_total{$gateway}[$__rate_interval])',
    }),
    graph('Answers from memory', 'ops', 'Queries that are answered from memory, and those that are not.', {
      'from memory': 'sum(rate(portolan_answer_cache_hits_total{$gateway}[$__rate_interval]))',
      'from the store': 'sum(rate(portolan_answer_cache_misses_total{$gateway}[$__rate_interval]))',
    }),
    graph('Memory of answers', 'bytes', 'Answers in memory, at most --answer-cache-bytes.', {
      '{{pod}}': 'portolan_answer_cache_bytes{$gateway}',
    }),
    graph('Writes', 'ops', 'Requests of mutations that write, by outcome; each attempt counts.', {
      '{{verb}} {{outcome}}': writes('portolan_write_requests_total'),
    }),
    graph('Dry runs', 'ops', 'Requests for plans, by outcome.', {
      '{{verb}} {{outcome}}': writes('portolan_write_dry_runs_total'),
    }),
    graph('Time of writes', 's', 'Time of the API server, 95 of 100 requests.', {
      '{{verb}}':
        'histogram_quantile(0.95, sum by (le, verb) (rate(portolan_write_request_duration_seconds_bucket{$gateway}[$__rate_interval])))',
    }),
    graph('Kinds', 'short', 'Kinds in the GraphQL schema.', { '{{pod}}': 'portolan_schema_kinds{$gateway}' }),
    graph('Published schemas', 'ops', 'A new schema is built when CRDs change.', {
      '{{pod}}': 'rate(portolan_schema_generations_total{$gateway}[$__rate_interval])',
    }),
  ],
  Live: [
    graph('Subscriptions', 'short', 'Open subscriptions.', { '{{pod}}': 'portolan_graphql_subscriptions{$gateway}' }),
    graph('Live queries', 'short', 'Open live queries, and the groups with the same result.', {
      open: 'sum(portolan_live_queries{$gateway})',
      groups: 'sum(portolan_live_query_cohorts{$gateway})',
    }),
    graph('Runs of live queries', 'ops', 'Queries that run again because something has changed.', {
      '{{pod}}': 'rate(portolan_live_query_runs_total{$gateway}[$__rate_interval])',
    }),
    graph(
      'Reads of the change log',
      'ops',
      'Leases, short reads, changes and bodies that are read for subscriptions.',
      {
        leases: 'sum(rate(portolan_feed_leases_total{$gateway}[$__rate_interval]))',
        'short reads': 'sum(rate(portolan_feed_short_reads_total{$gateway}[$__rate_interval]))',
        changes: 'sum(rate(portolan_feed_changes_read_total{$gateway}[$__rate_interval]))',
        bodies: 'sum(rate(portolan_feed_bodies_read_total{$gateway}[$__rate_interval]))',
      },
    ),
    graph('Window of changes', 'short', 'Changes in memory for subscriptions.', {
      '{{pod}}': 'portolan_feed_window_changes{$gateway}',
    }),
  ],
  Access: [
    graph('Refused operations', 'ops', 'Operations of callers without valid credentials, or without the right.', {
      '{{code}}': codes('code=~"UNAUTHENTICATED|FORBIDDEN|TOO_MANY_REQUESTS"'),
    }),
    graph('Checks of rights', 'ops', 'Grants of roles that are compared with the API server.', {
      '{{pod}}': 'rate(portolan_rights_checks_total{$gateway}[$__rate_interval])',
    }),
    graph('Alarm', 'bool_yes_no', 'Whether the API server has refused what roles and bindings grant.', {
      '{{pod}}': 'portolan_rights_alarm{$gateway}',
    }),
    graph('Audit log', 'ops', 'Lines that were written to the audit log, and lines that could not be written.', {
      '{{pod}}': 'rate(portolan_audit_lines_total{$gateway}[$__rate_interval])',
      '{{pod}} missing': 'rate(portolan_audit_missing_lines_total{$gateway}[$__rate_interval])',
    }),
    graph('Audit log writable', 'bool_yes_no', 'Whether the file of --audit-log can be written.', {
      '{{pod}}': 'portolan_audit_writable{$gateway}',
    }),
  ],
  Process: [
    graph('CPU', 'short', 'Cores in use.', {
      '{{pod}}': ofGateways('rate(process_cpu_seconds_total[$__rate_interval])'),
    }),
    graph('Memory', 'bytes', 'Resident memory, and the heap of the serving thread.', {
      '{{pod}} resident': ofGateways('process_resident_memory_bytes'),
      '{{pod}} heap': ofGateways('nodejs_heap_size_used_bytes'),
    }),
    graph('Event loop lag', 's', 'Of the serving thread, 99 of 100 turns.', {
      '{{pod}}': ofGateways('nodejs_eventloop_lag_p99_seconds'),
    }),
    graph('Open files', 'short', 'File descriptors.', { '{{pod}}': ofGateways('process_open_fds') }),
    graph('Configuration', 'bool_yes_no', 'Whether the file cannot be used, or has options that need a restart.', {
      '{{pod}} refused': 'portolan_config_refused{$gateway}',
      '{{pod}} restart': 'portolan_config_restart_needed{$gateway}',
    }),
    graph('Secrets refused', 'short', 'Secrets of --cluster-secrets that cannot be used.', {
      '{{pod}}': 'portolan_cluster_secrets_refused{$gateway}',
    }),
    graph('Series left out', 'short', 'A gateway has at most 10,000 series of its own.', {
      '{{pod}}': 'portolan_scrape_series_left_out{$gateway}',
    }),
  ],
};

const datasource = { type: 'prometheus', uid: '$datasource' };

/** `.*` matches series without the label too: those of a gateway that is scraped outside a cluster. */
const variable = (name: string, label: string, query: string): object => ({
  ...{ name, label, type: 'query', datasource, query: { query, refId: name }, definition: query },
  ...{ refresh: 2, sort: 1, multi: true, includeAll: true, allValue: '.*' },
  current: { text: ['All'], value: ['$__all'] },
});

function written({ type, title, description, unit, queries }: Panel): object {
  const targets = Object.entries(queries).map(([legendFormat, text], index) => ({
    refId: String.fromCharCode(65 + index),
    datasource,
    expr: text
      .replaceAll('$gateway', 'namespace=~"$namespace", pod=~"$pod"')
      .replaceAll('$cluster', 'cluster=~"$cluster"'),
    legendFormat: legendFormat === '' ? '__auto' : legendFormat,
    ...(type === 'table' ? { instant: true, format: 'table' } : {}),
  }));
  return { type, title, description, datasource, targets, fieldConfig: { defaults: { unit, min: 0 }, overrides: [] } };
}

/** The text of the file. */
export function dashboard(): string {
  const panels: object[] = [];
  let y = 0;
  for (const [title, of] of Object.entries(rows)) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: 24, x: 0, y },
    });
    y += 1;
    let x = 0;
    let h = 0;
    for (const each of of) {
      if (x + each.width > 24) {
        y += h;
        x = 0;
      }
      h = height[each.type];
      panels.push({ id: panels.length + 1, ...written(each), gridPos: { h, w: each.width, x, y } });
      x += each.width;
    }
    y += h;
  }
  const made = {
    uid: 'portolan',
    title: 'Portolan',
    description: 'A GraphQL gateway over Kubernetes resources.',
    tags: ['portolan', 'kubernetes'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: '',
    annotations: { list: [] },
    links: [],
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', refresh: 1 },
        variable('namespace', 'Namespace', 'label_values(portolan_build_info, namespace)'),
        variable('pod', 'Pod', 'label_values(portolan_build_info{namespace=~"$namespace"}, pod)'),
        variable(
          'cluster',
          'Cluster',
          'label_values(portolan_resource_objects{namespace=~"$namespace", pod=~"$pod"}, cluster)',
        ),
      ],
    },
    panels,
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}

if (import.meta.main) {
  writeFileSync(fileURLToPath(new URL('chart/files/dashboard.json', import.meta.url)), dashboard());
}
