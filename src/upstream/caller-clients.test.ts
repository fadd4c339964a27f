import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type KubeconfigFolder, kubeconfigFolder } from '../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, sendStatus, startLoopbackServer } from '../../test/kit/loopback-server.ts';
import { connect } from '../kube/client/connection.ts';
import { BearerToken } from '../kube/credentials/bearer-token.ts';
import { CallerClients, openCallerClients } from './caller-clients.ts';
import type { CallerCredentials } from './caller-credentials.ts';

let folder: KubeconfigFolder;
beforeAll(() => {
  folder = kubeconfigFolder();
});
afterAll(() => folder.remove());

interface Clusters {
  readonly clients: CallerClients;
  readonly east: LoopbackServer;
  readonly west: LoopbackServer;
}

/** Two clusters that accept the token `jane-of-east` and the gateway's own. */
async function twoClusters(): Promise<Clusters> {
  const start = async (): Promise<LoopbackServer> => {
    const server = await startLoopbackServer((request, response) => {
      const { authorization = '', 'impersonate-user': user = '' } = request.headers;
      const caller = authorization === 'Bearer gateway' ? String(user) : authorization.replace('Bearer ', '');
      if (caller === 'unknown') sendStatus(response, 401, 'Unauthorized', 'Unauthorized');
      else if (request.method === 'POST') sendStatus(response, 403, 'Forbidden', `pods is forbidden: User "${caller}"`);
      else sendJson(response, 200, { caller });
    });
    onTestFinished(() => server.close());
    return server;
  };
  const [east, west] = [await start(), await start()];
  const open = (name: string, { url }: LoopbackServer) =>
    connect({ env: {}, name, kubeconfig: folder.write({ server: url }, { token: 'gateway' }, name) });
  const clients = new CallerClients([await open('east', east), await open('west', west)]);
  onTestFinished(() => clients.close());
  return { clients, east, west };
}

const tokenOf = (cluster: string, text: string): CallerCredentials => ({
  type: 'token',
  cluster,
  token: new BearerToken(text),
});

test('a client sends every verb as its caller', async () => {
  const { clients, east } = await twoClusters();
  const jane = clients.client('east', tokenOf('east', 'jane-of-east'));
  const joe = clients.client('east', tokenOf('east', 'joe-of-east'));
  expect(await jane.get('/api')).toEqual({ caller: 'jane-of-east' });
  expect(await joe.get('/api')).toEqual({ caller: 'joe-of-east' });
  expect(await jane.get('/api')).toEqual({ caller: 'jane-of-east' });
  await expect(jane.post('/api/v1/namespaces/default/pods', {})).rejects.toMatchObject({
    code: 'FORBIDDEN',
    httpStatus: 403,
    message: expect.stringContaining('jane-of-east'),
  });
  expect(east.requests.map(({ headers }) => headers.authorization)).not.toContain('Bearer gateway');
});

test('a refused token is UNAUTHENTICATED, and is sent once', async () => {
  const { clients, east } = await twoClusters();
  const client = clients.client('east', tokenOf('east', 'unknown'));
  await expect(client.get('/api')).rejects.toMatchObject({ code: 'UNAUTHENTICATED', httpStatus: 401 });
  expect(east.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer unknown']);
});

test('a token goes to its own cluster only', async () => {
  const { clients, west } = await twoClusters();
  expect(() => clients.client('west', tokenOf('east', 'jane-of-east'))).toThrow(
    expect.objectContaining({ code: 'FORBIDDEN', message: expect.not.stringContaining('jane-of-east') }),
  );
  expect(west.requests).toHaveLength(0);
});

test('an impersonated user may be known to several clusters', async () => {
  const { clients } = await twoClusters();
  const credentials: CallerCredentials = { type: 'impersonation', user: { name: 'jane', groups: [] } };
  for (const cluster of ['east', 'west']) {
    expect(await clients.client(cluster, credentials).get('/api')).toEqual({ caller: 'jane' });
  }
});

test('the local user of a gateway without authentication is the user of the kubeconfig', async () => {
  const { clients, east } = await twoClusters();
  await clients.client('east', { type: 'local' }).get('/api');
  expect(east.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer gateway']);
});

test('an unknown cluster is named, with those that there are', async () => {
  const { clients } = await twoClusters();
  expect(() => clients.client('north', tokenOf('north', 'x'))).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND', message: expect.stringContaining('choose one of east, west') }),
  );
  expect(() => clients.require('north')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  expect(() => clients.require('west')).not.toThrow();
});

test('close ends the clients of all callers', async () => {
  const { clients } = await twoClusters();
  const client = clients.client('east', tokenOf('east', 'jane-of-east'));
  await client.get('/api');
  await clients.close();
  await expect(client.get('/api')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

test('clients are opened by the options of clusters, and a kubeconfig that is missing is named', async () => {
  const { east } = await twoClusters();
  const kubeconfig = folder.write({ server: east.url }, { token: 'gateway' }, 'east');
  const clients = await openCallerClients([{ name: 'east', kubeconfig }]);
  onTestFinished(() => clients.close());
  expect(await clients.client('east', tokenOf('east', 'jane-of-east')).get('/api')).toEqual({ caller: 'jane-of-east' });
  await expect(openCallerClients([{ name: 'east', kubeconfig: '/nowhere/kubeconfig' }])).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('/nowhere/kubeconfig'),
  });
});
