import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rawJson } from '../../catalog/values/raw-json.ts';
import { ObjectWords } from './object-words.ts';
import { planDiff, planSummary } from './plan-text.ts';
import type { FieldChange, WriteItem } from './written-items.ts';

const target = {
  cluster: 'east',
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  place: null,
};
const change = (path: string, before: unknown, after: unknown, more: Partial<FieldChange> = {}): FieldChange => ({
  path,
  before,
  after,
  isWithheld: false,
  managers: [],
  ...more,
});
const itemOf = (result: WriteItem['result'], changes: readonly FieldChange[], after: unknown = null): WriteItem => ({
  target,
  result,
  after,
  changes: [...changes],
  warnings: [],
  errors: [],
  seen: false,
});

function diff(...items: readonly WriteItem[]): readonly string[] {
  const parts = planDiff(items, new ObjectWords(items, []));
  return parts
    .map(({ text }) => text)
    .join('')
    .split('\n')
    .slice(0, -1);
}

test('a hunk for each field, with its owners', () => {
  const changes = [
    change('spec.replicas', 2, 3, { managers: ['hpa', 'kubectl'] }),
    change('metadata.labels.tier', null, 'web'),
    change('spec.paused', true, null),
    change('spec.size', rawJson('9007199254740993'), rawJson('1.5')),
    change('spec.text', '3', 3),
  ];
  expect(diff(itemOf('CHANGED', changes))).toEqual([
    '--- deployment.apps/web in shop',
    '+++ deployment.apps/web in shop',
    '@@ -1 +1 @@ spec.replicas, owned by hpa, kubectl',
    '-2',
    '+3',
    '@@ -0,0 +1 @@ metadata.labels.tier',
    '+web',
    '@@ -1 +0,0 @@ spec.paused',
    '-true',
    '@@ -1 +1 @@ spec.size',
    '-9007199254740993',
    '+1.5',
    '@@ -1 +1 @@ spec.text',
    '-"3"',
    '+3',
  ]);
});

test('withheld values are shown as such, beside what is not withheld', () => {
  const hidden = { isWithheld: true };
  const changes = [change('data', null, null, hidden), change('spec', { a: 1 }, { a: 2 }, hidden)];
  expect(diff(itemOf('CHANGED', changes)).slice(2)).toEqual([
    '@@ -1 +1 @@ data',
    '-(withheld)',
    '+(withheld)',
    '@@ -1,2 +1,2 @@ spec',
    '-a: 1',
    '+a: 2',
    '-(withheld)',
    '+(withheld)',
  ]);
});

test('a new object is one hunk without what the server makes; a deleted one has its titles only', () => {
  const after = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pin', uid: 'u', resourceVersion: '1', creationTimestamp: 'now' },
    type: 'Opaque',
    status: { phase: 'New' },
  };
  const created = itemOf(
    'CREATED',
    [change('type', null, 'Opaque'), change('data', null, null, { isWithheld: true })],
    after,
  );
  expect(diff(created, itemOf('DELETED', [change('spec', {}, null)]), itemOf('UNCHANGED', []))).toEqual([
    '--- /dev/null',
    '+++ deployment.apps/web in shop',
    '@@ -0,0 +1,6 @@',
    '+apiVersion: v1',
    '+kind: Secret',
    '+metadata:',
    '+  name: pin',
    '+type: Opaque',
    '+data: (withheld)',
    '--- deployment.apps/web in shop',
    '+++ /dev/null',
  ]);
});

test('texts that differ in their last line break alone are shown as YAML', () => {
  expect(diff(itemOf('CHANGED', [change('data.a', 'x\ny', 'x\ny\n')])).slice(2)).toEqual([
    '@@ -1,3 +1,3 @@ data.a',
    '-|-',
    '+|',
    ' x',
    ' y',
  ]);
});

/** Applies hunks as `patch` does: strictly by their line numbers. */
function patched(before: readonly string[], hunkLines: readonly string[]): readonly string[] {
  const after: string[] = [];
  let at = 0;
  for (const line of hunkLines) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (header !== null) {
      const [first, count] = [Number(header[1]), Number(header[2] ?? 1)];
      const start = count === 0 ? first : first - 1;
      after.push(...before.slice(at, start));
      at = start;
      const firstAfter = Number(header[3]) - (header[4] === '0' ? 0 : 1);
      expect(after).toHaveLength(firstAfter);
    } else if (line.startsWith('+')) after.push(line.slice(1));
    else {
      expect(before[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) after.push(line.slice(1));
      at += 1;
    }
  }
  return [...after, ...before.slice(at)];
}

test('the hunks of a long text lead from the one to the other', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', '', '@@ c', '-d'), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      fc.pre(before.join() !== after.join());
      const shown = diff(
        itemOf('CHANGED', [change('data.a', `${before.join('\n')}\nend\n`, `${after.join('\n')}\nend\n`)]),
      );
      expect(patched([...before, 'end'], shown.slice(2))).toEqual([...after, 'end']);
    }),
    { numRuns: 300 },
  );
});

test('the summary counts what would be done', () => {
  expect(planSummary([])).toBe('Nothing to do.');
  expect(planSummary([itemOf('CREATED', []), itemOf('UNCHANGED', []), itemOf('NONE', []), itemOf('CREATED', [])])).toBe(
    '2 to create, 1 unchanged, 1 impossible.',
  );
});

test('objects are named with what tells them apart', () => {
  const other = { ...target, namespace: 'media' };
  const items = [itemOf('CHANGED', []), { ...itemOf('CHANGED', []), target: other }];
  expect(new ObjectWords(items.slice(1), []).name(other)).toBe('deployment.apps/web');
  expect(new ObjectWords(items, []).name(other)).toBe('deployment.apps/web in media');
  const west = { ...target, cluster: 'west', apiVersion: 'v1', kind: 'Node', namespace: null };
  const both = new ObjectWords([...items, { ...itemOf('CHANGED', []), target: west }], ['a.yaml']);
  expect(both.fullName(west)).toBe('node/web of west');
  expect(both.source({ ...west, place: 'docs[0], line 3' })).toBe(' (a.yaml, line 3)');
});
