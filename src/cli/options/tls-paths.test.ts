import { expect, test } from 'vitest';
import { loadConfig } from '../../config/load-config.ts';
import { tlsPaths } from './tls-paths.ts';

const pathsOf = (flags: Readonly<Record<string, unknown>>) => tlsPaths(loadConfig({ flags, environment: {} }));
const pair = { tlsCert: 'a.crt', tlsKey: 'a.key' };

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['--tls-cert needs --tls-key', { tlsCert: 'a.crt' }],
  ['--tls-key needs --tls-cert', { tlsKey: 'a.key' }],
  ['--auth certificate needs --tls-cert and --tls-key and --client-ca', { auth: 'certificate' }],
  ['--auth certificate needs --client-ca', { ...pair, auth: 'token,certificate' }],
  ['--auth proxy needs --tls-cert and --tls-key and --proxy-client-ca', { auth: 'proxy' }],
  ['--auth proxy needs --proxy-client-ca', { ...pair, auth: 'proxy,certificate', clientCa: 'c.crt' }],
  ['--client-ca needs --auth certificate', { ...pair, auth: 'token', clientCa: 'c.crt' }],
  ['--proxy-client-ca needs --auth proxy', { ...pair, auth: 'certificate', clientCa: 'c.crt', proxyClientCa: 'p.crt' }],
  ['--proxy-client-name needs --auth proxy', { ...pair, auth: 'token', proxyClientName: 'front' }],
])('%s', (message, flags) => {
  expect(() => pathsOf(flags)).toThrow(expect.objectContaining({ code: 'CONFIGURATION', message: `${message}.` }));
});

test('whole options name the files', () => {
  const given = { ...pair, auth: 'certificate,proxy', clientCa: 'c.crt', proxyClientCa: 'p.crt' };
  expect(pathsOf(given)).toEqual({ cert: 'a.crt', key: 'a.key', clientCa: 'c.crt', proxyCa: 'p.crt' });
  expect(pathsOf({ auth: 'token' })).toBeNull();
  expect(pathsOf(pair)).toMatchObject({ cert: 'a.crt', clientCa: undefined });
});
