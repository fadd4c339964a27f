/** The roles that `portolan rbac` prints, as YAML. */
import { rbac } from '../../src/cli/rights/rbac.ts';
import { loadConfig } from '../../src/config/load-config.ts';

/** @param flags the options of the gateway, with the `kubeconfig` of a user who may read discovery */
export async function printedRoles(flags: Readonly<Record<string, unknown>>): Promise<string> {
  let text = '';
  const config = loadConfig({ flags, environment: {} });
  await rbac(config, { out: { write: (part) => (text += part) }, notes: { write: () => {} } });
  return text;
}
