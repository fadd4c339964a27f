/**
 * Requests of callers at a real API server, by a gateway whose client certificate makes it an administrator. Runs on the servers that
 * KUBEBUILDER_ASSETS and KUBEBUILDER_ASSETS_OLD name.
 */
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { BearerToken } from '../../src/kube/credentials/bearer-token.ts';
import type { ImpersonatedUser } from '../../src/kube/credentials/impersonation.ts';
import { ApiError } from '../../src/kube/http/api-error.ts';
import { type CallerClient, CallerClients } from '../../src/upstream/caller-clients.ts';
import { type Certificate, type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

const secrets = '/api/v1/namespaces/kube-system/secrets';
const janeToken = 'token-of-jane';
const kimToken = 'token-of-kim';

describeOn([mainServer, oldServer], 'callers at a real API server', { timeout: 60_000 }, (server) => {
  let authority: CertificateAuthority;
  let certificate: Certificate;
  let plane: ControlPlane;
  let gateway: RestClient;
  let clients: CallerClients;

  beforeAll(async () => {
    authority = await createCertificateAuthority();
    certificate = await authority.issue({ names: [], commonName: 'the-gateway', organization: 'system:masters' });
    plane = await startControlPlane({
      server,
      users: [
        { token: janeToken, user: 'jane', groups: ['developers'] },
        { token: kimToken, user: 'kim', groups: ['readers'] },
      ],
      apiServer: (dir) => {
        const clientCaFile = join(dir, 'client-ca.crt');
        writeFileSync(clientCaFile, authority.ca);
        return { clientCaFile };
      },
    });
    const kubeconfig = plane.writeKubeconfig('gateway', {
      'client-certificate-data': Buffer.from(certificate.cert).toString('base64'),
      'client-key-data': Buffer.from(certificate.key).toString('base64'),
    });
    gateway = new RestClient(await connect({ kubeconfig, env: {}, name: 'real' }));
    clients = new CallerClients([gateway.connection]);
  }, 180_000);
  afterAll(async () => {
    await clients?.close();
    await plane?.stop();
    authority?.remove();
  }, 60_000);

  const withToken = (token: string): CallerClient =>
    clients.client('real', { type: 'token', cluster: 'real', token: new BearerToken(token) });
  const impersonating = (user: ImpersonatedUser): CallerClient =>
    clients.client('real', { type: 'impersonation', user });

  async function refusal(client: CallerClient): Promise<{ status: number; message: string }> {
    const failure = await client.get(secrets).catch((error: unknown) => error);
    if (!(failure instanceof ApiError)) throw new Error('the request was not refused', { cause: failure });
    return { status: failure.httpStatus, message: failure.message };
  }

  /** The status of a request with the gateway's certificate and a caller's token on the same connection. */
  function statusWithBoth(token: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const { cert, key } = certificate;
      const options = { agent: false, ca: plane.caPem(), cert, key, headers: { authorization: `Bearer ${token}` } };
      request(`${plane.server}${secrets}`, options, async (answer) => {
        await readText(answer);
        resolve(answer.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
  }

  test('a token on a connection with the certificate of the gateway would act as the gateway', async () => {
    expect(await statusWithBoth(plane.nobodyToken)).toBe(200);
  });

  test('a powerless caller is refused by name, while the gateway may do everything', async () => {
    await gateway.get(secrets);
    expect(await refusal(withToken(plane.nobodyToken))).toEqual({
      status: 403,
      message: expect.stringContaining('User "nobody" cannot list resource "secrets"'),
    });
    await gateway.get(secrets);
    expect(await refusal(withToken(janeToken))).toEqual({ status: 403, message: expect.stringContaining('"jane"') });
  });

  test('a caller may do what the rights of the token allow', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system';
    const api = withToken(plane.token);
    const role = {
      metadata: { name: 'readers' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
    };
    await api.post(`${roles}/roles`, role);
    await api.post(`${roles}/rolebindings`, {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'readers' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'readers' }],
    });
    // The server may take a moment to know the new rights.
    await eventually(async () => expect(await withToken(kimToken).get(secrets)).toHaveProperty('items'));
    expect(await impersonating({ name: 'joe', groups: ['readers'] }).get(secrets)).toHaveProperty('items');
    expect(await refusal(impersonating({ name: 'joe', groups: ['reader'] }))).toMatchObject({ status: 403 });
    expect(await refusal(withToken(plane.nobodyToken))).toMatchObject({ status: 403 });
  });

  test('an unknown token is a 401 of the caller, and the gateway goes on', async () => {
    expect(await refusal(withToken('no-such-token'))).toMatchObject({ status: 401 });
    await gateway.get(secrets);
  });

  test.each(['nobody', 'Jürgen', 'Ã¼', 'a, b', 'system:anonymous'])(
    'the impersonated user %s is refused by name',
    async (name) => {
      const { status, message } = await refusal(impersonating({ name, groups: [] }));
      expect([status, message]).toEqual([403, expect.stringContaining(`User "${name}" cannot list`)]);
    },
  );

  test('a gateway without the right to impersonate is refused, and not taken for itself', async () => {
    const kubeconfig = plane.kubeconfigFor('nobody');
    const weak = new CallerClients([await connect({ kubeconfig, env: {}, name: 'weak' })]);
    const client = weak.client('weak', { type: 'impersonation', user: { name: 'admin', groups: ['system:masters'] } });
    const { status, message } = await refusal(client).finally(() => weak.close());
    expect([status, message]).toEqual([403, expect.stringContaining('User "nobody" cannot impersonate')]);
  });
});
