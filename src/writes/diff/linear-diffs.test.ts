/** The work of a comparison grows with the objects, and its results are those of a plain algorithm that looks at every pair. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isRecord, parsedJson } from '../../base/json.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';
import { type ChangeStep, fieldChanges, pathOfChange } from './field-changes.ts';
import { ownersOf } from './field-owners.ts';
import { isOpenObject, sealedText } from './withheld-values.ts';

/** Elements of lists that `indexOf` and `includes` may have looked through. */
function lookedThrough(work: () => void): number {
  let count = 0;
  const { indexOf, includes } = Array.prototype;
  const spies = [
    vi.spyOn(Array.prototype, 'indexOf').mockImplementation(function (this: unknown[], ...args) {
      count += this.length;
      return indexOf.apply(this, args);
    }),
    vi.spyOn(Array.prototype, 'includes').mockImplementation(function (this: unknown[], ...args) {
      count += this.length;
      return includes.apply(this, args);
    }),
  ];
  try {
    work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return count;
}

describe('field changes', () => {
  test('a long list of elements is looked through a few times, not once for each element', () => {
    const env = Array.from({ length: 3000 }, (_, index) => ({ name: `n${index}` }));
    let count = 0;
    const looked = lookedThrough(() => {
      count = fieldChanges({ spec: { env } }, { spec: { env: [...env, { name: 'zz' }].toReversed() } }).length;
    });
    expect(count).toBe(2);
    expect(looked).toBeLessThan(10 * env.length);
  });

  test('a value in lists in lists is read once, not once for each list around it', () => {
    let reads = 0;
    const leaf = (value: string) => ({
      name: 'x',
      get value() {
        reads += 1;
        return value;
      },
    });
    const deep = (value: string) =>
      Array.from({ length: 80 }).reduce<object>((inner) => ({ name: 'x', list: [inner] }), leaf(value));
    expect(fieldChanges({ spec: deep('a') }, { spec: deep('b') })).toHaveLength(1);
    expect(reads).toBeLessThan(10);
  });

  test('the paths of many changes are made once each', () => {
    const data = (value: string) =>
      Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${(index * 7919) % 2000}`, value]));
    const freeze = vi.spyOn(Object, 'freeze');
    expect(fieldChanges({ data: data('a') }, { data: data('b') })).toHaveLength(2000);
    // Each path is frozen, with its steps.
    const made = freeze.mock.calls.length;
    freeze.mockRestore();
    expect(made).toBeLessThanOrEqual(4000);
  });

  test('the paths below a long name do not repeat it without end', () => {
    const count = 2000;
    const long = 'n'.repeat(20_000);
    const members = (value: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
    const elements = (value: string) => Array.from({ length: count }, (_, index) => ({ name: `k${index}`, value }));
    const object = (value: string) => ({
      members: { [long]: members(value) },
      elements: { [long]: elements(value) },
      below: [{ name: long, list: elements(value), replicas: value }],
      short: members(value),
    });
    const changes = fieldChanges(object('a'), object('b'));
    const paths = changes.map(({ steps }) => pathOfChange(steps));
    expect(paths.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1_000_000);
    expect(changes).toHaveLength(4 + count);
    expect(changes.find(({ steps }) => steps[0]?.kind === 'member' && steps[0].name === 'members')).toMatchObject({
      before: members('a'),
      after: members('b'),
    });
    expect(fieldChanges(object('a'), object('a'))).toEqual([]);
    // A merge patch of a whole object would not take members away.
    expect(fieldChanges({ [long]: members('a') }, { [long]: members('b') }, { wholeLists: true })).toHaveLength(count);
  });

  const key = fc.constantFrom<string | number>('a', 'b', 'c', 1, 2, '1');
  const { value } = fc.letrec<{ value: unknown }>((tie) => {
    const element = fc.record(
      { name: key, type: key, port: key, inner: tie('value') },
      { requiredKeys: [], noNullPrototype: true },
    );
    return {
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('x', 'y', 1, null, true),
        fc.array(element, { maxLength: 4 }),
        fc.array(key, { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'name', 'x.y', 'status'), tie('value'), { maxKeys: 3 }),
      ),
    };
  });
  const object = fc.dictionary(fc.constantFrom('spec', 'metadata', 'status'), value, { maxKeys: 3 });

  test('they are those of a comparison of every pair, in the same order', () => {
    fc.assert(
      fc.property(object, object, fc.boolean(), (before, after, wholeLists) => {
        expect(fieldChanges(before, after, { withStatus: true, wholeLists })).toEqual(
          changesByPairs(before, after, wholeLists),
        );
      }),
      { numRuns: 3000 },
    );
  });
});

describe('owners', () => {
  const count = 2000;
  const env = (value: string) =>
    Array.from({ length: count }, (_, index) => ({ name: `n${index}`, value, protocol: 'TCP' }));
  const owned = (names: (name: string) => string, below: object = { '.': {}, 'f:value': {} }) =>
    Object.fromEntries(env('a').map(({ name }) => [names(name), below]));

  test.each([
    ['by the keys of elements', owned((name) => `k:{"name":"${name}"}`), count],
    ['by keys of which elements lack one', owned((name) => `k:{"missing":1,"name":"${name}","protocol":"TCP"}`), count],
    ['by keys of other elements', owned((name) => `k:{"protocol":"UDP","other":"${name}"}`), 0],
    ['by other values', owned((name) => `v:"${name}"`), 0],
  ])('the names of a set are read once: %s', (_what, set, found) => {
    let listed = 0;
    const watched = new Proxy(set, {
      ownKeys: (target) => {
        listed += 1;
        return Reflect.ownKeys(target);
      },
    });
    const live = {
      metadata: { managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:env': watched } } }] },
      spec: { env: env('a') },
    };
    const changes = fieldChanges(live, { ...live, spec: { env: env('b') } });
    expect(changes).toHaveLength(count);
    const [parse, stringify] = [vi.spyOn(JSON, 'parse'), vi.spyOn(JSON, 'stringify')];
    const owners = changes.flatMap(({ steps }) => ownersOf(live, steps));
    const [parsed, written] = [parse.mock.calls.length, stringify.mock.calls.length];
    for (const spy of [parse, stringify]) spy.mockRestore();
    expect(owners).toHaveLength(found);
    expect(listed).toBeLessThanOrEqual(2);
    expect(parsed).toBeLessThanOrEqual(count);
    expect(written).toBeLessThan(20 * count);
  });

  test('an element with many changed fields is looked for once', () => {
    const many = (value: string) => Object.fromEntries(env(value).map(({ name }) => [name, value]));
    const live = {
      metadata: {
        managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:env': owned((name) => `v:"${name}"`) } } }],
      },
      spec: { env: [{ name: 'a', many: many('a') }] },
    };
    const changes = fieldChanges(live, { ...live, spec: { env: [{ name: 'a', many: many('b') }] } });
    expect(changes).toHaveLength(count);
    const stringify = vi.spyOn(JSON, 'stringify');
    for (const { steps } of changes) ownersOf(live, steps);
    const written = stringify.mock.calls.length;
    stringify.mockRestore();
    expect(written).toBeLessThan(10);
  });

  const part = fc.constantFrom<string | number>('a', 'b', 1);
  const element = fc.record({ name: part, port: part, protocol: part }, { requiredKeys: [] });
  const name = fc.oneof(
    fc.constantFrom('f:name', 'f:port', 'f:list', 'f:x', '.', 'i:0', 'i:1', 'k:[', 'k:1'),
    part.map((each) => `v:${JSON.stringify(each)}`),
    element.map((each) => `v:${JSON.stringify(each)}`),
    element.map((each) => `k:${JSON.stringify(each)}`),
  );
  const { set } = fc.letrec<{ set: object }>((tie) => ({
    set: fc.dictionary(name, fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('set')), { maxKeys: 5 }),
  }));
  const step = fc.oneof(
    fc.record({ kind: fc.constant('member' as const), name: fc.constantFrom('name', 'port', 'list', 'x') }),
    fc.record({
      kind: fc.constant('element' as const),
      index: fc.nat({ max: 2 }),
      key: fc.oneof(
        fc.constant(null),
        fc.record({ name: fc.constantFrom('name', 'port'), value: fc.constantFrom('a', 'b', '1') }),
      ),
      element: fc.oneof(element, part),
    }),
  );

  test('they are those of a look at every name', () => {
    let some = 0;
    fc.assert(
      fc.property(
        fc.array(set, { minLength: 1, maxLength: 2 }),
        fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
        (sets, all) => {
          const managedFields = sets.map((fieldsV1, index) => ({ manager: `m${index}`, fieldsV1 }));
          for (const steps of all) {
            const found = ownersOf({ metadata: { managedFields } }, steps);
            expect(found).toEqual(sets.flatMap((each, index) => (ownsByNames(each, steps) ? [`m${index}`] : [])));
            some += found.length;
          }
        },
      ),
      { numRuns: 5000 },
    );
    expect(some).toBeGreaterThan(500);
  });
});

type Json = Readonly<Record<string, unknown>>;
interface Change {
  readonly steps: readonly ChangeStep[];
  readonly before: unknown;
  readonly after: unknown;
}

const elementKeys = ['name', 'type', 'key', 'containerPort', 'port'];

/** The changes by a comparison of each element with each other. */
function changesByPairs(left: Json, right: Json, wholeLists: boolean): readonly Change[] {
  const changes: Change[] = [];
  const ofServer = /^metadata\.(managedFields|resourceVersion|generation|uid|creationTimestamp|selfLink)$/;
  const visit = (before: unknown, after: unknown, steps: readonly ChangeStep[]): void => {
    if (ofServer.test(pathOfChange(steps))) return;
    if (isOpenObject(before) && isOpenObject(after)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
        visit(memberOf(before, name), memberOf(after, name), [...steps, { kind: 'member', name }]);
      }
      return;
    }
    const isMetadata = steps.length === 1 && pathOfChange(steps) === 'metadata';
    if (isMetadata && (before === undefined || after === undefined)) {
      visit(before ?? {}, after ?? {}, steps);
      return;
    }
    if (sealedText(before) === sealedText(after)) return;
    if (!wholeLists && Array.isArray(before) && Array.isArray(after) && visitElements(before, after, steps)) return;
    changes.push({ steps, before, after });
  };
  const visitElements = (
    before: readonly unknown[],
    after: readonly unknown[],
    steps: readonly ChangeStep[],
  ): boolean => {
    const tellsApart = (elements: readonly unknown[], name: string) => {
      const values = elements.map((each) => (isOpenObject(each) ? memberOf(each, name) : undefined));
      const isText = values.every((each) => typeof each === 'string' || typeof each === 'number');
      return isText && new Set(values.map(String)).size === elements.length;
    };
    const name = elementKeys.find((each) => tellsApart(before, each) && tellsApart(after, each));
    if (name === undefined) {
      if (before.length !== after.length || ![...before, ...after].every(isOpenObject)) return false;
      for (const [index, element] of before.entries()) {
        visit(element, after[index], [...steps, { kind: 'element', index, key: null, element }]);
      }
      return true;
    }
    const [left, right] = [before, after].map((list) => list.map((each) => String((each as Json)[name]))) as [
      string[],
      string[],
    ];
    for (const value of new Set([...left, ...right])) {
      const [at, to] = [left.indexOf(value), right.indexOf(value)];
      const element = at === -1 ? after[to] : before[at];
      const step: ChangeStep = { kind: 'element', index: at === -1 ? to : at, key: { name, value }, element };
      visit(at === -1 ? undefined : before[at], to === -1 ? undefined : after[to], [...steps, step]);
    }
    const orderBefore = left.filter((value) => right.includes(value));
    const orderAfter = right.filter((value) => left.includes(value));
    if (orderBefore.join('\n') !== orderAfter.join('\n'))
      changes.push({ steps, before: orderBefore, after: orderAfter });
    return true;
  };
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    visit(memberOf(left, name), memberOf(right, name), [{ kind: 'member', name }]);
  }
  return changes.toSorted((a, b) => (pathOfChange(a.steps) < pathOfChange(b.steps) ? -1 : 1));
}

/** Does a set own the field, by a look at each of its names? */
function ownsByNames(set: unknown, steps: readonly ChangeStep[]): boolean {
  if (!isRecord(set)) return false;
  const [step, ...rest] = steps;
  if (step === undefined) return true;
  const fitting = Object.entries(set).find(([name]) => fits(name, step));
  if (fitting === undefined) return false;
  const [, below] = fitting;
  return rest.length === 0 || !isRecord(below) || Object.keys(below).length === 0 || ownsByNames(below, rest);
}

function fits(name: string, step: ChangeStep): boolean {
  const value = name.slice(2);
  if (step.kind === 'member') return name.startsWith('f:') && value === step.name;
  if (name.startsWith('i:')) return value === String(step.index);
  if (name.startsWith('v:')) return value === JSON.stringify(step.element);
  if (!name.startsWith('k:')) return false;
  const keys = parsedJson(value);
  if (!isRecord(keys) || !isObject(step.element)) return false;
  const { element } = step;
  return Object.entries(keys).every(([key, wanted]) => {
    const found = memberOf(element, key);
    return found === undefined ? key !== step.key?.name : JSON.stringify(found) === JSON.stringify(wanted);
  });
}
