/** `portolan status`: how ingest stands in a running gateway. */
import type { Config } from '../config/options.ts';
import { askStatus } from './status-report.ts';
import { statusTable } from './status-table.ts';

/** Prints to `output`. Exit code 0 when the gateway is ready and nothing fails, else 1. Throws when it cannot be asked. */
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
