import { expect, test } from 'vitest';
import { chosenPlaces, withoutChosen } from './chosen-values.ts';

test('the values that differ between two dry runs, and the object without them', () => {
  const made = (ip: string, port: number) => ({
    metadata: { name: 'a', uid: ip },
    spec: { clusterIP: ip, ports: [{ port: 80, nodePort: port }], list: [ip].slice(port % 2), none: null },
  });
  const [one, other] = [made('10.0.0.7', 30_000), made('10.0.0.9', 30_001)];
  const places = chosenPlaces(one, other);
  expect(places).toEqual([
    ['spec', 'clusterIP'],
    ['spec', 'ports', 0, 'nodePort'],
    ['spec', 'list'],
  ]);
  expect(withoutChosen(one, places)).toEqual({
    ...one,
    spec: { clusterIP: null, ports: [{ port: 80, nodePort: null }], list: null, none: null },
  });
  expect(chosenPlaces(one, structuredClone(one))).toEqual([]);
});

test('a value is compared once, not once for each level around it', () => {
  let reads = 0;
  const leaf = (value: string) => ({
    get value() {
      reads += 1;
      return value;
    },
  });
  const deep = (value: string) => Array.from({ length: 90 }).reduce<object>((inner) => ({ inner }), leaf(value));
  expect(chosenPlaces({ spec: deep('a') }, { spec: deep('b') })).toHaveLength(1);
  expect(reads).toBeLessThan(10);
});
