import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { afterAll, describe, expect, test } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import type { Clock } from '../../base/clock.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { CredentialProvider, type Credentials, loadCredentials } from './credentials.ts';
import { runExecPlugin } from './exec-credential.ts';
import { readClusterConfig } from './kubeconfig.ts';

const folder = kubeconfigFolder();
afterAll(() => folder.remove());

function movingClock(): Clock & { time: number } {
  return {
    time: 1_000_000,
    now() {
      return this.time;
    },
    monotonic: () => 0,
    sleep: async () => {},
  };
}

/** A provider whose fetches the test settles one by one. */
function driven() {
  const clock = movingClock();
  const fetches: PromiseWithResolvers<Credentials>[] = [];
  const provider = new CredentialProvider(() => {
    const fetch = Promise.withResolvers<Credentials>();
    fetches.push(fetch);
    return fetch.promise;
  }, clock);
  const give = (name: string, refreshIn: number, expiresIn = Number.POSITIVE_INFINITY): Credentials => {
    const credentials: Credentials = {
      headers: { authorization: name },
      transport: { type: 'agent', connect: {} },
      transportFingerprint: 'same',
      refreshAt: clock.time + refreshIn,
      expiresAt: clock.time + expiresIn,
    };
    fetches.at(-1)?.resolve(credentials);
    return credentials;
  };
  return { clock, fetches, provider, give };
}

describe('CredentialProvider', () => {
  test('shares one fetch among all who ask, and keeps its result until it is due', async () => {
    const { clock, fetches, provider, give } = driven();
    const asked = [provider.get(), provider.get(), provider.get()];
    const first = give('a', 100);
    expect(await Promise.all(asked)).toEqual([first, first, first]);
    expect(await provider.get()).toBe(first);
    clock.time += 100;
    const renewed = provider.get();
    const second = give('b', 100);
    expect(await renewed).toBe(second);
    expect(fetches).toHaveLength(2);
  });

  test('drops what was refused, but not what has already taken its place', async () => {
    const { fetches, provider, give } = driven();
    const asked = provider.get();
    const first = give('a', 100);
    await asked;
    provider.drop(first);
    const again = provider.get();
    const second = give('b', 100);
    await again;
    provider.drop(first);
    expect(await provider.get()).toBe(second);
    expect(fetches).toHaveLength(2);
  });

  test('goes on with what it has when a renewal fails, until that expires or was refused', async () => {
    const { clock, fetches, provider, give } = driven();
    const asked = provider.get();
    const first = give('a', 100, 200);
    await asked;
    const failing = async (): Promise<unknown> => {
      const renewal = provider.get().catch((error: unknown) => messageOf(error));
      fetches.at(-1)?.reject(new Error('no'));
      return renewal;
    };
    clock.time += 150;
    expect(await failing()).toBe(first);
    clock.time += 100;
    expect(await failing()).toBe('no');
    const dueAgain = provider.get();
    const replaced = give('b', 0, 200);
    await dueAgain;
    // Credentials that are rejected during their renewal are not used as a fallback.
    const renewal = failing();
    provider.drop(replaced);
    expect(await renewal).toBe('no');
    const afresh = provider.get();
    const second = give('c', 0, 200);
    await afresh;
    provider.drop(second);
    expect(await failing()).toBe('no');
  });
});

/** The configuration of a user whose plugin runs this JavaScript. */
function withPlugin(source: string, rest: object = {}) {
  const script = folder.file('plugin.mjs', source);
  const version = { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' };
  const exec = { ...version, command: process.execPath, args: [script], ...rest };
  return readClusterConfig({ env: {}, kubeconfig: folder.write({ server: 'https://a' }, { exec }) });
}

const print = (status: object): string => `console.log(${JSON.stringify(JSON.stringify({ status }))})`;

async function complaint(source: string, rest: object = {}, timeoutMs = 30_000) {
  const options = { env: process.env, timeoutMs, ca: undefined };
  const error = await runExecPlugin(withPlugin(source, rest), options).catch((thrown: unknown) => thrown);
  expect(messageOf(error)).not.toContain('\n');
  return `${codeOf(error)}: ${messageOf(error)}`;
}

describe('an exec plugin', () => {
  const load = (source: string, clock = movingClock()) =>
    loadCredentials(withPlugin(source), { env: process.env, clock });

  test('gives a token that is renewed a minute before it ends, or half-way when that is later', async () => {
    const clock = movingClock();
    const until = (ms: number) => print({ token: 't', expirationTimestamp: new Date(clock.time + ms).toISOString() });
    const long = await load(until(900_000), clock);
    expect(long.headers['authorization']).toBe('Bearer t');
    expect([long.refreshAt - clock.time, long.expiresAt - clock.time]).toEqual([840_000, 900_000]);
    const brief = await load(until(60_000), clock);
    expect(brief.refreshAt - clock.time).toBe(30_000);
    const endless = await load(print({ token: 't' }), clock);
    expect(endless.refreshAt).toBe(Number.POSITIVE_INFINITY);
  });

  test('is run for each fetch, once for all who ask; ExecAuth alone repeats a rejected credential, and runs for each of them', async () => {
    const runs = folder.file('runs', '');
    const source = `import { appendFileSync, readFileSync } from 'node:fs';
      appendFileSync(${JSON.stringify(runs)}, 'x');
      console.log(JSON.stringify({ status: { token: 't' + readFileSync(${JSON.stringify(runs)}).length } }));`;
    const config = withPlugin(source);
    const clock = movingClock();
    const provider = new CredentialProvider(() => loadCredentials(config, { env: process.env, clock }), clock);
    const [one, other] = await Promise.all([provider.get(), provider.get()]);
    expect(one.headers).toEqual({ authorization: 'Bearer t1' });
    expect(other).toBe(one);
    provider.drop(one);
    expect((await provider.get()).headers).toEqual({ authorization: 'Bearer t2' });

    const alone = new ExecAuth();
    const user = { name: 'u', exec: config.exec };
    const asked = async (): Promise<unknown> => {
      const options: RequestOptions = {};
      await alone.applyAuthentication(user, options);
      return options.headers;
    };
    await Promise.all([asked(), asked()]);
    expect(readFileSync(runs, 'utf8')).toHaveLength(4);
    expect(await asked()).toEqual(await asked());
    expect(readFileSync(runs, 'utf8')).toHaveLength(4);
  });

  test('of a user whose name is a member of all objects gives a token, which ExecAuth alone cannot read', async () => {
    const config = { ...withPlugin(print({ token: 't' })), user: { name: 'constructor' } };
    const loaded = await loadCredentials(config, { env: process.env, clock: movingClock() });
    expect(loaded.headers).toEqual({ authorization: 'Bearer t' });
    const alone = new ExecAuth().applyAuthentication({ name: 'constructor', exec: config.exec }, {});
    await expect(alone).rejects.toThrow('Cannot read properties of undefined');
  });

  test('gives a certificate, which takes a connection of its own', async () => {
    const one = await load(print({ clientCertificateData: 'cert', clientKeyData: 'key' }));
    const other = await load(print({ clientCertificateData: 'cert 2', clientKeyData: 'key 2' }));
    expect(one.transport).toMatchObject({ type: 'agent', connect: { cert: 'cert', key: 'key' } });
    expect(one.headers['authorization']).toBeUndefined();
    expect(other.transportFingerprint).not.toBe(one.transportFingerprint);
  });

  test('that cannot be run is named, with its own hint', async () => {
    expect(await complaint('', { command: 'no-such-plugin', installHint: 'Install\nit.' })).toMatch(
      /^CONFIGURATION: .*no-such-plugin.*ENOENT.*Install it\./,
    );
    expect(await complaint('', { command: '' })).toMatch(/^CONFIGURATION: .*names no command/);
    expect(await complaint('', { interactiveMode: 'Always' })).toMatch(/^CONFIGURATION: .*interactive input/);
  });

  test('that fails, says nothing or nonsense, is told apart, and its output is not repeated', async () => {
    expect(await complaint('console.error("session\\nexpired"); process.exit(2)')).toMatch(
      /^UNAUTHENTICATED: .*exit code 2: session expired/,
    );
    for (const source of ['', 'console.log("secret")', print({}), print({ clientCertificateData: 'secret' })]) {
      const said = await complaint(source);
      expect(said).toMatch(/^UNAUTHENTICATED: .*gave no credential/);
      expect(said).not.toContain('secret');
    }
    expect(await complaint('process.kill(process.pid, "SIGTERM")')).toContain('ended by SIGTERM');
    expect(await complaint('const more = () => process.stdout.write("x".repeat(65536), more); more()')).toContain(
      'more than 1048576 bytes',
    );
  });

  test('that hangs is ended, even when it has left its output to another', async () => {
    const started = 'import { spawn } from "node:child_process";';
    const lingering = `${started} spawn(process.execPath, ["-e", "setTimeout(() => {}, 3000)"], { stdio: "inherit" });`;
    expect(await complaint(`${lingering} setInterval(() => {}, 1000)`, {}, 300)).toContain('longer than 300 ms');
  });

  test('beside the kubeconfig is found there', async () => {
    const config = withPlugin(print({ token: 't' }));
    const options = { env: process.env, timeoutMs: 30_000, ca: undefined };
    const relative = { ...config, exec: { command: './none/plugin' } };
    const error = await runExecPlugin(relative, options).catch((thrown: unknown) => thrown);
    expect((error as { cause?: { path?: string } }).cause?.path).toBe(`${folder.dir}/none/plugin`);
  });
});

describe('a token file', () => {
  test.each([undefined, ' \n'])('that holds %j is told', async (content) => {
    const tokenFile = content === undefined ? `${folder.dir}/none` : folder.file('empty', content);
    const config = readClusterConfig({ env: {}, kubeconfig: folder.write({ server: 'https://a' }, { tokenFile }) });
    const error = await loadCredentials(config, { env: {}, clock: movingClock() }).catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('UNAUTHENTICATED');
    expect(messageOf(error)).toContain(tokenFile);
  });

  test('wins over a token beside it', async () => {
    const tokenFile = folder.file('token', 'from-file\n');
    const kubeconfig = folder.write({ server: 'https://a' }, { token: 'fixed', tokenFile });
    const loaded = await loadCredentials(readClusterConfig({ env: {}, kubeconfig }), { env: {}, clock: movingClock() });
    expect(loaded.headers['authorization']).toBe('Bearer from-file');
  });
});

test('the provider of old that gcloud wrote gives its token', async () => {
  const provider = { name: 'gcp', config: { 'access-token': 'a-token', expiry: '2999-01-01T00:00:00Z' } };
  const kubeconfig = folder.write({ server: 'https://a' }, { 'auth-provider': provider });
  const loaded = await loadCredentials(readClusterConfig({ env: {}, kubeconfig }), { env: {}, clock: movingClock() });
  expect(loaded.headers).toEqual({ authorization: 'Bearer a-token' });
});

test.each([
  ['keystone', { name: 'keystone', config: { endpoint: 'https://a' } }],
  ['keystone', { name: 'keystone', config: { tokenFile: '' } }],
  ['', {}],
])('the provider %j is refused: its requests would be anonymous', async (name, provider) => {
  const kubeconfig = folder.write({ server: 'https://a' }, { 'auth-provider': provider });
  const config = readClusterConfig({ env: {}, kubeconfig });
  const error = await loadCredentials(config, { env: {}, clock: movingClock() }).catch((thrown: unknown) => thrown);
  expect(codeOf(error)).toBe('CONFIGURATION');
  expect(messageOf(error)).toContain(`has the auth provider "${name}", which is unknown: `);
});

test('a provider of any name may have a token file', async () => {
  const provider = { name: 'keystone', config: { tokenFile: folder.file('token', 'from-file') } };
  const kubeconfig = folder.write({ server: 'https://a' }, { 'auth-provider': provider });
  const loaded = await loadCredentials(readClusterConfig({ env: {}, kubeconfig }), { env: {}, clock: movingClock() });
  expect(loaded.headers).toEqual({ authorization: 'Bearer from-file' });
});
