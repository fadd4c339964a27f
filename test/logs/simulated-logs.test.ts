/** `portolan logs` and the simulated cluster, end to end: what the demo shows. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import type { StyledText } from '../../src/base/output/standard-streams.ts';
import type { LogFlags } from '../../src/cli/logs/log-flags.ts';
import { logs } from '../../src/cli/logs/logs.ts';
import { startCutProxy } from '../kit/cut-proxy.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { LogClient } from '../kit/log-client.ts';

let cluster: SimCluster;
let gateway: RunningGateway;
let token: string;
const folder = kubeconfigFolder();
const startedAt = new Date(Date.now() - 60_000).toISOString();

/** An abstract kind that is made from Pods. */
const abstractKinds = `
abstractKinds:
  - name: workers
    type: Worker
    columns: { label: String }
    members:
      - resource: pods
        columns: { label: 'metadata.labels["app"]' }
`;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  for (const name of ['web-1', 'web-2']) {
    cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: 'web' } },
      spec: { nodeName: 'node', containers: [{ name: 'app', image: 'x' }] },
    });
    const containerStatuses = [
      { name: 'app', image: 'x', imageID: '', ready: true, restartCount: 0, state: { running: { startedAt } } },
    ];
    const path = `/api/v1/namespaces/default/pods/${name}/status`;
    cluster.patch(path, { status: { phase: 'Running', containerStatuses } });
  }
  const kubeconfig = folder.file('config', cluster.kubeconfig());
  gateway = await runGateway(
    { name: 'east', kubeconfig },
    {
      kinds: ['pods'],
      readOnly: 'false',
      abstractKinds: folder.file('abstract-kinds.yaml', abstractKinds),
    },
  );
  token = new URL(gateway.page).hash.replace('#token=', '');
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  folder.remove();
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Running {
  /** What was written so far. */
  readonly told: { out: string; err: string };
  readonly code: Promise<number>;
  stop(): void;
}

function start(
  words: readonly string[],
  more: Partial<LogFlags> = {},
  isTerminal = false,
  { url } = gateway as { readonly url: string },
): Running {
  const told = { out: '', err: '' };
  const writeStyled = (parts: readonly StyledText[]): boolean => {
    told.out += parts.map(({ text, style }) => (style === null ? text : `<${style}>${text}</>`)).join('');
    return true;
  };
  const output = Object.assign(new Writable(), { isTerminal, writeStyled, rewrite: () => true });
  const errors = {
    write(text: string): boolean {
      told.err += text;
      return true;
    },
  };
  const flags: LogFlags = { words, prefix: true, color: 'auto', ...more };
  const stop = new AbortController();
  const streams = { output: output as never, errors, environment: {} };
  const code = logs({ url, token }, flags, stop.signal, streams);
  return { told, code, stop: () => stop.abort() };
}

async function run(...args: Parameters<typeof start>): Promise<Ran> {
  const { told, code } = start(...args);
  return { code: await code, ...told };
}

test('the lines of a Pod by its name, of all Pods of a kind, and with a colour for each on a terminal', async () => {
  const one = await run(['pod/web-1'], { namespace: 'default', tail: 3, timestamps: true });
  expect(one.err).toBe('');
  expect(one.code).toBe(0);
  const lines = one.out.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/^default\/web-1 app \d{4}-\S+Z level=\w+ msg=/);
  for (const words of [
    ['Pod', 'web-1'],
    ['pod', 'web-1'],
  ]) {
    expect((await run(words, { tail: 1 })).out).toMatch(/^default\/web-1 app /);
  }
  const both = await run(['Pod'], { selector: 'app=web', tail: 5, prefix: true }, true);
  expect(both.out).toContain('<pod1>default/web-');
  expect(both.out).toContain('<pod2>default/web-');
  expect((await run(['Pod'], { where: '{"metadata":{"name":{"eq":"web-2"}}}', tail: 1, prefix: false })).out).toMatch(
    /^level=/,
  );
});

test('words that name nothing are errors that say what to write', async () => {
  await expect(run(['pod/none'])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(run([])).rejects.toMatchObject({ code: 'CONFIGURATION' });
  await expect(run(['Pod'])).rejects.toMatchObject({ code: 'CONFIGURATION' });
  await expect(run(['deplo/a'])).rejects.toThrow('There is no kind "deplo";');
  await expect(run(['pod/a', 'Pod'])).rejects.toMatchObject({ code: 'CONFIGURATION' });
  const bad = await run(['pod/web-1'], { grep: '(' });
  expect(bad).toMatchObject({ code: 1, err: expect.stringContaining('BAD_USER_INPUT') });
  const previous = await run(['pod/web-1'], { previous: true });
  const err =
    'portolan: default/web-1 app: NOT_FOUND: The container has not started again, so it has no log from before.\n';
  expect(previous).toEqual({ code: 1, out: '', err });
});

test('a choice of nothing is told, and is no success', async () => {
  const none = await run(['Pod'], { selector: 'app=none' });
  expect(none).toEqual({ code: 1, out: '', err: expect.stringMatching(/^portolan: No Pod is chosen: [^\n]+\n$/) });
  const container = await run(['pod/web-1'], { container: ['app', 'nope'], tail: 1 });
  expect(container).toMatchObject({ code: 1, err: 'portolan: No chosen Pod has a container "nope".\n' });
  expect(container.out).toMatch(/^default\/web-1 app /);
  const followed = start(['Pod'], { selector: 'app=none', follow: true });
  await eventually(() =>
    expect(followed.told.err).toMatch(/No Pod is chosen: .* Those that come later are shown\.\n$/),
  );
  followed.stop();
  expect(await followed.code).toBe(0);
});

test('new lines are followed, and without the start token there are none', async () => {
  const args = 'from: { query: { kinds: ["Pod"] } }, tail: 1';
  const client = new LogClient(gateway.url, args, token);
  onTestFinished(() => client.stop());
  await client.until(() => client.lines.length >= 6);
  const refused = new LogClient(gateway.url, args);
  onTestFinished(() => refused.stop());
  await eventually(() => expect(refused.told('web-1')).toEqual(['REFUSED']));
  expect(refused.lines).toEqual([]);
});

test('objects of an abstract kind mean the Pods that they are made from', async () => {
  await eventually(async () => {
    const args = 'from: { query: { kinds: ["Worker"] } }, follow: false, tail: 2';
    const client = new LogClient(gateway.url, args, token);
    onTestFinished(() => client.stop());
    await client.until(({ ended }) => ended !== null);
    expect(client.ended).toBe('complete');
    for (const pod of ['web-1', 'web-2']) expect(client.texts(pod)).toHaveLength(2);
  });
});

test('with -f, a lost connection is opened again, and no line is shown twice or missing', async () => {
  const proxy = await startCutProxy(Number(new URL(gateway.url).port));
  onTestFinished(() => proxy.close());
  const through = { url: proxy.url.replace('https:', 'http:') };
  const flags = { namespace: 'default', follow: true, timestamps: true };
  const silent = start(['pod/web-1'], { ...flags, contains: 'no line has this' }, false, through);
  const followed = start(['pod/web-1'], { ...flags, tail: 20 }, false, through);
  const shown = (): readonly string[] => followed.told.out.trimEnd().split('\n');
  await eventually(() => expect(shown().length).toBeGreaterThanOrEqual(20));
  const before = shown().length;
  proxy.cut();
  await eventually(() => {
    for (const { told } of [followed, silent]) expect(told.err).toContain('The connection was lost');
  });
  await proxy.mend();
  await eventually(() => expect(shown().length).toBeGreaterThan(before + 2));
  for (const each of [followed, silent]) each.stop();
  expect(await Promise.all([followed.code, silent.code])).toEqual([0, 0]);
  const all = await run(['pod/web-1'], { namespace: 'default', timestamps: true });
  const [first = ''] = shown();
  const kept = all.out.slice(all.out.indexOf(first)).split('\n').slice(0, shown().length);
  expect(shown()).toEqual(kept);
});
