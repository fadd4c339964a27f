import { describe, expect, test } from 'vitest';
import { proxyFromEnvironment } from './environment-proxy.ts';

const proxied = (server: string, env: NodeJS.ProcessEnv): string | undefined =>
  proxyFromEnvironment(new URL(server), env);

describe('proxyFromEnvironment', () => {
  test('takes the variable of the scheme, in capitals first, and completes it', () => {
    const env = { HTTPS_PROXY: 'https://p:1', https_proxy: 'http://q:1', http_proxy: 'r:3128' };
    expect(proxied('https://api.example:6443', env)).toBe('https://p:1');
    expect(proxied('http://api.example', env)).toBe('http://r:3128');
    expect(proxied('http://api.example', { HTTPS_PROXY: 'http://p' })).toBeUndefined();
    expect(proxied('https://api.example', { HTTPS_PROXY: ' ' })).toBeUndefined();
  });

  test.each(['https://localhost:6443', 'https://127.0.0.1:6443', 'https://127.9.9.9', 'https://[::1]:6443'])(
    'reaches %s straight',
    (server) => {
      expect(proxied(server, { HTTPS_PROXY: 'http://p' })).toBeUndefined();
    },
  );

  test.each([
    ['*', 'https://api.example', true],
    ['api.example', 'https://api.example', true],
    ['API.example', 'https://api.EXAMPLE', true],
    ['example', 'https://api.example', true],
    ['.example', 'https://api.example', true],
    ['*.example', 'https://api.example', true],
    ['.api.example', 'https://api.example', false],
    ['pi.example', 'https://api.example', false],
    ['other, api.example ,', 'https://api.example', true],
    ['api.example:6443', 'https://api.example:6443', true],
    ['api.example:6443', 'https://api.example:443', false],
    ['api.example:443', 'https://api.example', true],
    ['10.0.0.0/8', 'https://10.1.2.3:6443', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/8', 'https://api.example', false],
    ['10.0.0.0/x', 'https://10.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.1.2.3:6443', 'https://10.1.2.3:6443', true],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['fd00::1', 'https://[fd00::1]', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]', false],
    ['', 'https://api.example', false],
  ])('NO_PROXY=%s for %s: %s', (rule, server, exempt) => {
    const env = { HTTPS_PROXY: 'http://p', NO_PROXY: rule };
    expect(proxied(server, env)).toBe(exempt ? undefined : 'http://p');
  });
});
