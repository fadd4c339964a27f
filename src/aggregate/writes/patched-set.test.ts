/** Patches of sets, compared with the simulator's implementation of the same RFCs. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { jsonPatch } from '../../../sim/patch/json-patch.ts';
import { mergePatch } from '../../../sim/patch/merge-patch.ts';
import { merged, patched } from './patched-set.ts';

const name = fc.constantFrom('a', 'b', 'c~d', 'e/f', '0', '1');
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 1, 'text'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));
const object = fc.dictionary(name, value, { maxKeys: 4 });
const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');
const path = fc
  .array(fc.oneof(name, fc.constantFrom('-', '2')), { maxLength: 3 })
  .map((parts) => parts.map((part) => `/${escaped(part)}`).join(''));
const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
  path,
  from: path,
  value,
});

/** The result of a patch, or its refusal. */
function outcome(patch: () => unknown): unknown {
  try {
    return { made: patch() };
  } catch {
    return 'refused';
  }
}

describe('patches', () => {
  test('a merge patch', () => {
    fc.assert(
      fc.property(object, object, (target, patch) => {
        expect(merged(target, patch)).toEqual(mergePatch(target, patch));
      }),
    );
    expect(() => merged({}, [])).toThrow('a merge patch is an object');
  });

  test('a JSON patch changes nothing that it is given, and makes what the RFC says', () => {
    let fits = 0;
    fc.assert(
      fc.property(object, fc.array(operation, { minLength: 1, maxLength: 3 }), (target, operations) => {
        const before = structuredClone([target, operations]);
        const own = outcome(() => patched(target, operations));
        expect([target, operations]).toEqual(before);
        expect(own).toEqual(outcome(() => jsonPatch(target, operations)));
        if (own !== 'refused') fits += 1;
      }),
      { numRuns: 2000 },
    );
    expect(fits).toBeGreaterThan(100);
  });

  test('the cost of an operation does not grow with the document, and tests of all of it have a bound', () => {
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'v']));
    // With a copy of the document for each operation, these take minutes.
    const many = Object.keys(data)
      .slice(0, 10_000)
      .map((key) => ({ op: 'replace', path: `/data/${key}`, value: 'w' }));
    expect(
      Object.values((patched({ data }, many) as { data: object }).data).filter((each) => each === 'w'),
    ).toHaveLength(10_000);
    const tests = (count: number, value: unknown) => Array(count).fill({ op: 'test', path: '/data', value });
    expect(patched({ data }, tests(20, data))).toEqual({ data });
    expect(() => patched({ data }, tests(100, data))).toThrow('tests too much');
    expect(() => patched({ data: { a: 1 } }, tests(1, {}))).toThrow('rejected our request');
  });

  test('copies that double the document have a bound', () => {
    const copies = Array.from({ length: 60 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/x${index}` }));
    expect(() => patched({ a: { text: 'x'.repeat(100) } }, copies)).toThrow('copies too much');
    expect(() => patched({}, Array(10_001).fill({ op: 'test', path: '', value: {} }))).toThrow(
      'at most 10000 operations',
    );
  });

  test('elements that move have a bound, whatever moves them', () => {
    const x = Array(480_000).fill(1);
    const many = (operation: object) => Array(9000).fill(operation);
    const moved = (operations: object[]): number => {
      const splice = vi.spyOn(Array.prototype, 'splice');
      try {
        expect(() => patched({ x, y: 1 }, operations)).toThrow('moves too much');
        return splice.mock.calls.length * x.length;
      } finally {
        splice.mockRestore();
      }
    };
    for (const operation of [
      { op: 'add', path: '/x/0', value: 1 },
      { op: 'copy', from: '/y', path: '/x/0' },
      { op: 'remove', path: '/x/0' },
      { op: 'move', from: '/x/479999', path: '/x/0' },
    ]) {
      expect(moved(many(operation))).toBeLessThan(21_000_000);
    }
    // At the end of a list nothing moves.
    expect(patched({ x }, many({ op: 'add', path: '/x/-', value: 1 }))).toMatchObject({ x: { length: 489_000 } });
    const short = Array(1000).fill(1);
    expect(patched({ x: short }, many({ op: 'move', from: '/x/999', path: '/x/0' }))).toEqual({ x: short });
  });
});
