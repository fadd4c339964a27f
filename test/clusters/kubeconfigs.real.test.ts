/** Kubeconfigs of many shapes: Portolan sends what kubectl sends with the same file, or refuses it as kubectl does. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createOpenServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messageOf } from '../../src/base/errors.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { explainConnectionFailure } from '../../src/kube/client/explain.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { mainServer } from '../kit/real-servers.ts';
import { type KubeconfigShape, shapes } from './kubeconfig-shapes.ts';

const missing = mainServer.missing(['kubectl']);

/** What the server sees of a request. */
interface Seen {
  readonly path: string | undefined;
  readonly client: string | null;
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

describe.skipIf(missing !== null)(`kubeconfigs as kubectl reads them${missing === null ? '' : ` (${missing})`}`, () => {
  let authorities: readonly CertificateAuthority[] = [];
  let servers: readonly Server[] = [];
  let folder: string;
  let words: Readonly<Record<string, string>>;
  let seen: Seen[] = [];

  beforeAll(async () => {
    const [own, clients, other] = await Promise.all(
      ['Own', 'Clients', 'Other'].map((name) => createCertificateAuthority(name)),
    );
    if (own === undefined || clients === undefined || other === undefined) throw new Error('three authorities');
    authorities = [own, clients, other];
    const leaf = await own.issue({ names: ['IP:127.0.0.1', 'DNS:localhost'] });
    const client = await clients.issue({ names: [], commonName: 'client' });
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      const headers: Record<string, string[]> = {};
      for (let at = 0; at < request.rawHeaders.length; at += 2) {
        const name = (request.rawHeaders[at] ?? '').toLowerCase();
        if (name === 'authorization' || name.startsWith('impersonate-'))
          headers[name] = [...(headers[name] ?? []), request.rawHeaders[at + 1] ?? ''];
      }
      const subject = request.socket instanceof TLSSocket ? request.socket.getPeerCertificate().subject : undefined;
      seen.push({ path: request.url, client: (subject?.CN as string | undefined) ?? null, headers });
      response.end('{}');
    };
    servers = [
      createServer({ ...leaf, ca: clients.ca, requestCert: true, rejectUnauthorized: false }, answer),
      createOpenServer(answer),
    ];
    const [host, openHost] = await Promise.all(
      servers.map(async (server) => {
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return `127.0.0.1:${(server.address() as AddressInfo).port}`;
      }),
    );
    if (host === undefined || openHost === undefined) throw new Error('two servers');
    folder = mkdtempSync(join(tmpdir(), 'portolan-kubeconfigs-'));
    const file = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    file('ca.crt', own.ca);
    file('client.crt', client.cert);
    file('client.key', client.key);
    file('token', 'from-file\n');
    file('plugin', plugin);
    chmodSync(join(folder, 'plugin'), 0o755);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    words = {
      SERVER: `https://${host}`,
      PLAIN: `http://${host}`,
      HOST: host,
      OPEN_HOST: openHost,
      OTHER_CA: base64(other.ca),
      CLIENT_CERT: base64(client.cert),
      CLIENT_KEY: base64(client.key),
      CA: base64(own.ca),
      FOLDER: folder,
    };
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    for (const authority of authorities) authority.remove();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  /** Writes the files. @returns the environment in which they are read. */
  function environmentOf({ files, isHome = false }: KubeconfigShape): NodeJS.ProcessEnv {
    // Each word once: the base64 of a certificate may have one of them in it.
    const text = (given: string): string => given.replace(/[A-Z]+(?:_[A-Z]+)*/g, (word) => words[word] ?? word);
    mkdirSync(join(folder, '.kube'), { recursive: true });
    const paths = files.map((content, index) => {
      const path = join(folder, isHome ? '.kube/config' : `config-${index}`);
      writeFileSync(path, text(content));
      return path;
    });
    return {
      HOME: isHome ? folder : join(folder, 'empty'),
      PATH: process.env['PATH'],
      ...(isHome ? {} : { KUBECONFIG: paths.join(delimiter) }),
    };
  }

  /** What a command sent, or what it said. */
  async function outcomeOf(work: () => Promise<unknown>): Promise<{ sent: Seen | null; readonly said: string }> {
    seen = [];
    const said = await work().then(
      () => '',
      (error: unknown) => messageOf(error),
    );
    return { sent: seen[0] ?? null, said };
  }

  const kubectl = (env: NodeJS.ProcessEnv, context: string | undefined) => () =>
    new Promise((resolve, reject) => {
      const args = [...(context === undefined ? [] : [`--context=${context}`]), 'get', '--raw', '/probe'];
      const child = execFile(mainServer.assets.path('kubectl'), args, { env, cwd: folder }, (error, _, stderr) =>
        error === null ? resolve(null) : reject(new Error(stderr)),
      );
      child.stdin?.end();
    });

  const portolan = (env: NodeJS.ProcessEnv, context: string | undefined) => async () => {
    const connection = await connect({ env, context });
    try {
      await new RestClient(connection).get('/probe').catch((error: unknown) => {
        throw explainConnectionFailure(error, connection);
      });
    } finally {
      await connection.close();
    }
  };

  test.each(Object.entries(shapes))('%s', async (_, shape) => {
    const env = environmentOf(shape);
    const theirs = await outcomeOf(kubectl(env, shape.context));
    if (shape.asks === true) expect(theirs.said).toBe('error: EOF\n');
    if (shape.asks === true) theirs.sent = { path: '/probe', client: null, headers: {} };
    const mine = await outcomeOf(portolan(env, shape.context));
    expect({ sent: mine.sent, theirs: theirs.said }).toEqual({ sent: theirs.sent, theirs: theirs.said });
    expect(mine.said === '').toBe(mine.sent !== null);
  });

  test('what is refused says why, and names no secret', async () => {
    const said: Record<string, string> = {};
    for (const [name, shape] of Object.entries(shapes)) {
      const { said: words } = await outcomeOf(portolan(environmentOf(shape), shape.context));
      if (words !== '') said[name] = words.replaceAll(folder, 'FOLDER').replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
    }
    expect(said).toMatchSnapshot();
  });
});

/** Prints a credential whose status is STATUS, or has the token TOKEN, or `from-plugin`. */
const plugin = `#!/bin/sh
version=$(printf '%s' "$KUBERNETES_EXEC_INFO" | sed 's/.*"apiVersion":"\\([^"]*\\)".*/\\1/')
if [ "$VERSION" = none ]; then echo '{}'; exit; fi
version=\${VERSION:-$version}
default="{\\"token\\":\\"\${TOKEN:-from-plugin}\\"}"
printf '{"apiVersion":"%s","kind":"ExecCredential","status":%s}' "$version" "\${STATUS:-$default}"
`;
