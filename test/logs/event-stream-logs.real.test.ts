/**
 * Logs over Server-Sent Events, in both modes of graphql-sse, on a real API server: what is followed, what ends with its container, and what
 * ends with the rights and the credentials of the caller.
 */
import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { LogClient, type LogTransport } from '../kit/log-client.ts';
import { LoggingPlane, running, terminated } from '../kit/logging-plane.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';

const transports: readonly LogTransport[] = ['distinct', 'single'];
/** Ephemeral containers are served since 1.23. */
const ephemeralSince = 23;

describeOn(
  [mainServer, oldServer],
  'logs over Server-Sent Events',
  { timeout: 120_000, needs: ['kubectl'] },
  (server) => {
    let world: LoggingPlane;
    let gateway: RunningGateway;

    /** In each mode, a client whose token ends while the other tests run. */
    const expiring = new Map<LogTransport, LogClient>();

    beforeAll(async () => {
      const users = ['alice', 'bob'];
      world = await LoggingPlane.start(
        server,
        users.map((user) => ({ token: `token-of-${user}`, user, groups: [] })),
      );
      const kinds = ['pods', 'namespaces'];
      gateway = await runGateway({ name: 'east', kubeconfig: world.plane.kubeconfigPath }, { kinds, auth: 'token' });
      for (const transport of transports) {
        const namespace = `${transport}-token`;
        await pod(namespace);
        const args = argsOf(namespace, ', containers: ["app"]');
        const client = new LogClient(gateway.url, args, await shortToken(world, namespace), transport);
        expiring.set(transport, client);
        world.kubelet.write(`${namespace}/a/app`, 'before');
        await client.until(({ lines }) => lines.length === 1);
      }
    }, 180_000);
    afterAll(async () => {
      for (const client of expiring.values()) client.stop();
      await gateway?.close();
      await world?.stop();
    }, 60_000);

    /** A namespace with one Pod, in which alice and a service account may read logs by one role, and bob by another. */
    async function pod(namespace: string, containers: readonly string[] = ['app']): Promise<void> {
      await world.namespace(namespace);
      await world.pod(namespace, 'a', { containers, initContainers: ['init'] });
      const account = ['create', 'serviceaccount', 'robot', '-n', namespace];
      await world.plane.kubectl(account);
      const readers = { reader: `--user=alice --serviceaccount=${namespace}:robot`, witness: '--user=bob' };
      for (const [name, subjects] of Object.entries(readers)) {
        const role = `create role ${name} -n ${namespace} --verb=get,list,watch --resource=pods,pods/log`;
        await world.plane.kubectl(role.split(' '));
        const binding = `create rolebinding ${name} -n ${namespace} --role=${name} ${subjects}`;
        await world.plane.kubectl(binding.split(' '));
      }
      await eventually(async () => {
        const query = `{ pods(filter: { namespaces: ["${namespace}"] }) { totalCount } }`;
        const found = await ask(gateway.url, query, {}, { authorization: 'Bearer token-of-alice' });
        expect(found.data).toEqual({ pods: { totalCount: 1 } });
      });
    }

    const argsOf = (namespace: string, more = ''): string =>
      `from: { query: { kinds: ["Pod"], namespaces: ["${namespace}"] } }${more}`;

    describe.each(transports)('in the mode %s', (transport) => {
      function follow(namespace: string, token: string, more = ''): LogClient {
        const client = new LogClient(gateway.url, argsOf(namespace, more), token, transport);
        onTestFinished(() => client.stop());
        return client;
      }

      /** Writes a line, and resolves when the gateway has shown it to bob. */
      async function writeAndShow(namespace: string, text: string): Promise<void> {
        world.kubelet.write(`${namespace}/a/app`, text);
        const witness = follow(namespace, 'token-of-bob', ', containers: ["app"]');
        await witness.until(() => witness.texts().includes(text));
        witness.stop();
      }

      test('lines of all containers are followed, and the requests end with the client', async () => {
        const namespace = `${transport}-all`;
        await pod(namespace, ['app', 'side']);
        for (const container of ['init', 'app', 'side'])
          world.kubelet.write(`${namespace}/a/${container}`, `of ${container}`);
        world.kubelet.end(`${namespace}/a/init`);
        const client = follow(namespace, 'token-of-alice');
        await client.until(({ lines }) => lines.length === 3);
        expect(client.texts().toSorted()).toEqual(['of app', 'of init', 'of side']);
        world.kubelet.write(`${namespace}/a/app`, 'later');
        await client.until(() => client.texts('a', 'app').includes('later'));
        if (world.plane.version.minor >= ephemeralSince) {
          await world.debug(namespace, 'a', 'debug');
          world.kubelet.write(`${namespace}/a/debug`, 'of debug');
          await client.until(() => client.texts('a', 'debug').length === 1);
        }
        world.kubelet.restart(`${namespace}/a/app`);
        world.kubelet.write(`${namespace}/a/app`, 'again');
        await world.status(namespace, 'a', { containerStatuses: [running('app', 1), running('side', 0)] });
        await client.until(() => client.texts('a', 'app').length === 3);
        expect(client.texts('a', 'app')).toEqual(['of app', 'later', 'again']);
        client.stop();
        await eventually(() => expect(world.kubelet.followingIn(namespace)).toBe(0));
      });

      test('a log without follow, and the logs of Pods that have ended, complete', async () => {
        const namespace = `${transport}-end`;
        await pod(namespace);
        world.kubelet.write(`${namespace}/a/app`, 'one');
        const once = follow(namespace, 'token-of-alice', ', follow: false, containers: ["app"]');
        await once.until(({ ended }) => ended !== null);
        expect([once.ended, once.texts()]).toEqual(['complete', ['one']]);
        const query = `{ pods(filter: { namespaces: ["${namespace}"] }) { nodes { id } } }`;
        const found = await ask<{ pods: { nodes: readonly { id: string }[] } }>(
          gateway.url,
          query,
          {},
          { authorization: 'Bearer token-of-alice' },
        );
        const id = found.data?.pods.nodes[0]?.id;
        const client = new LogClient(gateway.url, `from: { objects: ["${id}"] }`, 'token-of-alice', transport);
        onTestFinished(() => client.stop());
        await client.until(({ lines }) => lines.length === 1);
        world.kubelet.write(`${namespace}/a/app`, 'two');
        world.kubelet.end(`${namespace}/a/app`);
        world.kubelet.end(`${namespace}/a/init`);
        await world.status(namespace, 'a', { phase: 'Succeeded', containerStatuses: [terminated('app', 0, 0)] });
        await client.until(({ ended }) => ended !== null);
        expect([client.ended, client.texts()]).toEqual(['complete', ['one', 'two']]);
      });

      test('nothing is sent after the right has gone, and what was written meanwhile once it is back', async () => {
        const namespace = `${transport}-right`;
        await pod(namespace);
        const client = follow(namespace, 'token-of-alice', ', containers: ["app"]');
        world.kubelet.write(`${namespace}/a/app`, 'before');
        await client.until(({ lines }) => lines.length === 1);
        const resources = (value: readonly string[]) =>
          world.plane.kubectl([
            ...`patch role reader -n ${namespace} --type=json -p`.split(' '),
            JSON.stringify([{ op: 'replace', path: '/rules/0/resources', value }]),
          ]);
        await resources(['pods']);
        // The API server may know the role later than the gateway.
        await client.until(() => client.told('a').at(-1) === 'REFUSED');
        await eventually(() => expect(world.kubelet.followingIn(namespace)).toBe(0));
        await writeAndShow(namespace, 'secret');
        expect(client.texts()).toEqual(['before']);
        await resources(['pods', 'pods/log']);
        await client.until(({ lines }) => lines.length === 2);
        expect(client.texts()).toEqual(['before', 'secret']);
      });

      test('the lines end with the token', async () => {
        const namespace = `${transport}-token`;
        const client = must(expiring.get(transport), 'a client in each mode');
        expect(client.texts()).toEqual(['before']);
        await client.until(({ ended }) => ended !== null, 60_000);
        expect(client.ended).not.toBe('complete');
        await eventually(() => expect(world.kubelet.followingIn(namespace)).toBe(0));
        await writeAndShow(namespace, 'after');
        expect(client.texts()).toEqual(['before']);
      });
    });
  },
);

/** A token of the service account `robot` that is valid for some seconds, which is less than a TokenRequest gives. */
async function shortToken({ api, plane }: LoggingPlane, namespace: string): Promise<string> {
  const { metadata } = await api.get<{ metadata: { uid: string } }>(
    `/api/v1/namespaces/${namespace}/serviceaccounts/robot`,
  );
  const now = Math.floor(Date.now() / 1000);
  const issuer = 'https://kubernetes.default.svc';
  const claims = {
    ...{ iss: issuer, aud: [issuer], sub: `system:serviceaccount:${namespace}:robot` },
    ...{ iat: now - 10, nbf: now - 10, exp: now + 20 },
    'kubernetes.io': { namespace, serviceaccount: { name: 'robot', uid: metadata.uid } },
  };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  const signature = createSign('RSA-SHA256')
    .update(text)
    .sign(readFileSync(join(plane.dir, 'sa.key')));
  return `${text}.${signature.toString('base64url')}`;
}
