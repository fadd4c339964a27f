import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ipKey, ipOfKey } from './ip.ts';

test.each([
  ['10.0.0.1', '40a000001'],
  ['255.255.255.255', '4ffffffff'],
  ['::', `6${'0'.repeat(32)}`],
  ['::1', `6${'0'.repeat(31)}1`],
  ['2001:DB8::8a2e:370:7334', '620010db800000000000' + '08a2e03707334'],
  ['::ffff:10.0.0.1', '600000000000000000000ffff0a000001'],
  ['fe80::1%eth0', '6fe800000000000000000000000000001%eth0'],
])('%s has the key %s', (text, key) => {
  expect(ipKey(text)).toBe(key);
});

test.each([
  '',
  'None',
  '10.0.0',
  '10.0.0.256',
  '010.0.0.1',
  '1.2.3.4.5',
  ':',
  ':::',
  '1::2::3',
  '12345::',
  'g::',
  '1:2:3:4:5:6:7',
  '::%',
  'a::%x%y',
  '1.2.3.4::',
])('%j is no address', (text) => {
  expect(ipKey(text)).toBeNull();
});

test('every address that Node knows has a key, and the key gives the same address back', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const key = ipKey(text);
      expect(key?.[0]).toBe(String(isIP(text)));
      expect(ipKey(ipOfKey(key ?? ''))).toBe(key);
    }),
  );
});

test('addresses are written in their shortest form', () => {
  expect(ipOfKey(ipKey('2001:0db8:0:0:1:0:0:1') ?? '')).toBe('2001:db8::1:0:0:1');
  expect(ipOfKey(ipKey('0:0:0:0:0:0:0:0') ?? '')).toBe('::');
  expect(ipOfKey(ipKey('1:0:2:3:4:5:6:7') ?? '')).toBe('1:0:2:3:4:5:6:7');
});
