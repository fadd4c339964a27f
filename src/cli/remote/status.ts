/** `portolan status`: the state of ingest in a running gateway, as a table or as JSON. */
import { standardOutput } from '../../base/output/standard-streams.ts';
import { shortList } from '../../base/text/short-list.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import { textTable } from '../../base/text/text-table.ts';
import type { Config } from '../../config/options.ts';
import type { RemoteConfig } from './gateway-client.ts';
import { askStatus, type StatusReport, type StatusRow, wholeCluster } from './status-report.ts';

const titles = ['RESOURCE', 'CLUSTER', 'PHASE', 'OBJECTS', 'LAST EVENT', 'STALE', 'RESTARTS', 'ERROR'] as const;

/**
 * Prints to `output`. Exit code 0 when the gateway is ready without failures, else 1. Throws when the gateway cannot be reached.
 */
export async function status(
  { all, failing, json, ...remote }: RemoteConfig & Pick<Config, 'all' | 'failing' | 'json'>,
  output: { write(text: string): unknown } = standardOutput,
): Promise<number> {
  const report = await askStatus(remote);
  const shown = failing ? report.resources.filter((row) => row.failing) : report.resources;
  if (json) output.write(`${JSON.stringify({ ...report, resources: shown }, null, 2)}\n`);
  else output.write(statusTable(report, { shown, fold: !all }, Date.now()));
  return report.ready && report.status !== 'degraded' && !report.resources.some((row) => row.failing) ? 0 : 1;
}

/**
 * The rows of `shown`, rows that need attention first, and a summary line of all rows. `now` in milliseconds since the epoch.
 * @param fold healthy rows are one line for each cluster, and so are the rows of a cluster that cannot be read.
 */
export function statusTable(
  report: StatusReport,
  { shown, fold }: { readonly shown: readonly StatusRow[]; readonly fold: boolean },
  now: number,
): string {
  const unread = new Set(shown.filter(({ resource }) => resource === wholeCluster).map(({ cluster }) => cluster));
  const {
    healthy = [],
    old = [],
    others = [],
  } = Object.groupBy(shown, (row) => {
    // Without the cluster, no row is healthy; what it waits for is said once.
    if (unread.has(row.cluster) && row.resource !== wholeCluster && !row.failing) return 'old';
    return isHealthy(row, now) ? 'healthy' : 'others';
  });
  const troubled = [...others.filter(({ failing }) => failing), ...others.filter(({ failing }) => !failing)];
  const ordered = fold ? troubled : [...troubled, ...old, ...healthy];
  const table = ordered.length === 0 ? '' : textTable([[...titles], ...ordered.map((row) => cellsOf(row, now))]);
  const folded = fold ? [...foldedLines(old, 'possibly old'), ...foldedLines(healthy, 'healthy')] : [];
  const lines = [...folded, ...processLines(report), summary(report)].map((line) => `${line}\n`);
  return `${table}${lines.join('')}`;
}

/** Milliseconds of staleness that are normal between two watches. */
const shortlyMs = 10_000;

/** False for a resource that an operator should look at. */
function isHealthy({ failing, synced, error, phase, staleSince }: StatusRow, now: number): boolean {
  const stale = staleSince !== null && now - Date.parse(staleSince) > shortlyMs;
  const current = phase === 'POLLING' || (phase === 'WATCHING' && !stale);
  return !failing && synced === true && error === null && current;
}

/** The most resources that a line names, those with the most objects. */
const mostNamed = 4;

function foldedLines(rows: readonly StatusRow[], state: string): readonly string[] {
  return [...Map.groupBy(rows, ({ cluster }) => cluster)].map(([cluster, of]) => {
    const largest = of.toSorted((a, b) => (b.objects ?? 0) - (a.objects ?? 0));
    const named = shortList(
      largest.map(({ resource, objects }) => `${resource} ${objects ?? 0}`),
      mostNamed,
    );
    return oneLine(`${of.length} ${state} in ${cluster}: ${named.join(', ')} (--all lists them)`);
  });
}

/** Do all processes serve? A gateway with one process does not report them. */
function isWhole(processes: StatusReport['processes']): boolean {
  return processes === null || processes.serving === processes.wanted;
}

/** The processes that do not serve, and why. */
function processLines({ processes }: StatusReport): readonly string[] {
  if (processes === null || isWhole(processes)) return [];
  const ended = processes.ended.map(({ process, error }) => `process ${process}: ${error}`);
  return [
    oneLine(`${processes.serving} of ${processes.wanted} processes serve${ended.map((each) => `; ${each}`).join('')}`),
  ];
}

function cellsOf(row: StatusRow, now: number): string[] {
  const { resource, cluster, phase, objects, lastEventAt, staleSince, restarts, error } = row;
  return [
    resource,
    cluster,
    phase ?? '-',
    objects === null ? '-' : String(objects),
    lastEventAt === null ? '-' : ageOf(now - Date.parse(lastEventAt)),
    staleSince === null ? '-' : ageOf(now - Date.parse(staleSince)),
    restartsOf(restarts),
    error ?? '-',
  ];
}

function restartsOf(restarts: StatusRow['restarts']): string {
  if (restarts.length === 0) return '-';
  const total = restarts.reduce((sum, { count }) => sum + count, 0);
  return `${total} (${restarts.map(({ reason, count }) => `${reason} ${count}`).join(', ')})`;
}

function summary(report: StatusReport): string {
  const { resources } = report;
  const known = resources.filter(({ objects }) => objects !== null);
  const objects = known.reduce((sum, row) => sum + (row.objects ?? 0), 0);
  const failing = resources.filter((row) => row.failing).length;
  const synced = known.filter((row) => row.synced === true).length;
  return `${synced} of ${known.length} resources synced, ${objects} objects, ${failing} failing; ${stateOf(report, failing)}.`;
}

function stateOf({ ready, status, processes }: StatusReport, failing: number): string {
  if (!ready) return status === 'draining' ? 'draining: it ends soon' : 'not ready yet';
  if (failing > 0 || !isWhole(processes)) return 'degraded';
  return status === 'degraded' ? 'degraded, by failures that only callers with the right to get /metrics see' : 'ready';
}

/** The duration in its largest whole unit: 59s, 3m, 7h, 12d. */
function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
