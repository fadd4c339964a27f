/**
 * The gateway of bench/writes.ts, as `portolan serve --read-only=false` starts it.
 *
 *   argv: kubeconfig -> message: { url, token } -> the parent disconnects
 */
import { silentLogger } from '../src/base/log.ts';
import { startGateway } from '../src/cli/gateway.ts';
import { loadConfig } from '../src/config/load-config.ts';

const [kubeconfig = ''] = process.argv.slice(2);
const flags = {
  port: '0',
  logLevel: 'silent',
  readOnly: 'false',
  kinds: ['configmaps', 'deployments.apps', 'namespaces'],
};
const gateway = await startGateway(
  loadConfig({ flags, environment: {} }),
  [{ name: 'bench', kubeconfig }],
  silentLogger,
);
await gateway.synced;
process.once('disconnect', () => void gateway.close());
process.send?.({ url: gateway.url, token: new URL(gateway.page).hash.replace('#token=', '') });
