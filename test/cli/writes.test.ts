/** The commands that write, as a person runs them: processes, terminals, exit codes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import {
  type EndedCommand,
  hasTerminals,
  missingTerminals,
  runCommand,
  runOnTerminal,
} from '../kit/command-process.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const kubeconfigs = kubeconfigFolder();
let cluster: SimCluster;
let gateway: RunningGateway;
let folder: string;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  const kubeconfig = kubeconfigs.file('config', cluster.kubeconfig());
  gateway = await runGateway({ kubeconfig }, { readOnly: 'false' });
});

afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  kubeconfigs.remove();
});

beforeEach(() => {
  folder = temporaryDirectory('cli-writes');
});

const options = (input?: string) => ({
  folder,
  environment: { PORTOLAN_URL: gateway.url, PORTOLAN_TOKEN: new URL(gateway.page).hash.replace('#token=', '') },
  ...(input === undefined ? {} : { input }),
});

const manifest = (name: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {value: ${value}}\n`;

function file(name: string, value: string): string {
  writeFileSync(join(folder, 'map.yaml'), manifest(name, value));
  return 'map.yaml';
}

const run = (...args: readonly string[]): Promise<EndedCommand> => runCommand(args, options());

test('manifests of a pipe: plan, apply, and plan again', async () => {
  const text = manifest('piped', 'a');
  const piped = (...args: readonly string[]) => runCommand([...args, '-f', '-'], options(text));
  expect(await piped('plan')).toMatchObject({ code: 1, err: '', out: expect.stringMatching(/\n1 to create\.\n$/) });
  expect(await piped('apply', '--yes')).toMatchObject({ code: 0, out: expect.stringMatching(/map\/piped created\n$/) });
  expect(await piped('plan')).toEqual({ code: 0, err: '', out: '1 unchanged.\n' });
  const asked = await piped('apply');
  expect([asked.code, asked.out]).toEqual([2, '']);
  expect(asked.err).toMatch(/^portolan: Standard input has the manifests[^\n]+--yes[^\n]+\.\n$/);
});

test('the end of the command cancels what is not begun', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `many-${index}`);
  writeFileSync(join(folder, 'many.yaml'), names.map((name) => manifest(name, 'a')).join('---\n'));
  const { code } = await runCommand(['apply', '-f', 'many.yaml', '--yes'], {
    ...options(),
    until: 'Writing 300 objects',
  });
  expect(code).not.toBe(0);
  const written = () =>
    names.filter((name) => cluster.get(`/api/v1/namespaces/default/configmaps/${name}`) !== undefined).length;
  await eventually(async () => {
    const before = written();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(written()).toBe(before);
  });
  expect(written()).toBeLessThan(names.length);
  expect(await run('apply', '-f', 'many.yaml', '--yes')).toMatchObject({ code: 0 });
  expect(written()).toBe(names.length);
}, 120_000);

test.each<[args: readonly string[], code: number, err: RegExp]>([
  [['plan'], 2, /^portolan: Name the manifests with --filename/],
  [['plan', '--nothing'], 2, /^Unknown option --nothing\. See portolan plan --help\.\n$/],
  [['delete', 'Pod', '--on-error', 'pray'], 2, /stop, continue, revert/],
  [['scale', 'Deployment', 'a', '--replicas', '-1', '--yes'], 2, /It is a whole number/],
  [['apply', '-f', 'none.yaml', '--wait', '99999'], 2, /It is a whole number, 0 to 30000\./],
  [['restart', 'deploy/a', '--yes'], 2, /^portolan: One name is given, and no object matches\.\n$/],
  [
    ['restart', 'deploy/a', 'sts/b', '--yes'],
    2,
    /^portolan: Name objects of one kind at a time: these are deploy, sts\.\n$/,
  ],
  [['restart', 'deploy/', '--yes'], 2, /^portolan: "deploy\/" names no object: write KIND\/NAME/],
  [['restart', 'deployment', 'a', '--yes'], 2, /^portolan: One name is given, and no object matches\.\n$/],
  [['apply', '-f', 'none.yaml', '--yes'], 2, /^portolan: --filename none\.yaml cannot be read: /],
  [['apply', '-f', 'none.yaml'], 2, /^portolan: --filename none\.yaml cannot be read: /],
  [['scale', 'AVsiYSIsInBvZHMiLCJiIiwiYyJd'], 2, /^portolan: Say with --replicas how many there shall be\.\n$/],
  [['delete', 'AVsiYSIsInBvZHMiLCJiIiwiYyJd'], 2, /^portolan: Standard input is no terminal, /],
  [['apply', '-f', '-', '--yes', '--url', 'http://127.0.0.1:1'], 2, /^portolan: No gateway answers at /],
])('%j ends with %d', async (args, code, err) => {
  expect(await run(...args)).toMatchObject({ code, out: '', err: expect.stringMatching(err) });
});

test('of several names, those that no object has are named', async () => {
  expect(await run('apply', '-f', file('there', 'a'), '--yes', '--wait', '20000')).toMatchObject({ code: 0 });
  expect(await run('delete', 'ConfigMap', 'there', 'nope', 'none', '-n', 'default', '--yes')).toEqual({
    code: 2,
    out: '',
    err: 'portolan: 3 names are given, and 1 object matches; none has the name nope, none.\n',
  });
});

test('--help says what the exit codes mean', async () => {
  expect(await run('plan', '--help')).toMatchObject({ code: 0, out: expect.stringContaining('1 if something would') });
  expect(await run('scale', '--help')).toMatchObject({ code: 0, out: expect.stringContaining('--replicas') });
});

describe.skipIf(!hasTerminals)(`on a terminal${missingTerminals}`, () => {
  const onTerminal = (args: readonly string[], input: string) => runOnTerminal(args, options(input));

  test('the question is answered, and the diff has colours', async () => {
    const args = ['apply', '-f', file('typed', 'a')];
    const no = await onTerminal(args, 'n\n');
    expect(no.code).toBe(1);
    expect(no.out).toContain('\u001b[32m+kind: ConfigMap\u001b[0m');
    expect(no.out).toMatch(/Proceed\? \[y\/N\] .*Nothing was written\.\r\n$/s);
    const yes = await onTerminal(args, 'y\n');
    expect([yes.code, yes.out.endsWith('configmap/typed created\r\n')]).toEqual([0, true]);
    expect(await run('plan', '-f', 'map.yaml')).toMatchObject({ code: 0 });
  });

  test('--color never', async () => {
    const { out } = await onTerminal(['plan', '-f', file('plain', 'a'), '--color', 'never'], '');
    expect(out).toContain('\r\n+kind: ConfigMap\r\n');
    // Progress rewrites its line; that is no colour.
    expect(out.replaceAll('\u001b[K', '')).not.toContain('\u001b[');
  });
});
