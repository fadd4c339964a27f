/** A gateway with TLS over a store with one object, and requests to it with client certificates. */
import { writeFileSync } from 'node:fs';
import { type Agent, request } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Caller } from '../../src/access/caller.ts';
import { createAuthenticate } from '../../src/auth/identity/authenticator.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import type { SiblingOptions } from '../../src/server/event-stream/sibling-streams.ts';
import { startServer } from '../../src/server/http-server.ts';
import { TlsFiles } from '../../src/server/negotiation/tls-files.ts';
import type { Certificate, CertificateAuthority } from './certificates.ts';
import { engineFixture, made } from './engine-fixture.ts';
import { widget, widgets } from './graphql-world.ts';
import { sharedDirectory } from './temporary-directory.ts';

/** The names of the gateway's certificate. */
export const gatewayNames = ['IP:127.0.0.1', 'DNS:localhost'];

export interface TlsGatewayOptions {
  /** Signs the gateway's own certificate. */
  readonly gateway: CertificateAuthority;
  /** PEM of the authorities of users and of proxies. A proxy is called `front`. */
  readonly users: string;
  readonly proxies: string;
  /** Milliseconds between two checks of the credentials of a connection. */
  readonly checkCallersMs?: number;
  /** The other processes of the gateway. Default: there are none. */
  readonly siblings?: SiblingOptions;
  readonly log?: Logger;
  /** Called with the caller of each request. */
  readonly onCaller?: (caller: Caller) => void;
}

export interface TlsGateway {
  readonly url: string;
  readonly port: number;
  /** The folder of the files: `tls.crt`, `tls.key`, `users.crt` and `proxy.crt`. */
  readonly dir: string;
  /** Writes a file of that folder. Returns its path. */
  write(name: string, text: string): string;
  close(): Promise<void>;
}

/** Runs until the test ends. */
export async function tlsGateway({
  gateway,
  users,
  proxies,
  log = silentLogger,
  onCaller = () => {},
  ...more
}: TlsGatewayOptions): Promise<TlsGateway> {
  const dir = sharedDirectory('tls');
  const server = await gateway.issue({ names: gatewayNames, commonName: 'gateway' });
  const write = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const cert = write('tls.crt', server.cert);
  const key = write('tls.key', server.key);
  const paths = { cert, key, clientCa: write('users.crt', users), proxyCa: write('proxy.crt', proxies) };
  const authenticate = createAuthenticate({ tokens: null, proxies: ['front'], certificates: true });
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  const running = await startServer({
    host: '127.0.0.1',
    port: 0,
    isOpen: true,
    tls: await TlsFiles.open(paths, log),
    tlsLookMs: 50,
    source: fixture.engine.source,
    pages: fixture.pages,
    authenticate: async (credentials) => {
      const caller = await authenticate(credentials);
      onCaller(caller);
      return caller;
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log,
    ...more,
  });
  onTestFinished(() => running.close());
  return { dir, url: running.url, port: running.port, write, close: () => running.close() };
}

export interface Asked {
  /** PEM of the authority of the gateway's certificate. */
  readonly ca: string;
  readonly certificate?: Certificate | null;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly query?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Default: a connection of its own. */
  readonly agent?: Agent;
  /** Default: POST. */
  readonly method?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: {
    readonly data?: { readonly viewer?: object };
    readonly errors?: readonly { readonly message: string }[];
  };
}

/** Sends a query; by default it asks who the caller is. */
export function askOverTls(
  url: string,
  {
    ca,
    certificate = null,
    headers = {},
    query = '{ viewer { name groups } }',
    variables,
    agent,
    method = 'POST',
  }: Asked,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify({ query, variables });
    const sent = request(
      url,
      {
        method,
        ca,
        agent: agent ?? false,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
        ...(certificate === null ? {} : { cert: certificate.cert, key: certificate.key }),
      },
      (response) => {
        let body = '';
        response.on('data', (piece: Buffer) => {
          body += piece.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(body) }));
      },
    );
    sent.on('error', reject);
    // Before a text, Node writes the headers as UTF-8, and those of a proxy are bytes already.
    sent.end(Buffer.from(text));
  });
}
