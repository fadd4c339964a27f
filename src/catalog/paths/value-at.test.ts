import { describe, expect, test } from 'vitest';
import { parsePath, pathOf } from '../tree/path.ts';
import { parseExact } from '../values/values.ts';
import { valueAt, valuesAt } from './value-at.ts';

const body = parseExact(`{
  "metadata": { "labels": { "app.kubernetes.io/name": "x" }, "n": null },
  "spec": { "list": [{ "name": "a", "port": 80, "tags": ["p", "q"] }, { "name": "b", "on": true, "big": 9007199254740993 }, 5, null] },
  "status": "done"
}`);

describe('valueAt', () => {
  test.each<[string, unknown]>([
    ['status', 'done'],
    ['metadata.labels["app.kubernetes.io/name"]', 'x'],
    ['metadata.n', null],
    ['metadata.n.x', undefined],
    ['metadata.none', undefined],
    ['metadata.labels.toString', undefined],
    ['metadata["constructor"]', undefined],
    ['spec.list[0].port', 80],
    ['spec.list[9].port', undefined],
    ['spec.list[name=b].on', true],
    ['spec.list[port=80].name', 'a'],
    ['spec.list[on=true].name', 'b'],
    ['spec.list[big=9007199254740993].name', 'b'],
    ['spec.list[name=c].on', undefined],
    ['spec.list.length', undefined],
    ['spec[0]', undefined],
    ['status[0]', undefined],
    ['status.length', undefined],
    ['spec.list[1].big.rawJSON', undefined],
  ])('%s', (path, expected) => {
    expect(valueAt(body, parsePath(path))).toEqual(expected);
  });

  test('gives the body itself at the empty path', () => {
    expect(valueAt(body, pathOf([]))).toBe(body);
  });
});

describe('valuesAt', () => {
  test.each<[string, unknown[]]>([
    ['spec.list[].name', ['a', 'b']],
    ['spec.list[].tags[]', ['p', 'q']],
    ['spec.list[].tags', [['p', 'q']]],
    ['spec.list[name=a].tags[]', ['p', 'q']],
    ['status', ['done']],
    ['metadata.n', [null]],
    ['metadata.none', []],
    ['status[]', []],
  ])('%s', (path, expected) => {
    expect(valuesAt(body, parsePath(path))).toEqual(expected);
  });

  test('takes lists of any length', () => {
    const many = Array.from({ length: 200_000 }, (_, i) => i);
    expect(valuesAt({ many }, parsePath('many[]')).length).toBe(200_000);
  });
});
