/**
 * The gateway of bench/shadow.ts, as `portolan serve --aggregate` starts it.
 *
 *   argv: kubeconfig, flags as JSON -> message: { port } of the aggregated API server -> the parent disconnects
 */
import { silentLogger } from '../src/base/log.ts';
import { startGateway } from '../src/cli/gateway.ts';
import { loadConfig } from '../src/config/load-config.ts';

const [kubeconfig = '', flags = ''] = process.argv.slice(2);
const given = { port: '0', logLevel: 'silent', ...(JSON.parse(flags) as object) };
const gateway = await startGateway(
  loadConfig({ flags: given, environment: {} }),
  [{ name: 'bench', kubeconfig }],
  silentLogger,
);
await gateway.synced;
process.once('disconnect', () => void gateway.close());
process.send?.({ port: gateway.aggregatePort });
