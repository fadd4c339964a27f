/**
 * One caller follows many logs that never rest, and reads nothing. Another caller's logs and queries go on, the memory is bounded, and the
 * requests to the API server end.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { ask } from '../kit/graphql-client.ts';
import { LogClient } from '../kit/log-client.ts';
import { LoggingPlane } from '../kit/logging-plane.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { SlowLogReader } from '../kit/slow-log-reader.ts';

/** Of each namespace. */
const loudPods = 8;
/** Their containers are as many as one caller may follow. */
const subscriptions = 25;
/** They leave while the API server is asked for their rights. */
const hasty = Array.from({ length: 20 }, (_, at) => `hasty-${at}`);
const mebibyte = 1024 * 1024;

const bytes = 64 * 1024;
const line = `2026-11-28T07:00:00.000000000Z ${'a'.repeat(60)}!\n`;
const shortest = '2026-11-28T07:00:00.000000000Z \n';
const lines = [line, shortest].map((each) => Buffer.from(each.repeat(bytes / each.length)));
/** A line that does not end. */
const endless = Buffer.from('x'.repeat(bytes));
/** Patterns that take exponential time in an engine that goes back, and that match nothing. */
const filters = ['grep: "^(a+)+$"', 'grep: "(x+x+)+y", ignoreCase: true', 'contains: "?"'];

describeOn([mainServer], 'hostile followers of logs', { timeout: 300_000 }, (server) => {
  let world: LoggingPlane;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    const users = ['alice', 'mallory', 'trudy', ...hasty];
    world = await LoggingPlane.start(
      server,
      users.map((user) => ({ token: `token-of-${user}`, user, groups: ['readers'] })),
    );
    const role = 'create clusterrole reader --verb=get,list,watch --resource=pods,pods/log';
    await world.plane.kubectl(role.split(' '));
    const binding = 'create clusterrolebinding reader --clusterrole=reader --group=readers';
    await world.plane.kubectl(binding.split(' '));
    for (const namespace of ['fast', 'endless', 'calm']) await world.namespace(namespace);
    for (let at = 0; at < loudPods; at += 1) {
      const name = `p-${at}`;
      for (const namespace of ['fast', 'endless']) await world.pod(namespace, name);
      world.kubelet.flood(`fast/${name}/app`, lines[at % lines.length] ?? endless);
      world.kubelet.flood(`endless/${name}/app`, endless);
    }
    await world.pod('calm', 'a');
    const kinds = ['--kinds', 'pods', '--kinds', 'namespaces'];
    const access = ['--kubeconfig', world.plane.kubeconfigPath, '--auth', 'token'];
    gateway = await startGatewayProcess([...access, ...kinds, '--caller-cost', '10000000']);
    await eventually(async () => expect(await podsOf('alice')).toBe(2 * loudPods + 1));
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await world?.stop();
  }, 60_000);

  async function podsOf(user: string): Promise<number | undefined> {
    const { data } = await ask<{ pods: { totalCount: number } }>(
      gateway.url,
      '{ pods { totalCount } }',
      {},
      { authorization: `Bearer token-of-${user}` },
    );
    return data?.pods.totalCount;
  }

  function follow(user: string, namespace: string, more = ''): LogClient {
    const client = new LogClient(gateway.url, `${from(namespace)}${more}`, `token-of-${user}`);
    onTestFinished(() => client.stop());
    return client;
  }

  /** Follows a log that has a line now and then, as alice. `goesOn` resolves when further lines and a query were answered. */
  async function followCalm() {
    const client = follow('alice', 'calm', ', since: "1s"');
    const begin = world.kubelet.now();
    let written = 0;
    const writes = setInterval(() => {
      world.kubelet.write('calm/a/app', `line ${written}`);
      written += 1;
    }, 20);
    onTestFinished(() => clearInterval(writes));
    const texts = () => client.lines.filter(({ time }) => (time ?? '') > begin).map(({ text }) => text);
    const goesOn = async (): Promise<void> => {
      const shown = texts().length;
      expect(await podsOf('alice')).toBe(2 * loudPods + 1);
      await client.until(() => texts().length > shown + 20);
    };
    await goesOn();
    return {
      goesOn,
      async end(): Promise<void> {
        clearInterval(writes);
        await client.until(() => texts().length === written);
        expect(texts()).toEqual(Array.from({ length: written }, (_, at) => `line ${at}`));
        client.stop();
      },
    };
  }

  /** The most memory that the gateway needs more from now on. */
  function memory(): { more(): number } {
    const before = gateway.resident();
    let most = before;
    const look = setInterval(() => {
      most = Math.max(most, gateway.resident());
    }, 100);
    onTestFinished(() => clearInterval(look));
    return { more: () => Math.round((most - before) / mebibyte) };
  }

  test('who read endless lines, and patterns of exponential time, end at their cost of a minute', async () => {
    const calm = await followCalm();
    const { more } = memory();
    const hostile = filters.flatMap((filter) =>
      ['fast', 'endless'].map((namespace) => follow('mallory', namespace, `, ${filter}`)),
    );
    await calm.goesOn();
    for (const client of hostile) {
      await client.until(({ ended }) => ended !== null, 120_000);
      expect([client.ended, client.lines]).toEqual(['TOO_MANY_REQUESTS', []]);
    }
    await eventually(() => expect(world.kubelet.following).toBe(1));
    await calm.goesOn();
    await calm.end();
    process.stdout.write(`endless lines: ${more()} MiB more\n`);
    expect(more()).toBeLessThan(300);
  });

  test('who read nothing are bounded together, and end when they answer no ping', async () => {
    const calm = await followCalm();
    const { more } = memory();
    const silent: SlowLogReader[] = [];
    onTestFinished(() => {
      for (const each of silent) each.close();
    });
    const open = async (count: number): Promise<void> => {
      const opened = Array.from({ length: count }, () =>
        SlowLogReader.open(gateway.url, from('fast'), 'token-of-trudy'),
      );
      silent.push(...(await Promise.all(opened)));
    };
    const refused: (string | null)[] = [];
    // A silent reader ends after some time. So new ones come while it is asked whether they hold too much.
    const isRefused = eventually(async () => {
      const client = follow('trudy', 'calm');
      try {
        await client.until(({ ended }) => ended !== null, 1000);
        refused.push(client.ended, client.message);
      } catch (error) {
        await open(1);
        throw error;
      } finally {
        client.stop();
      }
    }, 90_000);
    await Promise.all([open(subscriptions), isRefused]);
    expect(refused).toEqual(['TOO_MANY_REQUESTS', expect.stringContaining('that wait for you')]);
    await calm.goesOn();
    await eventually(() => expect(world.kubelet.following).toBe(1), 120_000);
    await calm.end();
    process.stdout.write(`nothing read: ${more()} MiB more\n`);
    expect(more()).toBeLessThan(300);
    // Nothing is held any more.
    const later = follow('trudy', 'calm', ', follow: false, tail: 3');
    await later.until(({ ended }) => ended !== null);
    expect([later.ended, later.lines.length]).toEqual(['complete', 3]);
  });

  test('who leave before the first message leave no request behind', async () => {
    for (const [at, user] of hasty.entries()) {
      const socket = new WebSocket(gateway.url.replace(/^http/, 'ws'), 'graphql-transport-ws');
      onTestFinished(() => socket.terminate());
      await once(socket, 'open');
      const send = (message: object): void => socket.send(JSON.stringify(message));
      send({ type: 'connection_init', payload: { authorization: `Bearer token-of-${user}` } });
      await once(socket, 'message');
      send({
        id: '1',
        type: 'subscribe',
        payload: { query: `subscription { logs(${from('calm')}) { lines { text } } }` },
      });
      await sleep(at);
      send({ id: '1', type: 'complete' });
    }
    // A later one is answered, so those before it have come.
    const last = follow('alice', 'calm');
    await last.until(({ notices }) => notices.length > 0);
    last.stop();
    await eventually(() => expect(world.kubelet.following).toBe(0));
  });
});

function from(namespace: string): string {
  return `from: { query: { kinds: ["Pod"], namespaces: ["${namespace}"] } }`;
}
