/** The address of the API server in a kubeconfig, as client-go reads it. */
import { PortolanError } from '../../base/errors.ts';
import type { ClusterConfig } from './kubeconfig.ts';

const scheme = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i;

/**
 * The server's URL. A query or a fragment does not count.
 * @throws PortolanError CONFIGURATION for a text that is no address; the message leaves out its user and password.
 */
export function serverUrl({ cluster: { server }, context, source }: ClusterConfig): URL {
  const address = withScheme(server);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (
    url === undefined ||
    server !== server.trim() ||
    server.includes('\\') ||
    (url.protocol !== 'https:' && url.protocol !== 'http:') ||
    !(address === server || /^[^/]*[^/:]$/.test(server))
  ) {
    // A password may have a slash or an @, so everything before the last @ is left out.
    const shown = server.replace(/^([a-z][a-z0-9+.-]*:\/+)?.*@/is, '$1');
    throw new PortolanError(
      'CONFIGURATION',
      `The server ${JSON.stringify(shown)} of context ${context} in ${source} is not an address: write it like https://host:6443.`,
    );
  }
  return url;
}

/** The user and the password of an address such as `https://user:password@host`, percent-encoded; undefined without both. */
export function userOfServer(server: string): { readonly username: string; readonly password: string } | undefined {
  const address = withScheme(server);
  if (!URL.canParse(address)) return undefined;
  const { username, password } = new URL(address);
  return username === '' && password === '' ? undefined : { username, password };
}

/** An address without a scheme is one of plain HTTP, also where its user looks like a scheme: `jane:secret@host`. */
function withScheme(server: string): string {
  return scheme.test(server) ? server : `http://${server}`;
}
