/**
 * Logs of Pods of a real API server, with a fake kubelet: line by line as kubectl shows them, and what the subscription adds to that: Pods that
 * come and go, restarts of containers and of the API server, and the rights of the caller.
 */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { logs } from '../../src/cli/logs/logs.ts';
import { startCutProxy } from '../kit/cut-proxy.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { LogClient } from '../kit/log-client.ts';
import { LoggingPlane, running, terminated } from '../kit/logging-plane.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { SlowLogReader } from '../kit/slow-log-reader.ts';

const kinds = ['pods', 'deployments.apps', 'replicasets.apps', 'jobs.batch', 'namespaces'];

describeOn([mainServer, oldServer], 'logs', { timeout: 120_000, needs: ['kubectl'] }, (server) => {
  let world: LoggingPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    world = await LoggingPlane.start(server, [{ token: 'token-of-alice', user: 'alice', groups: [] }]);
    gateway = await runGateway({ name: 'east', kubeconfig: world.plane.kubeconfigPath }, { kinds, auth: 'token' });
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await world?.stop();
  }, 60_000);

  function follow(args: string, token = world.plane.token, { url } = gateway): LogClient {
    const client = new LogClient(url, args, token);
    onTestFinished(() => client.stop());
    return client;
  }

  async function shown(namespace: string, count: number, token = world.plane.token): Promise<void> {
    await eventually(async () => {
      const found = await ask<{ pods: { totalCount: number } }>(
        gateway.url,
        `{ pods(filter: { namespaces: ["${namespace}"] }) { totalCount } }`,
        {},
        { authorization: `Bearer ${token}` },
      );
      expect(found.data?.pods.totalCount).toBe(count);
    });
  }

  const from = (namespace: string, more = '') =>
    `from: { query: { kinds: ["Pod"], namespaces: ["${namespace}"] } }${more}`;

  test('are those of kubectl, line by line', async () => {
    await world.namespace('same');
    await world.pod('same', 'web', { containers: ['app', 'side'], initContainers: ['init'] });
    const texts = ['plain', '', '  spaces  ', 'ünïcødé 😀', '\u001b[31mred\u001b[0m', 'tab\there', 'cr\r'];
    for (let at = 0; at < 300; at += 1) {
      world.kubelet.write('same/web/app', texts[at % texts.length] ?? '');
      if (at % 3 === 0) world.kubelet.write('same/web/side', Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xe2, 0x82]));
      if (at < 5) world.kubelet.write('same/web/init', `init ${at}`);
    }
    world.kubelet.end('same/web/init');
    await shown('same', 1);
    for (const [args, flags] of [
      ['', []],
      [', tail: 7', ['--tail=7']],
      [', since: "1h"', ['--since=1h']],
    ] as const) {
      const client = follow(from('same', `, follow: false${args}`));
      await client.until(({ ended }) => ended !== null);
      expect(client.ended).toBe('complete');
      for (const container of ['init', 'app', 'side']) {
        const told = await world.plane.kubectl([
          'logs',
          '-n',
          'same',
          'web',
          '-c',
          container,
          '--timestamps',
          ...flags,
        ]);
        const own = client.lines.filter((line) => line.container === container);
        expect(own.map(({ time, text }) => `${time} ${text}\n`).join('')).toBe(told);
      }
      const all = client.lines.map(({ time }) => time);
      expect(all).toEqual(all.toSorted());
    }
  });

  test('join and leave with their Pods, and go on after a restart of the container', async () => {
    await world.namespace('moving');
    await world.pod('moving', 'a');
    await shown('moving', 1);
    const client = follow(from('moving'));
    world.kubelet.write('moving/a/app', 'a 1');
    await client.until(() => client.texts('a').length === 1);
    await world.pod('moving', 'b');
    world.kubelet.write('moving/b/app', 'b 1');
    await client.until(() => client.texts('b').length === 1);
    world.kubelet.write('moving/a/app', 'a 2');
    world.kubelet.restart('moving/a/app');
    world.kubelet.write('moving/a/app', 'a 3');
    await world.status('moving', 'a', { containerStatuses: [running('app', 1)] });
    await client.until(() => client.texts('a').length === 3);
    expect(client.texts('a')).toEqual(['a 1', 'a 2', 'a 3']);
    await client.until(() => client.told('a').includes('RESTARTED'));
    await world.delete('moving', 'b');
    world.kubelet.end('moving/b/app');
    await client.until(() => client.told('b').includes('LEFT'));
    world.kubelet.end('moving/a/app');
    await world.status('moving', 'a', { phase: 'Failed', containerStatuses: [terminated('app', 1, 3)] });
    await client.until(() => client.told('a').filter((type) => type === 'ENDED').length === 2);
    expect(client.notices.at(-1)?.message).toContain('exit code 3');
    expect(client.ended).toBeNull();
  });

  test('have the last lines of a deleted Pod before they end', async () => {
    await world.namespace('gone');
    await world.pod('gone', 'a');
    await shown('gone', 1);
    const query = '{ pods(filter: { namespaces: ["gone"] }) { nodes { id } } }';
    const found = await ask<{ pods: { nodes: readonly { id: string }[] } }>(
      gateway.url,
      query,
      {},
      { authorization: `Bearer ${world.plane.token}` },
    );
    const client = follow(`from: { objects: ["${found.data?.pods.nodes[0]?.id}"] }`);
    world.kubelet.write('gone/a/app', 'first');
    await client.until(({ lines }) => lines.length === 1);
    await world.delete('gone', 'a');
    await client.until(() => client.told('a').includes('LEFT'));
    world.kubelet.write('gone/a/app', 'last');
    world.kubelet.end('gone/a/app');
    await client.until(({ lines }) => lines.length === 2);
    expect(client.texts()).toEqual(['first', 'last']);
  });

  test('go on after a restart of the API server without loss or repetition', async () => {
    await world.namespace('lost');
    await world.pod('lost', 'a');
    await shown('lost', 1);
    const client = follow(from('lost'));
    const expected: string[] = [];
    const write = (): void => {
      expected.push(`line ${expected.length}`);
      world.kubelet.write('lost/a/app', expected.at(-1) ?? '');
    };
    for (let at = 0; at < 200; at += 1) write();
    await client.until(() => client.lines.length === 200);
    const writes = setInterval(write, 2);
    await world.plane.killApiServer('SIGKILL');
    await world.plane.startApiServer();
    await client.until(() => client.told('a').includes('INTERRUPTED'));
    clearInterval(writes);
    write();
    await client.until(() => client.texts().at(-1) === expected.at(-1), 60_000);
    expect(client.texts()).toEqual(expected);
  });

  test('of which only new lines are asked have those of a gap before the first line too', async () => {
    await world.namespace('fresh');
    await world.pod('fresh', 'a');
    world.kubelet.write('fresh/a/app', 'old', '2026-11-28T07:00:00.000000000Z');
    await shown('fresh', 1);
    const client = follow(from('fresh', ', tail: 0'));
    await eventually(() => expect(world.kubelet.following).toBe(1));
    await world.plane.killApiServer('SIGKILL');
    world.kubelet.write('fresh/a/app', 'between 1');
    world.kubelet.write('fresh/a/app', 'between 2');
    await world.plane.startApiServer();
    await client.until(({ lines }) => lines.length === 2, 60_000);
    world.kubelet.write('fresh/a/app', 'after');
    await client.until(({ lines }) => lines.length === 3);
    expect(client.texts()).toEqual(['between 1', 'between 2', 'after']);
  });

  test('of which the command line asks only new lines have those of a lost connection to the gateway', async () => {
    await world.namespace('proxied');
    await world.pod('proxied', 'a');
    world.kubelet.write('proxied/a/app', 'old', '2026-11-28T07:00:00.000000000Z');
    await shown('proxied', 1);
    const proxy = await startCutProxy(Number(new URL(gateway.url).port));
    onTestFinished(() => proxy.close());
    const told = { out: '', err: '' };
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        told.out += String(chunk);
        done();
      },
    });
    const errors = {
      write(text: string): boolean {
        told.err += text;
        return true;
      },
    };
    const stop = new AbortController();
    const remote = { url: proxy.url.replace('https:', 'http:'), token: world.plane.token };
    const flags = {
      words: ['pod/a'],
      namespace: 'proxied',
      follow: true,
      tail: 0,
      prefix: false,
      color: 'never',
    } as const;
    const writeStyled = (parts: readonly { readonly text: string }[]): boolean =>
      output.write(parts.map(({ text }) => text).join(''));
    const streams = {
      output: Object.assign(output, { isTerminal: false, writeStyled, rewrite: () => true }),
      errors,
      environment: {},
    };
    const code = logs(remote, flags, stop.signal, streams as never);
    await eventually(() => expect(world.kubelet.following).toBe(1));
    proxy.cut();
    await eventually(() => expect(told.err).toContain('The connection was lost'));
    world.kubelet.write('proxied/a/app', 'between');
    await proxy.mend();
    await eventually(() => expect(told.out).toBe('between\n'));
    world.kubelet.write('proxied/a/app', 'after');
    await eventually(() => expect(told.out).toBe('between\nafter\n'));
    stop.abort();
    expect(await code).toBe(0);
  });

  test('end with the right to get them, and nothing is sent after that', async () => {
    await world.namespace('rights');
    await world.pod('rights', 'a');
    await world.plane.kubectl([
      ...'create role reader -n rights --verb=get,list,watch --resource=pods,pods/log'.split(' '),
    ]);
    await world.plane.kubectl([...'create rolebinding reader -n rights --role=reader --user=alice'.split(' ')]);
    await shown('rights', 1, 'token-of-alice');
    const client = follow(from('rights'), 'token-of-alice');
    world.kubelet.write('rights/a/app', 'before');
    await client.until(() => client.lines.length === 1);
    await world.plane.kubectl([
      ...'patch role reader -n rights --type=json -p'.split(' '),
      JSON.stringify([{ op: 'replace', path: '/rules/0/resources', value: ['pods'] }]),
    ]);
    // The API server may know the role later than the gateway.
    await client.until(() => client.told('a').at(-1) === 'REFUSED');
    expect(client.notices.slice(-2).map(({ type, code }) => [type, code])).toEqual([
      ['BEGAN', null],
      ['REFUSED', 'FORBIDDEN'],
    ]);
    for (let at = 0; at < 50; at += 1) world.kubelet.write('rights/a/app', `secret ${at}`);
    await eventually(() => expect(world.kubelet.following).toBe(0));
    await world.plane.kubectl([
      ...'patch role reader -n rights --type=json -p'.split(' '),
      JSON.stringify([{ op: 'replace', path: '/rules/0/resources', value: ['pods', 'pods/log'] }]),
    ]);
    await client.until(() => client.lines.length === 51);
    expect(client.texts()).toEqual(['before', ...Array.from({ length: 50 }, (_, at) => `secret ${at}`)]);
  });

  test('lose no line that waited when the right ended, once it is back', async () => {
    await world.namespace('waiting');
    await world.pod('waiting', 'a');
    await world.pod('waiting', 'b');
    await world.plane.kubectl([
      ...'create role reader -n waiting --verb=get,list,watch --resource=pods,pods/log'.split(' '),
    ]);
    await world.plane.kubectl([...'create rolebinding reader -n waiting --role=reader --user=alice'.split(' ')]);
    await shown('waiting', 2, 'token-of-alice');
    const resources = (value: readonly string[]): Promise<unknown> =>
      world.api.patch('/apis/rbac.authorization.k8s.io/v1/namespaces/waiting/roles/reader', 'merge', {
        rules: [{ apiGroups: [''], resources: value, verbs: ['get', 'list', 'watch'] }],
      });
    const named = (name: string) =>
      `from: { query: { kinds: ["Pod"], filter: { metadata: { name: { eq: "${name}" } } }, namespaces: ["waiting"] } }`;
    // More than the sockets between hold.
    const expected = Array.from({ length: 30_000 }, (_, at) => `line ${at} ${'x'.repeat(500)}`);
    for (const text of expected) world.kubelet.write('waiting/a/app', text);
    const other = follow(named('b'), 'token-of-alice');
    world.kubelet.write('waiting/b/app', 'begun');
    await other.until(({ lines }) => lines.length === 1);
    // From here to its reading there is little: a reader that takes nothing for 15 seconds loses lines.
    const reader = await SlowLogReader.open(gateway.url, named('a'), 'token-of-alice');
    onTestFinished(() => reader.close());
    await eventually(() => expect(world.kubelet.followingIn('waiting')).toBe(2));
    await resources(['pods']);
    await other.until(() => other.told('b').includes('REFUSED'));
    reader.read();
    await eventually(() => expect(reader.told).toContain('REFUSED'));
    expect(reader.texts.length).toBeLessThan(expected.length);
    await resources(['pods', 'pods/log']);
    await eventually(() => expect(reader.texts.length).toBeGreaterThanOrEqual(expected.length), 60_000);
    expect(reader.texts).toEqual(expected);
  });

  test('of a Pod that does not match for a while go on after its last line, at the bound of the caller too', async () => {
    const bounded = await runGateway(
      { name: 'east', kubeconfig: world.plane.kubeconfigPath },
      { kinds, auth: 'token', callerLogs: '1' },
    );
    onTestFinished(() => bounded.close());
    await world.namespace('flips');
    await world.pod('flips', 'a', { labels: { app: 'web' } });
    await shown('flips', 1);
    const label = (app: string | null) =>
      world.api.patch('/api/v1/namespaces/flips/pods/a', 'merge', { metadata: { labels: { app } } });
    const client = follow(
      'from: { query: { kinds: ["Pod"], namespaces: ["flips"], filter: { labelSelector: "app=web" } } }',
      world.plane.token,
      bounded,
    );
    world.kubelet.write('flips/a/app', 'a 1');
    await client.until(({ lines }) => lines.length === 1);
    await label(null);
    await client.until(() => client.told('a').includes('LEFT'));
    world.kubelet.write('flips/a/app', 'a 2');
    await label('web');
    await client.until(() => client.told('a').filter((type) => type === 'BEGAN').length === 2);
    world.kubelet.write('flips/a/app', 'a 3');
    await client.until(() => client.texts().includes('a 3'));
    expect(client.texts()).toEqual(['a 1', 'a 2', 'a 3']);
    expect(client.told('a')).toEqual(['BEGAN', 'LEFT', 'BEGAN']);
  });

  test('are those of all Pods that an object owns', async () => {
    await world.namespace('owned');
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'x' }] } };
    const spec = { selector: { matchLabels: { app: 'web' } }, template };
    const post = (plural: string, body: object) =>
      world.api.post<{ metadata: { uid: string } }>(`/apis/apps/v1/namespaces/owned/${plural}`, body);
    const web = await post('deployments', { metadata: { name: 'web' }, spec });
    const owner = (kind: string, name: string, uid: string) => ({ apiVersion: 'apps/v1', kind, name, uid });
    const sets = await post('replicasets', {
      metadata: {
        name: 'web-1',
        ownerReferences: [{ ...owner('Deployment', 'web', web.metadata.uid), controller: true }],
      },
      spec,
    });
    await world.pod('owned', 'web-1-a', { owner: owner('ReplicaSet', 'web-1', sets.metadata.uid) });
    await world.pod('owned', 'other');
    await shown('owned', 2);
    const client = follow('from: { query: { kinds: ["Deployment"], namespaces: ["owned"] } }, grep: "^e[r]+or"');
    world.kubelet.write('owned/other/app', 'error of another');
    world.kubelet.write('owned/web-1-a/app', 'info');
    world.kubelet.write('owned/web-1-a/app', 'error 1');
    await client.until(() => client.lines.length === 1);
    expect(client.texts()).toEqual(['error 1']);
  });
});
