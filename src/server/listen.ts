/** Listening on the gateway's address. Loads nothing else of the server, so that a start can look at the port first. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { messageOf, PortolanError } from '../base/errors.ts';

/** Where a server listens. */
interface Place {
  readonly host: string;
  readonly port: number;
  /** The option that names the port, for the error. Default: `--port`. */
  readonly flag?: string;
}

/**
 * Resolves when the server listens.
 * @param isShared other processes of this user may listen there too (SO_REUSEPORT): the kernel gives each connection to one of them. So the
 * connections that wait at a process that is killed are lost, and no others.
 * @throws PortolanError CONFIGURATION
 */
export function listen(server: Server, place: Place, isShared = false): Promise<void> {
  const { host, port } = place;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new PortolanError('CONFIGURATION', faultOf(error, place), { cause: error })),
    );
    server.listen({ port, host: host.replace(/^\[|\]$/g, ''), reusePort: isShared }, resolve);
  });
}

function faultOf(error: NodeJS.ErrnoException, { host, port, flag = '--port' }: Place): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is taken; choose another with ${flag}, or ${flag} 0 for any.`;
  if (error.code === 'ENOTSUP') return 'Processes cannot share a port on this system; start with --processes 1.';
  return `Portolan cannot listen on ${host}:${port}: ${messageOf(error)}.`;
}

/**
 * Checks that the port is free, and leaves it free. Call it before the work of a start, which needs the port.
 * @throws PortolanError CONFIGURATION
 */
export async function refuseTakenPort({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  if (port !== 0) await freePort({ host, port });
}

/** The address with its port, or with any free one for 0. It is left free. @throws PortolanError CONFIGURATION for one that is taken */
async function freePort(place: Place): Promise<AddressInfo> {
  const server = createServer();
  await listen(server, place);
  const found = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return found;
}

/**
 * Reserves the port, or any free one for 0, for processes of this gateway that will share it. Another gateway could share it too: the kernel
 * lets all processes of a user. So each has a name for its address and port, until `release` or the end of the process.
 *
 *   127.0.0.1, and localhost    one name, which only one can have
 *   127.0.0.1, and 127.0.0.2    two names
 *   127.0.0.1, and 0.0.0.0      two names, but each has its name before it looks for the other: one of them, or both, cannot start
 *
 * Only Linux has such names (unix(7), abstract socket addresses; of a network namespace, as ports are).
 * @throws PortolanError CONFIGURATION for one that is taken
 */
export async function reservePort(place: Place): Promise<{ readonly port: number; release(): void }> {
  const { address, port } = await freePort(place);
  if (process.platform !== 'linux') return { port, release: () => {} };
  const name = createServer((socket) => socket.destroy());
  const taken = (error: NodeJS.ErrnoException): PortolanError =>
    new PortolanError('CONFIGURATION', faultOf(error, { ...place, port }), { cause: error });
  await new Promise<void>((resolve, reject) => {
    name.once('error', (error) => reject(taken(error)));
    name.listen(`\0${nameOf(address, port)}`, resolve);
  });
  name.unref();
  if (namesOf(port).some((other) => other !== address && (isEvery(other) || isEvery(address)))) {
    name.close();
    throw taken(Object.assign(new Error('another gateway has the port'), { code: 'EADDRINUSE' }));
  }
  return { port, release: () => void name.close() };
}

function nameOf(address: string, port: number): string {
  return `portolan ${port} ${address}`;
}

/** The addresses of the gateways that have reserved the port. None where a sandbox hides the list. */
function namesOf(port: number): readonly string[] {
  const names = listedNames().matchAll(/ @portolan (\d+) (\S+)$/gm);
  return [...names].flatMap(([, named, address = '']) => (Number(named) === port ? [address] : []));
}

function listedNames(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}

/** Does a server at this address get the connections to all addresses? */
function isEvery(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}
