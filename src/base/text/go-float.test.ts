import { expect, test } from 'vitest';
import { goFloat } from './go-float.ts';

test.each([
  [0, '0'],
  [-0.5, '-0.5'],
  [0.0001, '0.0001'],
  [0.000099, '9.9e-05'],
  [-999999.5, '-999999.5'],
  [1e6, '1e+06'],
  [-1234567.5, '-1.2345675e+06'],
  [1e21, '1e+21'],
  [5e-324, '5e-324'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
])('%d is %s', (float, text) => expect(goFloat(float.toExponential())).toBe(text));
