/** `portolan client-config`: cache policies for GraphQL clients. */
import { PortolanError } from '../base/errors.ts';
import { apolloConfig, urqlConfig } from '../graphql/client/client-config.ts';

/** Prints to standard output; exactly one client has to be named. */
export function clientConfig({ apollo, urql }: { readonly apollo?: boolean; readonly urql?: boolean }): number {
  if ((apollo === true) === (urql === true)) {
    throw new PortolanError('CONFIGURATION', 'Say which client: portolan client-config --apollo, or --urql.');
  }
  process.stdout.write(apollo === true ? apolloConfig() : urqlConfig());
  return 0;
}
