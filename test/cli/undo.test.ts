/** `portolan edit`, `revert`, `rollback` and `history`, as a person runs them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { type EndedCommand, runCommand } from '../kit/command-process.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const kubeconfigs = kubeconfigFolder();
let cluster: SimCluster;
let gateway: RunningGateway;
let folder: string;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  gateway = await runGateway({ kubeconfig: kubeconfigs.file('config', cluster.kubeconfig()) }, { readOnly: 'false' });
});
afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  kubeconfigs.remove();
});
beforeEach(() => {
  folder = temporaryDirectory('cli-undo');
});

/** @param editor a program of the shell; the file is its last argument */
const run = (args: readonly string[], editor = 'false'): Promise<EndedCommand> =>
  runCommand(args, {
    folder,
    environment: {
      PORTOLAN_URL: gateway.url,
      PORTOLAN_TOKEN: new URL(gateway.page).hash.replace('#token=', ''),
      EDITOR: editor,
    },
  });

async function made(name: string, value: string): Promise<void> {
  writeFileSync(
    join(folder, 'map.yaml'),
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {value: ${value}}\n`,
  );
  expect(await run(['apply', '-f', 'map.yaml', '--yes', '--wait', '20000'])).toMatchObject({ code: 0, err: '' });
}

const dataOf = (name: string): unknown =>
  (cluster.get(`/api/v1/namespaces/default/configmaps/${name}`)?.['data'] as Record<string, unknown> | undefined)?.[
    'value'
  ];
const words = (name: string) => ['ConfigMap', name, '-n', 'default'];

test('an edit is planned, shown and written', async () => {
  await made('edited', 'a');
  const planned = await run(['edit', ...words('edited'), '--dry-run'], "sed -i 's/value: a/value: b/'");
  expect(planned).toMatchObject({ code: 1, err: expect.stringMatching(/^portolan: The edited text is in \S+\.\n$/) });
  expect(planned.out).toContain('-a\n+b\n');
  expect(dataOf('edited')).toBe('a');
  const done = await run(['edit', ...words('edited'), '--yes'], "sed -i 's/value: a/value: b/'");
  expect(done).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/edited edited\n$/) });
  expect(dataOf('edited')).toBe('b');
});

test('without a change, or with an empty file, nothing is written', async () => {
  await made('same', 'a');
  for (const editor of ['true', 'truncate -s 0']) {
    expect(await run(['edit', ...words('same'), '--yes'], editor)).toEqual({
      code: 0,
      out: '',
      err: 'portolan: Nothing was edited.\n',
    });
  }
});

test('a text that is refused comes into the editor again, with the reason, and is kept', async () => {
  await made('refused', 'a');
  const seen = join(folder, 'seen');
  const editor = `sh -c 'cat "$0" >> ${seen}; sed -i "s/value: a/value: [a]/" "$0"'`;
  const { code, err } = await run(['edit', ...words('refused'), '--yes'], editor);
  expect(code).toBe(2);
  const file = /The edited text is in (\S+)\.\n$/.exec(err)?.[1] ?? '';
  expect(existsSync(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toContain('value: [a]');
  expect(readFileSync(seen, 'utf8')).toMatch(/\n# INVALID_FIELD: [^\n]+\napiVersion/);
  expect(dataOf('refused')).toBe('a');
  const failing = await run(['edit', ...words('refused'), '--yes'], 'false');
  expect(failing).toMatchObject({ code: 2, err: expect.stringContaining('ended with the exit code 1') });
});

test('an editor that leaves no file is named with the file', async () => {
  await made('left', 'a');
  for (const editor of ['rm', `sh -c 'rm "$0" && mkdir "$0"'`]) {
    expect(await run(['edit', ...words('left'), '--yes'], editor)).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^portolan: Nothing was edited: what the editor left at \S+ cannot be read: E[^\n]+\.\n$/,
      ),
    });
  }
});

test('the history has the versions, and a revert goes back to them', async () => {
  await made('reverted', 'a');
  await made('reverted', 'b');
  const text = await run(['history', 'cm/reverted', '-n', 'default']);
  expect(text.out).toMatch(/^AT +CHANGE +OBJECT +FROM +TO +BY +PATHS\n/);
  expect(text.out.split('\n')[1]).toMatch(/MODIFIED +default\/ConfigMap reverted .* data/);
  const json = await run(['history', ...words('reverted'), '--output', 'json']);
  const [newest] = JSON.parse(json.out) as { before: { metadata: { resourceVersion: string } } }[];
  const from = newest?.before.metadata.resourceVersion ?? '';
  const done = await run(['revert', ...words('reverted'), '--to-version', from, '--yes', '--wait', '20000']);
  expect(done).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/reverted reverted\n$/) });
  expect(dataOf('reverted')).toBe('a');
  expect(await run(['delete', ...words('reverted'), '--yes', '--wait', '20000'])).toMatchObject({ code: 0 });
  const again = await run(['revert', 'configmap/reverted', '-n', 'default', '--to-version', from, '--yes']);
  expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/reverted created\n$/) });
  expect(dataOf('reverted')).toBe('a');
});

test.each<[args: readonly string[], err: RegExp]>([
  [['edit', 'ConfigMap', '--yes'], /^portolan: Name one object: /],
  [
    ['edit', 'ConfigMap', 'none', '-n', 'default', '--yes'],
    /^portolan: There is no ConfigMap none in the namespace default, or you may not see it: check the name, --namespace and --cluster\.\n$/,
  ],
  [
    ['revert', 'ConfigMap', 'none', '--yes'],
    /^portolan: There is no ConfigMap none, and no change of one is recorded, or you may not see it: [^\n]+ `portolan history ConfigMap --since -7d` lists the recorded changes\.\n$/,
  ],
  [
    ['rollback', 'Deployment', 'none', '--yes'],
    /^portolan: There is no Deployment none, or you may not see it: [^\n]+\.\n$/,
  ],
  [['edit', 'ConfigMap'], /^portolan: Name one object: /],
  [['edit', 'AVsiYSIsInBvZHMiLCJiIiwiYyJd'], /^portolan: Standard input is no terminal, /],
])('%j is refused', async (args, err) => {
  expect(await run(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(err) });
});

test.each<[args: readonly string[], err: RegExp]>([
  [['history', 'ConfigMap', 'a', 'b'], /^portolan: The history is that of one name or of all: a, b are 2\.\n$/],
  [['history', 'ConfigMapp'], /^portolan: [^\n]*"ConfigMapp"[^\n]*\n$/],
  [['history', '--since', 'yesterday'], /^portolan: [^\n]*"yesterday"[^\n]*\n$/],
  [['logs', 'pod/none'], /^portolan: There is no pod none, or you may not see it: [^\n]+\n$/],
])('%j is refused in the words of the gateway', async (args, err) => {
  const { out, err: told, code } = await run(args);
  expect([out, told, code === 0]).toEqual(['', expect.stringMatching(err), false]);
});

test('a history without changes says what to ask for', async () => {
  await made('first', 'a');
  const since = new Date().toISOString();
  expect(await run(['history', 'ConfigMap', 'none', '-n', 'default', '--since', since])).toEqual({
    code: 0,
    out: `No change of ConfigMap none in the namespace default is recorded since ${since}. Give an earlier time with --since, or check the name.\n`,
    err: '',
  });
});

test('a history says from when on all changes are recorded', async () => {
  const err = expect.stringMatching(
    /^portolan: Older changes since -1h may be missing: the record is whole only since 20\S+Z, for ConfigMap\.\n$/,
  );
  const out = 'No change of ConfigMap none in the namespace default is recorded since -1h.\n';
  expect(await run(['history', 'ConfigMap', 'none', '-n', 'default'])).toEqual({ code: 0, out, err });
  expect(await run(['history', '--limit', '0'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('1 to 999999999'),
  });
});

test('a revert needs a state', async () => {
  await made('stateless', 'a');
  const { code, err } = await run(['revert', ...words('stateless'), '--yes']);
  expect([code, err]).toEqual([2, expect.stringContaining('--to a time such as -10m, or --to-version')]);
});
