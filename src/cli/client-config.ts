/** `portolan client-config`: cache policies for GraphQL clients. */
import { PortolanError } from '../base/errors.ts';
import { apolloConfig, urqlConfig } from '../graphql/client/client-config.ts';

/**
 * Prints the module of one client to standard output.
 * @throws PortolanError CONFIGURATION unless exactly one client is named.
 */
export function clientConfig({ apollo, urql }: { readonly apollo?: boolean; readonly urql?: boolean }): number {
  if ((apollo === true) === (urql === true)) {
    throw new PortolanError('CONFIGURATION', 'Say which client: portolan client-config --apollo, or --urql.');
  }
  process.stdout.write(apollo === true ? apolloConfig() : urqlConfig());
  return 0;
}
