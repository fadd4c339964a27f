import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../request/write-intent.ts';
import { fieldChanges, pathOfChange, type ValueChange } from './field-changes.ts';
import { ownersOf } from './field-owners.ts';
import { isWithheld, revealed, sealedText, visible, withhold, withholdLeaves } from './withheld-values.ts';

const shown = (changes: readonly ValueChange[]) =>
  changes.map(({ steps, before, after }) => [pathOfChange(steps), before ?? null, after ?? null]);

test('fields, elements by their names, added and removed values', () => {
  const container = (name: string, image: string) => ({ name, image });
  const before = {
    metadata: { name: 'web', resourceVersion: '7', labels: { app: 'web' } },
    spec: { replicas: 2, containers: [container('app', 'a'), container('side', 'b')], args: ['x'] },
    status: { replicas: 2 },
  };
  const after = {
    metadata: { name: 'web', resourceVersion: '9', labels: { app: 'web', tier: 'front' } },
    spec: { replicas: 3, containers: [container('app', 'c'), container('new', 'd')], args: ['x', 'y'] },
    status: { replicas: 3 },
  };
  expect(shown(fieldChanges(before, after))).toEqual([
    ['metadata.labels.tier', null, 'front'],
    ['spec.args', ['x'], ['x', 'y']],
    ['spec.containers[name=app].image', 'a', 'c'],
    ['spec.containers[name=new]', null, container('new', 'd')],
    ['spec.containers[name=side]', container('side', 'b'), null],
    ['spec.replicas', 2, 3],
  ]);
  expect(shown(fieldChanges(before, after, { withStatus: true })).at(-1)).toEqual(['status.replicas', 2, 3]);
  expect(shown(fieldChanges(before, after, { wholeLists: true })).map(([path]) => path)).toContain('spec.containers');
});

test('another order of elements is a change of the list', () => {
  const env = (...names: string[]) => ({ spec: { env: names.map((name) => ({ name, value: name })) } });
  expect(shown(fieldChanges(env('A', 'B'), env('B', 'A')))).toEqual([['spec.env', ['A', 'B'], ['B', 'A']]]);
  expect(fieldChanges(env('A', 'B'), env('A', 'B'))).toEqual([]);
});

test('what each write changes by itself is no change of a new object either', () => {
  const made = { kind: 'ConfigMap', metadata: { name: 'a', uid: 'u', creationTimestamp: 't', generation: 1 } };
  expect(shown(fieldChanges(null, made))).toEqual([
    ['kind', null, 'ConfigMap'],
    ['metadata.name', null, 'a'],
  ]);
});

const leaf = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', ''), fc.boolean());
const names = fc.constantFrom('a', 'b', 'name', 'x.y', 'status');
const tree = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, tie('object'), fc.array(tie('value'), { maxLength: 3 })),
  object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
}));

/** The object with these changes. Elements are found by their key, as a reader of the paths finds them. */
function changed(value: unknown, steps: ValueChange['steps'], after: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return after;
  if (step.kind === 'member') {
    const object = { ...(value as Record<string, unknown>) };
    const next = changed(object[step.name], rest, after);
    if (next === undefined) delete object[step.name];
    else object[step.name] = next;
    return object;
  }
  const list = [...((value ?? []) as unknown[])];
  const { key } = step;
  const isIt = (item: unknown) => key !== null && String((item as Record<string, unknown>)[key.name]) === key.value;
  const at = key === null ? step.index : list.findIndex(isIt);
  const next = changed(at === -1 ? undefined : list[at], rest, after);
  if (next === undefined) list.splice(at, 1);
  else if (at === -1) list.push(next);
  else list[at] = next;
  return list;
}

/** The order of matched elements is a change of its own, so lists are compared as sets here. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unordered).toSorted((a, b) => (sealedText(a) < sealedText(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unordered(inner)]));
}

test('the changes, applied to the object before, give the object after', () => {
  fc.assert(
    fc.property(tree.object, tree.object, (before, after) => {
      const changes = fieldChanges(before, after, { withStatus: true });
      const isOrder = ({ steps, before: from, after: to }: ValueChange) =>
        Array.isArray(from) &&
        Array.isArray(to) &&
        changes.some(
          (other) =>
            other.steps.length > steps.length && sealedText(other.steps.slice(0, steps.length)) === sealedText(steps),
        );
      const made = changes
        .filter((change) => !isOrder(change))
        .reduce<unknown>((value, { steps, after: to }) => changed(value, steps, to), before);
      const same = sealedText(unordered(made)) === sealedText(unordered(after));
      // A pure change of order leaves names in the place of elements.
      const isPureOrder = changes.length > 0 && sealedText(unordered(before)) === sealedText(unordered(after));
      expect(same || isPureOrder).toBe(true);
      expect(changes.length === 0).toBe(sealedText(before) === sealedText(after));
    }),
    { numRuns: 2000 },
  );
});

test('owners are found by member, by key of an element, and above what is atomic', () => {
  const live = {
    metadata: {
      managedFields: [
        { manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:selector': {} } } },
        {
          manager: 'images',
          fieldsV1: { 'f:spec': { 'f:containers': { 'k:{"name":"app"}': { '.': {}, 'f:image': {} } } } },
        },
      ],
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      containers: [
        { name: 'app', image: 'a' },
        { name: 'b', image: 'b' },
      ],
    },
  };
  const after = {
    ...live,
    spec: {
      replicas: 2,
      selector: { matchLabels: { a: 'c' } },
      containers: [
        { name: 'app', image: 'x' },
        { name: 'b', image: 'y' },
      ],
    },
  };
  const owners = fieldChanges(live, after).map(({ steps }) => [pathOfChange(steps), ownersOf(live, steps)]);
  expect(owners).toEqual([
    ['spec.containers[name=app].image', ['images']],
    ['spec.containers[name=b].image', []],
    ['spec.replicas', ['kubectl']],
    ['spec.selector.matchLabels.a', ['kubectl']],
  ]);
  expect(ownersOf(null, fieldChanges(live, after)[0]?.steps ?? [])).toEqual([]);
});

test('a redacted value is compared and never shown', () => {
  const secret = (pin: string, last: string): Json => ({
    metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': last } },
    data: { pin },
    items: [{ token: pin, name: 'a' }],
  });
  const redacted = ['data', 'items[].token'];
  const [before, after] = [
    withhold(secret('MTIzNA==', 'old-1234'), redacted),
    withhold(secret('OTk5OQ==', 'new-9999'), redacted),
  ];
  const changes = fieldChanges(before, after);
  expect(changes.map(({ steps }) => pathOfChange(steps))).toEqual([
    'data',
    'items[name=a].token',
    'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]',
  ]);
  expect(changes.every((change) => isWithheld(change.before) && isWithheld(change.after))).toBe(true);
  const text = JSON.stringify([changes, changes.map((change) => visible(change.after)), visible(before)]);
  for (const value of ['MTIz', 'OTk5', '1234', '9999']) expect(text).not.toContain(value);
  expect(fieldChanges(before, withhold(secret('MTIzNA==', 'old-1234'), redacted))).toEqual([]);
});

test('a redacted path in another one changes nothing', () => {
  const object = { data: { pin: { code: '1' }, list: ['2'] }, type: 'x' };
  const redacted = ['data', 'data.pin', 'data.list[]'];
  for (const each of [withhold(object, redacted), withholdLeaves(object, redacted)]) {
    expect(revealed(each)).toEqual(object);
    expect(JSON.stringify(visible(each))).not.toMatch(/[12]/);
  }
});
