/** `status` of a gateway over a cluster that refuses its Secrets and an unreachable one, and of servers that are not a gateway. */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../../sim/sim-cluster.ts';
import { type RunningGateway, runGateway } from '../../../test/kit/gateway.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import {
  type Answer,
  type LoopbackServer,
  sendJson,
  sendStatus,
  startLoopbackServer,
} from '../../../test/kit/loopback-server.ts';
import type { RemoteConfig } from './gateway-client.ts';
import { status, statusTable } from './status.ts';
import type { StatusReport, StatusRow } from './status-report.ts';

const folder = kubeconfigFolder();
let cluster: SimCluster;
let proxy: LoopbackServer;
let gateway: RunningGateway;

/** Forwards every request to the cluster except those for Secrets. */
const withoutSecrets: Answer = (request, response) => {
  if (request.url?.startsWith('/api/v1/secrets') === true) {
    sendStatus(response, 403, 'Forbidden', 'secrets is forbidden:\n\u001b[31mask an administrator');
    return;
  }
  const { method = 'GET', headers } = request;
  const forwarded = httpRequest(`${cluster.url}${request.url}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
};

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  proxy = await startLoopbackServer(withoutSecrets);
  const up = folder.file('up', cluster.kubeconfig().replaceAll(cluster.url, proxy.url));
  const down = folder.write({ server: `http://127.0.0.1:${await freePort()}` }, {}, 'down');
  gateway = await runGateway([
    { name: 'up', kubeconfig: up },
    { name: 'down', kubeconfig: down },
  ]);
});

afterAll(async () => {
  await gateway?.close();
  await proxy?.close();
  await cluster?.close();
  folder.remove();
});

/** Runs the command: its output and its exit code. */
async function runStatus(options: Partial<RemoteConfig & { all: boolean; failing: boolean; json: boolean }> = {}) {
  let out = '';
  const code = await status(
    { url: gateway.url, token: undefined, all: false, failing: false, json: false, ...options },
    { write: (text) => (out += text) },
  );
  return { code, out, lines: out.split('\n') };
}

describe('a gateway of which a part fails', () => {
  test('its /readyz names phase and error of each failing resource', async () => {
    const response = await fetch(gateway.url.replace('/graphql', '/readyz'));
    expect(response.status).toBe(200);
    const { failing } = (await response.json()) as { failing: readonly { cluster: string }[] };
    expect(failing.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1))).toEqual([
      { cluster: 'down', resource: 'everything', phase: null, error: expect.stringMatching(/./) },
      {
        cluster: 'up',
        resource: 'secrets',
        phase: 'PARKED',
        refusal: 403,
        error: expect.stringContaining('secrets is forbidden'),
      },
    ]);
  });

  test('is a table with what fails at the top, and exit code 1', async () => {
    const { code, lines } = await runStatus();
    expect(code).toBe(1);
    expect(lines[0]).toMatch(/^RESOURCE +CLUSTER +PHASE +OBJECTS +LAST EVENT +STALE +RESTARTS +ERROR$/);
    expect(lines[1]).toMatch(/^everything +down +- +- +- +- +\S/);
    expect(lines[2]).toMatch(
      /^secrets +up +PARKED +0 +- +- +\d+ \(.*status 403 \d+\) +\S.*secrets is forbidden: \[31mask an administrator/,
    );
    expect(lines[3]).toMatch(/^\d+ healthy in up: \S+ \d+, .*, … \(--all lists them\)$/);
    expect(lines[4]).toMatch(/^\d+ of \d+ resources synced, \d+ objects, 2 failing; degraded\.$/);
    expect(lines).toHaveLength(6);
  });

  test('lists the healthy resources too where they are asked for', async () => {
    const { lines } = await runStatus({ all: true });
    expect(lines[2]).toMatch(/^secrets +up/);
    expect(lines.find((line) => line.startsWith('namespaces '))).toMatch(
      /^namespaces +up +WATCHING +\d+ +\S+ +- +- +-$/,
    );
  });

  test('can be asked for nothing else', async () => {
    const { code, lines } = await runStatus({ failing: true });
    expect(code).toBe(1);
    expect(lines.slice(1, -2).map((line) => line.split(' ', 1)[0])).toEqual(['everything', 'secrets']);
  });

  test('is JSON for programs', async () => {
    const { code, out } = await runStatus({ json: true });
    expect(code).toBe(1);
    const report = JSON.parse(out) as StatusReport;
    expect(report).toMatchObject({ url: gateway.url, ready: true });
    expect(report.resources.find(({ resource }) => resource === 'secrets')).toEqual({
      resource: 'secrets',
      cluster: 'up',
      phase: 'PARKED',
      synced: false,
      objects: 0,
      lastEventAt: null,
      staleSince: null,
      namespaces: [],
      restarts: expect.arrayContaining([{ reason: 'status 403', count: expect.any(Number) }]),
      error: expect.stringContaining('secrets is forbidden'),
      failing: true,
    });
    expect(report.resources.find(({ resource }) => resource === 'namespaces')).toMatchObject({
      synced: true,
      failing: false,
    });
  });

  test('may be named by its root', async () => {
    expect((await runStatus({ url: gateway.url.replace('/graphql', '') })).out).toContain('secrets');
  });
});

/** A server with these answers of /readyz and of the endpoint. */
async function answering(readyz: object | string, graphql: object = { data: { resources: [] } }): Promise<string> {
  const server = await startLoopbackServer((request, response) => {
    const body = request.url === '/readyz' ? readyz : graphql;
    if (typeof body === 'string') response.end(body);
    else sendJson(response, 200, body);
  });
  onTestFinished(() => server.close());
  return `${server.url}/graphql`;
}

describe('a gateway', () => {
  test('in which all is well is exit code 0', async () => {
    const url = await answering({ ready: true, failing: [] });
    expect(await runStatus({ url })).toMatchObject({
      code: 0,
      out: '0 of 0 resources synced, 0 objects, 0 failing; ready.\n',
    });
  });

  test('whose failures are hidden from the caller is exit code 1', async () => {
    const url = await answering({ ready: true, status: 'degraded' });
    expect(await runStatus({ url })).toMatchObject({
      code: 1,
      out: '0 of 0 resources synced, 0 objects, 0 failing; degraded, by failures that only callers with the right to get /metrics see.\n',
    });
  });

  test('of whose processes one does not serve is exit code 1, and the line says why', async () => {
    const ended = [{ process: 2, restarts: 3, error: 'it was ended by SIGKILL' }];
    const processes = { wanted: 2, serving: 1, restarts: 3, ended };
    const url = await answering({ ready: true, status: 'degraded', failing: [], processes });
    expect(await runStatus({ url })).toMatchObject({
      code: 1,
      out: '1 of 2 processes serve; process 2: it was ended by SIGKILL\n0 of 0 resources synced, 0 objects, 0 failing; degraded.\n',
    });
  });

  test('all of whose processes serve is exit code 0', async () => {
    const processes = { wanted: 2, serving: 2, restarts: 3, ended: [] };
    const url = await answering({ ready: true, status: 'ready', failing: [], processes });
    expect(await runStatus({ url })).toMatchObject({
      code: 0,
      out: '0 of 0 resources synced, 0 objects, 0 failing; ready.\n',
    });
  });

  test('that is draining is exit code 1', async () => {
    const url = await answering({ ready: false, status: 'draining', failing: [] });
    expect(await runStatus({ url })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/; draining: it ends soon\.\n$/),
    });
  });

  test('that is not ready yet is exit code 1, also before it has a schema', async () => {
    const errors = [{ message: 'not yet', extensions: { code: 'CACHE_NOT_READY' } }];
    const url = await answering({ ready: false, failing: [] }, { errors });
    expect(await runStatus({ url })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/0 failing; not ready yet\.\n$/),
    });
  });
});

describe('what cannot be asked is one sentence that says what to do', () => {
  const sentence = (text: string) => expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE', message: text });

  test('nobody answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}/graphql`;
    await expect(runStatus({ url })).rejects.toEqual(
      sentence(
        `No gateway answers at ${url} (connect ECONNREFUSED ${new URL(url).host}); start one with portolan serve, or name it with --url.`,
      ),
    );
  });

  test('a server without TLS answers a handshake', async () => {
    const url = (await answering({ ok: true })).replace('http:', 'https:');
    const failed = 'the TLS handshake failed, ERR_SSL_[A-Z_]+|the TLS handshake failed, EPROTO';
    await expect(runStatus({ url })).rejects.toThrow(
      new RegExp(`^No gateway answers at \\S+ \\((${failed})\\); a server without TLS has a URL with http:\\.$`),
    );
  });

  test.each([
    ['a page', '<html>', ''],
    ['other JSON', { ok: true }, ''],
    ['a refusal', { error: 'only loopback' }, ', it answers "only loopback"'],
  ])('%s answers', async (_what, readyz, detail) => {
    const url = await answering(readyz);
    await expect(runStatus({ url })).rejects.toEqual(
      sentence(`The server at ${url} cannot be queried as a Portolan gateway${detail}; name the endpoint with --url.`),
    );
  });

  test('the gateway fails', async () => {
    const errors = [{ message: 'All readers are busy.', extensions: { code: 'TIMEOUT' } }];
    const url = await answering({ ready: true, failing: [] }, { data: null, errors });
    await expect(runStatus({ url })).rejects.toEqual(
      sentence(`Ask again: the gateway at ${url} answers "All readers are busy.".`),
    );
  });
});

test('the rows of a cluster that cannot be read are not healthy', () => {
  const now = 1_000_000_000_000;
  const row = (resource: string, cluster: string, more: Partial<StatusRow> = {}): StatusRow => ({
    resource,
    cluster,
    phase: 'WATCHING',
    synced: true,
    objects: 3,
    lastEventAt: null,
    staleSince: null,
    namespaces: [],
    restarts: [],
    error: null,
    failing: false,
    ...more,
  });
  const gone = { phase: null, synced: null, objects: null, error: 'nothing listens', failing: true };
  const resources = [row('everything', 'west', gone), row('pods', 'west'), row('nodes', 'west'), row('pods', 'east')];
  const report = { url: '', ready: true, status: 'degraded', processes: null, resources };
  expect(statusTable(report, { shown: resources, fold: true }, now).split('\n').slice(1)).toEqual([
    expect.stringMatching(/^everything +west .*nothing listens$/),
    '2 possibly old in west: pods 3, nodes 3 (--all lists them)',
    '1 healthy in east: pods 3 (--all lists them)',
    '3 of 3 resources synced, 9 objects, 1 failing; degraded.',
    '',
  ]);
  const all = statusTable(report, { shown: resources, fold: false }, now).split('\n').slice(1, -2);
  expect(all.map((line) => line.split(/ +/).slice(0, 2))).toEqual([
    ['everything', 'west'],
    ['pods', 'west'],
    ['nodes', 'west'],
    ['pods', 'east'],
  ]);
});

test.each([
  [-5000, '0s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [3_599_999, '59m'],
  [86_399_999, '23h'],
  [12.5 * 86_400_000, '12d'],
])('an event %d ms ago is %s old', (age, shown) => {
  const row: StatusRow = {
    resource: 'pods',
    cluster: 'c',
    phase: 'WATCHING',
    synced: true,
    objects: 1,
    lastEventAt: new Date(1_000_000_000_000).toISOString(),
    staleSince: new Date(1_000_000_000_000).toISOString(),
    namespaces: [],
    restarts: [
      { reason: 'expired', count: 2 },
      { reason: 'status 500', count: 1 },
    ],
    error: null,
    failing: false,
  };
  const [, line = ''] = statusTable(
    { url: '', ready: true, status: 'ready', processes: null, resources: [row] },
    { shown: [row], fold: false },
    1_000_000_000_000 + age,
  ).split('\n');
  expect(line.split(/ {2,}/)).toEqual(['pods', 'c', 'WATCHING', '1', shown, shown, '3 (expired 2, status 500 1)', '-']);
});
