/** Listening on the gateway's address. Loads nothing else of the server, so that a start can look at the port first. */
import { createServer, type Server } from 'node:net';
import { messageOf, PortolanError } from '../base/errors.ts';

/** Resolves when the server listens. @throws PortolanError CONFIGURATION */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? `Port ${port} is taken; choose another with --port, or --port 0 for any.`
          : `Portolan cannot listen on ${host}:${port}: ${messageOf(error)}.`;
      reject(new PortolanError('CONFIGURATION', why, { cause: error }));
    });
    server.listen(port, host.replace(/^\[|\]$/g, ''), resolve);
  });
}

/**
 * Checks that the port is free, and leaves it free. Call it before the work of a start, which would be in vain.
 * @throws PortolanError CONFIGURATION
 */
export async function refuseTakenPort({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  await listen(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}
