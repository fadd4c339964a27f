import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type KubeconfigFolder, kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { type KubeconfigOptions, readClusterConfig } from './kubeconfig.ts';

const folders: KubeconfigFolder[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

function fresh(): KubeconfigFolder {
  const folder = kubeconfigFolder();
  folders.push(folder);
  return folder;
}

function complaint(options: KubeconfigOptions): string {
  try {
    readClusterConfig(options);
  } catch (error) {
    expect(codeOf(error)).toBe('CONFIGURATION');
    return messageOf(error);
  }
  throw new Error('it was accepted');
}

const one = (server: string, rest: object = {}): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: `token of ${server}` } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...rest,
  });

describe('which file is read', () => {
  test('the one that is named, before KUBECONFIG, before the home folder', () => {
    const folder = fresh();
    const named = folder.file('named', one('https://named'));
    const fromEnv = folder.file('env', one('https://env'));
    mkdirSync(join(folder.dir, '.kube'));
    folder.file('.kube/config', one('https://home'));
    const env = { KUBECONFIG: fromEnv, HOME: folder.dir };
    const serverOf = (options: KubeconfigOptions): string => readClusterConfig(options).cluster.server;
    expect(serverOf({ kubeconfig: named, env })).toBe('https://named');
    expect(serverOf({ env })).toBe('https://env');
    expect(serverOf({ env: { HOME: folder.dir } })).toBe('https://home');
  });

  test('several of KUBECONFIG: missing ones are skipped, the first to name a thing wins, things refer across files', () => {
    const folder = fresh();
    const contexts = [{ name: 'both', context: { cluster: 'c', user: 'u2' } }];
    const first = folder.file('first', one('https://first', { 'current-context': '', users: [], contexts }));
    const second = folder.file(
      'second',
      one('https://second', { 'current-context': 'both', users: [{ name: 'u2', user: { tokenFile: 'tok' } }] }),
    );
    const env = { KUBECONFIG: ['', join(folder.dir, 'none'), first, second].join(delimiter) };
    const config = readClusterConfig({ env });
    expect(config).toMatchObject({ context: 'both', tokenFile: join(folder.dir, 'tok') });
    expect(config.cluster.server).toBe('https://first');
    expect(config.source).toBe(`${first}, ${second}`);
  });

  test('none: the service account in a Pod, if it is not ruled out', () => {
    const folder = fresh();
    folder.file('token', 'x');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443', HOME: folder.dir };
    const serviceAccountDir = folder.dir;
    expect(readClusterConfig({ env, serviceAccountDir })).toMatchObject({
      context: 'in-cluster',
      cluster: { server: 'https://[fd00::1]:443', caFile: join(folder.dir, 'ca.crt') },
      tokenFile: join(folder.dir, 'token'),
    });
    expect(complaint({ env, serviceAccountDir, inCluster: false })).toContain('No kubeconfig was found');
  });

  test('none at all: never an address nobody named', () => {
    const folder = fresh();
    expect(complaint({ env: {} })).toMatch(/No kubeconfig was found .*KUBECONFIG.*--kubeconfig/);
    expect(complaint({ env: { HOME: folder.dir } })).toContain(join(folder.dir, '.kube', 'config'));
    expect(complaint({ env: {}, inCluster: true })).toContain('run in a Pod');
    const env = { KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '443' };
    expect(complaint({ env, inCluster: true, serviceAccountDir: folder.dir })).toContain(join(folder.dir, 'token'));
  });
});

describe('a file that cannot be used', () => {
  test.each([
    ['', 'names no current context'],
    ['- a', 'it is not a YAML mapping'],
    ['a: [', 'cannot be understood'],
    [one('https://a', { clusters: [{ name: 'c', cluster: {} }] }), 'has no server'],
    [one('https://a', { users: [{ name: 'u', user: { token: 5 } }] }), 'users[0].user.token is a number'],
    [one('https://a', { 'current-context': '' }), 'choose one with --context (it has x)'],
    [one('https://a', { 'current-context': 'y' }), 'has no context y: choose one with --context (it has x)'],
    [one('https://a', { contexts: [] }), 'it has none'],
    [one('https://a', { clusters: [] }), 'means the cluster c'],
    [one('https://a', { users: [] }), 'means the user u'],
  ])('%j', (content, expected) => {
    const folder = fresh();
    const kubeconfig = folder.file('config', content);
    const said = complaint({ env: {}, kubeconfig });
    expect(said).toContain(expected);
    expect(said).toContain(kubeconfig);
    expect(said).not.toContain('\n');
  });

  test('one that is not there, or is a folder', () => {
    const folder = fresh();
    expect(complaint({ env: {}, kubeconfig: join(folder.dir, 'none') })).toContain('ENOENT');
    expect(complaint({ env: {}, kubeconfig: folder.dir })).toContain('EISDIR');
    expect(complaint({ env: { KUBECONFIG: join(folder.dir, 'none') } })).toContain('No kubeconfig was found');
  });
});

describe('a user', () => {
  const userOf = (user: object) => {
    const folder = fresh();
    return { folder, config: readClusterConfig({ env: {}, kubeconfig: folder.write({ server: 'https://a' }, user) }) };
  };

  test('has its files beside the kubeconfig', () => {
    const { folder, config } = userOf({ tokenFile: 'a/token', 'client-certificate': 'b.crt', 'client-key': 'b.key' });
    expect(config.tokenFile).toBe(join(folder.dir, 'a/token'));
    expect(config.user.certFile).toBe(join(folder.dir, 'b.crt'));
    expect(userOf({ tokenFile: '/a/token' }).config.tokenFile).toBe('/a/token');
  });

  test('keeps a provider, but plugins, OIDC and token files stand apart', () => {
    const gcp = { name: 'gcp', config: { 'access-token': 'x' } };
    expect(userOf({ 'auth-provider': gcp }).config.user.authProvider).toEqual(gcp);
    const oidc = userOf({ 'auth-provider': { name: 'oidc', config: { 'id-token': 'x' } } }).config;
    expect(oidc.oidc).toEqual({ 'id-token': 'x' });
    expect(oidc.user.authProvider).toBeUndefined();
    const plugin = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'c' };
    const exec = userOf({ exec: plugin }).config;
    expect(exec).toMatchObject({ exec: plugin });
    expect(exec.user.exec).toBeUndefined();
    const file = userOf({ 'auth-provider': { name: 'tokenFile', config: { tokenFile: '/t' } } }).config;
    expect(file.tokenFile).toBe('/t');
    expect(file.user.authProvider).toBeUndefined();
    const inner = userOf({ 'auth-provider': { name: 'any', config: { exec: plugin } } }).config;
    expect(inner.exec).toEqual(plugin);
    expect(inner.user.authProvider).toBeUndefined();
  });

  test('may stand for another, with groups', () => {
    const { config } = userOf({ as: 'jane', 'as-groups': ['a'], 'as-user-extra': { k: ['v'] } });
    expect(config.user.impersonateUser).toBe('jane');
    expect(config.impersonation).toEqual({ groups: ['a'], uid: undefined, extra: new Map([['k', ['v']]]) });
    expect(userOf({}).config.impersonation).toBeUndefined();
  });

  test('may share sections by a merge key; of a key that is there twice, the last counts', () => {
    const folder = fresh();
    const kubeconfig = folder.file(
      'config',
      `clusters: [{ name: c, cluster: { server: 'https://a', insecure-skip-tls-verify: yes } }]
base: &base { username: jane }
users: [{ name: u, user: { <<: *base, password: first, password: last } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
---
clusters: []`,
    );
    expect(readClusterConfig({ env: {}, kubeconfig })).toMatchObject({
      cluster: { skipTLSVerify: true },
      user: { username: 'jane', password: 'last' },
    });
  });

  test('may be missing from the context', () => {
    const folder = fresh();
    const kubeconfig = folder.write({ server: 'https://a' }, null);
    expect(readClusterConfig({ env: {}, kubeconfig }).user).toEqual({ name: 'anonymous' });
  });
});
