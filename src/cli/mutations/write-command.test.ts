/** The commands that write, against gateways over a simulated cluster. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../../sim/sim-cluster.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { type RunningGateway, runGateway } from '../../../test/kit/gateway.ts';
import { ask } from '../../../test/kit/graphql-client.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../../../test/kit/temporary-directory.ts';
import { configMap, deployment } from '../../../test/kit/writes-suite.ts';
import type { StyledText } from '../../base/output/standard-streams.ts';
import { connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import { installDefinition } from '../../sets/definition.ts';
import { type WriteCommand, type WriteFlags, write } from './write-command.ts';

const namespace = 'shop';
const folder = kubeconfigFolder();
let cluster: SimCluster;
let gateway: RunningGateway;
let api: RestClient;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  const kubeconfig = folder.file('config', cluster.kubeconfig());
  gateway = await runGateway({ name: 'east', kubeconfig }, { readOnly: 'false' });
  api = new RestClient(await connect({ kubeconfig }));
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
  await installDefinition(api);
});

afterAll(async () => {
  await gateway?.close();
  await api?.connection.close();
  await cluster?.close();
  folder.remove();
});

interface Terminal {
  /** The answer on a terminal. Without it, standard input is no terminal. */
  readonly answer?: string;
  /** Standard input without a terminal. */
  readonly input?: string;
  /** Is called when the question is asked. */
  readonly meanwhile?: () => Promise<unknown>;
  readonly isTerminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly at?: RunningGateway;
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const tokenOf = (at: RunningGateway): string => new URL(at.page).hash.replace('#token=', '');

async function run(
  command: WriteCommand,
  flags: Partial<WriteFlags>,
  { answer, input = '', meanwhile, isTerminal = false, environment = {}, at = gateway }: Terminal = {},
): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  if (answer === undefined) stdin.end(input);
  const to = (texts: string[]) => ({
    isTerminal,
    write(text: string): boolean {
      texts.push(text);
      if (text.startsWith('Proceed?')) void Promise.resolve(meanwhile?.()).then(() => stdin.end(answer));
      return true;
    },
    writeStyled(parts: readonly StyledText[]): boolean {
      texts.push(...parts.map(({ text, style }) => (style === null ? text : `<${style}>${text}`)));
      return true;
    },
    rewrite: () => true,
  });
  const wanted: WriteFlags = { words: [], output: 'text', color: 'auto', ...flags };
  const code = await write({ url: at.url, token: tokenOf(at) || undefined }, command, wanted, {
    input: stdin,
    output: to(out),
    errors: to(err),
    environment,
  });
  return { code, out: out.join(''), err: err.join('') };
}

/** A file with manifests; YAML has JSON as well. */
function file(...objects: readonly unknown[]): readonly string[] {
  const path = join(temporaryDirectory('manifests'), 'web.yaml');
  writeFileSync(path, objects.map((each) => JSON.stringify(each)).join('\n---\n'));
  return [path];
}

const path = (resource: string, name: string): string =>
  `${resource === 'configmaps' ? '/api/v1' : '/apis/apps/v1'}/namespaces/${namespace}/${resource}/${name}`;
const yes = { yes: true };

/** Objects of the tables, because filters look there. */
async function applied(...objects: readonly object[]): Promise<void> {
  expect(await run('apply', { filename: file(...objects), ...yes, wait: 10_000 })).toMatchObject({ code: 0, err: '' });
}

describe('plan and apply', () => {
  test('a plan shows the diff and writes nothing; apply does it; the exit codes are those of kubectl diff', async () => {
    const manifest = (second: string, replicas: number) =>
      file(
        { ...configMap(namespace, 'settings', { 'app.conf': `a\n${second}\nc\n` }) },
        deployment(namespace, 'web', replicas),
      );
    const first = await run('plan', { filename: manifest('b', 1) });
    expect(first).toMatchObject({ code: 1, err: '' });
    expect(first.out).toContain('--- /dev/null\n+++ configmap/settings in shop\n@@ -0,0 +1,10 @@\n+apiVersion: v1\n');
    expect(first.out).toMatch(/\n2 to create\.\n$/);
    await expect(api.get(path('configmaps', 'settings'))).rejects.toMatchObject({ httpStatus: 404 });

    const created = await run('apply', { filename: manifest('b', 1), ...yes });
    expect(created).toMatchObject({ code: 0, err: '' });
    expect(created.out.split('\n').slice(-4)).toEqual([
      '2 to create.',
      'configmap/settings created',
      'deployment.apps/web created',
      '',
    ]);
    expect(await run('plan', { filename: manifest('b', 1) })).toEqual({ code: 0, out: '2 unchanged.\n', err: '' });

    expect(await run('apply', { filename: manifest('B', 3), fieldManager: 'portolan', ...yes })).toEqual({
      code: 0,
      err: '',
      out: `--- configmap/settings in shop
+++ configmap/settings in shop
@@ -1,3 +1,3 @@ data["app.conf"], owned by portolan
 a
-b
+B
 c
--- deployment.apps/web in shop
+++ deployment.apps/web in shop
@@ -1 +1 @@ spec.replicas, owned by portolan
-1
+3
2 to change.
configmap/settings configured
deployment.apps/web configured
`,
    });
    expect(await api.get(path('deployments', 'web'))).toMatchObject({ spec: { replicas: 3 } });
    const again = await run('apply', { filename: manifest('B', 3), ...yes });
    expect(again.out).toBe('2 unchanged.\nconfigmap/settings unchanged\ndeployment.apps/web unchanged\n');
  });

  test('no value of a Secret is shown', async () => {
    const secret = (pin: string) =>
      file({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pin', namespace }, stringData: { pin } });
    const created = await run('apply', { filename: secret('4711-a'), ...yes });
    const changed = await run('apply', { filename: secret('4711-b'), ...yes });
    expect(created.out).toContain('+data: (withheld)\n');
    expect(changed.out).toContain('-(withheld)\n+(withheld)\n');
    expect(JSON.stringify([created, changed])).not.toMatch(/4711|NDcxMS/);
  });

  test('--output json has the plan id; the diff of a command that goes on is on standard error', async () => {
    const filename = file(configMap(namespace, 'as-json', { big: '1' }));
    const plan = await run('apply', { filename, dryRun: true, output: 'json' });
    expect([plan.code, plan.err]).toEqual([1, '']);
    expect(JSON.parse(plan.out)).toMatchObject({
      planId: expect.stringMatching(/./),
      complete: true,
      items: [{ result: 'CREATED', target: { resource: 'configmaps' } }],
    });
    const done = await run('apply', { filename, output: 'json', ...yes });
    expect(JSON.parse(done.out)).toMatchObject({ planId: null, items: [{ result: 'CREATED', seen: true }] });
    expect(done.err).toContain('+++ configmap/as-json in shop\n');
  });

  test('files, folders and standard input; a fault names its file', async () => {
    const top = temporaryDirectory('manifests');
    mkdirSync(join(top, 'deep'));
    writeFileSync(join(top, 'b.yml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n');
    writeFileSync(join(top, 'a.json'), JSON.stringify(configMap(namespace, 'a', {})));
    writeFileSync(join(top, 'notes.txt'), 'nothing');
    writeFileSync(join(top, 'deep', 'c.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n');
    const names = async (flags: Partial<WriteFlags>, terminal: Terminal = {}) => {
      const { out, err } = await run('plan', { namespace, output: 'json', ...flags }, terminal);
      expect(err).toBe('');
      return JSON.parse(out).items.map(({ target }: { target: { name: string } }) => target.name);
    };
    expect(await names({ filename: [top] })).toEqual(['a', 'b']);
    expect(await names({ filename: [top], recursive: true })).toEqual(['a', 'b', 'c']);
    const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n';
    expect(await names({ filename: ['-', join(top, 'b.yml')] }, { input })).toEqual(['d', 'b']);

    const homeless = await run('plan', { filename: [join(top, 'b.yml')] });
    expect(homeless.code).toBe(2);
    expect(homeless.err).toContain(`configmap/b (${join(top, 'b.yml')}, document 1, line 1): INVALID_FIELD: `);
    writeFileSync(join(top, 'deep', 'c.yaml'), 'kind: [');
    await expect(run('plan', { filename: [top], recursive: true })).rejects.toThrow(join(top, 'deep', 'c.yaml: '));
    const empty = temporaryDirectory('empty');
    await expect(run('plan', { filename: [empty] })).rejects.toThrow('--recursive looks into its folders too');
    await expect(run('plan', { filename: [join(empty, 'none.yaml')] })).rejects.toThrow('cannot be read');
  });

  test('more than one request takes', async () => {
    const filename = file(configMap(namespace, 'large', { text: 'x'.repeat(1_200_000) }));
    await expect(run('plan', { filename })).rejects.toThrow('send the files in parts');
  });

  test('a conflict is told in the words of the API server, and --force takes the fields', async () => {
    await run('apply', {
      filename: file(configMap(namespace, 'contested', { a: '1' })),
      fieldManager: 'painter',
      ...yes,
    });
    const filename = file(configMap(namespace, 'contested', { a: '2' }));
    const plan = await run('plan', { filename });
    expect([plan.code, plan.out]).toEqual([2, '1 impossible.\n']);
    expect(plan.err).toMatch(
      /^configmap\/contested \(\S+, document 1, line 1\): FIELD_CONFLICT: Apply failed with 1 conflict: conflict with "painter".*\.data\.a\n/,
    );
    expect(plan.err).toContain('--force takes');
    const refused = await run('apply', { filename, ...yes });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('Nothing was written');
    expect(await run('apply', { filename, force: true, ...yes })).toMatchObject({ code: 0, err: '' });
    expect(await api.get(path('configmaps', 'contested'))).toMatchObject({ data: { a: '2' } });
  });

  test('--on-error continue writes what is possible', async () => {
    const bad = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not A Name', namespace } };
    const filename = file(bad, configMap(namespace, 'possible', {}));
    const stopped = await run('apply', { filename, ...yes });
    expect([stopped.code, stopped.err.includes('Nothing was written')]).toEqual([1, true]);
    await expect(api.get(path('configmaps', 'possible'))).rejects.toMatchObject({ httpStatus: 404 });
    const { code, out } = await run('apply', { filename, onError: 'continue', ...yes });
    expect([code, out.endsWith('configmap/possible created\n')]).toEqual([1, true]);
    await api.get(path('configmaps', 'possible'));
  });

  test('a gateway whose types have a prefix', async () => {
    const kubeconfig = folder.file('config', cluster.kubeconfig());
    const at = await runGateway({ name: 'east', kubeconfig }, { readOnly: 'false', typePrefix: 'K8s_' });
    try {
      await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap(namespace, 'prefixed', {}));
      await eventually(async () => {
        const { err, out } = await run('delete', { words: ['ConfigMap', 'prefixed'], dryRun: true }, { at });
        expect([err, out]).toEqual(['portolan: 1 object matches.\n', expect.stringContaining('1 to delete.')]);
      });
    } finally {
      await at.close();
    }
  });
});

describe('the question', () => {
  const change = (value: string) => file(configMap(namespace, 'asked', { value }));

  test('y carries the plan out; everything else, and the end of the input, do not', async () => {
    await applied(configMap(namespace, 'asked', { value: '0' }));
    for (const answer of ['n\n', '\n', '', 'yes please\n']) {
      const { code, err } = await run('apply', { filename: change('1') }, { answer });
      const end = answer === '' ? '\n' : '';
      expect([code, err]).toEqual([1, `Proceed? [y/N] ${end}portolan: Nothing was written.\n`]);
    }
    expect(await api.get(path('configmaps', 'asked'))).toMatchObject({ data: { value: '0' } });
    expect(await run('apply', { filename: change('1') }, { answer: 'y\n' })).toMatchObject({ code: 0 });
    expect(await api.get(path('configmaps', 'asked'))).toMatchObject({ data: { value: '1' } });
  });

  test('is not asked where nothing would change', async () => {
    await applied(configMap(namespace, 'asked', { value: '2' }));
    const { code, out, err } = await run('apply', { filename: change('2') }, { answer: 'n\n' });
    expect([code, out, err]).toEqual([0, '1 unchanged.\nconfigmap/asked unchanged\n', '']);
  });

  test('what changes while it waits is not overwritten', async () => {
    await applied(deployment(namespace, 'raced', 1));
    const scale = { words: ['Deployment', 'raced'], replicas: 2 };
    const meanwhile = () => api.patch(path('deployments', 'raced'), 'merge', { spec: { replicas: 7 } });
    const { code, out, err } = await run('scale', scale, { answer: 'y\n', meanwhile });
    expect(code).toBe(1);
    expect(out).toMatch(/-1\n\+2\n1 to change\.\n.*-7\n\+2\n$/s);
    expect(err).toContain('deployment.apps/raced: PLAN_CHANGED: ');
    expect(await api.get(path('deployments', 'raced'))).toMatchObject({ spec: { replicas: 7 } });
  });

  test.each<[what: string, flags: Partial<WriteFlags>, message: RegExp]>([
    ['no terminal', { filename: [] }, /^Standard input is no terminal, .*--yes.*\.$/],
    ['the manifests in the input', { filename: ['-'] }, /^Standard input has the manifests, .*--yes.*\.$/],
  ])('cannot be asked: %s', async (_what, flags, message) => {
    await expect(run('apply', flags)).rejects.toThrow(message);
  });
});

describe('delete, restart and scale', () => {
  test('by ids', async () => {
    await applied(configMap(namespace, 'by-id-1', {}), configMap(namespace, 'by-id-2', {}));
    const id = (name: string) => encodeObjectId({ cluster: 'east', key: 'configmaps', namespace, name });
    const { code, out, err } = await run('delete', { words: [id('by-id-1'), id('by-id-2')], ...yes });
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`--- configmap/by-id-1 in shop
+++ /dev/null
--- configmap/by-id-2 in shop
+++ /dev/null
2 to delete.
configmap/by-id-1 deleted
configmap/by-id-2 deleted
`);
    expect(await run('delete', { words: [id('by-id-1')], ...yes })).toMatchObject({
      code: 1,
      err: expect.stringContaining('NOT_FOUND: There is no configmaps by-id-1'),
    });
  });

  test('by the manifests of files', async () => {
    await applied(deployment(namespace, 'by-file', 1));
    const filename = file(deployment(namespace, 'by-file', 4));
    expect(await run('scale', { filename, replicas: 2, ...yes })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/-1\n\+2\n1 to change\.\ndeployment\.apps\/by-file scaled\n$/),
    });
    expect(await run('restart', { filename, ...yes })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/restartedAt.*\ndeployment\.apps\/by-file restarted\n$/s),
    });
    expect(await run('delete', { filename, ...yes })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\ndeployment\.apps\/by-file deleted\n$/),
    });
  });

  test('by a kind with names, labels, a filter or a namespace; the count is told', async () => {
    const names = ['many-1', 'many-2', 'many-3'];
    await applied(...names.map((name) => configMap(namespace, name, {})), {
      ...configMap(namespace, 'labelled', {}),
      metadata: { name: 'labelled', namespace, labels: { tier: 'front' } },
    });
    const found = async (words: readonly string[], flags: Partial<WriteFlags>) => {
      const { err, out } = await run('delete', { words, ...flags, dryRun: true, output: 'json' });
      const items: readonly { target: { name: string } }[] = JSON.parse(out).items;
      return [err, ...items.map(({ target }) => target.name).toSorted()];
    };
    const filter = JSON.stringify({ metadata: { name: { startsWith: 'many-' } } });
    expect(await found(['ConfigMap'], { filter })).toEqual(['portolan: 3 objects match.\n', ...names]);
    expect(await found(['cm', 'many-2', 'many-1'], { namespace })).toEqual([
      'portolan: 2 objects match.\n',
      'many-1',
      'many-2',
    ]);
    expect(await found(['configmaps'], { selector: 'tier in (front)', cluster: 'east' })).toEqual([
      'portolan: 1 object matches.\n',
      'labelled',
    ]);
    expect(await found(['ConfigMap'], { filter, namespace: 'default' })).toEqual(['portolan: no object matches.\n']);
    await expect(run('delete', { words: ['ConfigMap', 'many-1', 'none'], ...yes })).rejects.toThrow(
      '2 names are given, and 1 object matches',
    );
    const removed = await run('delete', { words: ['ConfigMap'], filter, namespace, ...yes });
    expect(removed).toMatchObject({ code: 0, err: 'portolan: 3 objects match.\n' });
    expect(removed.out).toContain('configmap/many-2 deleted\n');
  });

  test.each<[words: readonly string[], flags: Partial<WriteFlags>, message: string]>([
    [[], {}, 'Name the objects: '],
    [['Pod'], {}, 'Pod alone would mean every object of the kind: '],
    [['Pod'], { filter: '[1]' }, '--filter must be a JSON object'],
    [['Pod'], { filename: ['a.yaml'] }, '--filename names the objects: '],
    [['Nothing'], { namespace }, 'Nothing'],
    [['Namespace'], { selector: 'a=b' }, 'never written by a query'],
  ])('%j with %j is refused', async (words, flags, message) => {
    const filename = flags.filename === undefined ? {} : { filename: file({}) };
    await expect(run('delete', { words, ...flags, ...filename, ...yes })).rejects.toThrow(message);
  });

  test('a set: planned, applied, pruned, kept, adopted and deleted', async () => {
    const a = configMap(namespace, 'of-set-a', { a: '1' });
    const b = configMap(namespace, 'of-set-b', { b: '1' });
    const set = { set: 'app', namespace };
    const planned = await run('plan', { filename: file(a, b), ...set });
    expect(planned).toMatchObject({ code: 1, err: '' });
    expect(planned.out).toMatch(/\n3 to create\.\n$/);
    await expect(api.get(path('configmaps', 'of-set-a'))).rejects.toMatchObject({ httpStatus: 404 });
    const created = await run('apply', { filename: file(a, b), ...set, wait: 10_000, ...yes });
    expect(created).toMatchObject({ code: 0, err: '' });
    expect(created.out.split('\n').slice(-5, -1)).toEqual([
      '3 to create.',
      'configmap/of-set-a created',
      'configmap/of-set-b created',
      'shadowrecord.portolan.dev/app created',
    ]);
    expect(await run('plan', { filename: file(a, b), ...set })).toEqual({ code: 0, err: '', out: '3 unchanged.\n' });
    const kept = await run('apply', { filename: file(a), ...set, prune: false, wait: 10_000, ...yes });
    expect([kept.code, kept.out.includes('of-set-b')]).toEqual([0, false]);
    const pruned = await run('apply', { filename: file(a), ...set, wait: 10_000, ...yes });
    expect(pruned.out).toContain('configmap/of-set-b deleted\n');
    await expect(api.get(path('configmaps', 'of-set-b'))).rejects.toMatchObject({ httpStatus: 404 });
    const free = configMap(namespace, 'of-none', { a: '1' });
    await applied(free);
    expect(await run('apply', { filename: file(a, free), ...set, ...yes })).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^configmap\/of-none \(.*: ALREADY_EXISTS: .*\nportolan: --adopt takes .*\nportolan: Nothing was written\.\n$/,
      ),
    });
    expect((await run('apply', { filename: file(a, free), ...set, adopt: true, wait: 10_000, ...yes })).code).toBe(0);
    const foreign = await run('apply', { filename: file(a), namespace, set: 'other', adopt: true, ...yes });
    expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining('is a member of another set') });
    expect(foreign.err).not.toContain('--adopt takes');
    expect(await run('delete', { ...set, dryRun: true })).toMatchObject({ code: 1 });
    expect((await run('delete', { ...set, ...yes })).out.split('\n').slice(-4, -1)).toEqual([
      'configmap/of-set-a deleted',
      'configmap/of-none deleted',
      'shadowrecord.portolan.dev/app deleted',
    ]);
    await expect(api.get(path('configmaps', 'of-none'))).rejects.toMatchObject({ httpStatus: 404 });
  });

  test('a set has a namespace, manifests for an apply, and nothing else for a deletion', async () => {
    const filename = file(configMap(namespace, 'a', {}));
    for (const [command, flags, message] of [
      ['apply', { set: 'app', filename }, '--namespace'],
      ['apply', { set: 'app', namespace }, 'Name the manifests of the members with --filename'],
      ['delete', { set: 'app', namespace, filename }, '--set names the objects'],
      ['delete', { set: 'app', namespace, words: ['Pod', 'a'] }, '--set names the objects'],
      ['delete', { set: 'app', namespace, onError: 'revert' }, 'leave out --on-error revert'],
      ['delete', { set: 'app', namespace, fieldManager: 'me' }, 'leave out --field-manager'],
      ['plan', { set: 'app', namespace, filename, fieldManager: 'me' }, 'leave out --field-manager'],
      ['apply', { filename, adopt: true }, '--adopt and --no-prune are for sets'],
      ['plan', { filename, prune: false }, '--adopt and --no-prune are for sets'],
    ] as const) {
      await expect(run(command, { ...flags, ...yes }), JSON.stringify(flags)).rejects.toThrow(message);
    }
  });

  test('apply needs manifests, scale needs a number, and an id needs no kind', async () => {
    const id = encodeObjectId({ cluster: 'east', key: 'configmaps', namespace, name: 'a' });
    await expect(run('apply', yes)).rejects.toThrow('Name the manifests with --filename');
    await expect(run('scale', { words: [id], ...yes })).rejects.toThrow('--replicas');
    await expect(run('delete', { words: ['Pod', id], ...yes })).rejects.toThrow('An id names its object by itself');
  });

  test('the options of the mutation are those of the command line', async () => {
    await applied(configMap(namespace, 'options', { a: '1' }));
    const filename = file(configMap(namespace, 'options', { a: '2' }));
    const tooLong = run('apply', { filename, wait: 40_000, ...yes });
    await expect(tooLong).rejects.toThrow('`waitMs` is 40000');
    await expect(run('apply', { filename, requestId: 'x'.repeat(200), ...yes })).rejects.toThrow('`requestId`');
    await run('apply', { filename, fieldManager: 'me', force: true, requestId: 'once', onError: 'revert', ...yes });
    const { metadata } = await api.get<{ metadata: { managedFields: { manager: string }[] } }>(
      path('configmaps', 'options'),
    );
    expect(metadata.managedFields.map(({ manager }) => manager)).toContain('me');
  });
});

describe('colours', () => {
  const filename = () => file(configMap(namespace, 'coloured', {}));
  const isColoured = async (flags: Partial<WriteFlags>, terminal: Terminal) =>
    (await run('plan', { filename: filename(), ...flags }, terminal)).out.includes('<added>+kind: ConfigMap');

  test.each<[wanted: boolean, color: WriteFlags['color'], terminal: Terminal]>([
    [true, 'auto', { isTerminal: true }],
    [false, 'auto', { isTerminal: false }],
    [false, 'auto', { isTerminal: true, environment: { NO_COLOR: '1' } }],
    [true, 'auto', { isTerminal: true, environment: { NO_COLOR: '' } }],
    [false, 'auto', { isTerminal: true, environment: { TERM: 'dumb' } }],
    [true, 'always', { isTerminal: false, environment: { NO_COLOR: '1' } }],
    [false, 'never', { isTerminal: true }],
  ])('%j with %s on %j', async (wanted, color, terminal) => {
    expect(await isColoured({ color }, terminal)).toBe(wanted);
  });
});

test('a gateway that is read-only says so', async () => {
  const kubeconfig = folder.file('config', cluster.kubeconfig());
  const at = await runGateway({ name: 'east', kubeconfig }, {});
  try {
    await expect(run('plan', { filename: file(configMap(namespace, 'a', {})) }, { at })).rejects.toThrow('read-only');
    expect((await ask(at.url, '{ __typename }')).data).toEqual({ __typename: 'Query' });
  } finally {
    await at.close();
  }
});
