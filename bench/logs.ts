/**
 * Logs of many Pods by the subscription `logs`, beside `kubectl logs -f` of the same Pods, on a real API server with a fake kubelet.
 *
 *   steady   both follow lines that are written at a rate: the processor time of the gateway and of kubectl for each line
 *   backlog  both read the same lines that are there already: lines a second
 *
 * Needs KUBEBUILDER_ASSETS with kubectl.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { must } from '../src/base/must.ts';
import { startGatewayProcess } from '../test/kit/gateway-process.ts';
import { LoggingPlane } from '../test/kit/logging-plane.ts';
import { mainServer } from '../test/kit/real-servers.ts';
import { rounded } from './support/times.ts';

export const about =
  'lines a second and processor time of followed logs, beside kubectl logs -f (--pods N, --rate N, --seconds N, --backlog N)';

const namespace = 'bench';
/** Clock ticks of /proc in a second. */
const ticks = 100;

/** Milliseconds of processor time of a process. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / ticks) * 1000;
}

/** A reader that counts lines. */
interface Reader {
  readonly pid: number;
  count(): number;
  stop(): void;
}

function kubectl(world: LoggingPlane, pods: number, follows: boolean): Reader {
  const args = ['logs', '-n', namespace, '-l', 'app=bench', '--prefix', '--timestamps', '--tail=-1'];
  const own = [`--max-log-requests=${pods}`, ...(follows ? ['-f'] : [])];
  const child: ChildProcess = spawn(mainServer.assets.path('kubectl'), [...args, ...own], {
    env: { KUBECONFIG: world.plane.kubeconfigPath, HOME: world.plane.dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  return { pid: must(child.pid, 'a process'), count: () => lines, stop: () => void child.kill() };
}

function subscriber(url: string, token: string, pid: number, follows: boolean): Reader {
  const client = createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization: `Bearer ${token}` },
  });
  let lines = 0;
  const query = `subscription { logs(from: { query: { kinds: ["Pod"], namespaces: ["${namespace}"] } }, follow: ${follows}) {
    notices { type message } lines { pod container time text } } }`;
  const stop = client.subscribe<{ logs: { lines: unknown[] } }>(
    { query },
    {
      next: ({ data, errors }) => {
        if (errors !== undefined) throw new Error(JSON.stringify(errors));
        lines += data?.logs.lines.length ?? 0;
      },
      error: (error) => process.stderr.write(`${JSON.stringify(error)}\n`),
      complete: () => {},
    },
  );
  return {
    pid,
    count: () => lines,
    stop() {
      stop();
      void client.dispose();
    },
  };
}

async function until(reader: Reader, lines: number): Promise<void> {
  for (let waited = 0; reader.count() < lines && waited < 60_000; waited += 5) await sleep(5);
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pods: { type: 'string', default: '50' },
      rate: { type: 'string', default: '5000' },
      seconds: { type: 'string', default: '8' },
      backlog: { type: 'string', default: '100000' },
    },
  });
  const [pods, rate, seconds, backlog] = [values.pods, values.rate, values.seconds, values.backlog].map(Number);
  const count = pods ?? 50;
  const world = await LoggingPlane.start(mainServer);
  await world.namespace(namespace);
  const names = Array.from({ length: count }, (_, at) => `p-${at}`);
  for (const name of names) await world.pod(namespace, name, { labels: { app: 'bench' } });
  const flags = ['--kubeconfig', world.plane.kubeconfigPath, '--kinds', 'pods', '--auth', 'token'];
  const gateway = await startGatewayProcess([...flags, '--caller-cost', '100000000000']);
  await sleep(2000);
  let written = 0;
  const write = (): void => {
    const name = names[written % count] ?? '';
    world.kubelet.write(
      `${namespace}/${name}/app`,
      `level=info msg="request" path=/api/orders/${written} ${'x'.repeat(60)}`,
    );
    written += 1;
  };
  const steady = async (reader: Reader): Promise<number> => {
    await until(reader, written);
    await sleep(1000);
    const [cpu, begin, first] = [processorMs(reader.pid), performance.now(), written];
    while (performance.now() - begin < (seconds ?? 8) * 1000) {
      const due = first + Math.floor(((performance.now() - begin) / 1000) * (rate ?? 5000));
      while (written < due) write();
      await sleep(10);
    }
    await until(reader, written);
    lost += written - reader.count();
    const each = ((processorMs(reader.pid) - cpu) * 1000) / (written - first);
    reader.stop();
    return each;
  };
  const whole = async (reader: Reader): Promise<number> => {
    const begin = performance.now();
    await until(reader, written);
    lost += written - reader.count();
    const lines = reader.count() / ((performance.now() - begin) / 1000);
    reader.stop();
    return lines;
  };
  let lost = 0;
  const follow = (follows: boolean): Reader => subscriber(gateway.url, world.plane.token, gateway.pid, follows);
  for (const name of names) world.kubelet.write(`${namespace}/${name}/app`, 'first');
  written += count;
  try {
    const plain = await steady(kubectl(world, count, true));
    const own = await steady(follow(true));
    while (written < (backlog ?? 0)) write();
    const plainLines = await whole(kubectl(world, count, false));
    const ownLines = await whole(follow(false));
    process.stdout.write(
      `steady, ${rate} lines/s of ${count} Pods   kubectl ${rounded(plain)} µs a line   gateway ${rounded(own)} µs a line\n` +
        `backlog, ${written} lines           kubectl ${Math.round(plainLines)} lines/s   gateway ${Math.round(ownLines)} lines/s\n`,
    );
    const line = { bench: 'logs', linesPerSecond: Math.round(ownLines), cpuOverKubectl: rounded(own / plain), lost };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    if (lost !== 0) process.exitCode = 1;
  } finally {
    await gateway.close();
    await world.stop();
  }
}
