/** The door over HTTPS: whom it believes, and its documents. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { aggregateDoor, asJane, trustData } from '../../test/kit/aggregate-door.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../test/kit/certificates.ts';
import { mostCallerless } from '../server/connections/callerless-connections.ts';

let authority: CertificateAuthority;
let other: CertificateAuthority;
beforeAll(async () => {
  [authority, other] = await Promise.all([createCertificateAuthority('Proxies'), createCertificateAuthority('Others')]);
});
afterAll(() => {
  authority.remove();
  other.remove();
});

const discovery = '/apis/shadow.portolan.dev/v1alpha1';
const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

describe('trust', () => {
  test('the aggregator names the user, its uid, its groups and extra', async () => {
    const door = await aggregateDoor(authority);
    const { status } = await door.ask(discovery, {
      headers: [
        ['X-Remote-User', 'jane'],
        ['X-Remote-Uid', '42'],
        ['X-Remote-Group', 'devs, admins'],
        ['X-Remote-Group', 'users'],
        ['X-Remote-Extra-Example.com%2FScopes', 'read'],
        ['X-Remote-Extra-example.com%2fscopes', 'a,b'],
      ],
    });
    expect(status).toBe(200);
    expect(door.callers.map(({ user }) => user)).toEqual([
      {
        user: 'jane',
        uid: '42',
        groups: ['devs, admins', 'users', 'system:authenticated'],
        extra: { 'example.com/scopes': ['read', 'a,b'] },
      },
    ]);
  });

  test('a user whom kube-apiserver has not authenticated is no member of system:authenticated', async () => {
    const door = await aggregateDoor(authority);
    const unauthenticated = ['X-Remote-Group', 'system:unauthenticated'] as const;
    const asked = [
      [['X-Remote-User', 'system:anonymous'], unauthenticated],
      [['X-Remote-User', 'system:anonymous']],
      [['X-Remote-User', 'guest'], unauthenticated],
    ] as const;
    for (const headers of asked) expect((await door.ask(discovery, { headers })).status).toBe(200);
    expect(door.callers.map(({ user }) => user?.groups)).toEqual([
      ['system:unauthenticated'],
      [],
      ['system:unauthenticated'],
    ]);
  });

  test('a user may have very many groups: none of them is lost', async () => {
    const door = await aggregateDoor(authority);
    const groups = Array.from({ length: 2500 }, (_, at) => `group-${at}`);
    const headers = [...groups.map((group) => ['X-Remote-Group', group] as const), ...asJane];
    expect((await door.ask(discovery, { headers })).status).toBe(200);
    expect(door.callers.map(({ user }) => user?.groups)).toEqual([[...groups, 'system:authenticated']]);
  });

  test('a header with underscores is no header of identity', async () => {
    const door = await aggregateDoor(authority);
    const headers = [...asJane, ['X_Remote_User', 'admin'], ['X_Remote_Group', 'system:masters']] as const;
    expect((await door.ask(discovery, { headers })).status).toBe(200);
    expect(door.callers.map(({ user }) => user)).toMatchObject([{ user: 'jane', groups: ['system:authenticated'] }]);
    expect(await door.ask(discovery, { headers: [['X_Remote_User', 'admin']] })).toMatchObject({ status: 401 });
  });

  test('nobody else names users: every other request is 401 as a Status', async () => {
    const door = await aggregateDoor(authority);
    const user = await other.issue({ names: [], commonName: 'front' });
    const otherName = await authority.issue({ names: [], commonName: 'back' });
    const expired = await authority.issue({ names: [], commonName: 'front', fromDays: -3, untilDays: -1 });
    for (const certificate of [null, user, otherName, expired]) {
      for (const headers of [asJane, [], [['X-Remote-Group', 'system:masters']] as const]) {
        const { status, body } = await door.ask(discovery, { certificate, headers });
        expect([status, body.kind, body.reason, body.code]).toEqual([401, 'Status', 'Unauthorized', 401]);
      }
    }
    // The aggregator itself must name one user.
    for (const headers of [[], [['X-Remote-User', '']], [...asJane, ['X-Remote-User', 'joe']]] as const) {
      expect((await door.ask(discovery, { headers })).status).toBe(401);
    }
    expect(door.callers).toEqual([]);
  });

  test('allowed names, header names and the authority follow the ConfigMap', async () => {
    const door = await aggregateDoor(authority);
    const front = await other.issue({ names: [], commonName: 'edge' });
    const asked = { certificate: front, headers: [['X-User', 'joe']] } as const;
    expect((await door.ask(discovery, asked)).status).toBe(401);
    door.configMap = {
      ...trustData(other.ca),
      'requestheader-allowed-names': '[]',
      'requestheader-username-headers': '["X-Missing","X-User"]',
    };
    await door.clock.advance(5000);
    await expect.poll(async () => (await door.ask(discovery, asked)).status).toBe(200);
    expect(door.callers.at(-1)?.user).toMatchObject({ user: 'joe' });
    // The former authority and the former header do not count any more.
    expect((await door.ask(discovery)).status).toBe(401);
    // A ConfigMap that cannot be used, and none at all, change nothing.
    for (const data of [{ ...trustData(authority.ca), 'requestheader-client-ca-file': 'no PEM' }, null]) {
      door.configMap = data;
      await door.clock.advance(5000);
      expect((await door.ask(discovery, asked)).status).toBe(200);
    }
  });

  test('a start without the authority says what to do', async () => {
    const empty = { ...authority, ca: '' };
    await expect(aggregateDoor(empty)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining('extension-apiserver-authentication-reader'),
    });
  });
});

describe('connections', () => {
  const opened = async (port: number, certificate: object = {}): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.ca, servername: 'localhost', ...certificate });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };

  test('those without a caller are bounded: the oldest ends, and that of the aggregator stays', async () => {
    const door = await aggregateDoor(authority);
    const front = await opened(door.port, { cert: door.front.cert, key: door.front.key });
    const ask = async (): Promise<string> => {
      front.write(`GET ${discovery} HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: jane\r\n\r\n`);
      const [answer] = await once(front, 'data');
      return String(answer).split('\r\n')[0] ?? '';
    };
    expect(await ask()).toBe('HTTP/1.1 200 OK');
    const first = await opened(door.port);
    const ended = once(first, 'close');
    for (let count = 0; count < mostCallerless; count += 50) {
      await Promise.all(Array.from({ length: 50 }, () => opened(door.port)));
    }
    await ended;
    expect(await ask()).toBe('HTTP/1.1 200 OK');
  });

  test('idle ones are kept longer than by the aggregator', async () => {
    const door = await aggregateDoor(authority);
    const { headers } = await door.ask(discovery, { headers: [...asJane, ['Connection', 'keep-alive']] });
    expect(headers['keep-alive']).toBe('timeout=120');
  });
});

describe('documents', () => {
  test('discovery in both forms, each with its content type', async () => {
    const door = await aggregateDoor(authority);
    const accept = (value: string) => ({ headers: [...asJane, ['Accept', value]] as const });
    const aggregated = await door.ask('/apis', accept(`${v2},application/json`));
    expect(aggregated.type).toBe(v2);
    expect(aggregated.body).toEqual({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: [
        {
          metadata: { name: 'shadow.portolan.dev', creationTimestamp: null },
          versions: [
            {
              version: 'v1alpha1',
              freshness: 'Current',
              resources: [
                {
                  resource: 'shadowresources',
                  responseKind: { group: 'shadow.portolan.dev', version: 'v1alpha1', kind: 'ShadowResource' },
                  scope: 'Namespaced',
                  singularResource: 'shadowresource',
                  shortNames: ['shadow'],
                  verbs: ['create', 'get', 'list', 'patch', 'update', 'watch'],
                },
              ],
            },
          ],
        },
      ],
    });
    const beta = v2.replace('v=v2', 'v=v2beta1');
    expect((await door.ask('/apis', accept(beta))).type).toBe(beta);
    const legacy = await door.ask('/apis', accept('application/json'));
    expect([legacy.type, legacy.body.kind]).toEqual(['application/json', 'APIGroupList']);
    expect((await door.ask('/apis/shadow.portolan.dev')).body).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'shadow.portolan.dev/v1alpha1' },
    });
    expect((await door.ask(discovery)).body).toMatchObject({
      kind: 'APIResourceList',
      groupVersion: 'shadow.portolan.dev/v1alpha1',
      resources: [{ name: 'shadowresources', kind: 'ShadowResource', namespaced: true }],
    });
    for (const path of ['/apis', discovery]) {
      expect((await door.ask(path, accept('application/vnd.kubernetes.protobuf'))).body).toMatchObject({
        code: 406,
        reason: 'NotAcceptable',
      });
    }
  });

  test('OpenAPI v3 has an index, a document by its hash, and tags', async () => {
    const door = await aggregateDoor(authority);
    const index = await door.ask('/openapi/v3');
    const { serverRelativeURL } = index.body.paths['apis/shadow.portolan.dev/v1alpha1'];
    expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/shadow\.portolan\.dev\/v1alpha1\?hash=[0-9A-F]{64}$/);
    const { body, headers } = await door.ask(serverRelativeURL);
    const schema = body.components.schemas['dev.portolan.shadow.v1alpha1.ShadowResource'];
    expect(schema['x-kubernetes-group-version-kind']).toEqual([
      { group: 'shadow.portolan.dev', version: 'v1alpha1', kind: 'ShadowResource' },
    ]);
    const path = '/apis/shadow.portolan.dev/v1alpha1/namespaces/{namespace}/shadowresources/{name}';
    const names = body.paths[path].patch.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['dryRun', 'fieldValidation', 'force']));
    const known = [...asJane, ['If-None-Match', String(headers['etag'])]] as const;
    expect((await door.ask(serverRelativeURL, { headers: known })).status).toBe(304);
  });

  test('version, health, and Statuses for what there is not', async () => {
    const door = await aggregateDoor(authority);
    expect((await door.ask('/version')).body).toMatchObject({ gitVersion: 'v1.2.3' });
    for (const path of ['/healthz', '/livez', '/readyz']) {
      expect(await door.ask(path, { certificate: null, headers: [] })).toMatchObject({ status: 200, text: 'ok' });
    }
    for (const path of ['/', '/openapi/v2', '/apis/apps', `${discovery}/pods`, '/%ff', '/apis/%2e%2e']) {
      expect((await door.ask(path)).body, path).toMatchObject({ kind: 'Status', code: 404, reason: 'NotFound' });
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { body } = await door.ask(`${discovery}/namespaces/shop/shadowresources/web`, { method, body: '{}' });
      expect(body).toMatchObject({
        code: 405,
        reason: 'MethodNotAllowed',
        message: expect.stringContaining('read-only'),
      });
    }
  });

  test('discovery is 503 while the door is ill', async () => {
    const door = await aggregateDoor(authority);
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all(
        ['/apis', '/apis/shadow.portolan.dev', discovery, '/readyz', '/healthz'].map(
          async (path) => (await door.ask(path)).status,
        ),
      );
    door.illness = 'a list was not answered within 2000 ms';
    expect(await statuses()).toEqual([503, 503, 503, 503, 200]);
    expect((await door.ask(discovery)).body).toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('a list was not answered within 2000 ms'),
    });
    door.illness = null;
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
  });

  test('a drain fails /readyz alone, and asks for new connections', async () => {
    const door = await aggregateDoor(authority);
    const headers = [...asJane, ['Connection', 'keep-alive'] as const];
    expect(await door.ask(discovery, { headers })).toMatchObject({
      status: 200,
      headers: { connection: 'keep-alive' },
    });
    door.drain(200);
    for (const path of ['/apis', '/apis/shadow.portolan.dev', discovery, '/healthz']) {
      expect(await door.ask(path, { headers }), path).toMatchObject({
        status: 200,
        headers: { connection: 'close' },
      });
    }
    expect(await door.ask('/readyz')).toMatchObject({ status: 503, text: 'not ready: this API server is stopping' });
  });

  test('the end waits for no silent connection', async () => {
    const door = await aggregateDoor(authority);
    const silent = connect({ host: '127.0.0.1', port: door.port, ca: authority.ca, servername: 'localhost' });
    const closed = new Promise((resolve) => silent.once('close', resolve));
    silent.on('error', () => {});
    await new Promise((resolve) => silent.once('secureConnect', resolve));
    await door.close();
    await closed;
  });
});
