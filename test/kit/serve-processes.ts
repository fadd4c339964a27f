/**
 * The serve processes of a gateway with --processes, and clients that speak to a chosen one of them. The kernel decides which process gets a
 * connection; /proc tells which one has got it.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { GatewayProcess } from './gateway-process.ts';

/** The processes that this one has started and that run, oldest first. */
export function childrenOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number).filter(isRunning);
}

/** Is there such a process, and is it more than the exit code that nobody has read? */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const query = (document: string, variables: object = {}): string => JSON.stringify({ query: document, variables });

/** A new connection that this process of the gateway has accepted. */
export async function socketTo(url: string, pid: number): Promise<Socket> {
  const port = Number(new URL(url).port);
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    if (await hasAccepted(pid, port, socket)) return socket;
    socket.destroy();
  }
  throw new Error(`process ${pid} gets no connection`);
}

/** Has this process accepted the connection? False too if no process has after a while: the one that gets it is stopped, or has ended. */
async function hasAccepted(pid: number, port: number, socket: Socket): Promise<boolean> {
  const hex = (number: number | undefined): string => (number ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const line = new RegExp(`^ *\\d+: \\w+:${hex(port)} \\w+:${hex(socket.localPort)} 01 (?:\\S+ +){5}(\\d+) `, 'm');
  for (let look = 0; look < 100; look += 1) {
    const inode = line.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1] ?? '0';
    const folder = `/proc/${pid}/fd`;
    // Before it is accepted, the inode is 0.
    if (inode !== '0') return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === `socket:[${inode}]`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return false;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Sends one request on a new connection to this process. */
export async function sendTo(url: string, pid: number, asking: Asking = {}): Promise<Reply> {
  return await sendOn(await socketTo(url, pid), url, asking);
}

/** Sends one request on this connection, or on a new one that goes to any process. */
export async function sendOn(
  socket: Socket | null,
  url: string,
  { method = 'POST', path = '/graphql', headers = {}, body }: Asking = {},
): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const request = httpRequest({
    host: hostname,
    port,
    method,
    path,
    headers: { connection: 'close', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(socket === null ? { agent: false } : { createConnection: () => socket }),
  });
  return await new Promise<Reply>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      text(response).then((found) => resolve({ status, headers: answered, text: found }), reject);
    });
    request.end(body);
  });
}

/** The text of the answer of this process to a query. */
export async function answerOf(url: string, pid: number, document: string, variables?: object): Promise<string> {
  return (await sendTo(url, pid, { body: query(document, variables) })).text;
}

export interface ProcessesReadiness {
  readonly ready: boolean;
  readonly status: string;
  readonly processes: {
    readonly wanted: number;
    readonly serving: number;
    readonly restarts: number;
    readonly ended: readonly { readonly process: number; readonly restarts: number; readonly error: string }[];
  };
}

/** /readyz of any process, or of this one. @param headers of a caller who may observe */
export async function readinessOf(
  url: string,
  pid?: number,
  headers: Asking['headers'] = {},
): Promise<ProcessesReadiness> {
  const socket = pid === undefined ? null : await socketTo(url, pid);
  const { text: found } = await sendOn(socket, url, { method: 'GET', path: '/readyz', headers });
  return JSON.parse(found) as ProcessesReadiness;
}

/** The serve processes, as soon as so many serve. */
export async function serving(
  { url, pid }: Pick<GatewayProcess, 'url' | 'pid'>,
  count: number,
  ms = 60_000,
  headers: Asking['headers'] = {},
): Promise<readonly number[]> {
  return await eventually(async () => {
    const found = await readinessOf(url, undefined, headers);
    expect(found).toMatchObject({ ready: true, processes: { wanted: count, serving: count, ended: [] } });
    const all = childrenOf(pid);
    expect(all).toHaveLength(count);
    return all;
  }, ms);
}
