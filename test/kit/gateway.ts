/** A whole gateway for tests, on a free port of loopback. */
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { type Gateway, startGateway } from '../../src/cli/gateway.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { ClusterOptions } from '../../src/kube/client/connection.ts';

export type RunningGateway = Gateway;

/** Starts a gateway over these clusters and waits until everything is synced. */
export async function runGateway(
  clusters: ClusterOptions | readonly ClusterOptions[],
  flags: Readonly<Record<string, unknown>> = {},
  log: Logger = silentLogger,
  extras: Parameters<typeof startGateway>[3] = {},
): Promise<RunningGateway> {
  const config = loadConfig({ flags: { port: '0', logLevel: 'silent', ...flags }, environment: {} });
  const gateway = await startGateway(config, Array.isArray(clusters) ? clusters : [clusters], log, extras);
  await gateway.synced;
  return gateway;
}
