/**
 * The measured side of bench/restart.ts: a gateway over a store that is already there, until the parent disconnects.
 *
 *   argv: kubeconfig, store file -> message: the gateway's URL
 *   without arguments           -> message: loaded, once its modules are there
 */
import { createLogger } from '../src/base/log.ts';
import { startGateway } from '../src/cli/gateway.ts';
import { loadConfig } from '../src/config/load-config.ts';

const [kubeconfig, file] = process.argv.slice(2);
if (kubeconfig === undefined || file === undefined) {
  process.send?.('loaded');
  process.disconnect?.();
} else {
  const config = loadConfig({ flags: { port: '0', logLevel: 'warn', data: file, kinds: ['pods'] }, environment: {} });
  const gateway = await startGateway(config, [{ name: 'bench', kubeconfig }], createLogger('warn'));
  process.send?.(gateway.url);
  process.once('disconnect', () => void gateway.close());
}
