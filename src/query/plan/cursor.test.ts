import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openTestStore, orderTerm, plannedKind, promotedKey, thing } from '../../../test/kit/query-store.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { listPage } from '../read/list.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { everything, type Filter } from './filter.ts';
import { fingerprintOf } from './fingerprint.ts';

const key = fc.oneof(
  fc.constant(null),
  fc.string({ unit: 'grapheme' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const identity = fc.record({
  cluster: fc.string({ unit: 'grapheme' }),
  key: fc.string(),
  namespace: fc.option(fc.string()),
  name: fc.string({ unit: 'grapheme' }),
});

describe('cursors', () => {
  test('come back as they went, 64-bit integers intact', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 4 }), identity, (keys, of) => {
        const text = encodeCursor({ keys, identity: of }, 'print');
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeCursor(text, 'print')).toEqual({ keys, identity: of });
      }),
    );
  });

  test('what is no cursor is refused, and told apart from a foreign one', () => {
    const position = { keys: [1n], identity: { cluster: 'c', key: 'pods', namespace: 'n', name: 'p' } };
    const good = encodeCursor(position, 'print');
    expect(() => decodeCursor(good, 'other')).toThrow(/belongs to another list/);
    const forged = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url');
    for (const bad of [
      '',
      'x',
      '%%%',
      good.slice(0, -4),
      forged(null),
      forged({}),
      forged([1]),
      forged([1, 'print', [{ i: '99999999999999999999' }], 'c', 'k', 'n', 'p']),
      forged([1, 'print', [{ i: '9223372036854775808' }], 'c', 'k', 'n', 'p']),
      forged([1, 'print', [{}], 'c', 'k', 'n', 'p']),
      forged([1, 'print', [true], 'c', 'k', 'n', 'p']),
      forged([1, 'print', 'keys', 'c', 'k', 'n', 'p']),
      forged([1, 'print', [], 'c', 'k', 5, 'p']),
    ]) {
      expect(() => decodeCursor(bad, 'print')).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
      expect(() => decodeCursor(bad, 'print')).toThrow(/is not a cursor/);
    }
  });

  test('any text is refused in order', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeCursor(text, 'print')).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
      }),
    );
  });

  test('a list refuses the cursor of another order or filter, and a forged one', async () => {
    const store = openTestStore([]);
    await store.sync(promotedKey, 'east', [thing({ name: 'a' }), thing({ name: 'b' })]);
    const list = (filter: Filter, size: boolean, after: string | null) =>
      store.read((lease, view) =>
        listPage([{ lease, view }], {
          kinds: [plannedKind(promotedKey)],
          filter,
          orderBy: size ? [orderTerm('spec.size', 'Int64')] : [],
          projection: 'whole',
          page: { direction: 'forward', limit: 1, after },
        }),
      );
    const cursor = (await list(everything, true, null)).rows[0]?.cursor ?? null;
    expect((await list(everything, true, cursor)).rows.map(({ name }) => name)).toEqual(['b']);
    await expect(list(everything, false, cursor)).rejects.toThrow(/another list/);
    await expect(list({ kind: 'clusters', in: ['east'] }, true, cursor)).rejects.toThrow(/another list/);
    const plan = { kinds: [plannedKind(promotedKey)], filter: everything, orderBy: [orderTerm('spec.size', 'Int64')] };
    const short = encodeCursor(
      { keys: [], identity: { cluster: 'east', key: promotedKey, namespace: null, name: 'a' } },
      fingerprintOf(plan),
    );
    await expect(list(everything, true, short)).rejects.toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
    const odd = encodeCursor(
      { keys: ['text'], identity: { cluster: 'east', key: promotedKey, namespace: null, name: 'a' } },
      fingerprintOf(plan),
    );
    expect((await list(everything, true, odd)).rows).toHaveLength(1);
  });
});

describe('fingerprints', () => {
  const plan = { kinds: [plannedKind('pods')], filter: everything, orderBy: [orderTerm('spec.size', 'Int64')] };

  test('differ with kinds, filter and order', () => {
    const prints = [
      plan,
      { ...plan, kinds: [plannedKind('nodes')] },
      { ...plan, filter: { kind: 'exists', path: parsePath('a.b') } as const },
      { ...plan, filter: { kind: 'exists', path: parsePath('a.c') } as const },
      { ...plan, orderBy: [] },
      { ...plan, orderBy: [orderTerm('spec.size', 'Int')] },
      { ...plan, orderBy: [orderTerm('spec.size', 'Int64', 'DESC')] },
      { ...plan, orderBy: [orderTerm('spec.size', 'Int64', 'ASC', 'FIRST')] },
    ].map(fingerprintOf);
    expect(new Set(prints).size).toBe(prints.length);
  });

  test('do not depend on the order of members, nor on values that JSON does not know', () => {
    const compare = {
      kind: 'compare',
      path: parsePath('a'),
      type: 'Int64',
      operator: 'eq',
      values: [2n ** 60n],
      ignoreCase: false,
    } as const;
    const { ignoreCase, values, operator, type, path, kind } = compare;
    expect(fingerprintOf({ ...plan, filter: compare })).toBe(
      fingerprintOf({ ...plan, filter: { ignoreCase, values, operator, type, path, kind } }),
    );
  });
});
