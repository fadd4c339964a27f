import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { sendJson, sendStatus, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { connect } from '../client/connection.ts';
import { RestClient } from '../client/rest-client.ts';
import { clusterUid } from './identity.ts';

const folder = kubeconfigFolder();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => folder.remove());

/** A server where each namespace has a uid, or fails with a status. */
async function serving(namespaces: Record<string, string | number>): Promise<RestClient> {
  const server = await startLoopbackServer((request, response) => {
    const found = namespaces[request.url?.replace('/api/v1/namespaces/', '') ?? ''] ?? 404;
    if (typeof found === 'number') sendStatus(response, found, 'Because', 'no');
    else sendJson(response, 200, { kind: 'Namespace', metadata: { uid: found } });
  });
  closing.push(() => server.close());
  const connection = await connect({ env: {}, kubeconfig: folder.write({ server: server.url }) });
  closing.push(() => connection.close());
  return new RestClient(connection);
}

describe('clusterUid', () => {
  test.each([
    [{ 'kube-system': 'a', default: 'b' }, 'a'],
    [{ 'kube-system': 403, default: 'b' }, 'b'],
    [{ default: 'b' }, 'b'],
    [{ 'kube-system': 403, default: 403 }, null],
    [{}, null],
  ])('of %j is %s', async (namespaces, uid) => {
    expect(await clusterUid(await serving(namespaces))).toBe(uid);
  });

  test('is not guessed while the server is unwell', async () => {
    await expect(clusterUid(await serving({ 'kube-system': 503, default: 'b' }))).rejects.toMatchObject({
      httpStatus: 503,
    });
  });
});
