import { describe, expect, test } from 'vitest';
import { isLoopbackHost, refuseUnlessLoopback } from './loopback.ts';

describe('addresses to listen on', () => {
  test.each(['127.0.0.1', '127.8.9.10', 'localhost', 'LOCALHOST', '::1', '[::1]'])('%s is taken', (host) => {
    expect(() => refuseUnlessLoopback(host)).not.toThrow();
  });

  test.each([
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    '::ffff:10.0.0.1',
    '127.0.0.1.example.com',
    'localhost.example.com',
    'example.com',
    '',
  ])('%j is refused', (host) => {
    expect(() => refuseUnlessLoopback(host)).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION', message: expect.stringContaining('--host 127.0.0.1') }),
    );
  });
});

describe('Host headers', () => {
  test.each(['127.0.0.1', '127.0.0.1:4000', 'localhost:4000', 'LocalHost', '[::1]', '[::1]:4000'])(
    '%s is this machine',
    (header) => expect(isLoopbackHost(header)).toBe(true),
  );

  test.each([
    undefined,
    '',
    'example.com',
    'example.com:4000',
    '127.0.0.1.example.com:4000',
    'localhost.example.com',
    '[::2]:4000',
    '[::1',
    '[::1].example.com',
    '0.0.0.0:4000',
    'a@127.0.0.1',
  ])('%j is not', (header) => expect(isLoopbackHost(header)).toBe(false));
});
