/**
 * Logs of many Pods at a high rate: nothing is lost, added or reordered, the memory is bounded, a slow reader harms nobody, and a container and
 * the API server may start again in between.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { ask } from '../kit/graphql-client.ts';
import { LogClient } from '../kit/log-client.ts';
import { LoggingPlane, running } from '../kit/logging-plane.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { SlowLogReader } from '../kit/slow-log-reader.ts';

const pods = 50;
const linesPerSecond = 5000;
const seconds = Number(process.env['PORTOLAN_LOG_SECONDS'] ?? '8');
const mebibyte = 1024 * 1024;

describeOn([mainServer], 'many logs', { timeout: 240_000 }, (server) => {
  let world: LoggingPlane;
  let gateway: GatewayProcess;
  const names = Array.from({ length: pods }, (_, at) => `p-${String(at).padStart(2, '0')}`);
  const expected = new Map<string, string[]>();

  beforeAll(async () => {
    world = await LoggingPlane.start(server);
    await world.namespace('many');
    for (const name of names) await world.pod('many', name);
    const flags = [
      '--kubeconfig',
      world.plane.kubeconfigPath,
      '--kinds',
      'pods',
      '--kinds',
      'namespaces',
      '--auth',
      'token',
    ];
    gateway = await startGatewayProcess([...flags, '--caller-cost', '100000000000']);
    await eventually(async () => {
      const answer = await ask(
        gateway.url,
        '{ pods { totalCount } }',
        {},
        { authorization: `Bearer ${world.plane.token}` },
      );
      expect(answer.data).toEqual({ pods: { totalCount: pods } });
    });
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await world?.stop();
  }, 60_000);

  function write(name: string): void {
    const texts = expected.get(name) ?? [];
    expected.set(name, texts);
    texts.push(`${name} line ${texts.length} ${'x'.repeat(80)}`);
    world.kubelet.write(`many/${name}/app`, texts.at(-1) ?? '');
  }

  /** Writes the lines of the time since the last call, to all Pods in turn. */
  function writer(): { stop(): void } {
    const begin = performance.now();
    let written = 0;
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - begin) / 1000) * linesPerSecond);
      for (; written < due; written += 1) write(names[written % pods] ?? '');
    }, 10);
    return { stop: () => clearInterval(timer) };
  }

  /**
   * A reader that has a line of each Pod, so the log of no instance that ends later is left out. A busy machine may refuse the first look with
   * TIMEOUT.
   */
  async function reading(args: string, attempts = 3): Promise<LogClient> {
    const client = new LogClient(gateway.url, args, world.plane.token);
    onTestFinished(() => client.stop());
    const read = ({ lines }: LogClient): number => new Set(lines.map(({ pod }) => pod)).size;
    await client.until((each) => read(each) === pods || each.ended === 'TIMEOUT', 60_000);
    if (client.ended !== 'TIMEOUT') return client;
    if (attempts <= 1) throw new Error('each first look was refused with TIMEOUT');
    return reading(args, attempts - 1);
  }

  test('reach the reader whole and in order, whatever fails and whoever is slow', async () => {
    const args = 'from: { query: { kinds: ["Pod"], namespaces: ["many"] } }';
    for (const name of names) for (let at = 0; at < 8; at += 1) write(name);
    const client = await reading(args);
    const some = await reading(`${args}, grep: "line [0-9]*7 "`);
    const slow = await SlowLogReader.open(gateway.url, args, world.plane.token);
    onTestFinished(() => slow.close());
    const before = gateway.resident();
    let most = before;
    const look = setInterval(() => {
      most = Math.max(most, gateway.resident());
    }, 200);
    onTestFinished(() => clearInterval(look));
    const writes = writer();
    onTestFinished(() => writes.stop());
    const at = (part: number): Promise<void> =>
      eventually(() => {
        const count = [...expected.values()].reduce((sum, { length }) => sum + length, 0);
        expect(count).toBeGreaterThan(linesPerSecond * seconds * part);
      }, 60_000);
    await at(0.3);
    world.kubelet.restart('many/p-07/app');
    await world.status('many', 'p-07', { containerStatuses: [running('app', 1)] });
    await at(0.5);
    await world.plane.killApiServer('SIGKILL');
    await world.plane.startApiServer();
    await at(1);
    writes.stop();
    const total = [...expected.values()].reduce((sum, { length }) => sum + length, 0);
    await client.untilWhole(expected, 60_000);
    for (const name of names) expect(client.texts(name)).toEqual(expected.get(name));
    expect(client.lines.length).toBe(total);
    const matching = new Map(
      names.map((name) => [name, (expected.get(name) ?? []).filter((text) => /line [0-9]*7 /.test(text))]),
    );
    await some.untilWhole(matching, 60_000);
    for (const name of names) expect(some.texts(name)).toEqual(matching.get(name));
    expect(client.notices.filter(({ type }) => type === 'LEFT_OUT')).toEqual([]);
    // The status may reach the gateway after the lines.
    await client.until(() => client.told('p-07').includes('RESTARTED'));
    const later = client.lines.filter(({ time }, index) => (time ?? '') < (client.lines[index - 1]?.time ?? ''));
    process.stdout.write(
      `${total} lines of ${pods} Pods, ${later.length} out of order between Pods, ${Math.round((most - before) / mebibyte)} MiB more\n`,
    );
    expect(most - before).toBeLessThan(160 * mebibyte);
  });
});
