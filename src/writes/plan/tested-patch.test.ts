import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPatch } from '../../../sim/patch/json-patch.ts';
import { withhold } from '../diff/withheld-values.ts';
import type { Json, WriteAction } from '../request/write-intent.ts';
import { testedPatch } from './tested-patch.ts';

const resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const target = { cluster: 'a', resource, namespace: 'b', name: 'c', place: null };
const merge = (patch: unknown): WriteAction => ({ verb: 'patch', format: 'MERGE', patch, subresource: null });

/** The operations of the patch with its tests; null without one. */
function operationsOf(
  before: Json | null,
  after: Json | null,
  action: WriteAction = merge({}),
): readonly unknown[] | null {
  const intent = { target, action, preconditions: { uid: null, resourceVersion: null } };
  const sent = testedPatch(intent, null, {
    before: withhold(before, ['spec.pin']),
    after: withhold(after, ['spec.pin']),
  });
  if (sent === null || sent.action.verb !== 'patch') return null;
  return [...(sent.preconditions.tests ?? []), ...(sent.action.patch as readonly unknown[])];
}

const values = fc.oneof(
  fc.constantFrom('a', 'b', '', 1, 2, true),
  fc.dictionary(fc.constantFrom('x', 'y', '/~'), fc.integer()),
);
const members = fc.dictionary(fc.constantFrom('pin', 'a/b', '~', 'c'), values);
const optional = { requiredKeys: ['uid', 'generation'] as ('uid' | 'generation')[] };
const objects = fc.record({
  metadata: fc.record(
    {
      uid: fc.constant('u'),
      generation: fc.constant(1),
      labels: members,
      annotations: members,
      finalizers: fc.array(fc.constant('f')),
    },
    optional,
  ),
  spec: members,
});

const stored = ({ metadata, ...rest }: { metadata: object }, version: string): Json => ({
  ...rest,
  metadata: { ...metadata, resourceVersion: version, managedFields: [{ manager: version }] },
  status: { version },
});

test('the patch changes what the plan changes, whatever the status is', () => {
  fc.assert(
    fc.property(objects, objects, (before, after) => {
      const patch = operationsOf(
        stored(before, '7'),
        stored({ ...after, metadata: { ...after.metadata, generation: 2 } }, '7'),
      );
      expect(patch).not.toBeNull();
      expect(jsonPatch(stored(before, '8'), patch)).toEqual(stored(after, '8'));
    }),
  );
});

test('the patch is refused where anything but the status is another', () => {
  fc.assert(
    fc.property(objects, objects, objects, fc.boolean(), (before, after, other, isDeleted) => {
      const deleted = isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
      const now = stored({ ...other, metadata: { ...other.metadata, ...deleted } }, '7');
      fc.pre(isDeleted || JSON.stringify(sorted(other)) !== JSON.stringify(sorted(before)));
      const patch = operationsOf(stored(before, '7'), stored(after, '7'));
      expect(() => jsonPatch(now, patch)).toThrow(expect.objectContaining({ httpCode: 422 }));
    }),
  );
});

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)]);
}

test('a Scale without replicas', () => {
  const scale = (replicas: number, version: string): Json => ({
    kind: 'Scale',
    metadata: { uid: 'u', resourceVersion: version },
    spec: { replicas },
    status: {},
  });
  const patch = operationsOf(scale(0, '7'), scale(3, '7'), { verb: 'scale', replicas: 3 });
  expect(jsonPatch({ ...scale(0, '8'), spec: {} }, patch)).toEqual(scale(3, '8'));
  expect(() => jsonPatch(scale(1, '8'), patch)).toThrow(expect.objectContaining({ httpCode: 422 }));
});

test.each<readonly [string, WriteAction]>([
  ['an apply', { verb: 'apply', manifest: {}, force: true }],
  ['a deletion', { verb: 'delete', propagation: 'BACKGROUND' }],
  ['a patch of the status', { verb: 'patch', format: 'MERGE', patch: {}, subresource: 'status' }],
  ['a patch with a status', merge({ status: {} })],
  [
    'a patch that copies from the status',
    { ...merge([{ op: 'copy', from: '/status/a', path: '/spec/a' }]), format: 'JSON' } as WriteAction,
  ],
  [
    'a patch of the whole object',
    { ...merge([{ op: 'replace', path: '', value: {} }]), format: 'JSON' } as WriteAction,
  ],
  ['a patch of the managers', merge({ metadata: { managedFields: [] } })],
])('there is none for %s', (_name, action) => {
  const object = stored({ metadata: { uid: 'u' } }, '7');
  expect(operationsOf(object, object, action)).toBeNull();
});

test('there is none without a status, for a version of the caller, and for a filter that reads the status', () => {
  const object = stored({ metadata: { uid: 'u' } }, '7');
  const { status: _status, ...withoutStatus } = object;
  expect(operationsOf(withoutStatus, withoutStatus)).toBeNull();
  expect(operationsOf(null, object)).toBeNull();
  const intent = { target, action: merge({}), preconditions: { uid: null, resourceVersion: null } };
  const plan = { before: object, after: object };
  const condition = (dependsOnStatus: boolean) => ({ dependsOnStatus, refusal: () => null });
  expect(testedPatch(intent, condition(false), plan)).not.toBeNull();
  expect(testedPatch(intent, condition(true), plan)).toBeNull();
  expect(testedPatch({ ...intent, preconditions: { uid: null, resourceVersion: '7' } }, null, plan)).toBeNull();
});
