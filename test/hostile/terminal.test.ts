/**
 * Hostile gateways, API servers, plugins and objects against each command: no control character reaches a terminal, JSON keeps its
 * values, and no file is written.
 */
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { commandHost } from '../kit/command-host.ts';
import {
  type CommandOptions,
  commandsOf,
  hasTerminals,
  missingTerminals,
  runCommand,
  runOnTerminal,
} from '../kit/command-process.ts';
import {
  evil,
  evilWord,
  forbidden,
  forbiddenElsewhere,
  type HostileGateway,
  hostileAnswers,
  placeholder,
  startHostileApiServer,
  startHostileGateway,
  startRefusingApiServer,
} from '../kit/hostile-servers.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

let folder: string;
let cluster: SimCluster;
let objects: LoopbackServer;
let refusing: LoopbackServer;
let page: LoopbackServer;
const gateways = new Map<string, HostileGateway>();

beforeAll(async () => {
  cluster = await startSimCluster({
    objects: 'empty',
    crds: [crd('gadgets', 'Gadget'), crd(`${placeholder}s`, 'Evil')],
  });
  for (const each of hostileObjects) cluster.create(each);
  objects = await startHostileApiServer(cluster.url);
  refusing = await startRefusingApiServer('status');
  page = await startRefusingApiServer('page');
  for (const kind of hostileAnswers) gateways.set(kind, await startHostileGateway(kind));
});

afterAll(async () => {
  await Promise.all([objects, refusing, page, ...gateways.values(), cluster].map((each) => each?.close()));
});

beforeEach(() => {
  folder = temporaryDirectory('terminal');
});

function crd(plural: string, kind: string) {
  const text = { type: 'string', description: `text ${placeholder}`, enum: [`one ${placeholder}`] };
  const openAPIV3Schema = {
    type: 'object',
    description: `the kind ${placeholder}`,
    properties: { spec: { type: 'object', properties: { text, [placeholder]: text } } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const rbacApi = 'rbac.authorization.k8s.io';
const hostileObjects = [
  {
    apiVersion: `${rbacApi}/v1`,
    kind: 'ClusterRole',
    metadata: { name: placeholder },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'], resourceNames: [] }],
  },
  {
    apiVersion: `${rbacApi}/v1`,
    kind: 'RoleBinding',
    metadata: { name: placeholder, namespace: 'default' },
    roleRef: { apiGroup: rbacApi, kind: 'ClusterRole', name: placeholder },
    subjects: [{ apiGroup: rbacApi, kind: 'Group', name: placeholder }],
  },
];

function kubeconfig(server: string, user: object = {}): string {
  const path = join(folder, 'kubeconfig');
  const config = {
    'current-context': evilWord,
    clusters: [{ name: 'x', cluster: { server } }],
    users: [{ name: 'x', user }],
    contexts: [{ name: evilWord, context: { cluster: 'x', user: 'x' } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

type Case = readonly [what: string, args: () => readonly string[], options?: Partial<CommandOptions>];

const document = 'subscription { podChanges { phase } }';
const remote = hostileAnswers.flatMap((kind): Case[] => {
  const asks =
    (...args: readonly string[]) =>
    () => [...args, '--url', gateways.get(kind)?.url ?? ''];
  return [
    [`status (${kind})`, asks('status', '--all')],
    [`status --json (${kind})`, asks('status', '--json')],
    [`relations (${kind})`, asks('relations')],
    [`relations --json (${kind})`, asks('relations', '--json')],
    [`relations --suggest (${kind})`, asks('relations', '--suggest')],
    [`json-schema (${kind})`, asks('json-schema', evilWord)],
    [`query (${kind})`, asks('query', '{ __typename }')],
    [`watch (${kind})`, asks('watch', document)],
    [`watch of a kind (${kind})`, asks('watch', 'evils')],
    [`logs (${kind})`, asks('logs', 'Pod', '-A')],
    [`logs of an object (${kind})`, asks('logs', `pod/${evilWord}`)],
    [`plan (${kind})`, asks('plan', '--filename', '-')],
    [`plan --output json (${kind})`, asks('plan', '--filename', '-', '--output', 'json')],
    [`apply (${kind})`, asks('apply', '--filename', '-', '--yes', '--wait', '0')],
    [`apply --output json (${kind})`, asks('apply', '--filename', '-', '--yes', '--output', 'json')],
    [`delete (${kind})`, asks('delete', evilWord, evilWord, '--yes')],
    [`restart with a question (${kind})`, asks('restart', 'Deployment', '--filter', '{"a": 1}')],
    [`edit (${kind})`, asks('edit', evilWord, evilWord, '--yes')],
    [`revert (${kind})`, asks('revert', evilWord, evilWord, '--to', '-10m', '--yes')],
    [`rollback (${kind})`, asks('rollback', evilWord, evilWord, '--yes')],
    [`history (${kind})`, asks('history', evilWord, evilWord)],
    [`history --output json (${kind})`, asks('history', '--output', 'json')],
    [`scale (${kind})`, asks('scale', 'Deployment', 'a', '--replicas', '2', '--yes')],
  ];
});

const servers = { objects: () => objects, refusing: () => refusing, page: () => page };
const local = Object.entries(servers).flatMap(([kind, server]): Case[] => {
  const asks =
    (...args: readonly string[]) =>
    () => [...args, '--kubeconfig', kubeconfig(server().url)];
  return [
    [`schema (${kind})`, asks('schema')],
    [`rbac (${kind})`, asks('rbac', '--auth', 'token')],
    [`can (${kind})`, asks('can', '--as', evilWord, '--as-group', evil, 'list', 'pods')],
    [
      `can --json (${kind})`,
      asks('can', '--json', '--as', evilWord, '--as-group', evil, 'list', 'pods', '-n', 'default'),
    ],
    [
      `can --check (${kind})`,
      asks('can', '--check', '--as', evilWord, '--as-group', evil, 'list', 'pods', '-n', 'default'),
    ],
    [`doctor (${kind})`, asks('doctor', '--aggregate', '--service-account', 'a/b', '--impersonate', 'classic')],
    [`doctor --output json (${kind})`, asks('doctor', '--aggregate', '--output', 'json')],
    [
      `serve (${kind})`,
      asks('serve', '--port', '0'),
      { until: /Synced: .*s\r?\n|the first sync has ended|Playground/ },
    ],
  ];
});

const plugin = (): string => {
  const text = `#!/bin/sh\nprintf '%b' '${[...Buffer.from(evil)].map((byte) => `\\0${byte.toString(8)}`).join('')}' >&2\nexit 1\n`;
  for (const name of ['plugin', 'kubectl']) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './plugin',
    interactiveMode: 'Never',
    installHint: evil,
  };
  return kubeconfig('http://127.0.0.1:1', { exec });
};

const others: readonly Case[] = [
  ['demo', () => ['demo', '--port', '0', '--pods', '10', '--still'], { until: /Synced: |Playground/ }],
  ['client-config', () => ['client-config', '--apollo']],
  ['crd', () => ['crd']],
  ['shadow', () => ['shadow', evilWord]],
  ['doctor of an address that is none', () => ['doctor', '--address', evilWord]],
  ['a command that is none', () => [evilWord]],
  ['an option that is none', () => ['status', `--${evilWord}`]],
  ['an argument too many', () => ['serve', evilWord]],
  ['a value that is none', () => ['serve', '--port', evil]],
  ['a file that is not there', () => ['schema', '--kubeconfig', evilWord]],
  [
    'a context that is not there',
    () => ['rbac', '--kubeconfig', kubeconfig('http://127.0.0.1:1'), '--context', evilWord],
  ],
  [
    'a resource that is not there',
    () => ['can', '--kubeconfig', kubeconfig(objects.url), '--as', 'a', 'list', evilWord],
  ],
  ['a kind that is not there', () => ['schema', '--kubeconfig', kubeconfig(objects.url), '--kinds', evilWord]],
  ['a file of options', () => ['status', '--config', optionsFile({ [evil]: 1 })]],
  ['a value in a file of options', () => ['status', '--config', optionsFile({ url: evil })]],
  ['a file that is no YAML', () => ['status', '--config', optionsFile(`a: [${evil}`)]],
  ['relations that are no YAML', () => ['schema', '--demo', '--relations', optionsFile(`a: [${evil}`)]],
  ['a plugin', () => ['can', '--as', 'a', 'list', 'pods', '--kubeconfig', plugin()]],
  ['kubectl portolan', () => ['status', '--kubeconfig', plugin()], { program: 'kubectl-portolan' }],
  ['kubectl portolan without the command', () => [evilWord], { program: 'kubectl-portolan' }],
];

function optionsFile(content: object | string): string {
  const path = join(folder, 'options.yaml');
  writeFileSync(path, typeof content === 'string' ? content : stringify(content));
  return path;
}

const cases = [...remote, ...local, ...others].map(([what, args, options = {}]) => [what, args, options] as const);

const optionsOf = (options: Partial<CommandOptions>): CommandOptions => ({
  folder,
  environment: { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`, PORTOLAN_TOKEN: 'token' },
  ...options,
});

const inPipes = commandHost('pipes');
const onSharedTerminal = commandHost('terminal');
/**
 * On a terminal, each command that asks a server has a process of its own once. What runs on until it is ended always has one, and so has
 * another program. The others share one.
 */
const isAlone = (what: string, { until, program }: Partial<CommandOptions>): boolean =>
  until !== undefined || program !== undefined || /\((?:data|objects)\)$/.test(what);

/** The only sequences of a terminal that Portolan writes: it clears a line, and the diff of a plan has colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control characters.
const ownSequences = /\r\u001b\[K|\u001b\[(?:0|1|31|32|36)m/g;

test('every command has a case', async () => {
  const names = new Set(cases.map(([what]) => what.split(' ')[0]));
  expect((await commandsOf(folder)).filter((name) => !names.has(name))).toEqual([]);
});

describe.skipIf(!hasTerminals)(`on a terminal${missingTerminals}`, () => {
  test.each(cases)('%s writes no control character', async (what, args, options) => {
    const given = args();
    const before = readdirSync(folder);
    const { out } = await (isAlone(what, options) ? runOnTerminal : onSharedTerminal)(given, optionsOf(options));
    const text = out.replaceAll('\r\n', '\n').replaceAll(ownSequences, '');
    expect(text).not.toBe('');
    expect(forbidden.exec(text)?.[0].codePointAt(0)?.toString(16)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(before);
  });
});

// What the kinds of refusals print is the same in a pipe.
const inPipe = cases.filter(([what]) => !/\((?:unauthenticated|refusal|html|redirect|ends|nonsense|page)\)/.test(what));

describe('in a pipe', () => {
  test.each(inPipe)('%s writes no control character', async (_what, args, options) => {
    const given = args();
    const before = readdirSync(folder);
    const { out, err } = await (options.until === undefined ? inPipes : runCommand)(given, optionsOf(options));
    expect(`${out}${err}`).not.toBe('');
    expect(forbiddenElsewhere.exec(out)?.[0].codePointAt(0)?.toString(16)).toBeUndefined();
    expect(forbiddenElsewhere.exec(err)?.[0].codePointAt(0)?.toString(16)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(before);
  });

  test('watch ends at a message that no gateway sends', async () => {
    const url = gateways.get('nonsense')?.url ?? '';
    const { code, out, err } = await runCommand(['watch', document, '--url', url], optionsOf({}));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^portolan: The server at [^\n]+ cannot be queried as a Portolan gateway[^\n]+\.\n$/);
  });

  test('JSON keeps its values', async () => {
    const url = gateways.get('data')?.url ?? '';
    const outputOf = async (...args: readonly string[]) =>
      (await runCommand([...args, '--url', url], optionsOf({}))).out;
    expect(JSON.parse(await outputOf('query', '{ __typename }'))).toMatchObject({ data: { [evil]: evil } });
    expect(JSON.parse(await outputOf('watch', document))).toMatchObject({ phase: evil, [evil]: evil });
    expect(JSON.parse(await outputOf('status', '--json')).resources).toContainEqual(
      expect.objectContaining({ cluster: evil, error: evil }),
    );
    expect(JSON.parse(await outputOf('plan', '--filename', '-', '--output', 'json'))).toMatchObject({ planId: evil });
    expect(JSON.parse(await outputOf('relations', '--json'))).toContainEqual(expect.objectContaining({ to: evil }));
  });
});

describe.skipIf(!hasTerminals)(`on a terminal, JSON${missingTerminals}`, () => {
  test('keeps its values too', async () => {
    const url = gateways.get('data')?.url ?? '';
    const { out } = await runOnTerminal(['query', '{ __typename }', '--url', url], optionsOf({}));
    expect(JSON.parse(out)).toMatchObject({ data: { [evil]: evil } });
  });
});
