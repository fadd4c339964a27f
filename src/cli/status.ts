/** `portolan status`: the state of ingest in a running gateway, as a table or as JSON. */
import type { Config } from '../config/options.ts';
import { askStatus, type StatusReport, type StatusRow } from './status-report.ts';

const titles = ['RESOURCE', 'CLUSTER', 'PHASE', 'OBJECTS', 'LAST EVENT', 'STALE', 'RESTARTS', 'ERROR'] as const;

/**
 * Prints to `output`. Exit code 0 when the gateway is ready without failures, else 1. Throws when the gateway cannot be reached.
 */
export async function status(
  { url, failing, json }: Pick<Config, 'url' | 'failing' | 'json'>,
  output: { write(text: string): unknown } = process.stdout,
): Promise<number> {
  const report = await askStatus(url);
  const shown = failing ? report.resources.filter((row) => row.failing) : report.resources;
  output.write(
    json ? `${JSON.stringify({ ...report, resources: shown }, null, 2)}\n` : statusTable(report, shown, Date.now()),
  );
  return report.ready && !report.resources.some((row) => row.failing) ? 0 : 1;
}

/** The rows of `shown`, failing ones first, and a summary line of all rows. `now` in milliseconds since the epoch. */
export function statusTable(report: StatusReport, shown: readonly StatusRow[], now: number): string {
  const ordered = [...shown.filter(({ failing }) => failing), ...shown.filter(({ failing }) => !failing)];
  const table = ordered.length === 0 ? [] : [[...titles], ...ordered.map((row) => cellsOf(row, now))];
  const widths = titles.map((_, column) => Math.max(0, ...table.map((cells) => cells[column]?.length ?? 0)));
  const lines = table.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, summary(report)].map((line) => `${line}\n`).join('');
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
  ].map(oneLine);
}

function restartsOf(restarts: StatusRow['restarts']): string {
  if (restarts.length === 0) return '-';
  const total = restarts.reduce((sum, { count }) => sum + count, 0);
  return `${total} (${restarts.map(({ reason, count }) => `${reason} ${count}`).join(', ')})`;
}

function summary({ ready, resources }: StatusReport): string {
  const known = resources.filter(({ objects }) => objects !== null);
  const objects = known.reduce((sum, row) => sum + (row.objects ?? 0), 0);
  const failing = resources.filter((row) => row.failing).length;
  const synced = known.filter((row) => row.synced === true).length;
  const state = ready ? 'ready' : 'not ready yet';
  return `${synced} of ${known.length} resources synced, ${objects} objects, ${failing} failing; ${state}.`;
}

/** The duration in its largest whole unit: 59s, 3m, 7h, 12d. */
function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Replaces line breaks and control characters, because error texts come from servers and are printed on a terminal. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
